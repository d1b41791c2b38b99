"""Which item a row is about: by its id, by the question's words, or by its place."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from reelbench.data.items import Item
from reelbench.interop.imports.column_names import QUESTION, VIDEO
from reelbench.interop.predictions.columns import (
    PROMPTS,
    Values,
    columns_called,
    plain_name,
    text_of,
)

FROM_ZERO = ("index", "idx", "docid")  # of columns that count rows
_BY_NUMBER = "the numbers in the ids"
_HEADED = (".csv", ".tsv", ".tab", ".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")  # files with a header
_MOST_DOUBT = 0.2  # of rows whose question is another: ids by place may not have more
_IN_LINES = "its row in the source"
_BELOW_HEADER = "its row in the source below a header"
_IN_ORDER = "the items' order"
_MOST_DIGITS = 9  # of the number of a row
Found = list[str | None]  # the item of each row


@dataclass(frozen=True, slots=True)
class Match:
    """The items of rows, and the rule that they were found by."""

    items: Sequence[str | None]
    column: str
    rule: str

    @property
    def count(self) -> int:
        """The number of rows with an item."""
        return sum(each is not None for each in self.items)


class ItemIndex:
    """Finds the item that a row is about."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.by_id = {item.id: item for item in items}
        sources = [(_source_id(item), item.id) for item in items]
        exact = {item.id: item.id for item in items}
        imported = _unique(sources)
        either = {**imported, **exact}
        loose = _unique([(_loose(name), item) for name, item in either.items()])
        with_video = _unique([(_loose(f"{_stem(i)}_{_source_id(i) or i.id}"), i.id) for i in items])
        self._names: list[tuple[str, dict[str, str], Callable[[str], str]]] = [
            ("the items' ids", exact, str),
            ("the ids that the items had where they were imported from", either, str),
            ("the items' ids, but for case, signs and zeros", loose, _loose),
            ("video and id", with_video, _loose),
        ]
        self._numbers = _unique([(_number(item.id), item.id) for item in items])
        self._questions = _unique([(_words(item.question), item.id) for item in items])
        self._asked = _unique([(f"{_words(i.question)}|{_loose(_stem(i))}", i.id) for i in items])

    def match(self, rows: Sequence[Values], columns: Sequence[str]) -> Match:
        """Return the best match by one of some columns with ids, the likeliest first."""
        best = Match([None] * len(rows), columns[0] if columns else "", "")
        for column in columns:
            for found in self._by_column(rows, column):
                if found.count > best.count and self._is_believed(rows, found):
                    best = found
                if best.count == len(rows):
                    return best
        return max([best, *self._by_question(rows)], key=lambda match: match.count)

    def by_place(self, rows: Sequence[Values], columns: Sequence[str], keys: "Agrees") -> Match:
        """Return the match by the row's number, where questions or keys confirm it.

        Without either, a file must have a row for every item.
        """
        for column in columns:
            numbers = whole_numbers(rows, column)
            for rule, places in self._places(plain_name(column)) if numbers else ():
                found: Found = [places.get(each) for each in numbers]
                match = Match(found, column, rule)
                if match.count == len(rows) and self._is_confirmed(rows, match, keys):
                    return match
        return Match([None] * len(rows), columns[0] if columns else "", "")

    def other_readings(self, rows: Sequence[Values], match: Match) -> list[Match]:
        """Return what the numbers of a match by ids would be as rows, where all fit.

        Rows are counted from 0; from 1 as well, where the ids are counted from 0.
        """
        readings = self._readings(rows, match.column, "" if "0" in self.by_id else FROM_ZERO[0])
        return [each for each in readings if list(each.items) != list(match.items)]

    def by_row(self, rows: Sequence[Values], column: str) -> list[Match]:
        """Return the ways in which all numbers of a column are those of rows.

        They are counted from 0 or from 1, whatever the column is called; those from 0 come first.
        """
        return self._readings(rows, column, "")

    def _readings(self, rows: Sequence[Values], column: str, name: str) -> list[Match]:
        """The different ways in which all numbers of a column are those of rows."""
        numbers = whole_numbers(rows, column)
        files = {text_of(_source(item, "file")).partition("#")[0].lower() for item in self.items}
        headed = {file.removesuffix(".gz").endswith(_HEADED) for file in files if file}
        unlikely = {_IN_LINES if each else _BELOW_HEADER for each in headed}
        readings: dict[tuple[str | None, ...], Match] = {}
        for rule, places in self._places(name) if numbers else ():
            found = tuple(places.get(each) for each in numbers)
            if None not in found and {rule.partition(",")[0]} != unlikely:
                readings.setdefault(found, Match(found, column, rule))
        return list(readings.values())

    def _by_column(self, rows: Sequence[Values], column: str) -> Iterator[Match]:
        names = [text_of(row.get(column)) for row in rows]
        for rule, known, form in self._names:
            yield Match([known.get(form(name)) if name else None for name in names], column, rule)
        if plain_name(column) not in FROM_ZERO and self._are_numbered(names):
            found: Found = [self._numbers.get(_number(name)) for name in names]
            if None not in found:
                yield Match(found, column, _BY_NUMBER)

    def _are_numbered(self, names: Sequence[str]) -> bool:
        """Whether names are numbers, or have one word before them where the items have none."""
        words = {_before_number(name) for name in names}
        if words == {""}:
            return True
        ours = {_before_number(item.id) for item in self.items}
        return len(words) == 1 and all(map(_number, names)) and ours == {""}

    def _by_question(self, rows: Sequence[Values]) -> Iterator[Match]:
        """By question and video, or by the question where no two items ask the same."""
        columns = list(rows[0]) if rows else []
        for column in columns_called(columns, QUESTION):
            words = [_words(text_of(row.get(column))) for row in rows]
            for video in columns_called(columns, VIDEO):
                stems = [_loose(PurePosixPath(text_of(row.get(video))).stem) for row in rows]
                pairs = zip(words, stems, strict=True)
                found: Found = [self._asked.get(f"{word}|{stem}") for word, stem in pairs]
                yield Match(found, column, f"the question's words and the video in {video!r}")
            yield Match(
                [self._questions.get(word) for word in words], column, "the question's words"
            )

    def _places(self, name: str) -> Iterator[tuple[str, dict[int, str]]]:
        """Numbers of rows: of the items, and of the lines that they were imported from."""
        order = [item.id for item in self.items]
        lines = _unique([(text_of(_source(item, "line")), item.id) for item in self.items])
        rows = {int(line): item for line, item in lines.items() if line.isdecimal()}
        for first in (0,) if name in FROM_ZERO else (0, 1):
            counted = f", from {first}"
            yield _IN_LINES + counted, {line - 1 + first: item for line, item in rows.items()}
            below = {line - 2 + first: item for line, item in rows.items() if line > 1}
            yield _BELOW_HEADER + counted, below
            yield _IN_ORDER + counted, dict(enumerate(order, first))

    def _is_believed(self, rows: Sequence[Values], match: Match) -> bool:
        """Numbers may mean anything: their questions must not be others'. Names are names."""
        is_number = all(text_of(row.get(match.column)).isdecimal() for row in rows)
        if not is_number and match.rule != _BY_NUMBER:
            return True
        share = self.same_question(rows, match.items)
        return share is None or share > _MOST_DOUBT

    def _is_confirmed(self, rows: Sequence[Values], match: Match, keys: "Agrees") -> bool:
        share = self.same_question(rows, match.items)
        share = keys(match.items) if share is None else share
        if share is None:
            return len(set(match.items)) == len(self.items)
        return share >= 1 - _MOST_DOUBT

    def same_question(self, rows: Sequence[Values], items: Sequence[str | None]) -> float | None:
        """Return the share of rows that have their item's question; None where none has one."""
        columns = columns_called(list(rows[0]), (*QUESTION, *PROMPTS)) if rows else []
        same = known = 0
        for row, name in zip(rows, items, strict=True):
            words = " ".join(_words(text_of(row.get(column))) for column in columns)
            if name is not None and words.strip():
                known += 1
                same += _words(self.by_id[name].question) in words
        return same / known if known else None


Agrees = Callable[[Sequence[str | None]], float | None]  # the share of keys that are the items'


def whole_numbers(rows: Sequence[Values], column: str) -> list[int]:
    """Return the numbers in a column; none where a cell is no number as a whole.

    A number that ends a name, as in ``q-0003``, is part of an id, and never that of a row.
    """
    texts = [text_of(row.get(column)) for row in rows]
    if all(each.isdecimal() and len(each) <= _MOST_DIGITS for each in texts):
        return [int(each) for each in texts]
    return []


def _unique(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Names that mean one item alone."""
    found: dict[str, str] = {}
    twice = set()
    for name, item in pairs:
        if found.setdefault(name, item) != item:
            twice.add(name)
    return {name: item for name, item in found.items() if name and name not in twice}


def _source(item: Item, field: str) -> Any:
    imported = item.provenance.get("import")
    return imported.get(field) if isinstance(imported, dict) else None


def _source_id(item: Item) -> str:
    return text_of(_source(item, "id"))


def _stem(item: Item) -> str:
    return PurePosixPath(item.media[0].path).stem if item.media else ""


def _loose(name: str) -> str:
    parts = re.split(r"[\W_]+", name.casefold())
    return "-".join(part.lstrip("0") or "0" for part in parts if part)


def _number(name: str) -> str:
    """The number that a name ends with, without zeros before it; "" where it ends with none."""
    digits = name[len(name.rstrip("0123456789")) :]
    return str(int(digits)) if 0 < len(digits) < 20 else ""


def _before_number(name: str) -> str:
    """What stands before the number that a name ends with, but for case and signs."""
    return re.sub(r"[\W_]+", "", name.rstrip("0123456789")).casefold()


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
