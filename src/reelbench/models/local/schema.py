"""Replies constrained to JSON schemas: each row of a batch to its own, or to none.

A grammar says which tokens may come next, as bits; on the device all others get no probability. The
tokens that end a reply are among them once its JSON is complete, and not before.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from reelbench.base.files import canonical_json
from reelbench.models.base import Request
from reelbench.models.local.weights import LoadedModel

if TYPE_CHECKING:
    import torch

# One way to write a value, the commonest: a model cannot fall into writing spaces without end.
# What the library cannot check is left to whoever checks the reply.
_OPTIONS = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "lenient": True,
}
_MOST_KEPT = 256  # compiled schemas
_LEAST = -1e30  # a logit of what may come and is not a number, or was ruled out by other settings
# Marks with which a chat template opens the reasoning of a reply, and those that end it.
_REASONING = {"<think>": "</think>", "[THINK]": "[/THINK]", "◁think▷": "◁/think▷"}
_OPENED = re.compile(f"({'|'.join(map(re.escape, _REASONING))})\\s*$")
_MARK_TOKENS = 16  # that a mark has at most


def can_constrain() -> bool:
    """Whether the library that constrains replies is installed."""
    return find_spec("llguidance") is not None


class SchemaConstraint:
    """Constrains the replies of one model; schemas are compiled once."""

    def __init__(self, loaded: LoadedModel, say: Callable[[str], None]) -> None:
        self._loaded, self._say = loaded, say
        self._vocabulary: Any = None
        self._has_failed = False
        self._compiled: dict[str, Any] = {}
        self._mentioned: set[str] = set()

    def mask(self, requests: Sequence[Request], start: int) -> "SchemaMask | None":
        """Return the mask for a batch whose replies start at this column; None if all are free."""
        matchers = [self._matcher(request.schema) for request in requests]
        if not any(matchers):
            return None
        rows = [ConstrainedRow(each, self._loaded.tokenizer) if each else None for each in matchers]
        return SchemaMask(rows, start, self._vocabulary, self.give_up)

    def give_up(self, reason: str) -> None:
        """Report, once, that replies are not constrained, and why."""
        reason = " ".join(reason.split())[:200]
        if reason not in self._mentioned:
            self._mentioned.add(reason)
            self._say(
                f"replies are not held to all of a JSON schema ({reason}); they are checked when "
                "they come, as those of any model."
            )

    def _matcher(self, schema: Mapping[str, Any] | None) -> Any:
        """Return where a reply in this schema begins; None where it is not constrained."""
        if schema is None or not self._has_vocabulary():
            return None
        name = canonical_json(schema)
        if name not in self._compiled:
            if len(self._compiled) >= _MOST_KEPT:
                del self._compiled[next(iter(self._compiled))]
            self._compiled[name] = self._compile(name)
        matcher = self._compiled[name]
        return matcher and matcher.deep_copy()

    def _compile(self, schema: str) -> Any:
        from llguidance import LLMatcher

        try:
            grammar = LLMatcher.grammar_from_json_schema(schema, defaults=_OPTIONS)
            matcher = LLMatcher(self._vocabulary, grammar, log_level=0)
            problems = [matcher.get_error()] if matcher.is_error() else []
        except (ValueError, TypeError) as error:
            matcher, problems = None, [str(error)]
        for problem in problems or matcher.get_grammar_warnings():
            self.give_up(problem)
        return None if problems else matcher

    def _has_vocabulary(self) -> bool:
        if self._vocabulary is None and not self._has_failed:
            try:
                if not self._loaded.ends:
                    raise ValueError("the model has no token that ends a reply")
                from reelbench.models.local.vocabulary import read_vocabulary

                self._vocabulary = read_vocabulary(
                    self._loaded.tokenizer, sorted(self._loaded.ends)
                )
            except Exception as error:  # of whatever tokenizer
                self._has_failed = True
                self.give_up(str(error))
        return self._vocabulary is not None


@dataclass
class ConstrainedRow:
    """A reply in the making: where its JSON begins, and how far it has come."""

    matcher: Any
    tokenizer: Any
    begin: int = 0  # the number of its tokens before its JSON, which are reasoning
    closing: str = ""  # the mark that its reasoning still has to end with
    consumed: list[int] = field(default_factory=list)

    def open(self, prompt: Sequence[int]) -> None:
        """Take in how the prompt ends: its template may have opened the reply's reasoning."""
        if found := _OPENED.search(self.tokenizer.decode(prompt[-_MARK_TOKENS:])):
            self.closing = _REASONING[found[1]]

    def advance(self, tokens: list[int]) -> bool:
        """Take in all tokens of the reply so far; return whether the next one is constrained."""
        if self.closing:
            if self.closing not in self.tokenizer.decode(tokens[-_MARK_TOKENS:]):
                return False
            self.begin, self.closing = len(tokens), ""
        tokens = tokens[self.begin :]
        known = len(self.consumed)
        if tokens[:known] != self.consumed:  # of another beam
            self.matcher.reset()
            known = 0
        if not self.matcher.is_stopped():
            self.matcher.consume_tokens(tokens[known:])
        self.consumed = tokens
        return True

    def text(self, tokens: list[int], vocabulary: Any) -> str:
        """Return the text of a reply, its JSON as the grammar has read it."""
        if self.closing:
            return str(self.tokenizer.decode(tokens, skip_special_tokens=True))
        before = self.tokenizer.decode(tokens[: self.begin], skip_special_tokens=True)
        ends = {*vocabulary.eos_tokens}
        own = [token for token in tokens[self.begin :] if token not in ends]
        return f"{before}{vocabulary.decode_bytes(own).decode(errors='replace')}"


class SchemaMask:
    """A logits processor: leaves to each row only the tokens that its schema allows next."""

    def __init__(
        self,
        rows: Sequence[ConstrainedRow | None],
        start: int,
        vocabulary: Any,
        give_up: Callable[[str], None],
    ) -> None:
        self._rows = list(rows)
        self._start = start
        self._vocabulary = vocabulary
        self._give_up = give_up
        self._words = (vocabulary.vocab_size + 31) // 32
        self._is_begun = self._has_beams = False

    def __call__(self, input_ids: "torch.Tensor", scores: "torch.Tensor") -> "torch.Tensor":
        """Return the logits with those of all tokens that may not come next at minus infinity."""
        import torch

        if not self._is_begun:
            self._begin(input_ids)
        tokens = input_ids[:, self._start :].tolist()
        places = [n for n, row in enumerate(self._rows) if row and self._goes_on(row, tokens[n])]
        if not places:
            return scores
        pinned = scores.device.type == "cuda"
        bits = torch.empty(len(places), self._words, dtype=torch.int32, pin_memory=pinned)
        for number, place in enumerate(places):
            row = self._rows[place]
            assert row is not None
            row.matcher.unsafe_compute_mask_ptr(bits[number].data_ptr(), self._words * 4)
            if not self._holds(row) or not bits[number].any():
                bits[number] = -1  # nothing may come next: the rest is free
        allowed = _unpacked(bits.to(scores.device, non_blocking=True), scores.shape[1])
        chosen = torch.tensor(places, device=scores.device)
        own = scores[chosen].nan_to_num(nan=_LEAST, posinf=-_LEAST, neginf=_LEAST)
        return scores.index_copy(0, chosen, own.masked_fill(~allowed, float("-inf")))

    def text(self, row: int, tokens: list[int]) -> str | None:
        """Return the text of a constrained reply; None if it is not known better than by others."""
        found = None if self._has_beams else self._rows[row]
        return found.text(tokens, self._vocabulary) if found else None

    def _begin(self, input_ids: "torch.Tensor") -> None:
        self._is_begun = True
        beams = input_ids.shape[0] // len(self._rows)
        if beams > 1:  # several tries of each reply, which change places
            self._has_beams = True
            self._rows = [
                row and ConstrainedRow(row.matcher.deep_copy(), row.tokenizer)
                for row in self._rows
                for _ in range(beams)
            ]
            return
        for row, prompt in zip(self._rows, input_ids[:, : self._start].tolist(), strict=True):
            if row:
                row.open(prompt)

    def _goes_on(self, row: ConstrainedRow, tokens: list[int]) -> bool:
        return row.advance(tokens) and self._holds(row)

    def _holds(self, row: ConstrainedRow) -> bool:
        """Whether the grammar still knows what may come; if not, report why."""
        if row.matcher.is_error():
            self._give_up(row.matcher.get_error().partition("<state")[0])
        return not row.matcher.is_error()


def _unpacked(bits: "torch.Tensor", width: int) -> "torch.Tensor":
    """Return bits as booleans, so many of a row; what is beyond the vocabulary is false."""
    import torch

    places = torch.arange(32, device=bits.device, dtype=torch.int32)
    found = ((bits[:, :, None] >> places) & 1).bool().flatten(1)[:, :width]
    return torch.nn.functional.pad(found, (0, width - found.shape[1]))
