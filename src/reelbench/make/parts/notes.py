"""What stages note on an item: under their own name, in its provenance."""

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
    """Raise why an item fails a filter; where it is not to be dropped, return it flagged."""
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
    """Return a stage that drops what its work rejects, or flags it and lets it through."""

    def flagged(items: Sequence[Item], ctx: StageContext, **values: Any) -> Kept:
        return [
            failed(item, ctx.stage, why, drop=False) if isinstance(why, Rejected) else item
            for item, why in zip(items, work(items, ctx, **values), strict=True)
        ]

    return BatchStage(
        name=name,
        input=Item,
        output=Item,
        work=work if drop else flagged,
        parameters=parameters,
        filters=drop,
        flags=not drop,
        **more,
    )
