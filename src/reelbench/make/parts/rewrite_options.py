"""Have the wrong options of an item written anew, for a reason that a stage before has found.

The right options stay as they are, and where they are. A reply is held against what ``distract``
holds new options against, against what was wanted, and against negations that come or go.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Any

from msgspec import convert, structs

from reelbench.base.progress import counted
from reelbench.base.text import is_none_of_them, refers_to_others, words
from reelbench.data.items import LETTERS, Item, freeze
from reelbench.lint.guesses import number_in
from reelbench.make.parts.distract import POLISHED_ALIKE, broken_rules, options_fault, shown_keys
from reelbench.make.parts.filters import context_of
from reelbench.make.parts.negations import is_negated
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.rules_used import rules_of
from reelbench.make.parts.shape import TEXT, closed, listed
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.funnel import category_of
from reelbench.make.pipeline.stage import Rejected, RowStage

REWRITINGS = "rewritings"  # in the note of the stage on an item: what was written anew, in order
_WANTED = "wanted"  # in the same note, until it is written
_TOKENS = 30  # of an option, as JSON
_LONGER, _SHORTER = 1.25, 0.75  # how much longer or shorter than the right options it should be


@dataclass(frozen=True, slots=True)
class WantedOptions:
    """Why the wrong options of an item are to be written anew, and how they should come out."""

    reasons: tuple[str, ...]
    longer: int  # how many are longer than all right options; the others are shorter
    greater: int | None = None  # of numbers: how many are greater than the right one
    right_signs: tuple[str, ...] = ()  # what right options elsewhere have too
    wrong_signs: tuple[str, ...] = ()  # what wrong options elsewhere have too


def wrong_options(item: Item) -> dict[int, str]:
    """Return the wrong options that can be written anew, by their places."""
    return {
        place: text
        for place, text in enumerate(item.options)
        if LETTERS[place] not in item.answer and not is_none_of_them(text)
    }


def can_be_rewritten(item: Item) -> bool:
    """Whether an item has wrong options to write anew, and none that speaks of the others."""
    keeps = any(map(refers_to_others, item.options)) or any(map(is_none_of_them, item.correct))
    return item.kind in ("single", "multi") and not keeps and bool(wrong_options(item))


def marked(item: Item, stage: str, wanted: WantedOptions) -> Item:
    """Return an item that the stage is to write anew, with what is wanted in its note."""
    return with_note(item, stage, {**_note(item, stage), _WANTED: asdict(wanted)})


def rewrite_options(
    longest: float = 2.0, *, name: str = "rewrite-options", role: str = "writer"
) -> RowStage:
    """Return the stage that has the wrong options of marked items written anew.

    No option has more than ``longest`` times the words of another.
    """

    async def work(item: Item, ctx: StageContext, *, longest: float) -> list[Item]:
        note = dict(_note(item, ctx.stage))
        if _WANTED not in note:
            return [item]
        wanted = convert(note.pop(_WANTED), WantedOptions)
        old = wrong_options(item)
        explained = "explanations" in item.context
        one = closed({"text": TEXT, **({"explanation": TEXT} if explained else {})})
        reply = await ctx.json(
            role,
            _prompt(item, wanted, explained, ctx),
            closed({"distractors": listed(one, len(old), len(old))}),
            check=lambda data: _fault(item, _texts(data), wanted, longest, ctx),
        )
        if reply.data is None:
            raise Rejected("no good options", reply.failure, [reply.words])
        made = _with_options(item, reply.data["distractors"])
        changes = [
            {"text": text, "was": was}
            for text, was in zip(_texts(reply.data), old.values(), strict=True)
            if text != was
        ]
        done = {"model": ctx.model(role).card.name, "why": list(wanted.reasons), "options": changes}
        note[REWRITINGS] = [*note.get(REWRITINGS, ()), done]
        return [with_note(made, ctx.stage, note)]

    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=(role,),
        prompts=("rewrite-options", "rules"),
        parameters={"longest": longest},
        expected_tokens=4 * _TOKENS,
    )


def _note(item: Item, stage: str) -> Mapping[str, Any]:
    note = item.provenance.get(stage)
    return note if isinstance(note, Mapping) else {}


def _texts(reply: Any) -> list[str]:
    return [each["text"].strip() for each in reply["distractors"]]


def _with_options(item: Item, distractors: Sequence[Mapping[str, str]]) -> Item:
    """Put new wrong options into the places of the old; explanations are theirs."""
    options = list(item.options)
    for place, each in zip(wrong_options(item), distractors, strict=True):
        options[place] = each["text"].strip()
    context = dict(item.context)
    if "explanations" in context:
        new = {each["text"].strip(): each["explanation"].strip() for each in distractors}
        known = {**context["explanations"], **new}
        context["explanations"] = {text: known[text] for text in options if text in known}
    return structs.replace(item, options=tuple(options), context=freeze(context))


def _prompt(item: Item, wanted: WantedOptions, explained: bool, ctx: StageContext) -> str:
    texts, rules = list(wrong_options(item).values()), rules_of(item, ctx)
    lengths = _wanted_lengths(item.correct, texts, wanted.longer)
    options = [
        f"{number}. {text} (has {len(text)} characters, may have {length})"
        for number, (text, length) in enumerate(zip(texts, lengths, strict=True), 1)
    ]
    form = {"text": "...", **({"explanation": "why it is wrong"} if explained else {})}
    return ctx.prompts.prompt(
        "rewrite-options",
        context=context_of(item, ctx),
        question=item.question,
        answer=shown_keys(item.correct),
        options="\n".join(options),
        reasons="\n".join(f"- {reason}" for reason in wanted.reasons),
        wanted="\n".join(f"- {each}" for each in _instructions(item.correct, texts, wanted)),
        rules=rules.text(category_of(item), "distractor") if rules else "",
        form=json.dumps([form] * len(texts)),
    )


def _wanted_lengths(keys: Sequence[str], wrong: Sequence[str], longer: int) -> list[str]:
    """Return how long each option should be; the longest of now are to be the longer ones."""
    most, least = max(map(len, keys)), min(map(len, keys))
    order = sorted(range(len(wrong)), key=lambda place: (-len(wrong[place]), place))
    found = {}
    for rank, place in enumerate(order):
        length = len(wrong[place])
        if rank < longer:
            found[place] = most + 1, max(most + 2, length, round(most * _LONGER))
        else:
            found[place] = max(1, min(length, round(least * _SHORTER))), max(1, least - 1)
    return [f"{low} to {high}" for _, (low, high) in sorted(found.items())]


def _instructions(keys: Sequence[str], wrong: Sequence[str], wanted: WantedOptions) -> list[str]:
    lengths = " and ".join(f"{len(key)} characters" for key in keys)
    others = len(wrong) - wanted.longer
    instructions = [
        f"The right answer has {lengths}: {wanted.longer} of the wrong options must be longer "
        f"than that and {others} shorter, as noted behind each."
    ]
    if wanted.greater is not None:
        instructions.append(
            f"The numbers of {wanted.greater} of the wrong options must be greater than that of "
            f"the right answer and those of {len(wrong) - wanted.greater} smaller."
        )
    instructions += [
        f"Let some wrong options have this too: {sign}." for sign in wanted.right_signs
    ]
    instructions += [f"Avoid this in wrong options: {sign}." for sign in wanted.wrong_signs]
    return instructions


def _fault(
    item: Item, texts: Sequence[str], wanted: WantedOptions, longest: float, ctx: StageContext
) -> str:
    """Return what is wrong with new options that fit their schema; empty where nothing is."""
    old, keys = list(wrong_options(item).values()), item.correct
    kept = [text for text in item.options if text not in old and text not in keys]
    if texts == old:
        return "none of the options has been changed"
    return (
        options_fault(keys, [*texts, *kept], longest)
        or _length_fault(keys, texts, wanted.longer)
        or _number_fault(keys, texts, wanted.greater)
        or _negation_fault(old, texts)
        or broken_rules(item, keys, [*texts, *kept], ctx)
    )


def _length_fault(keys: Sequence[str], wrong: Sequence[str], longer: int) -> str:
    """Return which length still gives the key away, or does so now; counts need not be exact."""
    most, least = max(map(len, keys)), min(map(len, keys))
    over, under = sum(len(t) > most for t in wrong), sum(len(t) < least for t in wrong)
    if longer == 0:
        return f"{counted(over, 'wrong option')} must not be longer than the right" if over else ""
    if longer == len(wrong):
        return "" if over == longer else f"{over} of the wrong options are longer, not {longer}"
    if not over:
        return f"no wrong option is longer than the right one, which has {most} characters"
    return "" if under else f"no wrong option is shorter than the right one, {least} characters"


def _number_fault(keys: Sequence[str], wrong: Sequence[str], greater: int | None) -> str:
    if greater is None:
        return ""
    right, numbers = number_in(keys[0]), [number_in(text) for text in wrong]
    known = [number for number in numbers if number is not None]
    if right is None or len(set(known) - {right}) < len(wrong):
        return "every option must give another number"
    found = sum(number > right for number in known)
    return "" if found == greater else f"{found} of the numbers are greater, not {greater}"


def _negation_fault(old: Sequence[str], new: Sequence[str]) -> str:
    """Return which option was turned into its opposite: that of what is wrong may be right."""
    for was, text in zip(old, new, strict=True):
        alike = SequenceMatcher(None, words(was), words(text), autojunk=False).ratio()
        if alike >= POLISHED_ALIKE and is_negated(was) != is_negated(text):
            return f"{text!r} negates {was!r}, which may be right then"
    return ""
