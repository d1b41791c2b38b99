"""Stages for tests that note what was done, or fail."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from parts import Studio
from support import make_item

from reelbench.data.items import Item
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import RowStage, Stage


class Worker:
    """Work that notes on which rows it was done."""

    def __init__(self, make: Callable[[Item], Any] = lambda item: [item]) -> None:
        self.done: list[str] = []
        self._make = make

    async def __call__(self, item: Item, _ctx: StageContext, **_: Any) -> Any:
        self.done.append(item.id)
        return self._make(item)


def stage(work: Any = None, name: str = "work", **fields: Any) -> RowStage:
    return RowStage(name=name, input=Item, output=Item, work=work or Worker(), **fields)


def raising(error: BaseException, *ids: str) -> Worker:
    """Work that fails on some rows."""

    def make(item: Item) -> list[Item]:
        if not ids or item.id in ids:
            raise error
        return [item]

    return Worker(make)


ROWS = [make_item(1), make_item(2), make_item(3)]
IDS = ["q-1", "q-2", "q-3"]


def results(folder: Path, *stages: Stage, rows: Sequence[Any] = ROWS) -> Sequence[Any]:
    passed, _ = Studio(folder).take(rows, *stages)
    return passed[-1].results
