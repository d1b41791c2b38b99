"""CSV files, read strictly; all problems of a file are listed at once."""

import codecs
import csv
import difflib
import io
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reelbench.data.items import Problem, shown

_MOST_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file: its path, a line, and a prefix for the names of fields."""

    file: str
    line: int = 0
    prefix: str = ""

    def problem(self, code: str, name: str, found: str, expected: str) -> Problem:
        """Return a problem of a field at this place."""
        return Problem(code, f"{self.prefix}{name}", found, expected, self.file, self.line)


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A CSV file: its columns, and its rows by name of the column."""

    path: Path
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[int, dict[str, str]], ...] = ()  # each with its first line's number


Record = tuple[int, list[str]]  # the number of its first line, and its fields


def read_table(path: Path, needed: Sequence[str]) -> tuple[CsvTable, list[Problem]]:
    """Return the table in a CSV file that must have some columns, and all problems of the file."""
    place = Place(str(path))
    text, problems = read_text(path)
    if problems:
        return CsvTable(path), problems
    records, problems = csv_records(path, text)
    if problems:
        return CsvTable(path), problems
    if not records:
        expected = "a first line with the columns " + ", ".join(needed)
        return CsvTable(path), [place.problem("NOT_CSV", "file", "an empty file", expected)]
    columns = tuple(name.strip() for name in records[0][1])
    problems = list(_column_problems(place, columns, needed))
    if problems:
        return CsvTable(path), problems
    problems = list(uneven(path, records))
    whole = [(line, record) for line, record in records[1:] if len(record) == len(columns)]
    rows = [
        (line, dict(zip(columns, map(str.strip, fields), strict=True))) for line, fields in whole
    ]
    return CsvTable(path, columns, tuple(rows)), problems


def csv_records(path: Path, text: str, delimiter: str = ",") -> tuple[list[Record], list[Problem]]:
    """Return the records of a text, blank ones left out, or the problem that it is not CSV."""
    records: list[Record] = []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    line = 1
    try:
        for record in reader:
            if any(map(str.strip, record)):
                records.append((line, record))
            line = reader.line_num + 1
    except csv.Error as error:
        expected = f"CSV: quotes closed, fields of at most {csv.field_size_limit():,} characters"
        return [], [Place(str(path), line).problem("NOT_CSV", "row", str(error), expected)]
    return records, []


def uneven(path: Path, records: Sequence[Record]) -> Iterator[Problem]:
    """Yield a problem for each record with another number of fields than the first."""
    columns = len(records[0][1]) if records else 0
    for line, record in records:
        if len(record) != columns:
            found, expected = f"{len(record)} fields", f"{columns}, as in the first line"
            yield Place(str(path), line).problem("NOT_CSV", "row", found, expected)


def read_raw(path: Path, kind: str) -> tuple[bytes, list[Problem]]:
    """Return the bytes of a regular file of limited size, or why it cannot be read."""

    def refused(found: str, expected: str) -> tuple[bytes, list[Problem]]:
        return b"", [Place(str(path)).problem("UNREADABLE", "file", found, expected)]

    if not os.path.isfile(path):  # a pipe would never end
        return refused("no regular file" if os.path.lexists(path) else "no such file", kind)
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except OSError as error:
        return refused(error.strerror or str(error), "a readable file")
    if len(raw) > _MOST_BYTES:
        return refused(f"more than {_MOST_BYTES >> 20} MiB", "a smaller file")
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return refused("UTF-16", "UTF-8 (try: iconv -f UTF-16 -t UTF-8)")
    return raw, []


def read_text(path: Path, kind: str = "a CSV file") -> tuple[str, list[Problem]]:
    """Return the text of a file, or "" and why it cannot be read."""
    raw, problems = read_raw(path, kind)
    if problems:
        return "", problems
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The position is counted after a byte order mark, which ends no line.
        bad = error.object[error.start]
        line = error.object.count(b"\n", 0, error.start) + 1
        place = Place(str(path), line)
        return "", [place.problem("UNREADABLE", "file", f"byte 0x{bad:02X}", "UTF-8")]
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        place = Place(str(path), line)
        return "", [place.problem("NOT_CSV", "row", "a NUL character", "text")]
    return text, []


def _column_problems(
    place: Place, columns: Sequence[str], needed: Sequence[str]
) -> Iterator[Problem]:
    head = Place(place.file, 1)
    for name, count in Counter(columns).items():
        if name and count > 1:
            yield head.problem("BAD_FIELD", name, f"{count} columns of that name", "one")
    others = [name for name in columns if name not in needed]
    for name in needed:
        if name not in columns:
            yield no_column(head, name, columns, others)


def no_column(head: Place, name: str, columns: Sequence[str], others: Sequence[str]) -> Problem:
    """Return the problem that a column is missing, with the one that may be meant."""
    close = difflib.get_close_matches(name, others, n=1, cutoff=0.7)
    found = f"no such column among {shown(', '.join(columns), 120)}"
    expected = "such a column" + (f" (perhaps {shown(close[0])} is meant)" if close else "")
    return head.problem("MISSING_FIELD", name, found, expected)
