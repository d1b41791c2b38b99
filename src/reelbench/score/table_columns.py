"""The columns of a declared table: which items each has, and what it says about them."""

import difflib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from reelbench.data.items import Item
from reelbench.data.selection import items_with, listed, values_of
from reelbench.data.table_rules import (
    ACCURACY,
    AGAINST,
    CONDITION,
    MEAN_OF,
    MEASURED,
    METRIC,
    NOT_TAGS,
    WRONG_WITH,
)
from reelbench.score.expectation import DEFAULT_POLICY, expected_value
from reelbench.score.metrics import METRICS
from reelbench.score.mistakes import offered_share
from reelbench.score.rounding import rounded

Choice = Mapping[str, Any]  # tags, each to a value or to several of which any will do


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column as it is declared, with the items that it is about."""

    name: str
    declared: Choice
    items: Sequence[Item]  # of a mean of columns, those of all of them
    parts: Sequence[str] = ()  # of a mean of columns, those that have items

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean of other columns."""
        return MEAN_OF in self.declared

    @property
    def against(self) -> str:
        """The column that it is held against; empty where there is none."""
        return str(self.declared.get(AGAINST, ""))

    @property
    def measured(self) -> str:
        """What is measured, such as minutes; empty where items are scored."""
        return str(self.declared.get(MEASURED, ""))

    @property
    def metric(self) -> str:
        """What an answer is worth; exact answers are, where none is named."""
        return str(self.declared.get(METRIC, ACCURACY))

    @property
    def condition(self) -> str:
        """The condition under which the answers were given; empty for that of the row."""
        return str(self.declared.get(CONDITION, ""))

    @property
    def words(self) -> Sequence[str]:
        """The beginnings of words by which wrong options are counted, if they are."""
        return tuple(self.declared.get(WRONG_WITH, ()))


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """A table as it is declared, with its columns."""

    name: str
    table: Mapping[str, Any]
    columns: Mapping[str, TableColumn]

    @property
    def conditions(self) -> Sequence[str]:
        """The conditions whose rows it has; empty for all."""
        return tuple(self.table.get("conditions", ()))


def declared_table(name: str, table: Mapping[str, Any], items: Sequence[Item]) -> DeclaredTable:
    """Return a table with the items of its columns, of those that are scored."""
    left = items_with(items, table.get("where", {}))
    columns: dict[str, TableColumn] = {}
    for column, choice in table["columns"].items():
        if MEAN_OF not in choice:
            chosen = [] if MEASURED in choice else items_with(left, tags_in(choice))
            if METRIC in choice:
                chosen = [item for item in chosen if item.kind in kinds_of(choice[METRIC])]
            columns[column] = TableColumn(column, choice, chosen)
    for column, choice in table["columns"].items():
        if MEAN_OF in choice:
            parts = [part for part in choice[MEAN_OF] if columns[part].items]
            of_parts = {item.id: item for part in parts for item in columns[part].items}
            columns[column] = TableColumn(column, choice, [*of_parts.values()], parts)
    return DeclaredTable(name, table, {column: columns[column] for column in table["columns"]})


def kinds_of(metric: str) -> tuple[str, ...]:
    """Return the kinds of questions that a metric of a table is about."""
    return METRICS[metric].kinds if metric in METRICS else METRICS["precision"].kinds


def tags_in(choice: Choice) -> Choice:
    """Return what of a choice is about tags."""
    return {tag: values for tag, values in choice.items() if tag not in NOT_TAGS}


def column_records(declared: DeclaredTable) -> list[dict[str, Any]]:
    """Return what ``scores.json`` has about each column."""
    pooled = declared.table.get("pooled_chance", False)
    policy = declared.table.get("random", DEFAULT_POLICY)

    def expected(column: TableColumn) -> float | None:
        return expected_value(column.items, column.metric, policy)

    return [
        {
            "name": column.name,
            "of": column.declared,
            "items": len(column.items),
            "open": sum(item.kind == "open" for item in column.items),
            "chance": _chance_of(declared, column, expected),
            **({"pooled_chance": _chance_of(declared, column, _pooled)} if pooled else {}),
        }
        for column in declared.columns.values()
    ]


def _chance_of(
    declared: DeclaredTable, column: TableColumn, rule: Callable[[TableColumn], float | None]
) -> float | None:
    """What guessing comes to in a column; in a mean of columns, if it is known in each."""
    if column.words:
        return rounded(offered_share(column.items, column.words))
    parts = [declared.columns[part] for part in column.parts] if column.is_mean else [column]
    known = [chance for part in parts if (chance := rule(part)) is not None]
    return rounded(fsum(known) / len(known)) if known and len(known) == len(parts) else None


def _pooled(column: TableColumn) -> float | None:
    """Questions over options: less than what guessing comes to where their numbers differ."""
    closed = [item for item in column.items if item.kind != "open"]
    return len(closed) / sum(len(item.options) for item in closed) if closed else None


def column_warnings(declared: DeclaredTable, items: Sequence[Item]) -> Iterator[str]:
    """Yield what is asked for and is perhaps misspelt: tags that no item has, values like others.

    A value that no item has is no mistake by itself: a column may wait for its items.
    """
    known: dict[str, set[str]] = defaultdict(set)
    for item in items:
        for tag in (*item.tags, "kind"):
            known[tag].update(values_of(item, tag))
    asked: dict[str, dict[str, None]] = defaultdict(dict)
    chosen = [tags_in(each) for each in declared.table["columns"].values()]
    for choice in (declared.table.get("where", {}), *chosen):
        for tag, values in choice.items():
            asked[tag] |= dict.fromkeys(listed(values))
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


def _left_out(declared: DeclaredTable) -> Iterator[str]:
    """Columns without any items, which no mean of columns can have in it."""
    for column in declared.columns.values():
        empty = [n for n in column.declared.get(MEAN_OF, ()) if n not in column.parts]
        if empty:
            names = ", ".join(map(repr, empty))
            yield (
                f"The column {column.name!r} of the table {declared.name} leaves out {names}: no "
                "scored item is in there."
            )


def _perhaps(word: str, known: Mapping[str, Any] | set[str]) -> str:
    close = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.7)
    return f"; perhaps {close[0]!r} is meant" if close else ""
