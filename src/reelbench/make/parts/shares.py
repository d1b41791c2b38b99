"""Shares with their intervals, for the tables of stages and of makes."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.data.items import Item
from reelbench.score.intervals import Cell, intervals
from reelbench.score.rounding import rounded


@dataclass(frozen=True, slots=True)
class ItemShare:
    """How many of some items or drafts something holds for: the share, and its 95 % interval."""

    count: int
    of: int
    rate: float | None
    interval: tuple[float | None, float | None]

    @property
    def cells(self) -> list[Any]:
        """The cells of a table: count, of, share, low and high."""
        return [self.count, self.of, self.rate, *self.interval]


def share_of(items: Sequence[Item], holds: Sequence[bool]) -> ItemShare:
    """Return the share of items for which something holds, with its interval by videos."""
    return share_by([item.media[0].path for item in items], holds)


def share_by(clusters: Sequence[str], holds: Sequence[bool]) -> ItemShare:
    """Return how often something holds; the interval is by clusters, which are the sample."""
    if not clusters:
        return ItemShare(0, 0, None, (None, None))
    numbers = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    cell = Cell([numbers[name] for name in clusters], [float(each) for each in holds])
    (found,) = intervals([cell], len(numbers))
    low, high = (rounded(end) for end in found.interval)
    return ItemShare(sum(holds), len(clusters), rounded(sum(holds) / len(clusters)), (low, high))


def csv_text(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([columns, *rows])
    return text.getvalue()


def stage_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> Mapping[str, Any]:
    """Return a table as the page of a make shows it; what is not known is empty."""
    cells = [["" if cell is None else cell for cell in row] for row in rows]
    return {"title": title, "columns": list(columns), "rows": cells}
