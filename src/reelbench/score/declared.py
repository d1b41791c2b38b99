"""The tables that a benchmark declares: for each model, a mean over the items of each column."""

import difflib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from reelbench.benchmark import Benchmark
from reelbench.items import Item
from reelbench.score.intervals import Cell, Estimate, intervals
from reelbench.score.judged import Graded, Grades, worth
from reelbench.score.people import HUMAN
from reelbench.score.predictions import Asked
from reelbench.score.results import Result
from reelbench.score.rounding import rounded

Choice = Mapping[str, Any]  # tags, each to a value or to several of which any will do


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a model under a condition, or the people under one."""

    names: Mapping[str, Any]
    worth: Mapping[str, float]  # of items that can be valued


@dataclass(frozen=True, slots=True)
class _Declared:
    """A table as it is declared, with the items of each of its columns."""

    name: str
    table: Mapping[str, Any]
    columns: Mapping[str, Sequence[Item]]


def declared_tables(
    benchmark: Benchmark,
    results: Sequence[Result],
    ranked: Sequence[Asked],
    judge: str | None,
    graded: Mapping[Graded, Grades],
    clusters: Mapping[str, int],
    seed: int,
) -> list[dict[str, Any]]:
    """Return the tables of ``benchmark.yaml``, with a row for each result in the order given.

    A cell is the mean of what the items are worth (see ``worth``), with how many items the column
    has, how many of them the mean covers, and the interval. Open items have the grades of one
    judge, so that all rows are on one scale.
    """
    tables = benchmark.manifest.tables
    if not tables:
        return []
    rows = _rows(results, ranked, _grades_of(judge, graded))
    chosen = [_declared(name, table, benchmark.items) for name, table in tables.items()]
    estimates = iter(_intervals(rows, chosen, clusters, seed))
    return [_record(each, rows, estimates, judge, benchmark.items) for each in chosen]


def _declared(name: str, table: Mapping[str, Any], items: Sequence[Item]) -> _Declared:
    left = select(items, table.get("where", {}))
    columns = {column: select(left, choice) for column, choice in table["columns"].items()}
    return _Declared(name, table, columns)


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
    found: dict[Asked, Grades] = {}
    for (model, condition, name, _), grades in sorted(graded.items()):
        if name == judge and grades.scores:
            found.setdefault((model, condition), grades)
    return found


def _rows(
    results: Sequence[Result], ranked: Sequence[Asked], grades: Mapping[Asked, Grades]
) -> list[Row]:
    """A row for each model and condition; people under one condition share theirs, at the end."""
    known = {(result.model, result.condition): result for result in results}
    models: list[Row] = []
    people: dict[str, list[Row]] = defaultdict(list)
    for model, condition in ranked:
        asked = model, condition
        names = {"model": model, "condition": condition}
        row = Row(names, worth(known[asked], grades.get(asked)))
        (people[condition] if model.startswith(HUMAN) else models).append(row)
    return models + [_people(condition, them) for condition, them in sorted(people.items())]


def _people(condition: str, them: Sequence[Row]) -> Row:
    """People as one: an item is worth the mean of what it is worth for each of them."""
    by_item: dict[str, list[float]] = defaultdict(list)
    for each in them:
        for name, share in each.worth.items():
            by_item[name].append(share)
    name = them[0].names["model"] if len(them) == 1 else "people"
    names = {"model": name, "condition": condition, "participants": len(them)}
    return Row(names, {item: fsum(shares) / len(shares) for item, shares in by_item.items()})


def _covered(row: Row, items: Sequence[Item]) -> dict[str, float]:
    return {item.id: row.worth[item.id] for item in items if item.id in row.worth}


def _intervals(
    rows: Sequence[Row], chosen: Sequence[_Declared], clusters: Mapping[str, int], seed: int
) -> list[Estimate]:
    """The intervals of all cells that have a mean, table by table and row by row."""
    cells = [
        Cell([clusters[name] for name in shares], list(shares.values()))
        for each in chosen
        for row in rows
        for items in each.columns.values()
        if (shares := _covered(row, items))
    ]
    return intervals(cells, max(clusters.values()) + 1, seed) if cells else []


def _record(
    declared: _Declared,
    rows: Sequence[Row],
    estimates: Iterator[Estimate],
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
                "chance": _chance(chosen),
            }
            for name, chosen in columns.items()
        ],
        "rows": [
            {**row.names, "cells": [_cell(row, chosen, estimates) for chosen in columns.values()]}
            for row in rows
        ],
        "warnings": list(_warnings(declared, items)),
    }


def _cell(row: Row, items: Sequence[Item], estimates: Iterator[Estimate]) -> dict[str, Any]:
    shares = _covered(row, items)
    return {
        "items": len(items),
        "covered": len(shares),
        "value": rounded(fsum(shares.values()) / len(shares)) if shares else None,
        "interval": [rounded(end) for end in next(estimates).interval] if shares else None,
    }


def _chance(items: Sequence[Item]) -> float | None:
    """What guessing comes to on closed items; open ones cannot be guessed."""
    chances = [item.chance for item in items if item.kind != "open"]
    return rounded(fsum(chances) / len(chances)) if chances else None


def _warnings(declared: _Declared, items: Sequence[Item]) -> Iterator[str]:
    """What is asked for and is perhaps misspelt: tags that no item has, and values like others.

    A value that no item has is no mistake by itself: a column may wait for its items.
    """
    known: dict[str, set[str]] = defaultdict(set)
    for item in items:
        for tag in (*item.tags, "kind"):
            known[tag].update(_values(item, tag))
    asked: dict[str, dict[str, None]] = defaultdict(dict)
    for choice in (declared.table.get("where", {}), *declared.table["columns"].values()):
        for tag, values in choice.items():
            asked[tag] |= dict.fromkeys(_listed(values))
    table = f"The table {declared.name} asks for"
    for tag, values in asked.items():
        if tag not in known:
            yield f"{table} the tag {tag!r}, which no item has{_perhaps(tag, known)}."
            continue
        for value in values:
            others = known[tag] - values.keys()  # what another column asks for is not meant
            if value not in known[tag] and (hint := _perhaps(value, others)):
                yield f"{table} {tag} {value!r}, which no item has{hint}."


def _perhaps(word: str, known: Mapping[str, Any] | set[str]) -> str:
    close = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.7)
    return f"; perhaps {close[0]!r} is meant" if close else ""
