"""The tables that a benchmark declares: for each model, a mean over the items of each column."""

import difflib
import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.data.manifest import MEAN_OF
from reelbench.score.estimates import estimate_record
from reelbench.score.grades import Graded, Grades, worth
from reelbench.score.intervals import Cell, Estimate, intervals
from reelbench.score.macro import macro_estimate
from reelbench.score.people import HUMAN
from reelbench.score.predictions import Asked
from reelbench.score.results import ModelResult
from reelbench.score.rounding import rounded

Choice = Mapping[str, Any]  # tags, each to a value or to several of which any will do


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: a model under a condition, or all human participants under one."""

    names: Mapping[str, Any]
    worth: Mapping[str, float]  # of items that can be valued


@dataclass(frozen=True, slots=True)
class _Declared:
    """A table as it is declared, with the items of each of its columns."""

    name: str
    table: Mapping[str, Any]
    columns: Mapping[str, Sequence[Item]]  # a mean of columns has the items of all of them
    means: Mapping[str, Sequence[str]]  # of columns that have items, by the column that it is


def declared_tables(
    benchmark: Benchmark,
    results: Sequence[ModelResult],
    ranked: Sequence[Asked],
    judge: str | None,
    graded: Mapping[Graded, Grades],
    clusters: Mapping[str, int],
) -> list[dict[str, Any]]:
    """Return the tables of ``benchmark.yaml``, with a row for each result in the order given.

    A cell is the mean worth of the items (see ``worth``), with the number of items in the column
    and in the mean, and the interval. Open items have the grades of one judge, so that all rows are
    on one scale.
    """
    tables = benchmark.manifest.tables
    if not tables:
        return []
    rows = _rows(results, ranked, _grades_of(judge, graded))
    scored = [*results[0].items, *results[0].opened] if results else ()
    chosen = [_declared(name, table, scored) for name, table in tables.items()]
    found = _means(rows, chosen, clusters)
    return [_record(each, rows, found, judge, benchmark.items) for each in chosen]


def _declared(name: str, table: Mapping[str, Any], items: Sequence[Item]) -> _Declared:
    left = select(items, table.get("where", {}))
    chosen = table["columns"]
    own = {c: select(left, choice) for c, choice in chosen.items() if MEAN_OF not in choice}
    means = {
        column: [part for part in choice[MEAN_OF] if own[part]]
        for column, choice in chosen.items()
        if MEAN_OF in choice
    }
    of_means = {
        column: list({item.id: item for part in parts for item in own[part]}.values())
        for column, parts in means.items()
    }
    columns = {column: own.get(column) or of_means.get(column, []) for column in chosen}
    return _Declared(name, table, columns, means)


def select(items: Sequence[Item], choice: Choice) -> list[Item]:
    """Return the items that have, of each tag, one of the values that are asked for."""
    wanted = {tag: set(_listed(values)) for tag, values in choice.items()}
    return [
        item
        for item in items
        if all(not values.isdisjoint(_values(item, tag)) for tag, values in wanted.items())
    ]


def _listed(values: Any) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else tuple(values)


def _values(item: Item, tag: str) -> tuple[str, ...]:
    """The values of a tag; the kind needs no tag that says it."""
    return item.tag(tag) or ((item.kind,) if tag == "kind" else ())


def _grades_of(judge: str | None, graded: Mapping[Graded, Grades]) -> dict[Asked, Grades]:
    """The grades of one judge; those of another rubric only where the first has none."""
    found: dict[Asked, Grades] = {}
    for (model, condition, name, _), grades in sorted(
        graded.items(), key=lambda each: (not each[1].scores, each[0])
    ):
        if name == judge:
            found.setdefault((model, condition), grades)
    return found


def _rows(
    results: Sequence[ModelResult], ranked: Sequence[Asked], grades: Mapping[Asked, Grades]
) -> list[TableRow]:
    """A row for each model and condition; people under one condition share theirs, at the end."""
    known = {(result.model, result.condition): result for result in results}
    models: list[TableRow] = []
    people: dict[str, list[TableRow]] = defaultdict(list)
    for model, condition in ranked:
        asked = model, condition
        names = {"model": model, "condition": condition}
        row = TableRow(names, worth(known[asked], grades.get(asked)))
        (people[condition] if model.startswith(HUMAN) else models).append(row)
    return models + [_people(condition, them) for condition, them in sorted(people.items())]


def _people(condition: str, them: Sequence[TableRow]) -> TableRow:
    """People as one: an item is worth the mean of what it is worth for each of them."""
    by_item: dict[str, list[float]] = defaultdict(list)
    for each in them:
        for name, share in each.worth.items():
            by_item[name].append(share)
    name = them[0].names["model"] if len(them) == 1 else "people"
    names = {"model": name, "condition": condition, "participants": len(them)}
    return TableRow(names, {item: fsum(shares) / len(shares) for item, shares in by_item.items()})


def _covered(row: TableRow, items: Sequence[Item]) -> dict[str, float]:
    return {item.id: row.worth[item.id] for item in items if item.id in row.worth}


@dataclass(frozen=True, slots=True)
class _Mean:
    """The mean of one row in one column, and how sure it is."""

    value: float
    estimate: Estimate


_Key = tuple[str, int, str]  # table, place of the row, and column


def _means(
    rows: Sequence[TableRow], chosen: Sequence[_Declared], clusters: Mapping[str, int]
) -> dict[_Key, _Mean]:
    """The means of all columns that have one, with intervals from the same draws."""
    cells = {
        (each.name, place, column): Cell([clusters[n] for n in shares], list(shares.values()))
        for each in chosen
        for place, row in enumerate(rows)
        for column, items in each.columns.items()
        if column not in each.means and (shares := _covered(row, items))
    }
    estimates = intervals([*cells.values()], max(clusters.values()) + 1) if cells else []
    found = {
        key: _Mean(fsum(cell.right) / len(cell.right), estimate)
        for (key, cell), estimate in zip(cells.items(), estimates, strict=True)
    }
    for each in chosen:
        for (column, parts), place in itertools.product(each.means.items(), range(len(rows))):
            keys = [(each.name, place, part) for part in parts]
            if keys and all(key in cells for key in keys):
                found[each.name, place, column] = _mean_of_columns(keys, cells, found)
    return found


def _mean_of_columns(
    keys: Sequence[_Key], cells: Mapping[_Key, Cell], known: Mapping[_Key, _Mean]
) -> _Mean:
    estimate = macro_estimate([cells[key] for key in keys], [known[key].estimate for key in keys])
    return _Mean(fsum(known[key].value for key in keys) / len(keys), estimate)


def _record(
    declared: _Declared,
    rows: Sequence[TableRow],
    means: Mapping[_Key, _Mean],
    judge: str | None,
    items: Sequence[Item],
) -> dict[str, Any]:
    table, columns = declared.table, declared.columns
    opened = any(item.kind == "open" for chosen in columns.values() for item in chosen)
    return {
        "name": declared.name,
        "title": table.get("title", declared.name),
        "where": table.get("where", {}),
        "judge": judge if opened else None,
        "columns": [
            {
                "name": name,
                "of": table["columns"][name],
                "items": len(chosen),
                "open": sum(item.kind == "open" for item in chosen),
                "chance": _chance_of(declared, name),
            }
            for name, chosen in columns.items()
        ],
        "rows": [
            {
                **row.names,
                "cells": [
                    _cell(row, chosen, means.get((declared.name, place, name)))
                    for name, chosen in columns.items()
                ],
            }
            for place, row in enumerate(rows)
        ],
        "warnings": list(_warnings(declared, items)),
    }


def _cell(row: TableRow, items: Sequence[Item], mean: _Mean | None) -> dict[str, Any]:
    return {
        "items": len(items),
        "covered": len(_covered(row, items)),
        "value": None if mean is None else rounded(mean.value),
        **estimate_record(None if mean is None else mean.estimate),
    }


def _chance_of(declared: _Declared, column: str) -> float | None:
    """What guessing comes to in a column; in a mean of columns, if it is known in each."""
    parts = declared.means.get(column, [column])
    chances = [_chance(declared.columns[part]) for part in parts]
    known = [chance for chance in chances if chance is not None]
    return rounded(fsum(known) / len(known)) if known and len(known) == len(parts) else None


def _chance(items: Sequence[Item]) -> float | None:
    """What guessing comes to on closed items; open ones cannot be guessed."""
    chances = [item.chance for item in items if item.kind != "open"]
    return fsum(chances) / len(chances) if chances else None


def _warnings(declared: _Declared, items: Sequence[Item]) -> Iterator[str]:
    """What is asked for and is perhaps misspelt: tags that no item has, and values like others.

    A value that no item has is no mistake by itself: a column may wait for its items.
    """
    known: dict[str, set[str]] = defaultdict(set)
    for item in items:
        for tag in (*item.tags, "kind"):
            known[tag].update(_values(item, tag))
    asked: dict[str, dict[str, None]] = defaultdict(dict)
    chosen = [each for each in declared.table["columns"].values() if MEAN_OF not in each]
    for choice in (declared.table.get("where", {}), *chosen):
        for tag, values in choice.items():
            asked[tag] |= dict.fromkeys(_listed(values))
    yield from _left_out(declared)
    table = f"The table {declared.name} asks for"
    for tag, values in asked.items():
        if tag not in known:
            yield f"{table} the tag {tag!r}, which no item has{_perhaps(tag, known)}."
            continue
        for value in values:
            others = known[tag] - values.keys()  # what another column asks for is not meant
            if value not in known[tag] and (hint := _perhaps(value, others)):
                yield f"{table} {tag} {value!r}, which no item has{hint}."


def _left_out(declared: _Declared) -> Iterator[str]:
    """Columns without any items, which no mean of columns can have in it."""
    for column, parts in declared.means.items():
        empty = [n for n in declared.table["columns"][column][MEAN_OF] if n not in parts]
        if empty:
            names = ", ".join(map(repr, empty))
            yield (
                f"The column {column!r} of the table {declared.name} leaves out {names}: no "
                "scored item is in there."
            )


def _perhaps(word: str, known: Mapping[str, Any] | set[str]) -> str:
    close = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.7)
    return f"; perhaps {close[0]!r} is meant" if close else ""
