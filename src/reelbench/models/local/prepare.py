"""Prepare requests for a local model, ahead of it: pictures to tensors, text to tokens."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from reelbench.models.base import Request, Response
from reelbench.models.local.inputs import decoded, processed, prompt_text
from reelbench.models.local.prefix import TokenGroup, token_group
from reelbench.models.local.preparing import PreparingProcesses
from reelbench.models.local.weights import LoadedModel


@dataclass(eq=False)
class Work:
    """Requests that are prepared together, the responses to come, and what was prepared.

    ``groups`` or ``inputs`` are those of the requests that are not refused, in order; neither is
    there where preparing failed.
    """

    requests: list[Request]
    futures: "list[tuple[int, Future[list[Response]]]]" = field(default_factory=list)
    refused: dict[int, Response] = field(default_factory=dict)  # by the place of the request
    groups: list[TokenGroup] = field(default_factory=list)
    inputs: Mapping[str, Any] | None = None  # of the model, as the processor made them

    @classmethod
    def of(cls, requests: Sequence[Request]) -> "Work":
        """Return the work of answering these requests."""
        return cls([*requests], [(len(requests), Future())])

    def absorb(self, other: "Work") -> None:
        """Take over the requests of another work, which is not prepared yet either."""
        self.requests += other.requests
        self.futures += other.futures

    @property
    def accepted(self) -> list[Request]:
        """The requests that are not refused."""
        return [each for n, each in enumerate(self.requests) if n not in self.refused]

    @property
    def shared_tokens(self) -> int:
        """The number of tokens that its first group shares."""
        return len(self.groups[0].shared) if self.groups else 0

    def settle(self, responses: Sequence[Response]) -> None:
        """Hand over the responses to the requests that are not refused."""
        rest = iter(responses)
        found = [self.refused.get(n) or next(rest) for n in range(len(self.requests))]
        start = 0
        for count, future in self.futures:
            future.set_result(found[start : start + count])
            start += count


class Preparer:
    """Prepares work for one model."""

    def __init__(
        self,
        loaded: LoadedModel,
        groups: bool,
        shares: bool,
        say: Callable[[str], None],
        processes: PreparingProcesses | None = None,
    ) -> None:
        self._loaded, self._say, self._processes = loaded, say, processes
        self._is_grouping, self._shares = groups, shares
        self._is_pinned = loaded.model.device.type == "cuda"
        self._has_warned = False

    @property
    def merges(self) -> bool:
        """Whether requests about different media have to be prepared together to be asked so."""
        return not self._is_grouping

    def prepare(self, work: Work) -> None:
        """Prepare requests as far as that is possible; what fails is told when it is asked."""
        group = self._token_group(work.requests) if self._is_grouping else None
        if group is None:
            self._prepare_plainly(work)
            return
        lengths = [len(group.shared) + len(own) for own in group.own]
        self._refuse_long(work, lengths)
        group = group.only([n for n in range(len(lengths)) if n not in work.refused])
        group = group.with_inputs(self._pinned(group.inputs))
        if self._shares:
            work.groups = [group] if group.own else []
        else:
            work.groups = [group.only([n]) for n in range(len(group.own))]

    def inputs(self, requests: Sequence[Request]) -> Mapping[str, Any]:
        """Return the tensors for these requests, as the processor makes them."""
        if self._processes is not None:
            return self._processes.inputs(requests)
        return request_inputs(self._loaded, requests)

    def _token_group(self, requests: Sequence[Request]) -> TokenGroup | None:
        if self._processes is not None:
            return self._processes.token_group(requests)
        return token_group(self._loaded, requests)

    def _prepare_plainly(self, work: Work) -> None:
        inputs = self.inputs(work.requests)
        self._refuse_long(work, inputs["attention_mask"].sum(1).tolist())
        if work.refused:
            inputs = self.inputs(work.accepted) if work.accepted else {}
        work.inputs = self._pinned(inputs)

    def _refuse_long(self, work: Work, lengths: Sequence[int]) -> None:
        """Refuse requests that the model has no room for."""
        context = self._loaded.context
        if context is None:
            return
        for place, tokens in enumerate(lengths):
            if tokens >= context:
                error = (
                    f"{tokens:,} tokens, and the model takes {context:,} with its reply: show it "
                    "fewer or smaller frames (sampling and frame_size of the condition, or "
                    "`frames:` in its card)"
                )
                work.refused[place] = Response("error", error=error)
                if not self._has_warned:
                    self._has_warned = True
                    self._say(f"not asked, as are others that are too long: {error}.")

    def _pinned(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return tensors in memory from which a GPU copies by itself."""
        if not self._is_pinned:
            return inputs
        return {name: value.pin_memory() for name, value in inputs.items()}


def request_inputs(loaded: LoadedModel, requests: Sequence[Request]) -> Mapping[str, Any]:
    """Return the tensors for these requests, as the processor makes them."""
    texts = [prompt_text(loaded, request) for request in requests]
    return processed(loaded, texts, [decoded(loaded, request) for request in requests])
