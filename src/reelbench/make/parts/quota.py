"""Quotas: at most so many items of each value of a tag, with a warning about shortfalls."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.base.seeds import seed_for
from reelbench.data.items import Item
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import BatchStage, Rejected


def quota(
    tag: str, most: Mapping[str, int], *, name: str = "quota", exclusive: bool = False
) -> BatchStage:
    """Return the stage that keeps at most so many items of each value of a tag, drawn by the seed.

    ``most`` has the quotas by value. An item with several values counts for each, and is kept while
    all of them have room. An item without a value that has a quota is kept, unless ``exclusive``.
    A quota that is not filled is reported to the user.
    """
    return BatchStage(
        name=name,
        input=Item,
        output=Item,
        work=_within,
        parameters={"tag": tag, "most": dict(most), "exclusive": exclusive},
        validate=_fault,
    )


def _fault(parameters: Mapping[str, Any]) -> str:
    counts = parameters["most"].values()
    whole = all(isinstance(count, int) and count >= 0 for count in counts)
    return "" if whole else f"most is {parameters['most']}: give whole numbers, from 0 on"


def _within(
    items: Sequence[Item],
    ctx: StageContext,
    *,
    tag: str,
    most: Mapping[str, int],
    exclusive: bool,
) -> list[Item | Rejected]:
    kept: dict[str, int] = defaultdict(int)
    results: dict[str, Item | Rejected] = {}
    for item in sorted(items, key=lambda item: seed_for(ctx.seed, ctx.stage, item.id)):
        values = item.tag(tag)
        limited = [value for value in values if value in most]
        full = any(kept[value] >= most[value] for value in limited)
        if not full and (limited or not exclusive):
            results[item.id] = item
            for value in limited:
                kept[value] += 1
        else:
            detail = f"{tag}: {', '.join(values) or 'none'}"
            results[item.id] = Rejected("over the quota", detail)
    short = [value for value in most if kept[value] < most[value]]
    if short and items:
        lacking = [f"{value} {kept[value]} of {most[value]}" for value in short]
        ctx.notes.append(f"{ctx.stage}: too few items by {tag}: {', '.join(lacking)}")
    return [results[item.id] for item in items]
