"""The value of one row in one column, by the column's metric, with all that its interval needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np

from reelbench.data.items import Item
from reelbench.data.table_rules import F1_OF_MEANS, POOLED_METRICS
from reelbench.score.estimates import scaled_record
from reelbench.score.f1 import f1_of_means
from reelbench.score.intervals import Cell, Estimate, Numbers
from reelbench.score.metrics import METRICS, micro
from reelbench.score.table_columns import TableColumn
from reelbench.score.table_rows import TableRow

Clusters = Mapping[str, int]  # the number of each item's video


@dataclass(frozen=True, slots=True)
class ColumnValue:
    """A value as a mean: of units, by which it is compared, and of shares, for its interval."""

    units: Cell
    shares: Cell  # from 0 to 1 of what lies between the two ends of the scale
    low: float = 0.0
    high: float = 1.0

    @property
    def value(self) -> float:
        """The value itself."""
        return fsum(self.units.right) / len(self.units.right)

    def record(self, estimate: Estimate) -> dict[str, Any]:
        """Return interval, standard error and number of videos on the scale of the value."""
        return scaled_record(estimate, self.low, self.high)


def column_value(row: TableRow, column: TableColumn, clusters: Clusters) -> ColumnValue | None:
    """Return the value of a row in a column that has items; None where nothing is known."""
    if column.is_mean or column.measured:
        return None
    if column.words:  # of wrong answers an item may have several
        return _plain(row.wrong_with(column.items, column.words), clusters)
    if column.metric in POOLED_METRICS:
        return _plain(_options(row, column), clusters)
    if column.metric == F1_OF_MEANS:
        return _harmonic(row, column.items, clusters)
    given = row.covered(column.items, column.metric)
    metric = METRICS[column.metric]
    valued = [item for item in column.items if item.id in given]
    least = np.array([0.0 if item.kind == "open" else metric.least(item) for item in valued])
    if not least.any():
        return _plain([*given.items()], clusters)
    units = Cell([clusters[item] for item in given], [*given.values()])
    shares = (_array(given) - least) / (1 - least)
    return ColumnValue(
        units, Cell(units.videos, shares.tolist(), (1 - least).tolist()), float(least.mean())
    )


def _plain(units: Sequence[tuple[str, float]], clusters: Clusters) -> ColumnValue | None:
    cell = Cell([clusters[item] for item, _ in units], [share for _, share in units])
    return ColumnValue(cell, cell) if units else None


def _options(row: TableRow, column: TableColumn) -> list[tuple[str, float]]:
    """Return what is a share of options, by item; people are asked about the items they had."""
    covered = row.covered(column.items, "precision")
    name = column.metric.removesuffix("_micro")
    found: list[tuple[str, float]] = []
    for answers in row.answers:
        asked = [
            item
            for item in column.items
            if item.id in covered and (item.id in answers or "participants" not in row.names)
        ]
        found += [(item, float(true)) for item, true in micro(asked, answers)[name]]
    return found


def _harmonic(row: TableRow, items: Sequence[Item], clusters: Clusters) -> ColumnValue | None:
    """Return the F1 of means; of several models, the mean of theirs."""
    found = []
    for each in row.members or (row,):
        precision, recall = (each.covered(items, name) for name in ("precision", "recall"))
        if not precision:
            return None
        found.append((precision.keys(), f1_of_means(*map(_array, (precision, recall)))))
    ids = [item.id for item in items if all(item.id in known for known, _ in found)]
    if not ids:
        return None
    units = np.zeros(len(ids))
    for known, each_f1 in found:
        place = {item: number for number, item in enumerate(known)}
        units += each_f1.scale * each_f1.shares[[place[item] for item in ids]] / len(found)
    high = fsum(each_f1.scale for _, each_f1 in found) / len(found)
    videos = [clusters[item] for item in ids]
    shares = Cell(videos, (units / high).tolist())
    return ColumnValue(Cell(videos, units.tolist()), shares, 0.0, high)


def _array(given: Mapping[str, float]) -> Numbers:
    return np.array([*given.values()])
