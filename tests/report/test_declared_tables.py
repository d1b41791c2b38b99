"""Declared tables as files and on the page: the numbers of the scores, and no more than is known."""

import csv
import html
import io
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support import make_item, reelbench

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import freeze
from reelbench.data.manifest import Manifest
from reelbench.evaluate.run import run_benchmark
from reelbench.report.declared import best_cells, declared, notes_on, shown, sureness
from reelbench.report.report import report_run
from reelbench.report.tables import judge_orders, tables
from reelbench.score.score import score_run

EVIL = "<img src=x onerror='document.title=1'>|&_"


def cell(value: float | None, covered: int = 10, items: int = 10) -> dict[str, Any]:
    ends = None if value is None else [value - 0.1, value + 0.1]
    error = {None: None, 0.3: None}.get(value, 0.0625)
    return {"value": value, "interval": ends, "standard_error": error, "videos": 9,
            "covered": covered, "items": items}  # fmt: skip


def found(*rows: tuple[str, list[dict[str, Any]]], **more: Any) -> dict[str, Any]:
    columns = [
        {"name": f"c{n}", "items": c["items"], "open": 0, "chance": 0.25 if c["items"] else None}
        for n, c in enumerate(rows[0][1])
    ]
    named = [
        {"model": m, "condition": "protocol", "cells": cells}
        | ({"participants": 3} if m == "people" else {})
        for m, cells in rows
    ]
    table = {"name": "table-2", "title": "Types", "judge": None, "warnings": []}
    return table | {"columns": columns, "rows": named} | more


FOUND = found(
    ("a", [cell(0.5), cell(0.3, 8), cell(None, 0, 0), cell(None, 0)]),
    ("b", [cell(0.5), cell(0.2, 8), cell(None, 0, 0), cell(0.9)]),
    ("people", [cell(0.9), cell(0.9), cell(None, 0, 0), cell(0.9)]),
)


def test_a_table_as_a_paper_prints_it() -> None:
    assert shown(FOUND).to_csv() == (
        "Model,c0,c1,c2,c3\n"
        "a,50.0%,30.0% (8 of 10),-,-\n"
        "b,50.0%,20.0% (8 of 10),-,90.0%\n"
        '"people, 3 participants",90.0%,90.0%,-,90.0%\n'
        "chance,25.0%,25.0%,-,25.0%\n"
    )
    assert sureness(FOUND).to_csv() == (
        "Model,c0,c1,c2,c3\n"
        "a,40.0% to 60.0% (SE 6.3%),20.0% to 40.0%,-,-\n"
        "b,40.0% to 60.0% (SE 6.3%),10.0% to 30.0% (SE 6.3%),-,80.0% to 100.0% (SE 6.3%)\n"
        '"people, 3 participants",80.0% to 100.0% (SE 6.3%),80.0% to 100.0% (SE 6.3%),-,'
        "80.0% to 100.0% (SE 6.3%)\n"
        "items,10,10,0,10\n"
    )


def test_differences_errors_measures_and_helpers_are_written() -> None:
    less = cell(0.3) | {"difference": {"value": -0.037, "interval": [-0.08, 0.006], "standard_error": 0.02}}  # fmt: skip
    more = cell(0.9, 8) | {"difference": {"value": 0.02, "interval": None, "standard_error": None}}
    took = {**cell(None, 0, 0), "value": 12.345}
    mean = found(("a", [less, more, took, {**took, "value": None}]), against="plain")
    for column, of in zip(mean["columns"], ({}, {"against": "c0"}, {"measured": "minutes"}, {"measured": "memory_gb"}), strict=True):  # fmt: skip
        column |= {"of": of, "pooled_chance": 0.2 if not of else None}
    mean["rows"][0] |= {"helped": ["writer"]}
    average = {"model": "mean", "models": ["a", "b"], "condition": "protocol"}
    mean["rows"].append({**average, "cells": mean["rows"][0]["cells"]})
    assert shown(mean).to_csv() == (
        "Model,c0,c1,c2,c3\n"
        "a †,30.0% (-3.7),90.0% (8 of 10; +2.0),12.3,-\n"
        '"mean, 2 models",30.0% (-3.7),90.0% (8 of 10; +2.0),12.3,-\n'
        "chance,25.0%,25.0%,-,-\n"
        "questions / options,20.0%,-,-,-\n"
    )
    assert "20.0% to 40.0%; -3.7 (-8.0 to +0.6)" in sureness(mean).to_csv()
    assert notes_on(mean) == [
        "† helped to make the items (a: writer).",
        "Differences are in points, against plain, on the same items.",
        "c1 has its difference from c0, in points.",
    ]
    assert best_cells(mean) == set()


def test_conditions_are_held_against_each_other_where_there_are_two() -> None:
    alone = found(("a", [cell(0.5)]), against="protocol")
    assert declared({"tables": [alone]}) == []
    alone["rows"].append({**alone["rows"][0], "condition": "few"})
    assert declared({"tables": [alone]}) == [alone]


def test_the_best_of_each_column_is_bold_in_pages_and_papers() -> None:
    assert best_cells(FOUND) == {(0, 0), (1, 0), (0, 1)}  # not of people, nor of one alone
    lines = shown(FOUND).to_markdown().splitlines()
    assert lines[2] == "| a | **50.0%** | **30.0% (8 of 10)** | - | - |"
    assert lines[3] == "| b | **50.0%** | 20.0% (8 of 10) | - | 90.0% |"
    assert r"a & \textbf{50.0\%} & \textbf{30.0\% (8 of 10)} & - & - \\" in shown(FOUND).to_latex()
    assert "*" not in shown(FOUND).to_csv()


def test_a_mean_of_fewer_items_is_not_held_against_the_others() -> None:
    """Who was never graded on the hard open questions does not win by it."""
    assert best_cells(found(("a", [cell(0.9, 7)]), ("b", [cell(0.5)]), ("c", [cell(0.4)]))) == {(1, 0)}  # fmt: skip
    assert best_cells(found(("a", [cell(0.9, 7)]), ("b", [cell(0.5)]))) == set()
    assert best_cells(found(("a", [cell(0.9, 7)]), ("b", [cell(0.5, 7)]))) == {(0, 0)}


def test_a_table_without_items_is_not_shown() -> None:
    assert declared({"tables": [found(("a", [cell(None, 0, 0)]))]}) == []
    assert declared({"tables": [found(("a", [cell(1.0)])), {**FOUND, "rows": []}]}) != []
    assert declared({}) == []  # scores of an earlier version


def test_judges_and_the_order_they_give() -> None:
    judges = [
        {"judge": "GPT", "means": [0.492, 0.394], "ranks": [1, 2]},
        {"judge": "Qwen", "means": [0.379, 0.489], "ranks": [2, 1]},
    ]
    order = {"condition": "protocol", "rubric": "points", "models": ["a", "b"], "judges": judges, "same_order": False}  # fmt: skip
    (table,) = judge_orders({"judge_orders": [order]})
    assert table.to_csv() == "Judge,a,b\nGPT,0.49 (1),0.39 (2)\nQwen,0.38 (2),0.49 (1)\n"
    assert (table.name, table.title) == ("judges", "Mean grade from 0 to 1 and rank by judge; the order is not the same")  # fmt: skip
    both = judge_orders({"judge_orders": [order, {**order, "condition": "few/8", "same_order": True}]})  # fmt: skip
    assert [each.name for each in both] == ["judges-protocol-points", "judges-few-8-points"]
    assert both[1].title.endswith("few/8, by points; the order is the same")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two baselines on a benchmark with two tables, one hostile to read."""
    kinds = [{}, {"kind": "open", "options": (), "answer": (), "reference": "r"}]
    items = [
        make_item(n, **kinds[n % 4 == 0], tags=freeze({"type": EVIL if n % 2 else "plain", "split": "test"}))
        for n in range(24)
    ]  # fmt: skip
    columns = {EVIL: {"type": EVIL}, "Plain": {"type": "plain"}, "None": {"type": "nothing"}, "Overall": {}}  # fmt: skip
    columns |= {f"Column {n}": {} for n in range(12)}
    declared = {
        "table-2": {"title": EVIL, "where": {"split": "test"}, "columns": columns},
        "Leaderboard": {"note": f"All {EVIL}.", "frames": True, "columns": {"Overall": {}}},
        "empty": {"where": {"split": "dev"}, "columns": {"Overall": {}}},
        "lost": {"columns": {"T": {"tpye": "plain"}, "Overall": {}}},
    }
    benchmark = Benchmark(tmp_path / "b", Manifest("b", "1", tables=freeze(declared)), tuple(items))
    benchmark.save(tmp_path / "b")
    run_benchmark(benchmark, ["baseline:random", "baseline:first"], tmp_path / "run")
    score_run(benchmark, tmp_path / "run")
    report_run(benchmark, tmp_path / "run")
    return tmp_path / "run"


def test_the_command_writes_them_under_their_names(run: Path, tmp_path: Path) -> None:
    done = reelbench("score", run, "--tables", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"table-2.csv", "table-2.md", "table-2.tex", "table-2-intervals.csv"} <= names
    assert {"leaderboard.csv", "Leaderboard-2.csv"} <= names  # apart on disks that know no case
    assert not any(name.startswith("empty") for name in names)
    assert len({name.casefold() for name in names}) == len(names)
    scores = json.loads((run / "scores.json").read_text())
    table = next(each for each in tables(scores) if each.name == "table-2")
    rows = list(csv.reader(io.StringIO((tmp_path / "out" / "table-2.csv").read_text())))
    assert rows == [list(table.columns), *map(list, table.rows)]
    assert rows[0][1:5] == [EVIL, "Plain", "None", "Overall"]  # as declared, not by the alphabet
    assert [row[3] for row in rows[1:]] == ["-"] * 3
    assert rows[1][4].endswith("(18 of 24)")


def test_the_page_has_the_numbers_of_the_scores(run: Path) -> None:
    page = (run / "report.html").read_text()
    section = page[page.index('<section id="tables">') :]
    section = section[: section.index("</section>")]
    assert EVIL not in section
    assert html.escape(EVIL, quote=False).split("'")[0] in section
    scores = json.loads((run / "scores.json").read_text())
    values = re.findall(r"<b>([\d.]+%)</b><small>(\d+) to (\d+)</small>", section)
    expected = [
        (f"{100 * c['value']:.1f}%", *(f"{100 * end:.0f}" for end in c["interval"]))
        for table in scores["tables"]
        for row in table["rows"]
        for c in row["cells"]
        if c["value"] is not None
    ]
    assert values == expected
    assert section.count("<small>18 of 24</small>") == 2 * (1 + 12 + 1 + 1)
    assert "The table lost asks for the tag &#39;tpye&#39;" in section
    assert section.count("The replies to open questions have no grades") == 3
    assert ">Tables</a>" in page


def test_the_page_has_the_judges_and_their_order(run: Path) -> None:
    given = {("baseline:random", "one"): 2.0, ("baseline:random", "two"): 1.5,
             ("baseline:first", "one"): 0.0, ("baseline:first", "two"): 0.5}  # fmt: skip
    rows = [
        {"id": f"q-{n}", "model": model, "condition": "protocol", "order": 0, "round": 0, "judge": judge,
         "rubric": "points", "score": score, "scale": [0, 2], "rounds": [{"reply": {}}]}
        for (model, judge), score in given.items() for n in range(0, 24, 4)
    ]  # fmt: skip
    (run / "judgements.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = report_run(Benchmark.load(run.parent / "b"), run).read_text()
    assert "Open questions are graded by one." in page
    section = page[page.index('<section id="judged">') :]
    section = section[: section.index("</section>")]
    assert "and rank by judge; the order is the same" in section
    cells = re.findall(r"<td><b>(\d.*?)</b><small>(.*?)</small></td>", section)
    assert [cell for cell, _ in cells] == ["1.00 (1)", "0.00 (2)", "0.75 (1)", "0.25 (2)"]
    assert all(re.fullmatch(r"\d\.\d\d to \d\.\d\d", ends) for _, ends in cells)


def test_the_page_has_frames_and_notes_where_a_table_asks_for_them(run: Path) -> None:
    page = (run / "report.html").read_text()
    section = page[page.index("<h3>Leaderboard</h3>") :]
    section = section[: section.index("</table>")]
    assert html.escape(f"All {EVIL}.", quote=False).split("'")[0] in section
    assert section.count('<th scope="col">Frames</th>') == 1
    rows = re.findall(r"<tr.*?</tr>", section, re.DOTALL)
    assert {len(re.findall(r"<t[hd]", row)) for row in rows} == {3}  # chance as well


def test_a_benchmark_without_tables_has_no_such_section(small_demo: Path) -> None:
    assert 'id="tables"' not in (small_demo / "run" / "report.html").read_text()


def test_a_narrow_screen_scrolls_the_table_and_not_the_page(
    run: Path, chromium: str, tmp_path: Path
) -> None:
    measure = """<iframe style="width:400px;height:900px" src="run/report.html"></iframe><script>
      const frame = document.querySelector("iframe");
      frame.onload = () => {
        const page = frame.contentDocument, box = page.querySelector("#tables .scroll");
        document.title = [page.documentElement.scrollWidth, box.scrollWidth > box.clientWidth].join(" ");
      };</script>"""
    (tmp_path / "narrow.html").write_text(measure)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
             "--disable-background-networking", "--disable-component-update", "--allow-file-access-from-files",
             "--virtual-time-budget=20000", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]  # fmt: skip
    command = [chromium, *flags, (tmp_path / "narrow.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"<title>(\d+) (\w+)</title>", done.stdout)
    assert found, done.stdout[:500]
    assert int(found[1]) <= 400
    assert found[2] == "true"
