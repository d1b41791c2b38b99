"""Rows come out of anyone's file, whatever its form."""

import gzip
import json
from datetime import time
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

from reelbench.interop.records import RecordFile, read_records, record_files


def written(path: Path, content: str | bytes | object) -> Path:
    """Write text, bytes or JSON into a file."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def rows_of(file: RecordFile) -> list[dict[str, object]]:
    return [dict(record.values) for record in file.records]


TABLE = [{"id": "1", "q": "a, b"}, {"id": "2", "q": "é"}]


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("a.csv", 'id,q\n1,"a, b"\n2,é\n', "csv"),
        ("a.csv", 'id,q\r\n1,"a, b"\r\n\r\n2,é\r\n'.encode("utf-8-sig"), "csv"),
        ("a.csv", 'id,q\n1,"a, b"\n2,é\n'.encode("utf-16"), "csv"),
        ("a.csv", 'id,q\n1,"a, b"\n2,é\n'.encode("cp1252"), "csv"),
        ("a.csv", "id;q\n1;a, b\n2;é\n", "csv"),
        ("a.csv", "sep=;\nid;q\n1;a, b\n2;é\n", "csv"),
        ("a.txt", "id|q\n1|a, b\n2|é\n", "csv"),
        ("a.csv", "id\tq\n1\ta, b\n2\té\n", "tsv"),
        ("a.tsv.gz", gzip.compress("id\tq\n1\ta, b\n2\té\n".encode(), mtime=0), "tsv"),
        ("a.json", TABLE, "json"),
        ("a.json", {"data": TABLE}, "json"),
        ("a.json", {"1": {"q": "a, b"}, "2": {"q": "é"}}, "json"),
        ("a.json", {"id": ["1", "2"], "q": ["a, b", "é"]}, "json"),
        ("a.json", [["id", "q"], ["1", "a, b"], ["2", "é"]], "json"),
        ("a.json", "\n".join(map(json.dumps, TABLE)), "jsonl"),
        ("a.csv", "\n".join(map(json.dumps, TABLE)), "jsonl"),
        ("a.jsonl", "".join(json.dumps(row, indent=1) for row in TABLE), "jsonl"),
    ],
)
def test_the_same_rows_are_read_from_every_form_of_text(
    name: str, content: object, form: str, tmp_path: Path
) -> None:
    found = read_records(written(tmp_path / name, content))
    assert (rows_of(found), found.form, found.columns) == (TABLE, form, ("id", "q"))
    assert found.problems == ()


def test_a_spreadsheet_gives_whole_numbers_times_and_merged_cells(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["Our questions"], [], ["id", "video", "start"], [1, "a", 3.0], [2, None, time(0, 1, 30)], [3, "b", 2.5]):  # fmt: skip
        sheet.append(row)
    sheet.merge_cells("B4:B5")
    book.create_sheet("notes").append(["x", "y"])
    book.save(tmp_path / "q.xlsx")
    found = read_records(tmp_path / "q.xlsx")
    assert rows_of(found) == [
        {"id": 1, "video": "a", "start": 3},
        {"id": 2, "video": "a", "start": "0:01:30"},
        {"id": 3, "video": "b", "start": 2.5},
    ]
    assert found.form == "excel"
    assert found.records[0].file.endswith("q.xlsx#Sheet")
    assert [record.line for record in found.records] == [4, 5, 6]


def test_parquet_gives_plain_values_and_leaves_media_out(tmp_path: Path) -> None:
    image = {"bytes": b"\xff" * 9000, "path": "a.png"}
    columns = {"id": [1, 2], "options": [["x", "y"], None], "image": [image, image], "b": [b"\xff\0", b"text"]}  # fmt: skip
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    found = read_records(tmp_path / "a.parquet")
    assert rows_of(found) == [
        {"id": 1, "options": ["x", "y"], "image": {"path": "a.png"}, "b": None},
        {"id": 2, "options": None, "image": {"path": "a.png"}, "b": "text"},
    ]
    assert "'b', 'image'" in found.notes[0]


def test_a_path_leads_to_nested_rows_which_inherit_what_is_above_them(tmp_path: Path) -> None:
    video = {"split": "test", "metadata": {"fps": 30}, "mc": [{"id": 0}, {"id": 1, "split": "own"}]}
    path = written(tmp_path / "a.json", {"v1": video, "v2": {**video, "mc": []}})
    expected = [
        {"video": "v1", "split": "test", "id": 0},
        {"video": "v1", "split": "own", "id": 1},
    ]
    assert rows_of(read_records(path, "{video}/mc/[]")) == expected
    assert rows_of(read_records(path, "{video}/mc")) == expected
    wrong = read_records(path, "mcs")
    assert "the part 'mcs' of the rows' path" in str(wrong.problems[0])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"q1": "B", "q2": "A"}, "each member of the file, whose name is its 'id'"),
        ({"data": [{"id": 1}]}, "'data' (--rows 'data'"),
        ({"v1": {"questions": [{"q": 1}]}}, "'questions' in each member of the file, whose name"),
        ({"v1": [{"q": 1}], "v2": [{"q": 2}]}, "each entry of each member of the file, whose name"),
        ({"id": [1, 2], "question": ["x", "y"]}, "the columns that the file lists one by one."),
    ],
)
def test_where_rows_of_nested_json_are_is_said_in_words(
    content: object, words: str, tmp_path: Path
) -> None:
    (note,) = read_records(written(tmp_path / "a.json", content)).notes
    assert note.startswith(f"Its rows were taken from {words}")


def test_only_files_that_may_hold_rows_are_listed(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.csv.gz", "x.mp4", "README.md", ".hidden.csv", "LICENSE", "dataset_infos.json", "~$q.xlsx"):  # fmt: skip
        (tmp_path / name).touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.json").touch()
    assert [path.name for path in record_files(tmp_path)] == ["a.csv.gz", "b.jsonl"]
