"""The tables that a benchmark declares: for each model, a mean over the items of each column."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from reelbench.data.benchmark import Benchmark
from reelbench.data.table_rules import AGAINST, DISTRACTORS, SCORES
from reelbench.score.differences import Difference, difference_of
from reelbench.score.distractor_table import distractor_table
from reelbench.score.estimates import estimate_record
from reelbench.score.grades import Graded, Grades
from reelbench.score.intervals import Cell, Estimate, intervals
from reelbench.score.macro import macro_estimate
from reelbench.score.predictions import Asked
from reelbench.score.results import ModelResult
from reelbench.score.rounding import rounded
from reelbench.score.table_columns import (
    DeclaredTable,
    TableColumn,
    column_records,
    column_warnings,
    declared_table,
)
from reelbench.score.table_rows import RowFacts, TableRow, grades_of, rows_of, table_rows


def declared_tables(
    benchmark: Benchmark,
    results: Sequence[ModelResult],
    ranked: Sequence[Asked],
    judge: str | None,
    graded: Mapping[Graded, Grades],
    clusters: Mapping[str, int],
    facts: RowFacts,
) -> list[dict[str, Any]]:
    """Return the tables of ``benchmark.yaml``, with a row for each result in the order given.

    A cell is the mean worth of the items (see ``worth``), with the number of items in the column
    and in the mean, and the interval. Open items have the grades of one judge, so that all rows are
    on one scale.
    """
    tables = benchmark.manifest.tables
    if not tables:
        return []
    rows = table_rows(results, ranked, grades_of(judge, graded), facts)
    scored = [*results[0].items, *results[0].opened] if results else ()
    made = []
    for name, table in tables.items():
        declared = declared_table(name, table, scored)
        about = {"name": name, "title": table.get("title", name), "where": table.get("where", {})}
        if table.get("kind", SCORES) == DISTRACTORS:
            found = distractor_table(declared, results, ranked, clusters)
        else:
            found = _scores(declared, rows_of(rows, table, facts), judge, clusters)
        warnings = list(column_warnings(declared, benchmark.items))
        made.append({**about, **found, "warnings": warnings})
    return made


def _scores(
    declared: DeclaredTable,
    rows: Sequence[TableRow],
    judge: str | None,
    clusters: Mapping[str, int],
) -> dict[str, Any]:
    columns = declared.columns.values()
    opened = any(item.kind == "open" for column in columns for item in column.items)
    means = _Means.of(declared, rows, clusters)
    return {
        "judge": judge if opened else None,
        **({AGAINST: declared.table[AGAINST]} if AGAINST in declared.table else {}),
        "columns": column_records(declared),
        "rows": [
            {**row.names, "cells": [means.record(place, column) for column in columns]}
            for place, row in enumerate(rows)
        ],
    }


_Key = tuple[int, str]  # place of the row, and column


@dataclass(frozen=True, slots=True)
class _Means:
    """The means of all rows in all columns, and how sure they are."""

    declared: DeclaredTable
    rows: Sequence[TableRow]
    cells: Mapping[_Key, Cell]  # of columns that have items
    estimates: Mapping[_Key, Estimate]

    @classmethod
    def of(
        cls, declared: DeclaredTable, rows: Sequence[TableRow], clusters: Mapping[str, int]
    ) -> "_Means":
        cells = {
            (place, column.name): Cell([clusters[item] for item, _ in units], [v for _, v in units])
            for place, row in enumerate(rows)
            for column in declared.columns.values()
            if (units := _units(row, column))
        }
        found = intervals([*cells.values()], max(clusters.values()) + 1) if cells else []
        return cls(declared, rows, cells, dict(zip(cells, found, strict=True)))

    def record(self, place: int, column: TableColumn) -> dict[str, Any]:
        """Return what ``scores.json`` has about one cell."""
        row = self.rows[place]
        if column.measured:
            value = row.usage.get(column.measured)
            return {"items": 0, "covered": 0, "value": rounded(value), **estimate_record(None)}
        parts = self._parts(place, column)
        known = fsum(_mean(cell) for cell in parts) / len(parts) if parts else None
        names = column.parts if column.is_mean else [column.name]
        covered = {
            item for name in names for item in row.covered(self.declared.columns[name].items)
        }
        counts = {"items": len(column.items), "covered": len(covered)}
        if column.words:  # of all who are in the row
            counts = dict.fromkeys(counts, sum(len(cell.right) for cell in parts))
        difference = self._difference(place, column)
        return {
            **counts,
            "value": rounded(known),
            **estimate_record(self._estimate(place, column, parts)),
            **({"difference": difference.to_record()} if difference else {}),
        }

    def _parts(self, place: int, column: TableColumn) -> list[Cell]:
        """The cells that a mean is of, if it is known: a mean of columns is of all of them."""
        names = column.parts if column.is_mean else [column.name]
        keys = [(place, name) for name in names]
        return [self.cells[key] for key in keys] if all(key in self.cells for key in keys) else []

    def _estimate(self, place: int, column: TableColumn, parts: list[Cell]) -> Estimate | None:
        if not parts:
            return None
        if not column.is_mean:
            return self.estimates[place, column.name]
        return macro_estimate(parts, [self.estimates[place, name] for name in column.parts])

    def _difference(self, place: int, column: TableColumn) -> Difference | None:
        """The difference from another column, or from the same row under another condition."""
        if column.against:
            other = self._parts(place, self.declared.columns[column.against])
        else:
            base = self._base(place)
            other = [] if base is None else self._parts(base, column)
        parts = self._parts(place, column)
        return difference_of(parts, other) if parts and other else None

    def _base(self, place: int) -> int | None:
        """The row under the condition that the table's others are held against."""
        row, against = self.rows[place], self.declared.table.get(AGAINST)
        if against in (None, row.condition):
            return None
        same: Iterator[int] = (
            number
            for number, other in enumerate(self.rows)
            if other.who == row.who
            and other.condition == against
            and ("models" in other.names) == ("models" in row.names)
        )
        return next(same, None)


def _units(row: TableRow, column: TableColumn) -> list[tuple[str, float]]:
    """What a column's mean is of, by item: of wrong answers an item may have several."""
    if column.is_mean or column.measured:
        return []
    if column.words:
        return row.wrong_with(column.items, column.words)
    return [*row.covered(column.items).items()]


def _mean(cell: Cell) -> float:
    return fsum(cell.right) / len(cell.right)
