"""Balance as stages: places of keys, yes against no, ratios, none of the above, splits."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from reelbench.base.text import plain
from reelbench.data.items import NOTHING, Item, freeze
from reelbench.lint.options import ANSWER_TEXT_FIELDS
from reelbench.lint.shortcuts import shortcut_findings
from reelbench.make.parts.balance import (
    deal_places,
    in_ratio,
    none_of_the_above,
    split_items,
    to_turn,
    turned,
)
from reelbench.make.parts.shape import TEXT, closed
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import BatchStage, Rejected, RowStage


def dealing_places() -> BatchStage:
    """Return the stage that puts right options equally often into every place."""
    return BatchStage(name="places", input=Item, output=Item, work=_dealt)


def _dealt(items: Sequence[Item], ctx: StageContext) -> Sequence[Item]:
    return deal_places(items, ctx.seed)


def balancing_positions() -> BatchStage:
    """Return the stage that deals keys into other places where the linter would name their places.

    Where it would not, options stay in the order that who published them gave them.
    """
    return BatchStage(name="positions", input=Item, output=Item, work=_balanced)


def _balanced(items: Sequence[Item], ctx: StageContext) -> Sequence[Item]:
    findings, _ = shortcut_findings([item for item in items if item.kind == "single"])
    if not any(finding.tag == "KEY_POSITION" for finding in findings):
        return items
    dealt = deal_places(items, ctx.seed)
    return [_said_anew(*pair) for pair in zip(items, dealt, strict=True)]


def _said_anew(item: Item, dealt: Item) -> Item:
    """Note the order that options had, and name the letters anew wherever the item names them."""
    if dealt.options == item.options:
        return item
    extra = dict(dealt.extra)
    for field in ANSWER_TEXT_FIELDS:
        letters = extra.get(field)
        if letters == item.answer:
            extra[field] = dealt.answer
        elif (letters,) == item.answer:
            extra[field] = dealt.answer[0]
    order = [item.options.index(option) for option in dealt.options]
    noted = {**dealt.provenance, "positions": {"order": order}}
    return structs.replace(dealt, extra=freeze(extra) or NOTHING, provenance=freeze(noted))


def offering_none_of_the_above(as_key: float = 2 / 15, as_distractor: float = 2 / 15) -> BatchStage:
    """Return the stage that lets "None of the above" stand for the key, or for a wrong option."""
    return BatchStage(
        name="none of the above",
        input=Item,
        output=Item,
        work=lambda items, ctx, **shares: none_of_the_above(items, ctx.seed, **shares),
        parameters={"as_key": as_key, "as_distractor": as_distractor},
    )


def keeping_in_ratio(tag: str, ratio: Mapping[str, float]) -> BatchStage:
    """Return the stage that keeps as many items as can be, the values of a tag in this ratio."""
    return BatchStage(
        name="ratio",
        input=Item,
        output=Item,
        work=_in_ratio,
        parameters={"tag": tag, "ratio": dict(ratio)},
    )


def _in_ratio(
    items: Sequence[Item], ctx: StageContext, *, tag: str, ratio: Mapping[str, float]
) -> list[Item | Rejected]:
    kept = {item.id for item in in_ratio(items, tag, ratio, ctx.seed)[0]} if items else set()
    return [
        item if item.id in kept else Rejected("more than the ratio takes", f"{tag} of {ratio}")
        for item in items
    ]


def splitting(shares: Mapping[str, float], by: Sequence[str] = ("category",)) -> BatchStage:
    """Return the stage that tags items with splits, alike by these tags, a video in one of them."""
    return BatchStage(
        name="split",
        input=Item,
        output=Item,
        work=_split,
        parameters={"shares": dict(shares), "by": list(by)},
    )


def _split(
    items: Sequence[Item], ctx: StageContext, *, shares: Mapping[str, float], by: Sequence[str]
) -> Sequence[Any]:
    return split_items(items, shares, tuple(by), seed=ctx.seed)


def choosing_to_turn() -> BatchStage:
    """Return the stage that marks which yes/no questions are to be asked the other way round."""
    return BatchStage(name="yes or no", input=Item, output=Item, work=_marked)


_MARK = "to_turn"


def _marked(items: Sequence[Item], ctx: StageContext) -> list[Item]:
    chosen = to_turn([item for item in items if item.kind == "yesno"], ctx.seed)
    return [
        structs.replace(item, provenance=freeze({**item.provenance, _MARK: True}))
        if item.id in chosen
        else item
        for item in items
    ]


def turning(optional: bool = False) -> RowStage:
    """Return the stage that has marked questions rewritten to their opposite, the key flipped."""
    return RowStage(
        name="turn",
        input=Item,
        output=Item,
        work=_turned,
        roles=("writer",),
        prompts=("opposite",),
        optional=optional,
    )


async def _turned(item: Item, ctx: StageContext) -> list[Item]:
    if not item.provenance.get(_MARK):
        return [item]
    prompt = ctx.prompts.prompt("opposite", question=item.question)

    def unchanged(reply: dict[str, str]) -> str:
        asks_the_same = plain(reply["question"]) == plain(item.question)
        return "the question has not been changed" if asks_the_same else ""

    reply = await ctx.json("writer", prompt, closed({"question": TEXT}), check=unchanged)
    if reply.data is None:
        raise Rejected("no opposite question", reply.failure, [reply.words])
    return [turned(item, reply.data["question"].strip())]
