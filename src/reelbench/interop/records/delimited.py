"""CSV and TSV of any dialect: the delimiter is found, and quotes are read as far as they go."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from reelbench.base.limits import MOST_LINE
from reelbench.data.items import Problem
from reelbench.interop.records.record import Found
from reelbench.interop.records.table import Cells, table_records

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE = 200  # records that the delimiter is found by


def read_delimited(text: str, file: str, usual: str) -> tuple[Found, str]:
    """Return the records of a table in text, and its delimiter; ``usual`` wins where two fit."""
    text = text.removeprefix("\ufeff")
    notes: list[str] = []
    text, named = _named_delimiter(text)
    with _large_fields():
        delimiter = named or _delimiter(text, usual)
        rows, problems = _rows(text, file, delimiter, notes)
    if delimiter != usual:
        notes.append(f"Its columns are separated by {DELIMITERS.get(delimiter, repr(delimiter))}.")
    first = 2 if named else 1
    found = table_records([(line + first - 1, row) for line, row in rows], file)
    problems += found.problems
    return Found(found.records, problems, [*notes, *found.notes], found.columns), delimiter


@contextmanager
def _large_fields() -> Iterator[None]:
    """Let fields be as long as lines may be: pictures stand in tables as text."""
    before = csv.field_size_limit(MOST_LINE)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _named_delimiter(text: str) -> tuple[str, str]:
    """Excel may write ``sep=;`` as the first line."""
    line, _, rest = text.partition("\n")
    line = line.strip().strip('"')
    if line.lower().startswith("sep=") and len(line) == 5:
        return rest, line[4]
    return text, ""


def _delimiter(text: str, usual: str) -> str:
    """The delimiter that gives most rows the same number of cells, and that more than one."""
    best, most = usual, 0.0
    for sign in (usual, *(each for each in DELIMITERS if each != usual)):
        value = _evenness(text, sign)
        if value > most * 1.1:
            best, most = sign, value
    return best


def _evenness(text: str, delimiter: str) -> float:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        widths = [len(row) for row in islice(reader, _SAMPLE) if any(map(str.strip, row))]
    except csv.Error:
        return 0.0
    usual, count = Counter(widths).most_common(1)[0] if widths else (1, 0)
    return 0.0 if usual < 2 else count / len(widths)


def _rows(
    text: str, file: str, delimiter: str, notes: list[str]
) -> tuple[list[Cells], list[Problem]]:
    """All rows; one with broken quotes is a problem, and the line below it is read as a new row.

    Strictly, since a quote that is left open would swallow the rows up to the next one.
    """
    lines = list(io.StringIO(text, newline=""))
    rows: list[Cells] = []
    problems: list[Problem] = []
    start, left = 0, _MOST_WORK * (len(lines) + 1)
    while start < len(lines) and left > 0:
        more, bad, used = _strictly(lines, start, delimiter)
        rows += more
        left -= used
        if not bad:
            return rows, problems
        if delimiter == "\t":  # quotes are often plain signs there
            notes.append(f"Quotes are not closed (line {bad}), so they were read as plain signs.")
            plain = (line.rstrip("\r\n").split(delimiter) for line in lines)
            return list(enumerate(plain, 1)), []
        row = _loosely(lines[bad - 1], delimiter)
        if row and len(row) == len(rows[0][1] if rows else row):
            rows.append((bad, row))
        else:
            problems.append(Problem("BAD_ROW", "row", _OPEN, _CLOSED, file, bad))
        start = bad
    if start < len(lines):
        found = "too many broken quotes to go on"
        problems.append(Problem("BAD_ROW", "row", found, _CLOSED, file, start + 1))
    return rows, problems


_MOST_WORK = 20  # times that a line may be read once more, on average
_OPEN = "a quote that is not closed, or too long a cell"
_CLOSED = 'quotes around a whole cell; one within is written twice: ""'


def _strictly(lines: Sequence[str], start: int, delimiter: str) -> tuple[list[Cells], int, int]:
    """The rows from a line on, the number of the line with a broken one or 0, and lines read."""
    rest = (lines[place] for place in range(start, len(lines)))
    reader = csv.reader(rest, delimiter=delimiter, strict=True)
    rows: list[Cells] = []
    line = start + 1
    try:
        for row in reader:
            rows.append((line, row))
            line = start + reader.line_num + 1
    except csv.Error:
        return rows, line, reader.line_num
    return rows, 0, reader.line_num


def _loosely(line: str, delimiter: str) -> list[str]:
    """The cells of a line with text behind a closed quote; [] where a quote stays open."""
    try:
        row = next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])
        probe = next(csv.reader([line.rstrip("\r\n"), "x"], delimiter=delimiter), [])
    except csv.Error:
        return []
    return row if row == probe else []
