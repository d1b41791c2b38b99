"""Rows of cells under a header, as CSV and spreadsheets have them, become records."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from reelbench.data.items import Problem, shown
from reelbench.interop.records.record import Found, SourceRecord

Cells = tuple[int, Sequence[Any]]  # the number of the line or row, and its cells
_TITLE_ROWS = 10  # that may stand above a header


def table_records(rows: Sequence[Cells], file: str) -> Found:
    """Return the records of rows whose first, titles above it apart, has the columns' names.

    Blank rows are left out; rows with more or fewer cells than the header are problems.
    """
    rows = [row for row in rows if not _is_blank(row[1])]
    if not rows:
        return Found()
    start = _header(rows)
    head, body = rows[start], rows[start + 1 :]
    columns, notes = _columns(head[1], body)
    if start:
        titles = ", ".join(shown(str(cell), 40) for _, row in rows[:start] for cell in row if cell)
        notes.insert(0, f"The columns' names were taken from line {head[0]}; above it: {titles}.")
    records, problems = [], []
    for line, row in body:
        cells = _trimmed(row, len(columns))
        if len(cells) == len(columns):
            values = dict(zip(columns, cells, strict=True))
            values.pop("", None)
            records.append(SourceRecord(values, file, line))
        else:
            found, expected = f"{len(cells)} cells", f"{len(columns)}, as in line {head[0]}"
            problems.append(Problem("BAD_ROW", "row", found, expected, file, line))
    return Found(records, problems, notes, tuple(name for name in columns if name))


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _is_blank(row: Sequence[Any]) -> bool:
    return all(map(_is_empty, row))


def _header(rows: Sequence[Cells]) -> int:
    """The place of the first row that names most of the columns; titles have a cell or two."""
    filled = [sum(not _is_empty(cell) for cell in row) for _, row in rows[: _TITLE_ROWS * 5]]
    usual = Counter(filled).most_common(1)[0][0]
    if usual < 2 or len(rows) < 3:
        return 0
    first = range(min(_TITLE_ROWS, len(filled) - 1))
    return next((place for place in first if filled[place] >= max(2, 0.6 * usual)), 0)


def _columns(head: Sequence[Any], body: Sequence[Cells]) -> tuple[list[str], list[str]]:
    """Names of the columns, "" for those to leave out, and notes about names that were made."""
    width = max((place for place, cell in enumerate(head) if not _is_empty(cell)), default=0) + 1
    if width < len(head):
        width = max(width, _used_width(body, len(head)))
    names: list[str] = []
    notes: list[str] = []
    for place in range(width):
        cell = head[place] if place < len(head) else None
        name = "" if _is_empty(cell) else _name(cell)
        if not name and any(not _is_empty(cell) for cell in _column(body, place)):
            name = f"column {place + 1}"
            notes.append(f"Column {place + 1} has no name and is called {name!r}.")
        if name and name in names:
            numbered = (f"{name} ({number})" for number in range(2, width + 2))
            other = next(each for each in numbered if each not in names)
            notes.append(f"Two columns are called {shown(name)}: the later one is {other!r} here.")
            name = other
        names.append(name)
    return names, notes


def _name(cell: Any) -> str:
    text = " ".join(str(cell).split())
    return text.removesuffix(".0") if isinstance(cell, float) else text


def _used_width(body: Sequence[Cells], most: int) -> int:
    """The number of columns that rows fill, within the cells that the header has."""
    return max((len(_trimmed(row, 0)) for _, row in body if len(row) <= most), default=0)


def _column(body: Sequence[Cells], place: int) -> Iterator[Any]:
    return (row[place] for _, row in body if place < len(row))


def _trimmed(row: Sequence[Any], width: int) -> Sequence[Any]:
    """The cells without empty ones beyond the width."""
    end = len(row)
    while end > width and _is_empty(row[end - 1]):
        end -= 1
    return row[:end]
