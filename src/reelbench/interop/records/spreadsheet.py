"""Spreadsheets: Excel of every age and OpenDocument, all sheets that have the same columns."""

import datetime
import io
from collections.abc import Sequence
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum

from reelbench.data.items import Problem, shown
from reelbench.interop.records.cell_formats import CellFormats
from reelbench.interop.records.cell_percents import percent_as_shown
from reelbench.interop.records.cell_times import is_time_format, time_as_shown
from reelbench.interop.records.record import Found, SourceRecord, UnreadableError
from reelbench.interop.records.spreadsheet_package import (
    MOST_CELLS,
    check_package,
    merged_downwards,
)
from reelbench.interop.records.table import Cells, table_records

OLD_EXCEL = b"\xd0\xcf\x11\xe0"


def read_spreadsheet(data: bytes, file: str, sheet: str = "") -> Found:
    """Return the records of the sheet of that name, or of all that share the first one's columns.

    Whole numbers come as such (Excel knows but floats), dates, times and percentages as text,
    errors and empty cells as None; what was merged downwards stands in every row.
    """
    check_package(data)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        names = [each.name for each in book.sheets_metadata if _is_visible(each)]
        if sheet and sheet not in book.sheet_names:
            expected = "one of " + ", ".join(map(shown, book.sheet_names))
            raise UnreadableError(f"no sheet {shown(sheet)}", expected)
        formats = CellFormats(data)
        merged = merged_downwards(data)
        tables = {
            name: _sheet(book, name, file, formats, merged.get(book.sheet_names.index(name), ()))
            for name in ([sheet] if sheet else names)
        }
    except CalamineError as error:
        expected = "a spreadsheet without a password: open it and save it again, as .xlsx or CSV"
        raise UnreadableError(f"no spreadsheet that can be read ({error})", expected) from None
    return _together({name: found for name, found in tables.items() if found.columns})


def _is_visible(sheet: Any) -> bool:
    return bool(sheet.visible == SheetVisibleEnum.Visible)


Merged = Sequence[tuple[int, int, int]]  # a column, its first and its last row, from 0


def _sheet(
    book: CalamineWorkbook, name: str, file: str, formats: CellFormats, merged: Merged
) -> Found:
    sheet = book.get_sheet_by_name(name)
    if sheet.total_height * sheet.total_width > MOST_CELLS:
        size = f"{sheet.total_height:,} rows of {sheet.total_width:,} cells in sheet {shown(name)}"
        raise UnreadableError(size, f"at most {MOST_CELLS:,} cells")
    codes = formats.of_sheet(name)
    rows = [
        [_plain(cell, codes.get((row, column), "")) for column, cell in enumerate(cells, 1)]
        for row, cells in enumerate(sheet.to_python(skip_empty_area=False), 1)
    ]
    ranges = sheet.merged_cell_ranges or ()  # of Excel files alone
    merged = [*merged, *((left, top, bottom) for (top, left), (bottom, _) in ranges)]
    filled = _fill_merged(merged, rows)
    cells: list[Cells] = list(enumerate(rows, 1))
    found = table_records(cells, f"{file}#{name}")
    notes = [f"Sheet {shown(name)}: {note}" for note in [*found.notes, *filled]]
    unsaved = [
        Problem(
            "UNREADABLE",
            f"column {letters}",
            f"{count} formulas without values",
            "values: open the file in a spreadsheet program and save it",
            f"{file}#{name}",
            0,
        )
        for letters, count in formats.empty_formulas(name).items()
    ]
    return Found(found.records, [*found.problems, *unsaved], notes, found.columns)


def _plain(cell: Any, code: str) -> Any:
    """A cell as text, whole number, number, truth or None; times and percentages as it shows them.

    ``code`` is the format of its number, where that is one of these and the file tells it.
    """
    if isinstance(cell, float):
        if text := percent_as_shown(cell, code):
            return text
        return int(cell) if cell.is_integer() and abs(cell) < 2**53 else cell
    if isinstance(cell, datetime.timedelta | datetime.time):
        return time_as_shown(cell, code)
    if isinstance(cell, datetime.date):
        return time_as_shown(cell, code) if is_time_format(code) else cell.isoformat()
    if isinstance(cell, str) and (not cell.strip() or cell in _ERRORS):
        return None
    return cell


_ERRORS = {"#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NULL!", "#NUM!"}


def _fill_merged(merged: Merged, rows: Sequence[list[Any]]) -> list[str]:
    """Write the value of cells that are merged downwards into each of their rows."""
    filled = 0
    for column, top, bottom in merged:
        if top < min(bottom, len(rows)) and column < len(rows[top]):
            for row in rows[top + 1 : bottom + 1]:
                row[column] = rows[top][column]
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
