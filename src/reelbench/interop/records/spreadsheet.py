"""Spreadsheets: Excel of every age and OpenDocument, all sheets that have the same columns."""

import datetime
import io
import re
import zipfile
import zlib
from collections.abc import Sequence
from typing import IO, Any

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetVisibleEnum

from reelbench.data.items import Problem, shown
from reelbench.interop.records.record import Found, SourceRecord, UnreadableError
from reelbench.interop.records.table import Cells, table_records

OLD_EXCEL = b"\xd0\xcf\x11\xe0"
ZIP = b"PK\x03\x04"
_MOST_UNPACKED = 2**30
_MOST_CELLS = 20_000_000


def read_spreadsheet(data: bytes, file: str, sheet: str = "") -> Found:
    """Return the records of the sheet of that name, or of all that share the first one's columns.

    Whole numbers come as such (Excel knows but floats), dates and times as text, errors and empty
    cells as None; what was merged downwards stands in every row.
    """
    _check_package(data)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        names = [each.name for each in book.sheets_metadata if _is_visible(each)]
        if sheet and sheet not in book.sheet_names:
            expected = "one of " + ", ".join(map(shown, book.sheet_names))
            raise UnreadableError(f"no sheet {shown(sheet)}", expected)
        tables = {name: _sheet(book, name, file) for name in ([sheet] if sheet else names)}
    except CalamineError as error:
        raise UnreadableError(f"{error}", "a spreadsheet without a password") from None
    return _together({name: found for name, found in tables.items() if found.columns})


def _is_visible(sheet: Any) -> bool:
    return bool(sheet.visible == SheetVisibleEnum.Visible)


def _check_package(data: bytes) -> None:
    """Refuse an archive that is no spreadsheet, or that takes too much memory.

    The library holds the whole rectangle up to the last cell with content, so that one cell in the
    last corner would end the process.
    """
    if not data.startswith(ZIP):
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            parts = package.infolist()
            names = {part.filename for part in parts}
            if not names & {"[Content_Types].xml", "content.xml"} or "xl/workbook.bin" in names:
                raise UnreadableError("an archive", "a file with rows, such as .xlsx or .csv")
            if sum(part.file_size for part in parts) > _MOST_UNPACKED:
                found = f"a spreadsheet of more than {_MOST_UNPACKED >> 30} GiB when unpacked"
                raise UnreadableError(found, "a smaller one, or CSV")
            is_excel = any(name.lower().startswith("xl/") for name in names)
            for part in parts:  # any of them may be a sheet, whatever its name
                with package.open(part) as opened:
                    _check_corner(opened, is_excel)
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, RuntimeError) as error:
        raise UnreadableError(f"a broken spreadsheet ({error})", "a whole file") from None


# A row, or a cell with content; a cell without its name stands behind the one before it. Neither
# form of XML may have a < within a tag, which keeps the search from reading on and on.
_START = rb"<(?:\w+:)?(row|c|table-row|(?:covered-)?table-cell|table)(?![\w-])"
_CELL = re.compile(_START + rb"""((?:[^<>"']|"[^"<]*"|'[^'<]*')*+)>""")
_CELL_START = re.compile(_START)
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Z]{0,3})(\d{1,9})["']""")
_TIMES = re.compile(rb"""\bnumber-(?:rows|columns)-repeated\s*=\s*["'](\d{1,99})["']""")
_ROWS = (b"row", b"table-row")
_LONGEST_TAG = 2**20


def _check_corner(part: IO[bytes], is_excel: bool) -> None:
    last, across = _corner(part, is_excel)
    if last * across > _MOST_CELLS:
        found = f"content in row {last:,} and column {across:,} of one sheet"
        raise UnreadableError(found, f"a sheet of at most {_MOST_CELLS:,} cells")


def _corner(part: IO[bytes], is_excel: bool) -> tuple[int, int]:
    """The last row and column that have content; OpenDocument has all sheets in one part."""
    last = across = row = place = 0
    text = b""
    while chunk := part.read(2**20):
        text += chunk
        end = 0
        for tag in _CELL.finditer(text):
            end = tag.end()
            if tag[1] == b"table":
                row = row if is_excel else 0
                continue
            named, repeated = _PLACE.search(tag[2]), _TIMES.search(tag[2])
            times = int(repeated[1]) if repeated else 1
            if tag[1] in _ROWS:
                row, place = int(named[2]) if named else row + times, 0
                continue
            place = _column_number(named[1]) if named and named[1] else place + times
            row = int(named[2]) if named else row
            if not tag[2].endswith(b"/"):
                last, across = max(last, row), max(across, place)
        text = _open_tag(text, end)
    return last, across


def _open_tag(text: bytes, end: int) -> bytes:
    """The tag at the end of a piece that the next piece goes on with."""
    start = text.rfind(b"<", end)
    rest = text[start:] if start >= 0 else b""
    if len(rest) <= _LONGEST_TAG:
        return rest
    if _CELL_START.match(rest):
        found = f"a cell whose tag is longer than {_LONGEST_TAG:,} bytes"
        raise UnreadableError(found, "a spreadsheet as programs write it")
    return b""


def _column_number(name: bytes) -> int:
    number = 0
    for sign in name:
        number = number * 26 + sign - 64
    return number


def _sheet(book: CalamineWorkbook, name: str, file: str) -> Found:
    sheet = book.get_sheet_by_name(name)
    if sheet.total_height * sheet.total_width > _MOST_CELLS:
        size = f"{sheet.total_height:,} rows of {sheet.total_width:,} cells in sheet {shown(name)}"
        raise UnreadableError(size, f"at most {_MOST_CELLS:,} cells")
    rows = [[_plain(cell) for cell in row] for row in sheet.to_python(skip_empty_area=False)]
    merged = _fill_merged(sheet, rows)
    cells: list[Cells] = list(enumerate(rows, 1))
    found = table_records(cells, f"{file}#{name}")
    notes = [f"Sheet {shown(name)}: {note}" for note in [*found.notes, *merged]]
    return Found(found.records, found.problems, notes, found.columns)


def _plain(cell: Any) -> Any:
    """A cell as text, whole number, number, truth or None."""
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() and abs(cell) < 2**53 else cell
    if isinstance(cell, datetime.timedelta):
        seconds = cell.total_seconds()
        hours, rest = divmod(seconds, 3600)
        return f"{int(hours)}:{int(rest // 60):02}:{rest % 60:06.3f}".removesuffix(".000")
    if isinstance(cell, datetime.time | datetime.date):
        return cell.isoformat()
    if isinstance(cell, str) and (not cell.strip() or cell in _ERRORS):
        return None
    return cell


_ERRORS = {"#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NULL!", "#NUM!"}


def _fill_merged(sheet: CalamineSheet, rows: Sequence[list[Any]]) -> list[str]:
    """Write the value of cells that are merged downwards into each of their rows."""
    filled = 0
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
        if bottom <= top or top >= len(rows) or left >= len(rows[top]):
            continue
        for row in rows[top + 1 : bottom + 1]:
            row[left] = rows[top][left]
        filled += 1
    return [f"{filled} merged cells stand in each of their rows."] if filled else []


def _together(tables: dict[str, Found]) -> Found:
    """The records of the first sheet with rows, and of those with the same columns.

    A sheet with less than half the columns of another is about the table, not the table.
    """
    filled = [found for found in tables.values() if found.records]
    widest = max((len(found.columns) for found in filled), default=0)
    first = next((found for found in filled if 2 * len(found.columns) >= widest), None)
    if first is None:
        return next(iter(tables.values()), Found())
    same = {name for name, found in tables.items() if set(found.columns) == set(first.columns)}
    others = [name for name in tables if name not in same]
    records: list[SourceRecord] = []
    notes = []
    if len(same) > 1:
        notes.append(f"Rows of the sheets {', '.join(map(shown, sorted(same)))} were taken.")
    if others:
        names = ", ".join(map(shown, others))
        notes.append(f"Sheets with other columns were left out: {names}.")
    problems: list[Problem] = []
    for name in tables:
        if name in same:
            records += tables[name].records
            problems += tables[name].problems
            notes += tables[name].notes
    return Found(records, problems, notes, first.columns)
