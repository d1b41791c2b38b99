"""Read ratings: one row per subject or one per rating, as CSV or as lines of JSON."""

import codecs
import csv
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import ReelbenchError
from reelbench.base.limits import bounded_bytes
from reelbench.base.seeds import rng_for
from reelbench.data.benchmark import BenchmarkError, tidy_line
from reelbench.data.item_rules import decode_strictly
from reelbench.data.items import Problem, shown

SUBJECT_NAMES = ("subject", "id", "item", "unit", "units")
RATER_NAMES = ("rater", "annotator", "coder", "worker", "reviewer")
RATING_NAMES = ("rating", "score", "label", "value", "grade")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
NO_GROUP = "none"  # the name of the group of what has no value in a column
_NONE = -1  # the code of a missing rating

Rows = Sequence[tuple[int, Mapping[str, Any]]]  # each with its line
TakeRows = Callable[[Sequence[str], Rows], None]  # of the names of columns and the rows


@dataclass(frozen=True, slots=True)
class Scale:
    """The categories that raters could choose from, used or not, and what each is worth."""

    categories: tuple[str, ...]
    values: tuple[float, ...]  # the numbers themselves; for words 1, 2, 3 as they were listed
    is_numeric: bool

    @classmethod
    def of(cls, categories: Sequence[object]) -> "Scale":
        """Make a scale of numbers, which are put in order, or of words in the order given."""
        texts = [_text(category).strip() for category in categories]
        numbers = [number for text in texts if (number := _number(text)) is not None]
        is_numeric = len(numbers) == len(texts)
        if is_numeric:
            texts = [text for _, text in sorted(zip(numbers, texts, strict=True))]
        values = sorted(numbers) if is_numeric else [1.0 + place for place in range(len(texts))]
        if "" in texts or len(set(values if is_numeric else texts)) < max(2, len(texts)):
            raise ReelbenchError(
                f"The categories are {', '.join(map(repr, texts)) or 'none'}: name two or more, "
                "each once and none of them empty, such as 0,1,2,3,4,5."
            )
        return cls(tuple(texts), tuple(values), is_numeric)

    def place(self, text: str) -> int | None:
        """Return the place of a rating among the categories; 3.0 is 3 where they are numbers."""
        if not self.is_numeric:
            return self.categories.index(text) if text in self.categories else None
        number = _number(text)
        return self.values.index(number) if number in self.values else None


@dataclass(frozen=True, slots=True)
class Ratings:
    """Who rated what, and how: a table of places in the scale, -1 where there is no rating."""

    path: Path
    scale: Scale
    subjects: tuple[str, ...]
    raters: tuple[str, ...]
    codes: NDArray[np.int64]  # subjects x raters

    def sample(self, count: int, seed: int) -> "Ratings":
        """Return the ratings of so many subjects, drawn from those with two ratings or more."""
        rated = np.flatnonzero((self.codes >= 0).sum(axis=1) >= 2)
        if count > len(rated):
            raise ReelbenchError(
                f"{self.path} has {len(rated)} subjects with two ratings or more, so that {count} "
                "cannot be drawn: lower --sample."
            )
        drawn = rng_for(seed, "sample of ratings").sample(sorted(int(n) for n in rated), count)
        places = sorted(drawn)
        subjects = tuple(self.subjects[place] for place in places)
        return replace(self, subjects=subjects, codes=self.codes[places])

    def to_record(self) -> dict[str, Any]:
        """Return what was rated, by whom and how often, as plain data."""
        return {
            "file": str(self.path),
            "categories": list(self.scale.categories),
            "subjects": len(self.subjects),
            "subjects_with_two_ratings": int(((self.codes >= 0).sum(axis=1) >= 2).sum()),
            "ratings": int((self.codes >= 0).sum()),
            "missing": int((self.codes < 0).sum()),
            "raters": {
                rater: int(count)
                for rater, count in zip(self.raters, (self.codes >= 0).sum(axis=0), strict=True)
            },
        }


def read_ratings(path: Path, scale: Scale, id_column: str | None = None) -> Ratings:
    """Read a file of ratings; raise ``BenchmarkError`` with everything wrong in it.

    A table with columns subject, rater and rating has one rating a row. Any other has one subject
    a row and one rater a column, but for ``id_column`` or a first column with a name for subjects.
    """
    sheet = _Sheet(path, scale, id_column)
    sheet.read(sheet.read_rows)
    return sheet.finish()


def read_grouped(
    path: Path, scale: Scale, by: Sequence[str], id_column: str | None = None
) -> dict[tuple[str, ...], Ratings]:
    """Read a file of ratings apart for each combination of values of some columns."""
    groups: dict[tuple[str, ...], _Sheet] = {}
    sheet = _Sheet(path, scale, id_column)

    def split(names: Sequence[str], rows: Rows) -> None:
        if missing := [column for column in by if column not in names]:
            sheet.refuse(0, "header", f"no column {', '.join(missing)}", _listed(names))
            return
        parts: dict[tuple[str, ...], list[tuple[int, Mapping[str, Any]]]] = {}
        for number, row in rows:
            key = tuple(_name(row.get(column)) or NO_GROUP for column in by)
            rest = {name: value for name, value in row.items() if name not in by}
            parts.setdefault(key, []).append((number, rest))
        others = [name for name in names if name not in by]
        for key, part in parts.items():
            groups[key] = _Sheet(path, scale, id_column)
            groups[key].read_rows(others, part)

    sheet.read(split)
    problems = [each for part in (sheet, *groups.values()) for each in part.problems]
    if problems or not groups:
        sheet.problems = problems
        sheet.finish()
    return {key: part.table() for key, part in groups.items()}


def ratings_of(rows: Sequence[tuple[str, str, object]], scale: Scale, name: str) -> Ratings:
    """Return ratings that are at hand as (subject, rater, rating), as if read from a file."""
    return _sheet_of(rows, scale, name).finish()


def table_of(rows: Sequence[tuple[str, str, object]], scale: Scale, name: str) -> Ratings:
    """Return ratings that are at hand, also those of one rater, with whom nobody can agree yet."""
    return _sheet_of(rows, scale, name).table()


def _sheet_of(rows: Sequence[tuple[str, str, object]], scale: Scale, name: str) -> "_Sheet":
    sheet = _Sheet(Path(name), scale, None)
    for number, (subject, rater, rating) in enumerate(rows, 2):
        sheet.take(number, subject, rater, rating)
    return sheet


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _number(text: str) -> float | None:
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    return number if math.isfinite(number) else None


@dataclass
class _Sheet:
    """A file of ratings as it is read: what was understood so far, and all that was not."""

    path: Path
    scale: Scale
    id_column: str | None
    cells: dict[tuple[str, str], int] = field(default_factory=dict)  # by subject and rater
    lines: dict[tuple[str, str], int] = field(default_factory=dict)  # where each pair stands
    raters: dict[str, None] = field(default_factory=dict)
    subjects: dict[str, int] = field(default_factory=dict)  # and the line where it came first
    problems: list[Problem] = field(default_factory=list)

    def read(self, take: TakeRows) -> None:
        """Hand the names of the columns and the rows of the file on."""
        try:
            content = bounded_bytes(self.path).removeprefix(codecs.BOM_UTF8)
        except FileNotFoundError:
            raise ReelbenchError(f"{self.path} does not exist: name a CSV or JSONL file.") from None
        if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            self.refuse(0, "file", "UTF-16", "UTF-8 (try: iconv -f UTF-16 -t UTF-8)")
        elif self.path.suffix in (".jsonl", ".ndjson") or content.lstrip()[:1] in (b"{", b"["):
            self.read_json(content, take)
        else:
            self.read_csv(content, take)

    def refuse(self, line: int, place: str, found: str, expected: str) -> None:
        self.problems.append(Problem("BAD_RATING", place, found, expected, str(self.path), line))

    def read_json(self, content: bytes, take: TakeRows) -> None:
        rows: list[tuple[int, dict[str, Any]]] = []
        for number, line in enumerate(content.split(b"\n"), 1):
            tidy, _ = tidy_line(line, number)
            if not tidy:
                continue
            row, faults = decode_strictly(tidy)
            for fault in faults:
                self.refuse(number, fault.field, fault.found, fault.expected)
            if isinstance(row, dict):
                rows.append((number, row))
            elif not faults:
                self.refuse(number, "line", shown(row), "a JSON object")
        names = list(dict.fromkeys(name for _, row in rows for name in row))
        take(names, rows)

    def read_csv(self, content: bytes, take: TakeRows) -> None:
        rows = list(self.csv_rows(content))
        if not rows:
            return
        (first, names), *rest = rows
        names = [name.strip() for name in names]
        for name in sorted({name for name in names if names.count(name) > 1}):
            self.refuse(first, "header", f"the column {shown(name)} twice", "a name for each")
        if "" in names[1:]:
            self.refuse(first, "header", "a column without a name", "the name of a rater")
        if all(self.scale.place(name) is not None for name in names):
            found = f"{shown(','.join(names))}, which are categories"
            self.refuse(first, "header", found, "a first line with the names of the raters")
        whole = []
        for number, row in rest:
            if len(row) == len(names):
                whole.append((number, dict(zip(names, row, strict=True))))
            else:
                self.refuse(number, "line", f"{len(row)} cells", f"{len(names)}, as in the header")
        take(names, whole)

    def csv_rows(self, content: bytes) -> Iterator[tuple[int, list[str]]]:
        """Return the rows that are not blank, each with the line on which it begins."""
        lines = [self.decoded(n, line) for n, line in enumerate(content.split(b"\n"), 1)]
        header = next((line for line in lines if line), "")
        delimiter = next((mark for mark in ",;\t" if mark in header), ",")
        reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
        begins = 1
        try:
            for row in reader:
                if any(cell.strip() for cell in row):
                    yield begins, row
                begins = reader.line_num + 1
        except csv.Error as error:
            self.refuse(begins, "line", f"broken quotes ({error})", "a closing quote")

    def decoded(self, number: int, line: bytes) -> str:
        line = line.removesuffix(b"\r")
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            found = f"byte 0x{line[error.start]:02X} at column {error.start + 1}"
            self.refuse(number, "line", found, "UTF-8")
            return line.decode(errors="replace")

    def read_rows(self, names: Sequence[str], rows: Rows) -> None:
        known = {name.lower(): name for name in reversed(names)}
        subject = self.id_column or next((known[n] for n in SUBJECT_NAMES if n in known), None)
        if self.id_column is not None and self.id_column not in names:
            self.refuse(0, "header", f"no column {shown(self.id_column)}", _listed(names))
        elif subject and (long := self.long_columns(known, rows)):
            self.read_long(subject, *long, rows)
        else:
            self.read_wide(subject if subject else "" if "" in names[:1] else None, names, rows)

    def long_columns(self, known: Mapping[str, str], rows: Rows) -> tuple[str, str] | None:
        """Return the columns of the rater and the rating; None where raters are the columns."""
        if {"rater", "rating"} <= known.keys():
            return known["rater"], known["rating"]
        raters, ratings = (
            [known[name] for name in (names[:1] if names[0] in known else names) if name in known]
            for names in (RATER_NAMES, RATING_NAMES)
        )
        if len(raters) != 1 or len(ratings) != 1:
            return None
        # Where everything under "annotator" is a rating, that is the name of a rater.
        rates = all(self.scale.place(_name(row.get(raters[0]))) is not None for _, row in rows)
        return None if rates else (raters[0], ratings[0])

    def read_long(self, subject: str, rater: str, rating: str, rows: Rows) -> None:
        for number, row in rows:
            who, what = _name(row.get(rater)), _name(row.get(subject))
            for column, name in ((subject, what), (rater, who)):
                if not name:
                    self.refuse(number, column, "nothing", f"the name of a {column}")
            if who and what:
                self.take(number, what, who, row.get(rating))

    def read_wide(
        self,
        subject: str | None,
        names: Sequence[str],
        rows: Rows,
    ) -> None:
        for number, row in rows:
            what = f"line {number}" if subject is None else _name(row.get(subject))
            if not what:
                self.refuse(number, str(subject), "nothing", "the name of a subject")
            elif what in self.subjects:
                same = f"{shown(what)}, as on line {self.subjects[what]}"
                self.refuse(number, str(subject), same, "one row for each subject")
            else:
                for who in names:
                    if who != subject:
                        self.take(number, what, who, row.get(who))

    def take(self, number: int, what: str, who: str, rating: Any) -> None:
        """Take one rating; an empty one is missing, and its rater and subject still count."""
        self.subjects.setdefault(what, number)
        self.raters.setdefault(who)
        text = "" if rating is None else _text(rating).strip()
        code = self.scale.place(text) if text else _NONE
        earlier = self.lines.setdefault((what, who), number)
        if earlier != number:
            same = f"{shown(what)} by {shown(who)} again, as on line {earlier}"
            self.refuse(number, "rating", same, "one rating each")
        elif code is None:
            expected = f"one of {', '.join(self.scale.categories)}, or nothing where it is missing"
            self.refuse(number, who, shown(rating), expected)
        else:
            self.cells[what, who] = code

    def finish(self) -> Ratings:
        """Return the table, unless something was wrong."""
        raters = {who for (_, who), code in self.cells.items() if code != _NONE}
        readable = {who for _, who in self.cells}
        if none := [who for who in self.raters if who not in readable]:
            expected = "a column for each rater, or item, rater and rating with one rating a row"
            self.refuse(1, "header", f"no rating under {', '.join(map(shown, none))}", expected)
        if not self.problems and not self.subjects:
            self.refuse(0, "file", "no ratings", "a line for each subject, under a header")
        elif not self.problems and len(raters) < 2:
            found = "1 rater" if raters else "no rating"
            self.refuse(0, "file", found, "ratings by two raters or more")
        if self.problems:
            raise BenchmarkError(sorted(self.problems, key=lambda problem: problem.line))
        return self.table()

    def table(self) -> Ratings:
        """Return the table of what was read."""
        codes = [[self.cells.get((s, r), _NONE) for r in self.raters] for s in self.subjects]
        table = np.array(codes, np.int64)
        return Ratings(self.path, self.scale, tuple(self.subjects), tuple(self.raters), table)


def _name(value: Any) -> str:
    return "" if value is None else _text(value).strip()


def _listed(names: Sequence[str]) -> str:
    return f"one of {', '.join(names)}" if names else "a header"
