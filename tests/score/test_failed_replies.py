"""Open questions without a reply count as the lowest grade, and replies without a grade do not."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.score.score import score_predictions

Row = dict[str, Any]
TABLES = "tables: {t: {columns: {All: {}, Open: {kind: open}}}}\n"


def opened(number: int) -> Item:
    media = (Media(f"media/{number % 20}.mp4"),)
    return make_item(number, kind="open", options=(), answer=(), reference="r", media=media)


def reply(number: int, model: str, status: str = "ok") -> Row:
    return {"id": f"q-{number}", "model": model, "status": status, "response": "so"}


def grade(number: int, model: str, score: float | None, judge: str = "one") -> Row:
    rounds = [{"failure": "no JSON"}] if score is None else [{"reply": {"score": score}}]
    return {
        "id": f"q-{number}", "model": model, "condition": "protocol", "judge": judge,
        "rubric": "points", "score": score, "scale": [1, 5], "rounds": rounds,
    }  # fmt: skip


def scored(folder: Path, items: list[Item], rows: list[Row], grades: list[Row]) -> dict[str, Any]:
    root = folder / "b"
    blind_benchmark(root, *items)
    (root / "benchmark.yaml").write_text((root / "benchmark.yaml").read_text() + TABLES)
    for name, lines in (("p", rows), ("j", grades)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = Benchmark.load(root)
    return score_predictions(found, folder / "p.jsonl", judgements=folder / "j.jsonl")


def judged(scores: dict[str, Any]) -> dict[str, Row]:
    return {row["model"]: row for row in scores["judged"]}


@pytest.fixture
def forty(tmp_path: Path) -> dict[str, Any]:
    """One fails 30 of 40 and is good at the rest, one replies to all, one never gets a reply."""
    items = [opened(number) for number in range(40)]
    rows, grades = [], []
    for number in range(40):
        fails = number >= 10
        rows += [reply(number, "failing", "error" if fails else "ok"), reply(number, "whole")]
        rows.append(reply(number, "dead", "timeout"))
        grades.append(grade(number, "whole", 1.2))
        grades += [] if fails else [grade(number, "failing", 1.8)]
    return scored(tmp_path, items, rows, grades)


def test_who_fails_most_calls_does_not_win_by_the_rest(forty: dict[str, Any]) -> None:
    rows = judged(forty)
    assert {name: row["score"] for name, row in rows.items()} == {
        "failing": 1.2, "whole": 1.2, "dead": 1.0,
    }  # fmt: skip
    assert [rows["failing"][name] for name in ("judged", "unanswered", "ungraded")] == [10, 30, 0]
    low, high = rows["failing"]["interval"]
    assert 1 <= low < 1.2 < high <= 5


def test_a_model_without_any_reply_still_has_its_row(forty: dict[str, Any]) -> None:
    dead = judged(forty)["dead"]
    assert (dead["judge"], dead["rubric"], dead["score"]) == ("one", "points", 1.0)
    assert (dead["judged"], dead["unanswered"], dead["valid_rounds"]) == (0, 40, 0)
    assert dead["interval"][0] == 1.0


def test_one_number_everywhere_with_one_interval(forty: dict[str, Any]) -> None:
    """The mean on the judge's scale, with closed items of which there are none, and in tables."""
    (table,) = forty["tables"]
    for row in table["rows"]:
        mean = judged(forty)[row["model"]]
        for share in (mean["with_closed"], *row["cells"]):
            assert share["covered"] == 40
            assert share["value"] == pytest.approx((mean["score"] - 1) / 4, abs=1e-6)
            on_scale = [1 + 4 * end for end in share["interval"]]
            assert on_scale == pytest.approx(mean["interval"], abs=1e-5)
            assert 4 * share["standard_error"] == pytest.approx(mean["standard_error"], abs=1e-5)
            assert share["videos"] == mean["videos"] == 20


def test_a_reply_that_no_judge_could_grade_is_left_out_and_counted(tmp_path: Path) -> None:
    items = [opened(number) for number in range(4)]
    rows = [reply(0, "m"), reply(1, "m"), reply(2, "m", "refused")]  # and one that was not asked
    scores = scored(tmp_path, items, rows, [grade(0, "m", 5.0), grade(1, "m", None)])
    (row,) = scores["judged"]
    assert [row[name] for name in ("judged", "unanswered", "ungraded")] == [1, 1, 1]
    assert (row["items"], row["all_items"]) == (3, 4)
    assert row["score"] == pytest.approx((5 + 1) / 2, abs=1e-6)
    (cell, _) = scores["tables"][0]["rows"][0]["cells"]
    assert (row["with_closed"]["covered"], cell["covered"]) == (2, 2)
    assert row["with_closed"]["value"] == cell["value"] == 0.5


def test_where_no_reply_was_graded_the_judge_has_said_nothing(tmp_path: Path) -> None:
    items = [opened(number) for number in range(3)]
    rows = [reply(0, "m"), reply(1, "m"), reply(2, "m", "error")]
    scores = scored(tmp_path, items, rows, [grade(0, "m", None), grade(1, "m", None)])
    (row,) = scores["judged"]
    assert (row["score"], row["interval"], row["with_closed"]) == (None, None, None)
    assert (row["judged"], row["ungraded"]) == (0, 3)


def test_judges_that_are_one_apart_are_within_one(tmp_path: Path) -> None:
    """2.2 less 1.2 is a little more than one in floats."""
    items = [opened(number) for number in range(3)]
    pairs = [(2.2, 1.2), (1.7, 2.7), (4.4, 3.4)]
    assert all(abs(one - other) > 1 for one, other in pairs)
    grades = [
        grade(number, "m", pair[judge], ("one", "two")[judge])
        for number, pair in enumerate(pairs)
        for judge in (0, 1)
    ]
    scores = scored(tmp_path, items, [reply(number, "m") for number in range(3)], grades)
    assert scores["judges"][0]["within_one"] == 1.0
