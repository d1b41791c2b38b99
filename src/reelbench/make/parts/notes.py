"""The notes of stages on items: in the item's provenance, under the stage's name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import structs

from reelbench.data.items import Item, freeze
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.funnel import FLAGGED
from reelbench.make.pipeline.stage import BatchStage, Rejected

Kept = list[Item | Rejected]


def with_note(item: Item, stage: str, note: Mapping[str, Any]) -> Item:
    """Return an item with the note of a stage in its provenance, beside those of the others."""
    return structs.replace(item, provenance=freeze({**item.provenance, stage: dict(note)}))


def failed(item: Item, stage: str, why: Rejected, *, drop: bool) -> Item:
    """Raise ``why`` if an item that fails a filter is to be dropped, else return it flagged."""
    if drop:
        raise why
    note = {**why.facts, FLAGGED: why.reason, "detail": why.detail}
    return with_note(item, stage, note)


def batch_filter(
    name: str,
    work: Callable[..., Kept],
    parameters: Mapping[str, Any],
    drop: bool,
    **more: Any,
) -> BatchStage:
    """Return a stage that drops the items that its work rejects, or with ``drop=False`` flags them.

    ``drop`` becomes a parameter of the stage; the work is called without it.
    """

    def filtered(items: Sequence[Item], ctx: StageContext, *, drop: bool, **values: Any) -> Kept:
        results = work(items, ctx, **values)
        if drop:
            return results
        return [
            failed(item, ctx.stage, result, drop=False) if isinstance(result, Rejected) else item
            for item, result in zip(items, results, strict=True)
        ]

    return BatchStage(
        name=name,
        input=Item,
        output=Item,
        work=filtered,
        parameters={**parameters, "drop": drop},
        filters=True,
        **more,
    )
