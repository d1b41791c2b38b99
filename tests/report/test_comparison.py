"""Pairs, letters, coverage and people, in files, in the terminal and on the page."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item, run_here

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Media
from reelbench.evaluate.run import run_benchmark
from reelbench.pages.table import Table
from reelbench.report.comparison import p_value, pairs, people
from reelbench.report.report import report_run
from reelbench.report.tables import leaderboard, tables
from reelbench.score.rounding import percent
from reelbench.score.score import score_runs

VIDEOS, EACH = 12, 3
ITEMS = [
    make_item(n, media=(Media(f"media/{n // EACH}.mp4"),)) for n in range(VIDEOS * EACH)
]  # fmt: skip


def answered(model: str, number: int) -> dict[str, Any]:
    """``good`` is right on all, ``bad`` on none, ``failing`` is good as far as it goes."""
    row: dict[str, Any] = {"id": f"q-{number}", "model": model, "parsed": ["B"]}
    if model == "failing" and number % 2:
        return row | {"parsed": None, "status": "timeout"}
    if model == "bad" or (model == "human:two" and number % 4 == 0):
        return row | {"parsed": ["A"]}
    return row


@pytest.fixture
def run(tmp_path: Path) -> Path:
    benchmark = blind_benchmark(tmp_path / "b", *ITEMS, modalities="T")
    run_benchmark(benchmark, ["baseline:random"], tmp_path / "run")
    models = ("good", "bad", "failing", "human:one", "human:two")
    rows = [answered(model, number) for model in models for number in range(len(ITEMS))]
    path = tmp_path / "run" / "predictions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "run"


@pytest.fixture
def scores(run: Path) -> dict[str, Any]:
    return score_runs(Benchmark.load(run.parent / "b"), [run], 0).scores


def test_every_pair_stands_in_the_table_with_the_better_model_first(scores: dict[str, Any]) -> None:
    table = pairs(scores)
    rows = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert len(rows) == 5 * 4 / 2
    found = {(row["Model"], row["Other model"]): row for row in rows}
    row = found["good", "bad"]
    assert row["Difference, points"] == "100.0"
    assert re.fullmatch(r"\d+\.\d to 100\.0", row["95% interval"])
    assert (row["Different"], row["Items needed"]) == ("yes", "18")
    assert not any(row["Difference, points"].startswith("-") for row in rows)
    assert found["good", "human:one"]["Different"] == "no"
    assert table.name in {each.name for each in tables(scores)}


def test_the_difference_where_both_answered_stands_beside(scores: dict[str, Any]) -> None:
    rows = list(csv.DictReader(io.StringIO(pairs(scores).to_csv())))
    row = next(row for row in rows if (row["Model"], row["Other model"]) == ("good", "failing"))
    assert (row["Difference, points"], row["Answered"]) == ("50.0", "100.0%, 50.0%")
    assert row["Where both answered"] == "0.0 on 18 items"
    assert {row["Answered"] for row in rows if "failing" not in row.values()} == {""}


def test_letters_and_ranks_stand_in_the_leaderboard(scores: dict[str, Any]) -> None:
    rows = list(csv.DictReader(io.StringIO(leaderboard(scores).to_csv())))
    letters = {row["Model"]: set(row["Letters"]) for row in rows}
    for pair in scores["comparison"]["pairs"]:
        one, other = pair["models"]
        assert bool(letters[one] & letters[other]) is not pair["different"]
    assert {row["Videos"] for row in rows} == {"12", ""}  # of chance there is no interval


def test_the_range_of_people_is_no_interval(scores: dict[str, Any], run: Path) -> None:
    table = people(scores)
    (found,) = scores["humans"]
    interval = " to ".join(map(percent, found["overall"]["interval"]))
    assert table.to_csv() == (
        "People,Mean of participants,Lowest to highest,Standard deviation,By item,95% interval,"
        "Items answered\n"
        f'2 people,87.5%,75.0% to 100.0%,17.7%,87.5%,{interval},"36 of 36, 36 by each"\n'
    )
    page = report_run(Benchmark.load(run.parent / "b"), run).read_text()
    (row,) = re.findall(r"<tr[^>]*>(?:(?!</tr>).)*people, 2 participants.*?</tr>", page, re.DOTALL)
    assert "87.5%" in row
    assert "75.0%" not in row
    assert "75.0% to 100.0%" in page


def test_the_page_lists_the_pairs_and_says_where_coverage_differs(
    run: Path, scores: dict[str, Any]
) -> None:
    page = report_run(Benchmark.load(run.parent / "b"), run).read_text()
    section = page[page.index('<section id="comparison">') :]
    section = section[: section.index("</section>")]
    assert section.count("<tr") == 1 + len(scores["comparison"]["pairs"])
    for warning in scores["comparison"]["warnings"]:
        assert warning in section
    assert "two models share a letter if and only if" in page
    assert "cannot be told apart" not in page


def test_the_command_says_letters_coverage_and_people(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_here("score", run) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[0].split()[-2:] == ["letters", "answered"]
    means = [line for line in said.out.splitlines() if line.startswith("people (2)")]
    assert [line.split()[3] for line in means] == ["87.5%"]
    words = "2 people; from 75.0% to 100.0% each; items answered: 36 of 36, 36 by each."
    assert f"People under protocol: {words}" in said.err
    assert "87.5%" not in said.err  # one mean of people, in the table
    # Of those with this gap, the one whose order it turns round.
    assert (
        "failing 50.0%: human:two is 25.0 points ahead, but 50.0 points behind on the" in said.err
    )
    assert said.err.count("warning:") == 2


class TestCommonItems:
    def test_the_command_scores_what_every_model_answered_and_says_so(
        self, run: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = (run / "scores.json").exists()
        out = run / "common.json"
        assert run_here("score", run, "--common", "--out", out) == 0
        assert "only the 18 of 36 items that every model answered" in capsys.readouterr().err
        scores = json.loads(out.read_text())
        assert {row["model"]: row["accuracy"] for row in scores["results"]} == {
            "good": 1.0, "failing": 1.0, "bad": 0.0, "human:one": 1.0, "human:two": 0.5,
        }  # fmt: skip
        assert {row["items"] for row in scores["results"]} == {18}
        assert scores["comparison"]["warnings"] == []
        assert "all models answered" in scores["comparison"]["policy"]
        failing = next(row for row in scores["results"] if row["model"] == "failing")
        assert failing["statuses"]["timeout"] == 18  # what failed is told all the same
        assert (run / "scores.json").exists() == before

    def test_the_page_goes_beside_the_usual_one(self, run: Path) -> None:
        assert run_here("report", run, "--common") == 0
        page = (run / "report-common.html").read_text()
        assert "only the 18 of 36 items that every model answered are scored" in page

    def test_people_need_not_have_answered_all(self, run: Path, tmp_path: Path) -> None:
        path = run / "predictions.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        kept = [row for row in rows if row["model"] != "human:two" or row["id"] == "q-0"]
        path.write_text("".join(json.dumps(row) + "\n" for row in kept))
        scores = score_runs(Benchmark.load(tmp_path / "b"), [run], 0, scope="common").scores
        assert scores["policy"].startswith("only the 18 of 36")

    def test_a_model_that_answered_nothing_is_left_out_and_named(
        self, run: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        dead = [answered("dead", n) | {"status": "error", "parsed": None} for n in range(36)]
        with (run / "predictions.jsonl").open("a") as file:
            file.write("".join(json.dumps(row) + "\n" for row in dead))
        assert run_here("score", run, "--common") == 0
        said = capsys.readouterr()
        assert "only the 18 of 36 items that every model answered" in said.err
        assert "left out: dead under protocol, without any answer" in said.err
        assert "dead" not in said.out

    def test_where_no_model_answered_anything_there_is_no_common_item(
        self, run: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        row = answered("dead", 1) | {"status": "error", "parsed": None}
        (run / "predictions.jsonl").write_text(json.dumps(row) + "\n")
        assert run_here("score", run, "--common") == 2
        assert "No model answered any item" in capsys.readouterr().err

    def test_without_a_common_item_another_way_is_named(
        self, run: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with (run / "predictions.jsonl").open("a") as file:
            file.write(json.dumps(answered("odd", 1)) + "\n")
        assert run_here("score", run, "--common") == 2
        said = capsys.readouterr().err
        assert "odd answered the fewest" in said
        assert "reelbench compare --common --model A --model B" in said


def test_no_p_is_written_as_nothing() -> None:
    assert [p_value(p) for p in (0.0, 1e-9, 0.0001, 0.03125, 1.0)] == [
        "<0.0001", "<0.0001", "0.0001", "0.0313", "1.0000",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "cell",
    [
        '=HYPERLINK("http://a","b")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1",
        " =1", "\uff1d1", "-4.2 to =1", "+", "-1 (=2)",
    ],
)  # fmt: skip
def test_no_cell_is_a_formula_to_a_spreadsheet(cell: str) -> None:
    table = Table("t", "T", ["Model", cell], [[cell, "1"]])
    (heading, row) = csv.reader(io.StringIO(table.to_csv(), newline=""))
    assert heading[1] == row[0] == f"'{cell}"


def test_numbers_stay_numbers() -> None:
    cells = ["-4.2", "+3", "-4.2%", "-1,234.5", "-.5", "-1e-05", "-4.2 to -1.0", "-4.2% to 3.1%"]
    cells += ["-", "-4.2% (6 of 12)", "-2.0% (-23 to 30)"]
    table = Table("t", "T", cells, [])
    assert next(csv.reader(io.StringIO(table.to_csv()))) == cells
