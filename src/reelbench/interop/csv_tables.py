"""CSV files as people have them: read strictly, and all that is wrong with one listed at once."""

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
    """Where something was said: a file, a line in it, and what its fields are called there."""

    file: str
    line: int = 0
    prefix: str = ""

    def problem(self, code: str, name: str, found: str, expected: str) -> Problem:
        """Say that a field is wrong here."""
        return Problem(code, f"{self.prefix}{name}", found, expected, self.file, self.line)


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A CSV file: its columns, and its rows by name of the column."""

    path: Path
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[int, dict[str, str]], ...] = ()  # each with its first line's number


Record = tuple[int, list[str]]  # the number of its first line, and its fields


def read_table(path: Path, needed: Sequence[str]) -> tuple[CsvTable, list[Problem]]:
    """Read a CSV file that must have some columns; all that is wrong with it is listed."""
    place = Place(str(path))
    text, problems = read_text(path)
    if problems:
        return CsvTable(path), problems
    records, problems = csv_records(path, text)
    if problems:
        return CsvTable(path), problems
    if not records:
        expected = "a first line with the columns " + ", ".join(needed)
        return CsvTable(path), [place.problem("NOT_CSV", "file", "nothing in it", expected)]
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
    """Part a text into records, blank ones left out; what is no CSV at all is a problem."""
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
    """Name the records that have not as many fields as the first."""
    columns = len(records[0][1]) if records else 0
    for line, record in records:
        if len(record) != columns:
            found, expected = f"{len(record)} fields", f"{columns}, as in the first line"
            yield Place(str(path), line).problem("NOT_CSV", "row", found, expected)


def read_raw(path: Path, kind: str) -> tuple[bytes, list[Problem]]:
    """Read a plain file of sensible size, whatever may be there under its name."""

    def refused(found: str, expected: str) -> tuple[bytes, list[Problem]]:
        return b"", [Place(str(path)).problem("UNREADABLE", "file", found, expected)]

    if not os.path.isfile(path):  # a pipe would never end
        return refused("no plain file" if os.path.lexists(path) else "no such file", kind)
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except OSError as error:
        return refused(error.strerror or str(error), "a file one can read")
    if len(raw) > _MOST_BYTES:
        return refused(f"more than {_MOST_BYTES >> 20} MiB", "less")
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return refused("UTF-16", "UTF-8 (try: iconv -f UTF-16 -t UTF-8)")
    return raw, []


def read_text(path: Path, kind: str = "a CSV file") -> tuple[str, list[Problem]]:
    """Read a file of text, whatever may be there under its name; "" with what is wrong."""
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
    strangers = [name for name in columns if name not in needed]
    for name in needed:
        if name not in columns:
            yield no_column(head, name, columns, strangers)


def no_column(head: Place, name: str, columns: Sequence[str], strangers: Sequence[str]) -> Problem:
    """Say that a column is not there, and which of the others may be meant."""
    close = difflib.get_close_matches(name, strangers, n=1, cutoff=0.7)
    found = f"no such column among {shown(', '.join(columns), 120)}"
    expected = "one" + (f" (perhaps {shown(close[0])} is it)" if close else "")
    return head.problem("MISSING_FIELD", name, found, expected)
