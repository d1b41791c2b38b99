"""Files that are broken, odd or hostile give sentences, and the rows that can be read."""

import datetime
import gzip
import io
import json
import os
import random
import sys
import zipfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

from reelbench.interop.records import delimited, read_records


def problems_of(path: Path, content: str | bytes) -> list[str]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [str(problem).removeprefix(str(path.parent)) for problem in read_records(path).problems]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", '[{"a": 1},]', "a.json:1: file: found a comma with nothing behind it, before ] at column 10"),
        ("a.json", '[\n{"a": 1}\n{"a": 2}]', "a.json:3: file: found a missing comma at column 1"),
        ("a.json", "[{'a': 1}]", "single quotes instead of double ones"),
        ("a.json", "[" * 100_000, "nesting deeper than 64 levels"),
        ("a.json", "[" + "9" * 5000 + "]", "plain JSON"),
        ("a.json", "[]", "found no rows"),
        ("a.json", '{"a": [{"x": 1}], "b": [{"y": 2}], "c": {"z": 3}}', "several lists of rows: 'a, b', expected --rows with one name"),
        ("a.json", '{"q1": "A", "q1": "B"}', "'q1' more than once in one object"),
        ("a.jsonl", '{"a": 1}\n{"a": \n{"a": 3}', "a.jsonl:2: line: found '{\"a\":' (an end without a value and } at column"),
        ("a.csv", "", "found no rows"),
        ("a.csv", "id,q\n1,a\0b\n" + "2,b\n" * 9, "a.csv:2: file: found a NUL character"),
        ("a.csv", 'id,q\n1,a\n2,"b\n3,c\n', "a.csv:3: row: found a quote that is not closed"),
        ("a.csv", "id,q\n1,a,b\n", "a.csv:2: row: found 3 cells, expected 2, as in line 1"),
        ("a.csv", "id,q\n1,什么问题\n".encode("gb18030"), "a.csv:2: file: found byte 0xCE, which is not UTF-8, expected UTF-8 (save it as such"),
        ("a.csv", b"\x01\x02\0" * 99, "bytes that are no text"),
        ("a.csv", b"\x1f\x8b\x08broken", "a broken .gz"),
        ("a.csv", gzip.compress(b"id,q\n1,2\n" * 99, mtime=0)[:-9], "a broken .gz"),
        ("a.csv", "<!DOCTYPE html><p>404", "a web page, expected a file with rows: was its download refused?"),
        ("a.parquet", "version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS, expected the file itself"),
        ("a.parquet", b"PAR1junk", "broken Parquet"),
        ("a.xlsx", b"PK\x03\x04junk", "a broken spreadsheet"),
        ("a.xls", b"\xd0\xcf\x11\xe0" + b"x" * 600, "expected a spreadsheet"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(
    name: str, content: str | bytes, words: str, tmp_path: Path
) -> None:
    assert any(words in problem for problem in problems_of(tmp_path / name, content))


def test_rows_beside_broken_ones_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,q\n1,a\n2,"b\n3,c\n4,d,e\n5,"f"" g"\n6,"h" i\n')
    found = read_records(tmp_path / "a.csv")
    assert [(r.line, r.values["q"]) for r in found.records] == [
        (2, "a"),
        (4, "c"),
        (6, 'f" g'),
        (7, "h i"),
    ]
    assert [problem.line for problem in found.problems] == [3, 5]
    (tmp_path / "a.json").write_text('[{"a": 1}, null, [2], {"a": NaN}, {"a": 1e999}]')
    found = read_records(tmp_path / "a.json")
    assert [r.values for r in found.records] == [{"a": 1}, {"a": None}, {"a": None}]
    assert [problem.line for problem in found.problems] == [2, 3]


def test_odd_headers_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Quiz,v1,,\n,,,\nid,q,q,,\n1,a,b,c,\n2,a,b,c,\n3,a,b,c,\n")
    found = read_records(path)
    assert found.columns == ("id", "q", "q (2)", "column 4")
    assert "taken from line 3; above it: 'Quiz', 'v1'." in found.notes[0]
    assert "Column 4 has no name" in found.notes[2]


def test_quotes_in_a_table_with_tabs_may_be_plain_signs(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text('id\tq\n1\t"Go!", he said\n2\t"open\n3\tx\n')
    found = read_records(tmp_path / "a.tsv")
    assert [r.values["q"] for r in found.records] == ['"Go!", he said', '"open', "x"]
    assert found.problems == ()


def test_characters_that_no_file_can_hold_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"a": "\\ud800 x", "b": "\\ud83d\\ude00"}]')
    (record,) = read_records(tmp_path / "a.json").records
    assert record.values == {"a": "� x", "b": "😀"}


def test_long_cells_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("id\timage\n1\t" + "A" * 300_000 + "\n")
    assert len(read_records(tmp_path / "a.tsv").records[0].values["image"]) == 300_000


def test_sheets_with_the_same_columns_are_one_table(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    day = datetime.date(2026, 1, 2)
    for sheet, rows in ((book.active, [[1, day, "#N/A"]]), (book.create_sheet("more"), [["002", None, True]])):  # fmt: skip
        for row in (["id", "when", "x"], *rows):
            sheet.append(row)
    hidden = book.create_sheet("hidden")
    hidden.append(["id", "when", "x"])
    hidden.append([9, None, None])
    hidden.sheet_state = "hidden"
    book.create_sheet("legend").append(["a", "b"])
    book.save(tmp_path / "a.xlsx")
    found = read_records(tmp_path / "a.xlsx")
    assert [list(record.values.values()) for record in found.records] == [
        [1, "2026-01-02", None],
        ["002", None, True],
    ]
    assert found.notes[0] == "Rows of the sheets 'Sheet', 'more' were taken."
    assert found.notes[1] == "Sheets with other columns were left out: 'legend'."
    assert [r.values["id"] for r in read_records(tmp_path / "a.xlsx", "hidden").records] == [9]
    assert "no sheet 'no'" in str(read_records(tmp_path / "a.xlsx", "no").problems[0])


def test_a_sheet_whose_corner_is_far_away_does_not_end_the_process(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "id", "x"
    book.save(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as package:
        parts = {info.filename: package.read(info) for info in package.infolist()}
    sheet, rels = "xl/worksheets/sheet1.xml", "xl/_rels/workbook.xml.rels"
    far = parts[sheet]
    quoted, padded = far.replace(b'"', b"'"), far.replace(b"<c ", b"<c " + b" " * 2_000_000)
    moved = {**parts, "xl/a.dat": far, rels: parts[rels].replace(b"/xl/worksheets/sheet1.xml", b"/xl/a.dat")}  # fmt: skip
    del moved[sheet]
    for content, words in (
        (parts, "content in row 1,048,576 and column 16,384"),
        ({**parts, sheet: quoted}, "content in row 1,048,576 and column 16,384"),
        (moved, "content in row 1,048,576 and column 16,384"),
        ({**parts, sheet: padded}, "a cell whose tag is longer"),
        ({**parts, sheet: b"<c " * 300_000}, "expected a spreadsheet"),
        ({"content.xml": _open_document(10**12)}, "row 2 and column 1,000,000,000,000"),
    ):
        _pack(tmp_path / "b.xlsx", content)
        (problem,) = read_records(tmp_path / "b.xlsx").problems
        assert words in str(problem)


def test_a_cell_that_is_too_long_for_quotes_is_read_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "MOST_LINE", 1000)
    (tmp_path / "a.tsv").write_text(f'id\tq\n1\t"{"x" * 2000}\r\n2\tb\n')
    found = read_records(tmp_path / "a.tsv")
    assert [len(record.values["q"]) for record in found.records] == [2001, 1]
    assert "read as plain signs" in found.notes[0]


def test_an_object_of_many_names_with_one_twice_is_read_at_once(tmp_path: Path) -> None:
    names = [f'"{n}": {{"q": 1}}' for n in (*range(40_000), 7)]
    found = problems_of(tmp_path / "a.json", f"{{{', '.join(names)}}}")
    assert len(found) == 1
    assert "'7' more than once in one object" in found[0]


def test_empty_rows_to_the_last_one_of_open_document_sheets_do_no_harm(tmp_path: Path) -> None:
    _pack(tmp_path / "a.ods", {"content.xml": _open_document(30, sheets=3)})
    found = read_records(tmp_path / "a.ods")
    assert (len(found.records), found.problems) == (3, ())


def _pack(path: Path, parts: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in {**_OPEN_DOCUMENT, **parts}.items():
            package.writestr(name, content)


_OPEN_DOCUMENT = {
    "mimetype": b"application/vnd.oasis.opendocument.spreadsheet",
    "META-INF/manifest.xml": b"<manifest:manifest/>",
}


def _open_document(across: int, sheets: int = 1) -> bytes:
    """Sheets of two rows with as many cells, and empty rows below them, as programs write them."""
    names = "".join(f' xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "table", "text"))  # fmt: skip
    cells = f'<table:table-cell table:number-columns-repeated="{across}" office:value-type="string"><text:p>x</text:p></table:table-cell>'  # fmt: skip
    row = f"<table:table-row>{cells}</table:table-row>"
    rest = '<table:table-row table:number-rows-repeated="1048574"><table:table-cell/></table:table-row>'  # fmt: skip
    tables = "".join(f'<table:table table:name="{n}">{row * 2}{rest}</table:table>' for n in range(sheets))  # fmt: skip
    return f"<office:document-content{names}><office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>".encode()  # fmt: skip


def test_bombs_and_archives_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", "id,q\n1,2\n")
    assert "an archive" in str(read_records(tmp_path / "a.zip").problems[0])
    text = pa.array(["y" * 1_000_000]).dictionary_encode()
    table = pa.table({"s": text.take(pa.array([0] * 1000))})
    parquet.write_table(table, tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 1_000_000
    assert "rows of more than 512 MiB" in str(read_records(tmp_path / "a.parquet").problems[0])


def test_what_is_no_regular_file_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    for name, words in (("pipe.csv", "no regular file"), ("zero.csv", "no regular file"), (".", "a folder"), ("no.csv", "no such file")):  # fmt: skip
        assert words in str(read_records(tmp_path / name).problems[0])


def test_parquet_without_its_package_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet.write_table(pa.table({"id": [1]}), tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (problem,) = read_records(tmp_path / "a.parquet").problems
    assert "[parquet]" in str(problem)
    assert "pip install" in str(problem)


def test_damaged_files_never_raise(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    rows = [{"id": n, "q": f"ü, {n}", "o": ["a", "b"]} for n in range(20)]
    for row in (["id", "q"], *([row["id"], row["q"]] for row in rows)):
        book.active.append(row)
    sheet, table = io.BytesIO(), io.BytesIO()
    book.save(sheet)
    parquet.write_table(pa.Table.from_pylist(rows), table)
    whole = {
        "a.xlsx": sheet.getvalue(),
        "a.parquet": table.getvalue(),
        "a.json": json.dumps(rows, indent=1).encode(),
        "a.csv": b"id,q\n" + b'1,"a ""b"""\n' * 20,
    }
    generator = random.Random(7)
    for _ in range(200):
        name = generator.choice(sorted(whole))
        data = bytearray(whole[name])
        for _ in range(generator.choice([1, 3, 20])):
            place = generator.randrange(len(data))
            data[place : place + generator.randrange(9)] = generator.choice([b"", b"\0", b'"', b"{", b"\xff\xff\xff\xff"])  # fmt: skip
        (tmp_path / name).write_bytes(data)
        found = read_records(tmp_path / name)
        assert found.records or found.problems
        assert all(json.dumps(dict(record.values)).encode() for record in found.records)
