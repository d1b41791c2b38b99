"""The same question with options and without: two items that are linked."""

from msgspec import structs

from reelbench.data.items import PAIR, Item, freeze
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import RowStage


def open_counterparts(*, name: str = "counterparts") -> RowStage:
    """Return the stage that adds, to each single-choice item with a reference, an open one.

    The open item asks the same of the same video and has the reference for its answer. Its id is
    that of the other with ``-open`` behind it; the field ``pair`` of both is the same.
    """
    return RowStage(name=name, input=Item, output=Item, work=_work)


async def _work(item: Item, _ctx: StageContext) -> list[Item]:
    if item.kind != "single" or not item.reference:
        return [item]
    linked = freeze({**item.extra, PAIR: item.id})
    context = {name: value for name, value in item.context.items() if name != "explanations"}
    opened = structs.replace(
        item,
        id=f"{item.id}-open",
        kind="open",
        options=(),
        answer=(),
        context=freeze(context),
        extra=linked,
    )
    return [structs.replace(item, extra=linked), opened]
