"""Spreadsheets as people make them: headers that are merged or of two rows, and what is missed."""

import zipfile
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from dry_imports import imported, keys, taken, write
from support import run_here

from reelbench.interop.imports import ImportResult, import_benchmark

Rows = list[list[Any]]
Merged = Sequence[tuple[int, int, int, int]]  # first row and column, last row and column, from 1
OPTIONS = [["red", "blue", "green"], ["a man", "a child", "nobody"], ["a cup", "a book", "a lamp"]]
BODY: Rows = [
    [f"{'aab'[n % 3]}.mp4", f"What is seen in scene {n}?", *OPTIONS[n % 3], "BAC"[n % 3]]
    for n in range(9)
]
KEYS = ["blue", "a man", "a lamp"] * 3
GROUPS: Rows = [["video", "question", "Options", None, None, "answer"]]
ACROSS = [(1, 3, 1, 5)]


def write_excel(path: Path, rows: Rows, merged: Merged = ()) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in rows:
        sheet.append(row)
    for top, left, bottom, right in merged:
        sheet.merge_cells(start_row=top, start_column=left, end_row=bottom, end_column=right)
    book.save(path)


def write_open_document(path: Path, rows: Rows, merged: Merged = ()) -> None:
    spans = {(top, left): (bottom - top + 1, right - left + 1) for top, left, bottom, right in merged}  # fmt: skip
    names = "".join(f' xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "table", "text"))  # fmt: skip
    body = ""
    for number, row in enumerate(rows, 1):
        cells = ""
        for place, value in enumerate(row, 1):
            down, across = spans.get((number, place), (1, 1))
            span = f' table:number-columns-spanned="{across}" table:number-rows-spanned="{down}"'
            text = "" if value is None else f"<text:p>{escape(str(value))}</text:p>"
            kind = "" if value is None else ' office:value-type="string"'
            cells += (
                f"<table:table-cell{span * (down + across > 2)}{kind}>{text}</table:table-cell>"
            )
        body += f"<table:table-row>{cells}</table:table-row>"
    first = '<table:table table:name="about"><table:table-row><table:table-cell/></table:table-row></table:table>'  # fmt: skip
    tables = f'{first}<table:table table:name="questions">{body}</table:table>'
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        package.writestr("META-INF/manifest.xml", "<manifest:manifest/>")
        package.writestr("content.xml", f"<office:document-content{names}><office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>")  # fmt: skip


def write_text(path: Path, rows: Rows, _: Merged = ()) -> None:
    write(path, [["" if value is None else value for value in row] for row in rows])


WRITERS: dict[str, Callable[[Path, Rows, Merged], None]] = {
    "q.xlsx": write_excel, "q.ods": write_open_document, "q.csv": write_text,
}  # fmt: skip
every_form = pytest.mark.parametrize("name", WRITERS)


def read(folder: Path, name: str, rows: Rows, merged: Merged = ()) -> ImportResult:
    WRITERS[name](folder / name, rows, merged)
    return import_benchmark(folder / name, folder / "made", dry_run=True, keep_missing=True)


@every_form
@pytest.mark.parametrize(
    ("head", "merged"),
    [
        (GROUPS, ACROSS),
        ([*GROUPS, [None, None, "A", "B", "C", None]], [*ACROSS, (1, 1, 2, 1), (1, 2, 2, 2)]),
        ([*GROUPS, [None, None, 1, 2, 3, None]], ACROSS),
        ([*GROUPS, [None, None, "1.", "2.", "3.", None]], ACROSS),
        ([["Pilot"], [None], *GROUPS, [None, None, "a)", "b)", "c)", None]], [(1, 1, 1, 6)]),
        ([["Pilot", None, "March"], *GROUPS, [None, None, "A", "B", "C", None]], ACROSS),
        ([["Clip", "Multiple choice", None, None, None, "Key"], ["file", "question", "A", "B", "C", "letter"]], [(1, 2, 1, 5)]),
        ([["video", "question", "To choose from", None, None, "answer"]], ACROSS),
        ([["video", "question", None, None, None, "answer"]], ()),
    ],
)  # fmt: skip
def test_options_under_one_name_are_all_taken(
    name: str, head: Rows, merged: Merged, tmp_path: Path
) -> None:
    rows = [row + [None] * (6 - len(row)) for row in head]
    result = read(tmp_path, name, rows + BODY, merged)
    assert (keys(result), result.odd_rows, result.doubts) == (KEYS, (), ())
    assert {item.kind for item in result.items} == {"single"}


@every_form
def test_options_with_commas_under_one_name_are_not_divided(name: str, tmp_path: Path) -> None:
    texts = ["red, round", "blue, big", "green, thin"]
    rows = [[f"{n % 2}.mp4", f"What is {n}?", *texts, "BAC"[n % 3]] for n in range(9)]
    assert keys(read(tmp_path, name, GROUPS + rows, ACROSS)) == [texts[n] for n in (1, 0, 2)] * 3
    rows = [[*row[:2], "|".join(texts), "see below", "see above", row[-1]] for row in rows]
    assert keys(read(tmp_path, name, GROUPS + rows, ())) == [texts[n] for n in (1, 0, 2)] * 3


@every_form
def test_times_under_one_name_are_taken(name: str, tmp_path: Path) -> None:
    head = [["Zeit", None, *GROUPS[0]], ["von", "bis", None, None, "A", "B", "C", None]]
    merged = [(1, 1, 1, 2), (1, 5, 1, 7), (1, 3, 2, 3)]
    result = read(tmp_path, name, [*head, *(["0:05", "1:10", *row] for row in BODY)], merged)
    assert (keys(result), result.odd_rows) == (KEYS, ())
    assert {(item.media[0].start, item.media[0].end) for item in result.items} == {(5, 70)}


def test_parts_of_several_groups_with_the_same_names_are_told_apart(tmp_path: Path) -> None:
    head = [["video", "Question 1", None, None, None, "Question 2", None, None, None],
            [None, *["question", "A", "B", "answer"] * 2]]  # fmt: skip
    rows = [[f"{n}.mp4", "Who?", "he", "she", "A", "Why?", "so", "no", "B"] for n in range(4)]
    assert keys(read(tmp_path, "q.csv", head + rows)) == ["he", "no"] * 4
    head = [["video", "question", "Correct answer", "Distractors", None], [None, None, None, 1, 2]]
    rows = [[f"{n}.mp4", "Who?", "he", "she", "they"] for n in range(4)]
    assert keys(read(tmp_path, "q.csv", head + rows)) == ["he"] * 4


@pytest.mark.parametrize("name", ["q.xlsx", "q.ods"])
def test_a_video_that_is_merged_over_its_questions_is_that_of_each(
    name: str, tmp_path: Path
) -> None:
    rows = [[None if n % 3 else f"{n}.mp4", *row[1:]] for n, row in enumerate(BODY)]
    merged = [(row, 1, row + 2, 1) for row in (3, 6, 9)]
    head = [*GROUPS, [None, None, "A", "B", "C", None]]
    result = read(tmp_path, name, head + rows, merged)
    videos = [item.media[0].path for item in result.items]
    assert videos == [f"media/{n}.mp4" for n in (0, 0, 0, 3, 3, 3, 6, 6, 6)]


@pytest.mark.parametrize(
    ("head", "line"),
    [
        (["video", "question", "A", "B", "C", "answer"], ["Part 1"]),
        (["video", "question", "A", "B", "C", "answer", "", ""], ["", "", "", "", "", "", "a note"]),
    ],
)  # fmt: skip
def test_a_row_between_is_no_part_of_the_header(
    head: list[str], line: list[str], tmp_path: Path
) -> None:
    rows = [row + [""] * (len(head) - len(row)) for row in (head, line, *BODY)]
    result = imported(tmp_path, rows)
    assert keys(result) == KEYS
    assert [(row.line, row.reason) for row in result.odd_rows] == [(2, "no question")]


def test_an_open_answer_that_is_a_letter_is_said_with_the_rows_and_the_flag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = ["video", "question", "first", "second", "answer"]
    rows = [[f"{n}.mp4", f"What is {n}?", f"it is {n}", f"no {n}", "a,b" if n else "a"] for n in range(5)]  # fmt: skip
    rows += [["9.mp4", "Who comes?", "", "", "the man"]]
    path, out = write(tmp_path / "q.csv", [head, *rows]), tmp_path / "out"
    words = ["import", path, "--out", out, "--keep-missing"]
    assert run_here(*words) == 1
    talk = capsys.readouterr().err
    assert (
        "q.csv:3 (q-0002): open: the answer 'a,b' is a letter, but the row has no options" in talk
    )
    assert "The answers of 5 open questions look like letters" in talk
    assert "--set options='[first, second]'" in talk
    assert len((out / "import/odd_rows.csv").read_text().splitlines()) == 6
    assert run_here(*words, "--set", "options=[first, second]") == 0
    assert run_here(*words, "--set", "kind=open") == 0
    assert "look like letters" not in capsys.readouterr().err


def test_what_is_taken_is_named_as_the_sheet_names_it(tmp_path: Path) -> None:
    result = read(tmp_path, "q.csv", [*GROUPS, [None, None, 1, 2, 3, None], *BODY])
    assert list(taken(result)) == [
        "video", "question", "Options 1", "Options 2", "Options 3", "answer",
    ]  # fmt: skip
    assert "The columns' names were taken from lines 1 to 2." in result.notes


FOUR = ["a dog", "a cat", "a cow", "a pig"]
HEAD = ["video", "question", "A", "B", "C", "D"]


@pytest.mark.parametrize(
    ("head", "cells", "answers", "said"),
    [
        ([*HEAD, "answer_final", "answer"], [*FOUR, None], "BDACBD", "'answer_final' could be the answer too and differs from 'answer' in 5 of 6 rows: --set answer=answer_final"),
        ([*HEAD, "correct", "answer"], [*FOUR, "no"], "BDACBD", "'correct' has yes or no"),
        ([*HEAD, "None of the above", "answer"], [*FOUR, "a rat"], "BDACBD", "--set options='[A, B, C, D, None of the above]'"),
        (["video", "question", "A", "B", "B", "C", "answer"], FOUR, "ABCABC", "Two columns are called 'B'"),
        (["video", "question", "i", "ii", "iii", "iv", "answer"], FOUR, ["ii", "i", "iv"] * 2, ""),
        (["video", "question", "option i", "option ii", "option iii", "option iv", "answer"], FOUR, ["ii", "i", "iv"] * 2, ""),
        (["video", "question", "red", "blue", "green", "grey", "answer"], FOUR, ["blue", "red", "grey"] * 2, ""),
        ([*HEAD, "TC in", "answer"], [*FOUR, 3], "BDACBD", "--set 'start=TC in'"),
        ([*HEAD, "start", "duration", "answer"], [*FOUR, 3, 2], "BDACBD", "'duration' is not added to 'start'"),
    ],
)  # fmt: skip
def test_columns_that_may_be_part_of_the_items_are_taken_or_said(
    head: list[str], cells: list[Any], answers: Sequence[str], said: str, tmp_path: Path
) -> None:
    own = ["BACDCB"[n] if "answer_final" in head else None for n in range(6)]
    rows = [
        ["a.mp4", f"What is {n}?", *(own[n] if c is None else c for c in cells), answers[n]]
        for n in range(6)
    ]
    result = read(tmp_path, "q.xlsx", [head, *rows])
    assert {item.kind for item in result.items} == {"single"}
    assert said in " ".join(result.doubts) if said else not result.doubts
    if not said:
        assert keys(result) == ["a cat", "a dog", "a pig"] * 2


def test_formulas_without_values_are_said_with_their_column(tmp_path: Path) -> None:
    rows = [["a.mp4", f"What is {n}?", "a dog", "a cat", '="no"', "AB"[n % 2]] for n in range(4)]
    result = read(tmp_path, "q.xlsx", [["video", "question", "A", "B", "C", "answer"], *rows])
    assert [row.reason for row in result.odd_rows] == [
        "column E: found 4 formulas without values, expected values: open the file in a "
        "spreadsheet program and save it"
    ]
