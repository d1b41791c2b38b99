"""The package of a spreadsheet: what it takes to hold it, and the tags of its cells."""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from reelbench.interop.records.record import UnreadableError

ZIP = b"PK\x03\x04"
MOST_CELLS = 20_000_000
_MOST_UNPACKED = 2**30


def check_package(data: bytes) -> None:
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
_SPANNED = re.compile(rb"""\bnumber-rows-spanned\s*=\s*["'](\d{1,9})["']""")
_ROWS = (b"row", b"table-row")
_LONGEST_TAG = 2**20


def _check_corner(part: IO[bytes], is_excel: bool) -> None:
    last, across = _corner(part, is_excel)
    if last * across > MOST_CELLS:
        found = f"content in row {last:,} and column {across:,} of one sheet"
        raise UnreadableError(found, f"a sheet of at most {MOST_CELLS:,} cells")


def _corner(part: IO[bytes], is_excel: bool) -> tuple[int, int]:
    """The last row and column that have content; OpenDocument has all sheets in one part."""
    last = across = 0
    for _, row, place, tag in cells_in(part, is_excel):
        if not tag.endswith(b"/"):
            last, across = max(last, row), max(across, place)
    return last, across


def merged_downwards(data: bytes) -> dict[int, list[tuple[int, int, int]]]:
    """Return merged cells of an OpenDocument file by the number of their sheet, from 0.

    Each is its column and its first and last row; other files have none here.
    """
    merged: dict[int, list[tuple[int, int, int]]] = {}
    if not data.startswith(ZIP):
        return merged
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        for name in {"content.xml"} & set(package.namelist()):
            with package.open(name) as part:
                for table, row, place, tag in cells_in(part, is_excel=False):
                    if spanned := _SPANNED.search(tag):
                        span = place - 1, row - 1, row + int(spanned[1]) - 2
                        merged.setdefault(table - 1, []).append(span)
    return merged


def cells_in(part: IO[bytes], is_excel: bool) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield the table, the row, the column and the attributes of each cell in a part, from 1."""
    table = row = place = 0
    text = b""
    while chunk := part.read(2**20):
        text += chunk
        end = 0
        for tag in _CELL.finditer(text):
            end = tag.end()
            if tag[1] == b"table":
                table, row = table + 1, row if is_excel else 0
                continue
            named, repeated = _PLACE.search(tag[2]), _TIMES.search(tag[2])
            times = int(repeated[1]) if repeated else 1
            if tag[1] in _ROWS:
                row, place = int(named[2]) if named else row + times, 0
                continue
            place = _column_number(named[1]) if named and named[1] else place + times
            row = int(named[2]) if named else row
            yield table, row, place, tag[2]
        text = _open_tag(text, end)


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
