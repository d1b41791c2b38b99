"""Reads the rows of a file whose form is found by its content, and finds such files."""

import codecs
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reelbench.data.items import Problem, shown
from reelbench.data.paths import SHEET_ENDINGS, TABLE_ENDINGS
from reelbench.interop.records.arrow import ENDING as ARROW
from reelbench.interop.records.arrow import read_arrow
from reelbench.interop.records.delimited import read_delimited
from reelbench.interop.records.json_rows import VALUE, json_rows, path_in_words
from reelbench.interop.records.json_text import json_values
from reelbench.interop.records.parquet import PARQUET, read_parquet
from reelbench.interop.records.raw import decoded, first_bytes, opened_bytes
from reelbench.interop.records.record import (
    Found,
    RecordFile,
    SourceRecord,
    UnreadableError,
    columns_of,
)
from reelbench.interop.records.spreadsheet import OLD_EXCEL, read_spreadsheet
from reelbench.interop.records.spreadsheet_package import ZIP
from reelbench.interop.records.table import table_records

ENDINGS = {*TABLE_ENDINGS, ".json", ".jsonl", ".ndjson"}
_NO_ROWS = ("readme", "license", "licence", "dataset_info", "state.json", "package.json",
            "package-lock", "tsconfig", "dataset_dict", "cache-")  # fmt: skip


_PAGE = (
    "a web page",
    "a file with rows: was its download refused? (A table in a page: open it in "
    "a spreadsheet program and save it as .xlsx or CSV)",
)
_OTHERS = (  # what stands where a file should be
    (b"version https://git-lfs", "a pointer of Git LFS", "the file itself: run `git lfs pull`"),
    (b"<!doctype", *_PAGE),
    (b"<html", *_PAGE),
    (b"%pdf", "a PDF", "a table: copy its rows into a spreadsheet, or export them as CSV"),
)


def record_files(source: Path) -> list[Path]:
    """Return the files of a folder that may hold rows, sorted; a file is returned alone."""
    if not source.is_dir():
        return [source]
    found = []
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        found += [Path(folder) / name for name in names if _may_hold_rows(name)]
    return sorted(found)


def _may_hold_rows(name: str) -> bool:
    low = name.lower().removesuffix(".gz")
    return Path(low).suffix in ENDINGS and not low.startswith((".", "~$", *_NO_ROWS))


def read_records(path: Path, rows: str = "") -> RecordFile:
    """Return the rows of a file; what cannot be read is in ``problems``, and nothing is raised.

    ``rows`` is a path to the rows in nested JSON, such as ``data/{video}/[]``, or the name of a
    sheet; see ``json_rows.py``. Where it is empty, they are found.
    """
    try:
        form, found = _read(path, rows)
    except UnreadableError as error:
        return RecordFile(path, "", (), (), (error.problem(path),))
    columns = tuple(found.columns) or columns_of(found.records)
    problems = tuple(found.problems)
    if not found.records and not problems:
        problems = (Problem("NO_ROWS", "file", "no rows", "at least one row", str(path)),)
    return RecordFile(path, form, columns, tuple(found.records), problems, tuple(found.notes))


def _read(path: Path, rows: str) -> tuple[str, Found]:
    file = str(path)
    if path.suffix.lower() == ARROW:
        return "arrow", read_arrow(path, file)
    if first_bytes(path).startswith(PARQUET):
        return "parquet", read_parquet(path, file)  # which may be large for its pictures
    data = opened_bytes(path)
    if data.startswith(PARQUET):
        return "parquet", read_parquet(io.BytesIO(data), file)
    if data.startswith((ZIP, OLD_EXCEL)):
        return "excel", read_spreadsheet(data, file, rows)
    start = data[:200].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for sign, thing, expected in _OTHERS:
        if start.startswith(sign):
            raise UnreadableError(thing, expected)
    text, note = decoded(data)
    form, found = _read_text(path, text, rows)
    notes = [note, *found.notes] if note else list(found.notes)
    if path.suffix.lower() in SHEET_ENDINGS:
        notes.insert(0, f"{path.name} is no spreadsheet, although its name says so: it is {form}.")
    return form, Found(found.records, found.problems, notes, found.columns)


def _read_text(path: Path, text: str, rows: str) -> tuple[str, Found]:
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    is_table = ending in (".csv", ".tsv", ".tab", ".txt")
    if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")) or ending.startswith((".json", ".nd")):
        try:
            return _read_json(text.lstrip("\ufeff"), str(path), rows)
        except UnreadableError:
            if not is_table:  # a column may be called [id]
                raise
    usual = "\t" if ending in (".tsv", ".tab") else ","
    found, delimiter = read_delimited(text, str(path), usual)
    return "tsv" if delimiter == "\t" else "csv", found


def _read_json(text: str, file: str, rows: str) -> tuple[str, Found]:
    if not text.strip():
        return "json", Found()
    values, is_lines, problems, notes = json_values(text, file)
    if is_lines:
        found = _records(values, file) if not rows else _below(values, file, rows)
        return "jsonl", Found(found.records, [*problems, *found.problems], notes)
    value = values[0][1]
    if not rows and (cells := _cells(value)):
        return "json", table_records(cells, file)
    found_rows, used = json_rows(value, rows)
    if used and not rows:
        notes = [*notes, f"Its rows were taken from {path_in_words(used)}."]
    found = _records(list(enumerate(found_rows, 1)), file)
    return "json", Found(found.records, [*problems, *found.problems], notes)


def _below(values: list[tuple[int, Any]], file: str, rows: str) -> Found:
    """The rows within each line."""
    return _records([(n, row) for n, value in values for row in json_rows(value, rows)[0]], file)


def _cells(value: Any) -> list[tuple[int, list[Any]]]:
    """The rows of a list of lists, of which the first has names; [] where it is none."""
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        return []
    if not value or not all(isinstance(name, str) for name in value[0]):
        return []
    return list(enumerate(value, 1))


def _records(rows: list[tuple[int, Any]], file: str) -> Found:
    records, problems = [], []
    for line, row in rows:
        if isinstance(row, Mapping):
            records.append(SourceRecord(row, file, line))
        elif isinstance(row, str | int | float | bool):
            records.append(SourceRecord({VALUE: row}, file, line))
        else:
            problems.append(Problem("BAD_ROW", "row", shown(row), "an object", file, line))
    return Found(records, problems)
