"""Rows of cells under a header, as CSV and spreadsheets have them, become records."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from reelbench.data.items import Problem, shown
from reelbench.interop.records.record import Found, SourceRecord

Cells = tuple[int, Sequence[Any]]  # the number of the line or row, and its cells
_TITLE_ROWS = 10  # that may stand above a header


def table_records(rows: Sequence[Cells], file: str) -> Found:
    """Return the records of rows whose first ones, titles above them apart, name the columns.

    Blank rows are left out; rows with more or fewer cells than the header are problems.
    """
    rows = [row for row in rows if not _is_blank(row[1])]
    if not rows:
        return Found()
    start, depth, head = _header(rows)
    first, last, body = rows[start][0], rows[start + depth - 1][0], rows[start + depth :]
    columns, notes = _columns(head, body)
    lines = f"line {first}" if depth == 1 else f"lines {first} to {last}"
    if start:
        titles = ", ".join(shown(str(cell), 40) for _, row in rows[:start] for cell in row if cell)
        notes.insert(0, f"The columns' names were taken from {lines}; above it: {titles}.")
    elif depth > 1:
        notes.insert(0, f"The columns' names were taken from {lines}.")
    records, problems = [], []
    for line, row in body:
        cells = _trimmed(row, len(columns))
        if len(cells) == len(columns):
            values = dict(zip(columns, cells, strict=True))
            values.pop("", None)
            records.append(SourceRecord(values, file, line))
        else:
            found, expected = f"{len(cells)} cells", f"{len(columns)}, as in {lines}"
            problems.append(Problem("BAD_ROW", "row", found, expected, file, line))
    return Found(records, problems, notes, tuple(name for name in columns if name))


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _is_blank(row: Sequence[Any]) -> bool:
    return all(map(_is_empty, row))


def _header(rows: Sequence[Cells]) -> tuple[int, int, Sequence[Any]]:
    """Return where the header begins, how many rows it has, and its names by column.

    It begins with the first row that names most of the columns; titles have a cell or two. A header
    of two rows names groups in the first, and in the second the columns of each; one that names a
    group alone, with rows right below, is a header as well.
    """
    filled = [sum(not _is_empty(cell) for cell in row) for _, row in rows[: _TITLE_ROWS * 5]]
    usual = Counter(filled).most_common(1)[0][0]
    if usual < 2 or len(rows) < 3:
        return 0, 1, rows[0][1]
    least = max(2, 0.6 * usual)
    for place in range(min(_TITLE_ROWS, len(filled) - 1)):
        if filled[place] < 2:  # a title
            continue
        depth, head = 1, rows[place][1]
        while place + depth < len(rows) - 1 and _names_parts(head, rows[place + depth][1]):
            head = _joined(head, rows[place + depth][1])
            depth += 1
        named = sum(not _is_empty(cell) for cell in head)
        groups = len(_groups(head))
        if named >= least or (named + groups >= least and _is_row(rows[place + depth :])):
            return place, depth, head
    return 0, 1, rows[0][1]


def _groups(head: Sequence[Any]) -> dict[int, int]:
    """For each blank cell behind a name, the place of that name, which may stand for it too."""
    groups, name = {}, -1
    for place, cell in enumerate(head):
        name = name if _is_empty(cell) else place
        if _is_empty(cell) and name >= 0:
            groups[place] = name
    return groups


def _names_parts(head: Sequence[Any], row: Sequence[Any]) -> bool:
    """Whether a row has names for the columns of groups above it, and for no other columns."""
    groups = _groups(head)
    groups |= {name: name for name in groups.values()}
    parts: dict[int, list[str]] = {}
    for place, cell in enumerate(row):
        if not _is_empty(cell) and cell != _at(head, place):
            if place not in groups:
                return False
            parts.setdefault(groups[place], []).append(_name(cell))
    return bool(parts) and all(len(set(part)) == len(part) > 1 for part in parts.values())


def _is_row(rows: Sequence[Cells]) -> bool:
    """Whether the first row is one of data: some of its values, not all, come again below."""
    first, *rest = [row for _, row in rows[: _TITLE_ROWS * 5]] or [()]
    filled = [place for place, cell in enumerate(first) if not _is_empty(cell)]
    again = [place for place in filled if any(_at(row, place) == first[place] for row in rest)]
    return 0 < len(again) < len(filled)


def _at(row: Sequence[Any], place: int) -> Any:
    return row[place] if place < len(row) else None


def _joined(head: Sequence[Any], row: Sequence[Any]) -> list[Any]:
    """Return the names of the columns of a header and the row below it: the lower ones.

    The name of its group stands before one that would not be unique, or is a number.
    """
    group, names, parts = "", [], []
    for place in range(max(len(head), len(row))):
        above, name = _at(head, place), _at(row, place)
        group = group if _is_empty(above) else _name(above)
        is_part = not _is_empty(name) and name != above
        names.append(name if is_part else above)
        parts.append((group, _name(name)) if is_part else None)
    counts = Counter(_name(name) for name in names if not _is_empty(name))
    for place, part in enumerate(parts):
        if part and (label := part[1].strip(" .()[]")).isdecimal():
            names[place] = f"{part[0]} {label}"
        elif part and counts[part[1]] > 1:
            names[place] = ".".join(part)
    return names


def _columns(head: Sequence[Any], body: Sequence[Cells]) -> tuple[list[str], list[str]]:
    """Names of the columns, "" for those to leave out, and notes about names that were made."""
    width = max((place for place, cell in enumerate(head) if not _is_empty(cell)), default=0) + 1
    if width < len(head):
        width = max(width, _used_width(body, len(head)))
    names: list[str] = []
    notes: list[str] = []
    for place in range(width):
        cell = _at(head, place)
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
