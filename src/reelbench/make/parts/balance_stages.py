"""Balance as stages: key positions, yes against no, ratios, none of the above, splits.

What cannot be balanced as asked for is reported to the user at the end (``ctx.notes``).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from reelbench.base.progress import counted
from reelbench.data.items import NOTHING, Item, freeze
from reelbench.lint.options import ANSWER_TEXT_FIELDS
from reelbench.lint.shortcuts import shortcut_findings
from reelbench.make.parts.balance import (
    ids_by_answer,
    items_to_negate,
    keep_ratio,
    offer_none_of_the_above,
    split_items,
    spread_key_positions,
)
from reelbench.make.parts.balance.none_of_the_above import can_have
from reelbench.make.parts.balance.split import known_splits
from reelbench.make.parts.negating import balance_table, judged, negate_until_even
from reelbench.make.parts.notes import Kept, with_note
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import BatchStage, Rejected, Undecided
from reelbench.score.rounding import percent


def balance_key_positions(*, if_uneven: bool = False, name: str = "key-positions") -> BatchStage:
    """Return the stage that puts right options equally often into every position.

    With ``if_uneven``, options are moved only if the linter would report KEY_POSITION. The order
    that options had is noted on the item.
    """

    def work(items: Sequence[Item], ctx: StageContext) -> Sequence[Item]:
        if if_uneven and not _uneven(items):
            return items
        placed = spread_key_positions(items, ctx.seed)
        return [_reordered(*pair, ctx.stage) for pair in zip(items, placed, strict=True)]

    return BatchStage(name=name, input=Item, output=Item, work=work)


def _uneven(items: Sequence[Item]) -> bool:
    findings, _ = shortcut_findings([item for item in items if item.kind == "single"])
    return any(finding.tag == "KEY_POSITION" for finding in findings)


def _reordered(item: Item, placed: Item, stage: str) -> Item:
    """Return the item with the order that options had noted, and letters in its fields updated."""
    if placed.options == item.options:
        return item
    extra = dict(placed.extra)
    for field in ANSWER_TEXT_FIELDS:
        letters = extra.get(field)
        if letters == item.answer:
            extra[field] = placed.answer
        elif (letters,) == item.answer:
            extra[field] = placed.answer[0]
    order = [item.options.index(option) for option in placed.options]
    changed = structs.replace(placed, extra=freeze(extra) or NOTHING)
    return with_note(changed, stage, {"order": order})


def none_of_the_above(
    as_key: float = 2 / 15, as_distractor: float = 2 / 15, *, name: str = "none-of-the-above"
) -> BatchStage:
    """Return the stage that replaces keys and wrong options by "None of the above".

    ``as_key`` and ``as_distractor`` are shares of the single-choice items that can have it.
    """

    def work(
        items: Sequence[Item], ctx: StageContext, *, as_key: float, as_distractor: float
    ) -> Sequence[Item]:
        single = [item for item in items if item.kind == "single"]
        lacking = sum(not can_have(item) for item in single)
        if lacking:
            ctx.notes.append(
                f"{ctx.stage}: {lacking:,} of {len(single):,} single-choice items cannot have "
                "'None of the above' (fewer than 3 options, or one that refers to others), so the "
                "shares are of the rest"
            )
        return offer_none_of_the_above(items, ctx.seed, as_key, as_distractor, note=ctx.stage)

    parameters = {"as_key": as_key, "as_distractor": as_distractor}
    return BatchStage(name=name, input=Item, output=Item, work=work, parameters=parameters)


def balance_ratio(tag: str, ratio: Mapping[str, float], *, name: str = "ratio") -> BatchStage:
    """Return the stage that drops items until the values of a tag are in this ratio.

    As many items as possible are kept; those without one of the values are dropped.
    """

    def work(
        items: Sequence[Item], ctx: StageContext, *, tag: str, ratio: Mapping[str, float]
    ) -> Kept:
        kept = {item.id for item in keep_ratio(items, tag, ratio, ctx.seed)[0]} if items else set()
        if len(kept) < len(items):
            counts = Counter(value for item in items for value in item.tag(tag))
            there = ", ".join(f"{value} {counts[value]:,}" for value in ratio)
            parts = ":".join(f"{part:g}" for part in ratio.values())
            ctx.notes.append(
                f"{ctx.stage}: {len(kept):,} of {len(items):,} items are kept for the ratio "
                f"{parts} of {tag}; there were {there}"
            )
        return [
            item if item.id in kept else Rejected("more than the ratio takes", f"{tag} of {ratio}")
            for item in items
        ]

    parameters = {"tag": tag, "ratio": dict(ratio)}
    return BatchStage(name=name, input=Item, output=Item, work=work, parameters=parameters)


def split(
    shares: Mapping[str, float],
    by: Sequence[str] = ("category",),
    *,
    keep: bool = False,
    name: str = "split",
) -> BatchStage:
    """Return the stage that tags items with splits, each tag's values divided by the same shares.

    All items on a video, or on videos made from one clip, are in the same split.

    With ``keep``, items that have a split stay in it, and so do others on their videos.
    """

    def work(
        items: Sequence[Item], ctx: StageContext, *, shares: Mapping[str, float], by: Sequence[str]
    ) -> Sequence[Item]:
        known = known_splits(items) if keep else {}
        rest = [item for item in items if item.id not in known]
        made = split_items(rest, shares, tuple(by), seed=ctx.seed) if rest else ()
        sizes = Counter(item.tags["split"] for item in made)
        if any(abs(sizes[each] - share * len(made)) > 1 for each, share in shares.items()):
            wanted = ", ".join(f"{each} {percent(share)}" for each, share in shares.items())
            there = ", ".join(f"{each} {sizes[each]:,}" for each in shares)
            ctx.notes.append(
                f"{ctx.stage}: the shares asked for are {wanted}; as items on the same video or "
                f"clip stay together, there are {there}"
            )
        known |= {item.id: item.tags["split"] for item in made}
        return [
            structs.replace(item, tags=freeze({**item.tags, "split": known[item.id]}))
            for item in items
        ]

    parameters = {"shares": dict(shares), "by": list(by)}
    return BatchStage(name=name, input=Item, output=Item, work=work, parameters=parameters)


_TO_NEGATE = "to_negate"


def choose_negations(*, name: str = "choose-negations", **more: Any) -> BatchStage:
    """Return the stage that marks the fewest yes/no questions to negate for as many Yes as No."""

    def work(items: Sequence[Item], ctx: StageContext) -> list[Item]:
        chosen = items_to_negate([item for item in items if item.kind == "yesno"], ctx.seed)
        return [
            with_note(item, ctx.stage, {_TO_NEGATE: True}) if item.id in chosen else item
            for item in items
        ]

    return BatchStage(name=name, input=Item, output=Item, work=work, **more)


def negate(
    chosen_by: str = "choose-negations", *, name: str = "negate", role: str = "writer", **more: Any
) -> BatchStage:
    """Return the stage that has marked questions rewritten to their opposite, the key flipped.

    ``chosen_by`` is the name of the stage that marked them. Where the writer's opposite is none,
    such as a mere negation, or people rejected it, the question stays as it is, with the reason in
    its provenance, and another is rewritten in its place as long as there is one.
    """

    async def work(
        items: Sequence[Item], ctx: StageContext, *, chosen_by: str
    ) -> list[Item | Undecided]:
        marked = [i.id for i in items if i.provenance.get(chosen_by, {}).get(_TO_NEGATE)]
        return await negate_until_even(items, marked, ctx, role)

    return BatchStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=(role,),
        prompts=("opposite",),
        parameters={"chosen_by": chosen_by},
        reads=judged,
        **more,
    )


def balance_yes_no(*, drop: bool = False, name: str = "yes-no") -> BatchStage:
    """Return the stage that reports the balance of Yes and No, and warns if they are not as many.

    With ``drop``, items with the more frequent answer are dropped until they are.
    """

    def work(items: Sequence[Item], ctx: StageContext, *, drop: bool) -> Kept:
        sides = ids_by_answer(items, ctx.seed)
        fewer, more = sorted(sides.items(), key=lambda side: len(side[1]))
        counts = f"{more[0].title()} {len(more[1]):,}, {fewer[0].title()} {len(fewer[1]):,}"
        left_out = set(more[1][len(fewer[1]) :]) if len(more[1]) > len(fewer[1]) + 1 else set()
        if more[1]:
            numbers = {answer: len(ids) for answer, ids in sides.items()}
            ctx.tables.append(balance_table(items, numbers))
        if left_out:
            what = (
                f"{len(left_out):,} with the answer {more[0].title()} are left out"
                if drop
                else f"{counted(len(left_out) // 2, 'more question')} would have to be turned into "
                "the opposite, and none is left that can be"
            )
            ctx.notes.append(f"{ctx.stage}: the keys of the yes/no questions are {counts}: {what}")
        return [
            Rejected("more than the other answer", counts) if drop and item.id in left_out else item
            for item in items
        ]

    return BatchStage(name=name, input=Item, output=Item, work=work, parameters={"drop": drop})
