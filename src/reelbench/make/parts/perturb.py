"""Makes wrong options wrong: one that means the same as the key is rewritten with a small error."""

import asyncio
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import ceil, floor
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.text import words
from reelbench.data.items import Item
from reelbench.make.parts.answer_and_rank import REPEATS
from reelbench.make.parts.embed import load_embedder
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.shape import TEXT, closed, data_of, drawn_lengths, same, with_options
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.funnel import category_of
from reelbench.make.pipeline.stage import Rejected, RowStage

ErrorTypes = Mapping[str, str] | Mapping[str, Mapping[str, str]]
_AMID = 0.7  # of the range of a length that was drawn, in which an option has it already
_TRIES = 3  # rewritings of one option, until the judge finds it distinct


def perturb(
    error_types: ErrorTypes,
    alike: float = 0.9,
    *,
    least_kept: float = 0.4,
    longest: float = 2.0,
    balance_lengths: bool = True,
    answered: str = "answer-and-rank",
    judge: str = "",
    name: str = "perturb",
    role: str = "distractor",
    **more: Any,
) -> RowStage:
    """Return the stage that has wrong options rewritten that mean the same as the key.

    A wrong option is rewritten with one error if its cosine with the key is at least ``alike``, or
    if the model of the role ``judge`` does not find it distinct: embeddings do not tell happy from
    sad, or left from right. So are answers that several models gave in the same words, which the
    stage ``answered`` noted, and options more than ``longest`` times as long or as short as the
    key. With ``balance_lengths``, a length is drawn for each wrong option, and options that have
    none of these are rewritten: writers and rankers prefer long answers, so the key would be the
    longest.

    ``error_types`` maps the name of each allowed type to its meaning, or categories to such
    mappings. A new text has the wanted length, is distinct for the judge, differs from all other
    options, and shares at least ``least_kept`` of the words of the shorter one with the old text.
    """

    async def work(item: Item, ctx: StageContext, **values: Any) -> list[Item]:
        if item.kind != "single":
            return [item]
        rewriting = _Rewriting(item, ctx, role, judge, _error_types(values["error_types"], item))
        (key,) = item.correct
        others = [text for text in item.options if text != key]
        unclear = await rewriting.unclear(key, others, values["alike"])
        repeats = item.provenance.get(values["answered"], {}).get(REPEATS, ())
        low, high = ceil(len(key) / values["longest"]), floor(len(key) * values["longest"])
        kept = [text for text in others if text not in unclear and low <= len(text) <= high]
        bad = [*(text for text in others if text not in kept), *repeats]
        rewritten = [(text, (low, high)) for text in bad]
        if values["balance_lengths"]:
            count = len(kept) + len(bad)
            if lengths := drawn_lengths(ctx.seed, item.id, key, count, values["longest"]):
                kept, rewritten = to_rewrite(kept, bad, lengths)
        changed: list[dict[str, str]] = []
        for text, length in rewritten:  # one after the other: each must differ from the last
            taken = [key, *kept, *(each["text"] for each in changed)]
            changed.append(await rewriting.rewritten(text, taken, values["least_kept"], *length))
        texts = [*kept, *(each["text"] for each in changed)]
        made = with_options(item, ctx.seed, [key], texts) if changed else item
        return [with_note(made, ctx.stage, {"perturbed": changed})]

    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=(role, judge) if judge else (role,),
        prompts=("perturb", "distinct") if judge else ("perturb",),
        parameters={
            "error_types": dict(error_types),
            "alike": alike,
            "least_kept": least_kept,
            "longest": longest,
            "balance_lengths": balance_lengths,
            "answered": answered,
        },
        version=3,
        **more,
    )


def to_rewrite(
    good: Sequence[str], bad: Sequence[str], lengths: Sequence[tuple[int, int]]
) -> tuple[list[str], list[tuple[str, tuple[int, int]]]]:
    """Return the wrong options that stay, and those to rewrite, each with the length it gets.

    A ``good`` option stays where it nearly has one of the lengths, which is then taken. Those at an
    end of a range are rewritten, too: most of them lie on the side that models prefer.
    """
    free, kept, moved = list(lengths), list[str](), [*bad]
    for text in good:
        off = {each: abs(2 * len(text) - sum(each)) for each in free}  # twice, from the middle
        own = next((each for each in free if off[each] <= _AMID * (each[1] - each[0])), None)
        if own:
            free.remove(own)
        (kept if own else moved).append(text)
    # In order of length: the longest text gets the longest length.
    order = sorted(range(len(moved)), key=lambda place: len(moved[place]))
    of_place = dict(zip(order, free, strict=True))
    return kept, [(text, of_place[place]) for place, text in enumerate(moved)]


def _error_types(error_types: ErrorTypes, item: Item) -> Mapping[str, str]:
    """Return the error types for an item: those of its category, or those for all."""
    of_category: Any = error_types.get(category_of(item))
    if isinstance(of_category, Mapping):
        return of_category
    plainly = {kind: text for kind, text in error_types.items() if isinstance(text, str)}
    if not plainly:
        raise ReelbenchError(
            f"{item.id} has the category {category_of(item)!r}, for which perturb has no error "
            f"types: it has some for {', '.join(error_types)}."
        )
    return plainly


_embedder = functools.cache(load_embedder)  # its weights are read once
_DISTINCT = closed({"distinct": {"type": "boolean"}})


@dataclass(frozen=True)
class _Rewriting:
    """The rewriting of wrong options of one item."""

    item: Item
    ctx: StageContext
    role: str
    judge: str
    error_types: Mapping[str, str]

    async def unclear(self, key: str, others: Sequence[str], alike: float) -> list[str]:
        """Return the wrong options that could be accepted as right."""
        vectors = await asyncio.to_thread(_embedder(), [key, *others])
        unclear = []
        for text, vector in zip(others, vectors[1:], strict=True):
            if float(vectors[0] @ vector) >= alike or not await self._is_distinct(key, text):
                unclear.append(text)
        return unclear

    async def rewritten(
        self, text: str, taken: Sequence[str], least_kept: float, low: int, high: int
    ) -> dict[str, str]:
        """Return a text with an error; it must differ from ``taken``, the key first."""
        length = f"It must have {low} to {high} characters; the right answer has {len(taken[0])}."
        prompt = self.ctx.prompts.prompt(
            "perturb",
            question=self.item.question,
            answer=taken[0],
            text=text,
            types="\n".join(f"- {kind}: {meaning}" for kind, meaning in self.error_types.items()),
            others="\n".join(f"* {each}" for each in taken[1:]) or "(there are none)",
            length=length,
        )

        def fault(reply: Any) -> str:
            new = reply["text"].strip()
            if same([new, text]):
                return "the text has not been changed"
            if same([new, *taken]):
                return "that is one of the other options"
            if _shared(new, text) < least_kept:
                return "that is another text: change only what makes it wrong"
            if not low <= len(new) <= high:
                return f"it has {len(new)} characters, expected {low} to {high}"
            return ""

        types = {"type": "string", "enum": list(self.error_types)}
        schema = closed({"text": TEXT, "error_type": types})
        tried = []
        for round in range(_TRIES if self.judge else 1):
            reply = data_of(
                await self.ctx.json(self.role, prompt, schema, check=fault, round=round)
            )
            tried.append(reply["text"].strip())
            if await self._is_distinct(taken[0], tried[-1]):
                return {"text": tried[-1], "error_type": reply["error_type"], "was": text}
        raise Rejected("no distinct distractor", f"{text!r} stays too close to the key", tried)

    async def _is_distinct(self, key: str, text: str) -> bool:
        if not self.judge:
            return True
        prompt = self.ctx.prompts.prompt(
            "distinct", question=self.item.question, answer=key, text=text
        )
        return bool(data_of(await self.ctx.json(self.judge, prompt, _DISTINCT))["distinct"])


def _shared(new: str, old: str) -> float:
    """Return the share of the shorter text's words that both have, in the same order."""
    some, others = words(new), words(old)
    blocks = SequenceMatcher(None, some, others, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(1, min(len(some), len(others)))
