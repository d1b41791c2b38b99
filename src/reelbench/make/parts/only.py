"""Limits a stage to some items: those with certain values of a tag; the others pass unchanged."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import BatchStage, RowStage, Stage


def only(stage: Stage, tag: str, values: Sequence[str]) -> Stage:
    """Return a stage that works on items with one of these values of a tag, and on no others.

    The values are the stage's parameter ``only``.
    """
    if stage.input is not Item or stage.output is not Item:
        raise ReelbenchError(f"The stage {stage.name} cannot pass items by: it changes their type.")
    parameters = {**stage.parameters, "only": list(values)}
    if isinstance(stage, RowStage):
        row_work = stage.work

        async def one(item: Item, ctx: StageContext, *, only: Sequence[str], **more: Any) -> Any:
            return await row_work(item, ctx, **more) if _has(item, tag, only) else [item]

        return replace(stage, work=one, parameters=parameters)
    assert isinstance(stage, BatchStage)
    batch_work = stage.work

    def some(items: Sequence[Item], ctx: StageContext, *, only: Sequence[str], **more: Any) -> Any:
        chosen = [item for item in items if _has(item, tag, only)]
        return among_others(items, chosen, batch_work(chosen, ctx, **more))

    return replace(stage, work=some, parameters=parameters)


def among_others(rows: Sequence[Any], chosen: Sequence[Any], results: Any) -> list[Any]:
    """Return the results of some rows in the places of these, the other rows as they are."""
    by_id = dict(zip((row.id for row in chosen), results, strict=True))
    return [by_id.get(row.id, row) for row in rows]


def _has(item: Item, tag: str, values: Sequence[str]) -> bool:
    return bool(set(item.tag(tag)) & set(values))
