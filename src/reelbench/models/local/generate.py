"""Generate replies: the tokens that requests share are computed once, their own in one batch."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from inspect import signature
from typing import Any

import torch
from transformers import DynamicCache, LogitsProcessorList

from reelbench.models.base import Request, Response, read_text
from reelbench.models.local.caches import bytes_per_token, can_be_joined, joined
from reelbench.models.local.prefix import TokenGroup
from reelbench.models.local.sampling import KeyedSampler
from reelbench.models.local.schema import SchemaConstraint
from reelbench.models.local.weights import LoadedModel, is_rounded

_WARM_TOKENS = 64


class Generator:
    """Generates with one model, one batch at a time."""

    def __init__(
        self, loaded: LoadedModel, settings: Mapping[str, Any], say: Callable[[str], None]
    ) -> None:
        self.loaded = loaded
        self._sampler = KeyedSampler(settings, loaded.model)
        self._constraint = SchemaConstraint(loaded, say)
        self._settings = self._sampler.settings
        self._model = loaded.model
        self._config = self._model.config.get_text_config(decoder=True)
        # Where rotary positions count frames and rows, how far they are behind is kept in a module.
        self._counting = [m for m in self._model.modules() if hasattr(m, "rope_deltas")]
        parameters = signature(self._model.forward).parameters
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in parameters else {}
        self.token_bytes = 0.0  # of one token in the cache, once it is known
        self.joins = True  # whether caches of several groups can be one
        self.steps = 0  # layers that were computed so far, each for a batch
        lists = (m for m in self._model.modules() if isinstance(m, torch.nn.ModuleList))
        for layer in {layer for layers in lists for layer in layers}:
            layer.register_forward_hook(self._count_step)

    def _count_step(self, *_given: Any) -> None:
        self.steps += 1

    def warm_up(self) -> None:
        """Generate a few tokens of nothing: kernels are loaded, the size of a token is learnt."""
        known = {*self.loaded.placeholders, *self.loaded.ends}
        token = next(number for number in range(len(known) + 1) if number not in known)
        ids = torch.full((1, _WARM_TOKENS), token, device=self._model.device)
        cache = DynamicCache(config=self._config)
        with torch.inference_mode():
            self._model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                past_key_values=cache,
                max_new_tokens=4,
                do_sample=False,
            )
        self.token_bytes, self.joins = bytes_per_token(cache), can_be_joined(cache)

    def replies(self, groups: Sequence[TokenGroup]) -> list[list[Response]]:
        """Return the replies to the requests of each group."""
        with torch.inference_mode():
            caches, deltas = zip(*(self._prefilled(group) for group in groups), strict=True)
            if groups[0].shared and not all(map(can_be_joined, caches)):
                return [self._by_length(*each) for each in zip(groups, caches, deltas, strict=True)]
            counts = [len(group.own) for group in groups]
            return self._generated(groups, list(caches), list(deltas), counts)

    def plain_replies(
        self, inputs: Mapping[str, Any], requests: Sequence[Request]
    ) -> list[Response]:
        """Return the replies to a batch as the processor made it, without sharing."""
        with torch.inference_mode():
            return self._replies(requests, **self._moved(inputs))

    def _replies(self, requests: Sequence[Request], **inputs: Any) -> list[Response]:
        """Return the replies to requests: what is drawn by their keys, what is JSON by schemas."""
        start = inputs["input_ids"].shape[1]
        schemas = self._constraint.mask(requests, start)
        chosen = [*([schemas] if schemas else []), *self._sampler.processors(requests)]
        rows = self._model.generate(
            **inputs, **self._settings, logits_processor=LogitsProcessorList(chosen)
        )
        counts = inputs["attention_mask"].sum(1).tolist()
        return [
            self._response(row, count, partial(schemas.text, place) if schemas else None)
            for place, (row, count) in enumerate(zip(rows[:, start:].tolist(), counts, strict=True))
        ]

    def _prefilled(self, group: TokenGroup) -> tuple[Any, list[Any]]:
        """Return the cache of a group's shared tokens, and how its positions are shifted."""
        cache = DynamicCache(config=self._config)
        if not group.shared:
            return cache, []
        positions: list[Any] = []
        watch = self._model.get_decoder().register_forward_pre_hook(
            lambda _module, _args, kwargs: positions.append(kwargs.get("position_ids")),
            with_kwargs=True,
        )
        try:
            # Not by generate, which waits for the token that it returns: so the next group is
            # under way while this one is computed.
            ids = torch.tensor([group.shared], device=self._model.device)
            # Some count positions in another way without a mask.
            mask = {"attention_mask": torch.ones_like(ids)} if self._counting else {}
            self._model(
                input_ids=ids,
                **mask,
                **self._moved(group.inputs),
                past_key_values=cache,
                use_cache=True,
                **self._last_only,
            )
        finally:
            watch.remove()
        self.token_bytes = bytes_per_token(cache)
        self.joins = can_be_joined(cache)
        deltas = [module.rope_deltas for module in self._counting]
        return cache, _from_last(deltas, positions, len(group.shared))

    def _by_length(self, group: TokenGroup, cache: Any, deltas: list[Any]) -> list[Response]:
        """Return the replies of a group whose cache has no place for padding: by length.

        A layer that sees a window, or sums up what it has seen, would take padding for tokens.
        """
        places: dict[int, list[int]] = {}
        for place, own in enumerate(group.own):
            places.setdefault(len(own), []).append(place)
        found: dict[int, Response] = {}
        for number, each in enumerate(places.values(), 1):
            copied = deepcopy(cache) if number < len(places) else cache
            part = group.only(each)
            ((*replies,),) = self._generated([part], [copied], [deltas], [len(each)])
            found |= dict(zip(each, replies, strict=True))
        return [found[place] for place in range(len(group.own))]

    def _generated(
        self,
        groups: Sequence[TokenGroup],
        caches: list[Any],
        deltas: list[list[Any]],
        counts: Sequence[int],
    ) -> list[list[Response]]:
        ids, mask, longest, widest = _table(groups, self._model.device)
        cache = None
        if longest:
            room = widest + int(self._settings["max_new_tokens"])
            cache = joined(caches, counts, room)
            caches.clear()
            for number, module in enumerate(self._counting):
                parts = [each[number].repeat(n, 1) for each, n in zip(deltas, counts, strict=True)]
                module.rope_deltas = torch.cat(parts)
        requests = [request for group in groups for request in group.requests]
        responses = iter(
            self._replies(requests, input_ids=ids, attention_mask=mask, past_key_values=cache)
        )
        return [[next(responses) for _ in range(count)] for count in counts]

    def _moved(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return tensors on the model's device, numbers with a fraction in its precision."""
        found = {}
        for name, value in inputs.items():
            dtype = self._model.dtype if is_rounded(name, value) else None
            found[name] = value.to(self._model.device, dtype, non_blocking=True)
        return found

    def _response(
        self, row: list[int], input_tokens: int, read: Callable[[list[int]], str | None] | None
    ) -> Response:
        ends = self.loaded.ends
        ended = next((place + 1 for place, token in enumerate(row) if token in ends), None)
        end = len(row) if ended is None else ended
        text = read(row[:end]) if read else None
        if text is None:
            text = self.loaded.tokenizer.decode(row[:end], skip_special_tokens=True)
        return read_text(text, ended is None, input_tokens, end)


def _from_last(deltas: list[Any], positions: list[Any], count: int) -> list[Any]:
    """Return how far positions are behind tokens, from those of the last shared token.

    A model keeps how far the highest position is. Behind a long video text goes on from a lower
    one. A token of text has the same position in time, rows and columns.
    """
    if not positions or positions[0] is None or positions[0].dim() != 3:
        return deltas
    last = positions[0][-3:, :, -1]
    if not bool((last == last[0]).all()):
        return deltas
    return [last[0].unsqueeze(1) + 1 - count for _ in deltas]


def _table(groups: Sequence[TokenGroup], device: Any) -> tuple[Any, Any, int, int]:
    """Return the tokens of all requests, their mask, and how wide the shared and own parts are."""
    longest = max(len(group.shared) for group in groups)
    widest = max(len(own) for group in groups for own in group.own)
    count = sum(len(group.own) for group in groups)
    ids = torch.zeros(count, longest + widest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    row = 0
    for group in groups:
        start, end = longest - len(group.shared), row + len(group.own)
        ids[row:end, start:longest] = torch.tensor(group.shared, dtype=torch.long)
        mask[row:end, start:longest] = 1
        for own in group.own:
            # Padding of a token that is there anyway: some count those that a reply repeats.
            ids[row, :start] = ids[row, longest:] = own[0]
            ids[row, -len(own) :] = torch.tensor(own)
            mask[row, -len(own) :] = 1
            row += 1
    return ids.to(device), mask.to(device), longest, widest
