"""How the cells of an Excel file show their numbers: those with a time or a percentage.

The library that reads values gives no formats; they stand in parts of the package. Other
spreadsheets, and a package that cannot be read so, have none here.
"""

import html
import io
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping

from reelbench.interop.records.cell_percents import is_percent_format
from reelbench.interop.records.cell_times import is_time_format
from reelbench.interop.records.spreadsheet_package import ZIP, cells_in

Places = Mapping[tuple[int, int], str]  # formats by row and column, from 1
_BUILT_IN = {
    9: "0%", 10: "0.00%", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
}  # fmt: skip
_MOST_BYTES = 2**25  # of a part that lists sheets or formats
_LONGEST_CODE = 255  # letters of a format, as in Excel
_TAG = re.compile(r"<(?:\w+:)?(\w+)((?:\s[^<>]*)?)>")
# From the start of a word and without a way back: a long one is read once.
_ATTRIBUTE = re.compile(r"""\b(?:\w++:)?+(\w++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")
_NUMBER = re.compile(r"\d{1,9}")  # of a format; Python refuses to read one of 5,000 digits
_NO_VALUE = re.compile(rb"<c\b([^<>]*+)><f\b[^<>]*+(?:(?<=/)>|>[^<]*+</f>)(?:<v\s*/>|<v></v>)?</c>")
_LETTERS = re.compile(rb"""\br\s*=\s*["']([A-Z]{1,3})""")
_STYLE = re.compile(rb"""\bs\s*=\s*["'](\d{1,9})["']""")


class CellFormats:
    """The formats of cells with times and percentages, by sheet."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._codes: dict[int, str] = {}
        self._parts: dict[str, str] = {}  # of the package, by the sheet's name
        if data.startswith(ZIP):
            with zipfile.ZipFile(io.BytesIO(data)) as package:
                self._codes = _codes_by_style(package)
                self._parts = _sheet_parts(package)

    def of_sheet(self, name: str) -> Places:
        """Return the formats of the cells that have one of these."""
        if not self._codes or name not in self._parts:
            return {}
        found: dict[tuple[int, int], str] = {}
        with (
            zipfile.ZipFile(io.BytesIO(self._data)) as package,
            package.open(self._parts[name]) as part,
        ):
            for _, row, column, attributes in cells_in(part, is_excel=True):
                style = None if attributes.endswith(b"/") else _STYLE.search(attributes)
                if style and (code := self._codes.get(int(style[1]))):
                    found[row, column] = code
        return found

    def empty_formulas(self, name: str) -> Counter[str]:
        """Return how many formulas without values each column of a sheet has, by its letters."""
        if name not in self._parts:
            return Counter()
        with zipfile.ZipFile(io.BytesIO(self._data)) as package:
            if package.getinfo(self._parts[name]).file_size > _MOST_BYTES:
                return Counter()
            cells = _NO_VALUE.findall(package.read(self._parts[name]))
        return Counter(found[1].decode() for each in cells if (found := _LETTERS.search(each)))


def _codes_by_style(package: zipfile.ZipFile) -> dict[int, str]:
    """The formats of times and percentages, by the number of the style that has them."""
    codes, styles = dict(_BUILT_IN), list[int]()
    is_listed = False
    for name, attributes in _tags(package, "xl/styles.xml"):
        number = attributes.get("numFmtId", "")
        is_number = _NUMBER.fullmatch(number) is not None
        if name == "numFmt" and is_number:
            codes[int(number)] = attributes.get("formatCode", "")
        elif name in ("cellXfs", "cellStyleXfs", "cellStyles"):
            is_listed = name == "cellXfs"
        elif name == "xf" and is_listed:
            styles.append(int(number) if is_number else 0)
    found = {number: code for number, code in codes.items() if _is_shown(code)}
    return {style: found[number] for style, number in enumerate(styles) if number in found}


def _is_shown(code: str) -> bool:
    """Whether a format shows a time or a percentage."""
    return len(code) <= _LONGEST_CODE and (is_time_format(code) or is_percent_format(code))


def _sheet_parts(package: zipfile.ZipFile) -> dict[str, str]:
    """The part of each sheet, by its name."""
    targets = {
        attributes.get("Id", ""): posixpath.normpath(
            posixpath.join("/xl", attributes.get("Target", ""))
        ).lstrip("/")
        for name, attributes in _tags(package, "xl/_rels/workbook.xml.rels")
        if name == "Relationship"
    }
    sheets = {
        attributes.get("name", ""): targets.get(attributes.get("id", ""), "")
        for name, attributes in _tags(package, "xl/workbook.xml")
        if name == "sheet"
    }
    there = set(package.namelist())
    return {name: part for name, part in sheets.items() if part in there}


def _tags(package: zipfile.ZipFile, part: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The opening tags of a part, without their prefixes, and their attributes."""
    if part not in package.namelist() or package.getinfo(part).file_size > _MOST_BYTES:
        return
    text = package.read(part).decode("utf-8", "replace")
    for tag in _TAG.finditer(text):
        pairs = _ATTRIBUTE.finditer(tag[2])
        yield tag[1], {one[1]: _unescaped(one[2] or one[3] or "") for one in pairs}


def _unescaped(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a character whose number has more digits than Python reads
        return text
