"""The tables that a benchmark declares: for each model, a mean over the items of each column."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.data.table_rules import AGAINST, DISTRACTORS, SCORES
from reelbench.score.column_values import ColumnValue, column_value
from reelbench.score.differences import Difference, difference_of
from reelbench.score.distractor_table import distractor_table
from reelbench.score.estimates import estimate_record
from reelbench.score.grades import Graded, Grades
from reelbench.score.intervals import Estimate, intervals
from reelbench.score.macro import macro_estimate
from reelbench.score.metrics import METRICS
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
from reelbench.score.table_rows import (
    RowFacts,
    TableRow,
    grades_of,
    metrics_in,
    rows_of,
    table_rows,
)


def declared_tables(
    benchmark: Benchmark,
    scored: Sequence[Item],
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
    wanted = metrics_in(tables.values())
    rows = table_rows(results, ranked, grades_of(judge, graded), facts, wanted)
    made = []
    for name, table in tables.items():
        declared = declared_table(name, table, scored)
        about = {"name": name, "title": table.get("title", name), "where": table.get("where", {})}
        about |= {field: table[field] for field in _SHOWN if table.get(field)}
        if table.get("kind", SCORES) == DISTRACTORS:
            found = distractor_table(declared, results, ranked, clusters)
        else:
            found = _scores(declared, rows_of(rows, table, facts), judge, clusters)
        warnings = list(column_warnings(declared, benchmark.items))
        made.append({**about, **found, "warnings": warnings})
    return made


_SHOWN = (  # fields that pages need
    "random", "people", "tiers", "modality", "frames", "best_by_tier", "second_best", "note",
)  # fmt: skip


def _scores(
    declared: DeclaredTable,
    rows: Sequence[TableRow],
    judge: str | None,
    clusters: Mapping[str, int],
) -> dict[str, Any]:
    columns = declared.columns.values()
    opened = any(item.kind == "open" for column in columns for item in column.items)
    under = _by_condition(rows) if any(column.condition for column in columns) else {}
    if under:
        asked = Counter(who for who, name in under if name in {c.condition for c in columns})
        rows = [
            replace(row, names={**row.names, "condition": ""})
            for row in _one_each(rows)
            if asked[row.who] > 1  # with one of them there is nothing to hold it against
        ]
    means = _Means.of(declared, rows, under, clusters)
    return {
        "judge": judge if opened else None,
        **({AGAINST: declared.table[AGAINST]} if AGAINST in declared.table else {}),
        "columns": column_records(declared),
        "rows": [
            {**row.names, "cells": [means.record(place, column) for column in columns]}
            for place, row in enumerate(rows)
        ],
    }


def _by_condition(rows: Sequence[TableRow]) -> dict[tuple[str, str], TableRow]:
    return {(row.who, row.condition): row for row in rows}


def _one_each(rows: Sequence[TableRow]) -> list[TableRow]:
    """Return the first row of each model, where its others are columns."""
    return [*{row.who: row for row in reversed(rows)}.values()][::-1]


_Key = tuple[int, str]  # place of the row, and column


@dataclass(frozen=True, slots=True)
class _Means:
    """The means of all rows in all columns, and how sure they are."""

    declared: DeclaredTable
    rows: Sequence[TableRow]
    under: Mapping[tuple[str, str], TableRow]  # by who and condition, where columns name one
    values: Mapping[_Key, ColumnValue]  # of columns that have items
    estimates: Mapping[_Key, Estimate]
    clusters: Mapping[str, int]

    @classmethod
    def of(
        cls,
        declared: DeclaredTable,
        rows: Sequence[TableRow],
        under: Mapping[tuple[str, str], TableRow],
        clusters: Mapping[str, int],
    ) -> "_Means":
        empty = cls(declared, rows, under, {}, {}, clusters)
        values = {
            (place, column.name): value
            for place in range(len(rows))
            for column in declared.columns.values()
            if (row := empty._row(place, column)) and (value := column_value(row, column, clusters))
        }
        shares = [value.shares for value in values.values()]
        found = intervals(shares, max(clusters.values()) + 1) if shares else []
        estimates = dict(zip(values, found, strict=True))
        return cls(declared, rows, under, values, estimates, clusters)

    def _row(self, place: int, column: TableColumn) -> TableRow | None:
        """The row whose answers a column is about."""
        row = self.rows[place]
        return self.under.get((row.who, column.condition)) if column.condition else row

    def record(self, place: int, column: TableColumn) -> dict[str, Any]:
        """Return what ``scores.json`` has about one cell."""
        row = self._row(place, column)
        if column.measured and row:
            value = row.usage.get(column.measured)
            return {"items": 0, "covered": 0, "value": rounded(value), **estimate_record(None)}
        parts = self._parts(place, column)
        known = fsum(part.value for part in parts) / len(parts) if parts else None
        counts = {"items": len(column.items), "covered": len(self._covered(row, column))}
        if column.words:  # of all who are in the row
            counts = dict.fromkeys(counts, sum(len(part.units.right) for part in parts))
        difference = self._difference(place, column)
        return {
            **counts,
            "value": rounded(known),
            **self._sureness(place, column, parts),
            **({"difference": difference.to_record()} if difference else {}),
        }

    def _covered(self, row: TableRow | None, column: TableColumn) -> set[str]:
        if row is None:
            return set()
        return {
            item
            for part in self._columns(column)
            for item in row.covered(
                part.items, part.metric if part.metric in METRICS else "precision"
            )
        }

    def _columns(self, column: TableColumn) -> list[TableColumn]:
        """The columns that a mean of columns is of; another column alone."""
        names = column.parts if column.is_mean else [column.name]
        return [self.declared.columns[name] for name in names]

    def _parts(
        self, place: int, column: TableColumn, items: Collection[str] | None = None
    ) -> list[ColumnValue]:
        """The values that a mean is of, over all or some of the items; empty if one has none."""
        found = []
        for part in self._columns(column):
            value = self.values.get((place, part.name))
            if items is not None and (row := self._row(place, part)):
                some = replace(part, items=[item for item in part.items if item.id in items])
                value = column_value(row, some, self.clusters)
            found.append(value)
        return [value for value in found if value] if all(found) else []

    def _sureness(
        self, place: int, column: TableColumn, parts: Sequence[ColumnValue]
    ) -> dict[str, Any]:
        if not parts:
            return estimate_record(None)
        if not column.is_mean:
            return parts[0].record(self.estimates[place, column.name])
        estimates = [self.estimates[place, name] for name in column.parts]
        return estimate_record(macro_estimate([part.shares for part in parts], estimates))

    def _difference(self, place: int, column: TableColumn) -> Difference | None:
        """The difference from another column, or from the same row under another condition.

        Of columns about the same items, it is on those that both cover.
        """
        other = self.declared.columns[column.against] if column.against else column
        base = place if column.against else self._base(place)
        if base is None:
            return None
        sides = [(place, column), (base, other)]
        parts = [self._parts(*side) for side in sides]
        covered = [self._covered(self._row(*side), side[1]) for side in sides]
        if column.items == other.items and covered[0] != covered[1]:
            parts = [self._parts(*side, covered[0] & covered[1]) for side in sides]
        if not all(parts):
            return None
        return difference_of(*([part.units for part in side] for side in parts))

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
