"""Times in spreadsheets: cells keep the text that they show, and what was meant is said or asked."""

import datetime
import zipfile
from collections.abc import Sequence
from datetime import time, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any

import openpyxl
import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.interop.imports import ImportResult, import_benchmark
from reelbench.interop.records import SheetTime, read_records

Cell = tuple[Any, str]  # a value, and the format of its number


def sheet(path: Path, head: Sequence[str], *rows: Sequence[Any]) -> Path:
    """Write a spreadsheet; a pair is a value with the format that shows it."""
    book = openpyxl.Workbook()
    book.active.append(list(head))
    for row in rows:
        book.active.append([cell[0] if isinstance(cell, tuple) else cell for cell in row])
        for column, cell in enumerate(row, 1):
            if isinstance(cell, tuple):
                book.active.cell(book.active.max_row, column).number_format = cell[1]
    book.save(path)
    return path


def as_typed(minutes: int, seconds: int) -> Cell:
    """What a spreadsheet makes of mm:ss: hours and minutes."""
    return timedelta(hours=minutes, minutes=seconds), "h:mm" if minutes < 24 else "[h]:mm:ss"


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (time(0, 5), "h:mm", "0:05"),
        (time(0, 5), "hh:mm;@", "00:05"),
        (time(0, 5), "h:mm:ss", "0:05:00"),
        (time(0, 5), "mm:ss", "05:00"),
        (time(1, 5, 9), "h:mm", "1:05"),
        (time(0, 1, 2, 500_000), "mm:ss.0", "01:02.5"),
        (time(0, 1, 2, 600_000), "mm:ss", "01:03"),
        (time(13, 5), "h:mm AM/PM", "1:05 PM"),
        (time(0, 5), "[$-409]h:mm\\ AM/PM;@", "12:05 AM"),
        (time(1, 5), 'h"h"mm', "1h05"),
        (timedelta(hours=65, minutes=10), "[h]:mm:ss", "65:10:00"),
        (timedelta(minutes=65, seconds=1), "[mm]:ss", "65:01"),
        (0.5, "0%", "50%"),
        (0.125, "0.0%", "12.5%"),
        (1, "0%", "100%"),
        (0.145, "0%", "15%"),
        (-0.145, "0%", "-15%"),
        (0.125, "0%", "13%"),
        (0.0005, "0.0%", "0.1%"),
        (0.25, "0 %", "25 %"),
        (0.25, "0\\ %", "25 %"),
        (0.25, "0%_)", "25%"),
        (0.25, "* 0%", "25%"),
        (0.25, "[Red]0%", "25%"),
        (0.25, "[Color 12][$-409]0%", "25%"),
        (0.25, "0%;[Red]-0%", "25%"),
        (-0.25, "0%;[Red]-0%", "-25%"),
        (-0.25, "0%;[Red]0%", "-25%"),
        (12.5, "#,##0%", "1,250%"),
        (0.25, "#,##0%", "25%"),
        (0.25, "00.0#%", "25.0%"),
        (0.05, "00.0#%", "05.0%"),
        (0.25, '0% "of; all"', "25% of; all"),
        (1e300, f"0.{'0' * 200}%", f"1{'0' * 302}.{'0' * 200}%"),
        (0.25, '0"%"', 0.25),
        (0.25, "0\\%", 0.25),
        (0.25, "0%%", 0.25),
        (0.25, "0.0E+0%", 0.25),
        (0.25, "[<0.5]0%;0.0", 0.25),
        (0.25, "0.0;0%", 0.25),
        (0.5, "0.00", 0.5),
        (0.5, "General", 0.5),
        (datetime.date(2024, 3, 4), "d-mmm", "2024-03-04"),
    ],
)
def test_a_cell_keeps_the_text_that_it_shows(
    value: Any, code: str, shown: Any, tmp_path: Path
) -> None:
    path = sheet(tmp_path / "a.xlsx", ["id", "value"], ["q", (value, code)])
    (record,) = read_records(path).records
    assert record.values["value"] == shown


@pytest.mark.parametrize(
    ("days", "code", "shown", "seconds"),
    [
        (25.5 / 24, "h:mm", "1:30", 91_800),
        (25.5 / 24, "[$-409]h:mm AM/PM", "1:30 AM", 91_800),
        (25.5 / 24, "[h]:mm", "25:30", 91_800),
        (1, "h:mm", "0:00", 86_400),
        (2.5, "mm:ss", "00:00", 216_000),
        (61.25, "h:mm", "6:00", 61.25 * 86_400),
        (45_355.25, "hh:mm:ss", "06:00:00", 21_600),
        (45_355, "h:mm", "0:00", 0),
    ],
)
def test_a_day_and_more_in_a_cell_for_the_time_of_day_is_shown_as_one(
    days: float, code: str, shown: str, seconds: float, tmp_path: Path
) -> None:
    path = sheet(tmp_path / "a.xlsx", ["id", "value"], ["q", (days, code)])
    (record,) = read_records(path).records
    value = record.values["value"]
    assert isinstance(value, SheetTime)
    assert (value, value.seconds) == (shown, seconds)


@pytest.mark.parametrize("code", ["d-mmm-yy h:mm", "yyyy-mm-dd"])
def test_a_format_with_a_date_keeps_the_date(code: str, tmp_path: Path) -> None:
    path = sheet(tmp_path / "a.xlsx", ["id", "value"], ["q", (25.5 / 24, code)])
    (record,) = read_records(path).records
    assert record.values["value"] == "1900-01-01T01:30:00"


def test_formats_are_those_of_each_sheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["id", "start"])
    other = book.copy_worksheet(book.active)
    other.title = 'A & "B"'
    for each, code in ((book.active, "h:mm"), (other, "mm:ss")):
        each.append([code, time(0, 5)])
        each["B2"].number_format = code
    book.save(tmp_path / "a.xlsx")
    shown = {r.values["id"]: r.values["start"] for r in read_records(tmp_path / "a.xlsx").records}
    assert shown == {"h:mm": "0:05", "mm:ss": "05:00"}


def test_a_file_that_tells_no_formats_has_hours_minutes_and_seconds(tmp_path: Path) -> None:
    whole = sheet(tmp_path / "whole.xlsx", ["id", "start"], ["q", (time(0, 5), "h:mm")])
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(tmp_path / "odd.xlsx", "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'<sheet name="', b'<sheet odd=">" name="'))
    for name, shown in (("whole.xlsx", "0:05"), ("odd.xlsx", "00:05:00")):
        (record,) = read_records(tmp_path / name).records
        start = record.values["start"]
        assert isinstance(start, SheetTime)
        assert (start, start.seconds) == (shown, 300)


def with_styles(path: Path, old: str, new: str) -> Path:
    """Write a spreadsheet with a time, and something else in the part that has its format."""
    whole = sheet(path.with_name("whole.xlsx"), ["id", "start"], ["q", (time(0, 5), 'h:mm"x"')])
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(path, "w") as made:
        for name in source.namelist():
            text = source.read(name)
            if name == "xl/styles.xml":
                assert old.encode() in text
                text = text.replace(old.encode(), new.encode())
            made.writestr(name, text)
    return path


def test_a_long_word_among_the_formats_is_read_once(tmp_path: Path) -> None:
    odd = f"<extLst><x {'a' * 40_000}/><x {'a:' * 20_000}/></extLst></styleSheet>"
    path = with_styles(tmp_path / "a.xlsx", "</styleSheet>", odd)
    began = perf_counter()
    (record,) = read_records(path).records
    assert record.values["start"] == "0:05x"
    assert perf_counter() - began < 5  # once for each of its letters takes 20 s


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ('numFmtId="164"', f'numFmtId="{"1" * 5000}"', "00:05:00"),
        ('formatCode="', f'formatCode="{"h" * 5000}', "00:05:00"),
        ("</styleSheet>", f'<x y="&#{"1" * 5000};"/></styleSheet>', "0:05x"),
    ],
)
def test_what_excel_would_not_write_of_formats_is_left_out(
    old: str, new: str, shown: str, tmp_path: Path
) -> None:
    found = read_records(with_styles(tmp_path / "a.xlsx", old, new))
    assert not found.problems
    assert [record.values["start"] for record in found.records] == [shown]


HEAD = ["video", "question", "A", "B", "answer", "start", "end"]


def imported(tmp_path: Path, *spans: tuple[Any, Any], **settings: str) -> ImportResult:
    rows = [
        [f"{n}.mp4", "When is it?", as_typed(0, 1), as_typed(0, 3), "B", start, end]
        for n, (start, end) in enumerate(spans)
    ]
    path = sheet(tmp_path / "q.xlsx", HEAD, *rows)
    return import_benchmark(path, tmp_path / "b", settings=settings, dry_run=True)


def windows(result: ImportResult) -> list[tuple[float | None, float | None]]:
    return [(item.media[0].start, item.media[0].end) for item in result.items]


def test_times_typed_as_minutes_and_seconds_are_doubted_and_read_so_on_request(
    tmp_path: Path,
) -> None:
    spans = [(as_typed(0, 0), as_typed(0, 5)), (as_typed(1, 10), as_typed(30, 20))]
    result = imported(tmp_path, *spans)
    assert windows(result) == [(0, 300), (4200, 109200)]
    assert result.items[0].options == ("0:01", "0:03")
    (doubt,) = result.doubts
    assert "The times in 'start', 'end' are kept by the spreadsheet as hours" in doubt
    assert "'1:10' was taken as h:mm, 4,200 s. If they are mm:ss (70 s)" in doubt
    meant = imported(tmp_path, *spans, times_as="mm:ss")
    assert (windows(meant), meant.doubts) == ([(0, 5), (70, 1820)], ())
    assert meant.mapping.to_record()["times_as"] == "mm:ss"
    kept = imported(tmp_path, *spans, times_as="h:mm")
    assert (windows(kept), kept.doubts) == (windows(result), ())
    with pytest.raises(ReelbenchError, match="times_as: found 'mmss', expected one of h:mm, mm:ss"):
        imported(tmp_path, *spans, times_as="mmss")


def test_minutes_and_seconds_past_a_day_are_read_whatever_the_cell_shows(tmp_path: Path) -> None:
    spans = [((23.5 / 24, "h:mm"), (25.5 / 24, "h:mm"))]  # typed as 23:30 and 25:30
    assert windows(imported(tmp_path, *spans, times_as="mm:ss")) == [(1410, 1530)]
    assert windows(imported(tmp_path, *spans, times_as="h:mm")) == [(84_600, 91_800)]


def test_times_with_seconds_are_as_they_stand(tmp_path: Path) -> None:
    full = "h:mm:ss"
    spans = [
        ((time(0, 0, 30), full), (time(0, 1), full)),
        ((time(0, 2), full), (time(0, 3, 5), full)),
    ]
    for settings in ({}, {"times_as": "mm:ss"}):
        result = imported(tmp_path, *spans, **settings)
        assert (windows(result), result.doubts) == ([(30, 60), (120, 185)], ())
    begins = [((time(0, 1), full), (time(0, 1, 30), full))]  # whole minutes beside what is none
    assert imported(tmp_path, *begins).doubts == ()
    minutes = [((time(0, 1), "mm:ss"), (time(0, 2), "mm:ss"))]
    assert imported(tmp_path, *minutes).doubts == ()


def test_of_mixed_times_only_what_shows_no_seconds_is_doubted(tmp_path: Path) -> None:
    spans = [
        (None, as_typed(0, 50)),
        (None, (time(0, 1, 10), "h:mm:ss")),
        (None, (time(0, 2), "h:mm:ss")),
    ]
    result = imported(tmp_path, *spans)
    assert windows(result) == [(None, 3000), (None, 70), (None, 120)]
    assert "'0:50' was taken as h:mm" in result.doubts[0]
    assert windows(imported(tmp_path, *spans, times_as="mm:ss"))[0] == (None, 50)
    assert windows(imported(tmp_path, *spans, times_as="mm:ss"))[1:] == [(None, 70), (None, 120)]


def test_whole_minutes_in_every_cell_are_doubted_whatever_they_show(tmp_path: Path) -> None:
    result = imported(tmp_path, (None, (time(0, 5), "h:mm:ss")), (None, (time(0, 20), "h:mm:ss")))
    assert "'0:05:00' was taken as h:mm, 300 s" in result.doubts[0]


def test_a_template_of_times_means_what_its_columns_do(tmp_path: Path) -> None:
    spans = [(as_typed(0, 5), as_typed(0, 10))]
    asked = {"span": "{start}-{end}", "start": "", "end": ""}
    assert windows(imported(tmp_path, *spans, **asked)) == [(300, 600)]
    assert windows(imported(tmp_path, *spans, **asked, times_as="mm:ss")) == [(5, 10)]
