"""Several judges: which goes first, and whether they put the models in one order."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.score.grades import Grades
from reelbench.score.intervals import Cell, intervals
from reelbench.score.judge_order import first_judge, judge_orders
from reelbench.score.score import score_predictions, score_runs

# Q-Bench-Video, Table 5.
MODELS = ("mPLUG3-7B", "InternVL-7B", "VLLaVA-7B", "Gemini 1.5 pro", "GPT-4o")
QWEN = (0.379, 0.311, 0.302, 0.460, 0.489)
GPT = (0.394, 0.339, 0.291, 0.476, 0.492)


def opened(number: int) -> Item:
    return make_item(number, kind="open", options=(), answer=(), reference="r")


def grade(model: str, judge: str, score: float, number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "id": f"q-{number}", "model": model, "condition": "protocol", "order": 0, "round": 0,
        "judge": judge, "rubric": "points", "score": score, "scale": [0, 2],
        "rounds": [{"reply": {}}] * 5, **more,
    }  # fmt: skip


def orders(folder: Path, *grades: dict[str, Any], items: int = 2) -> list[dict[str, Any]]:
    benchmark = blind_benchmark(folder / "b", *map(opened, range(1, items + 1)))
    rows = {
        (g["id"], g["model"], g["condition"]): {"id": g["id"], "model": g["model"], "condition": g["condition"], "response": "so"}
        for g in grades
    }  # fmt: skip
    (folder / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows.values()))
    (folder / "j.jsonl").write_text("".join(json.dumps(row) + "\n" for row in grades))
    scores = score_predictions(benchmark, folder / "p.jsonl", judgements=folder / "j.jsonl")
    return scores["judge_orders"]


def test_the_table_of_the_paper(tmp_path: Path) -> None:
    given = {"Qwen": QWEN, "GPT": GPT}
    rows = [
        grade(m, judge, 2 * s)
        for judge, means in given.items()
        for m, s in zip(MODELS, means, strict=True)
    ]
    (order,) = orders(tmp_path, *rows, items=1)
    assert order["models"] == ["GPT-4o", "Gemini 1.5 pro", "mPLUG3-7B", "InternVL-7B", "VLLaVA-7B"]
    assert [judge["judge"] for judge in order["judges"]] == ["Qwen", "GPT"]
    assert order["judges"][0]["means"] == [0.489, 0.46, 0.379, 0.311, 0.302]
    assert order["judges"][1]["means"] == [0.492, 0.476, 0.394, 0.339, 0.291]
    assert [judge["ranks"] for judge in order["judges"]] == [[1, 2, 3, 4, 5]] * 2
    assert order["same_order"] is True
    assert order["items"] == [1] * 5
    ends = order["judges"][1]["estimates"][0]["interval"]
    (estimate,) = intervals([Cell([0], [0.492])], 1)
    assert ends == pytest.approx(estimate.interval, abs=1e-5)


def test_another_order_is_told_and_equals_share_a_rank(tmp_path: Path) -> None:
    given = {"one": {"a": 2.0, "b": 1.0, "c": 1.0}, "two": {"a": 1.0, "b": 2.0, "c": 0.0}}
    (order,) = orders(tmp_path, *(grade(m, j, s) for j, by in given.items() for m, s in by.items()))
    assert [judge["ranks"] for judge in order["judges"]] == [[1, 2, 2], [2, 1, 3]]
    assert order["same_order"] is False


def test_only_what_all_judges_graded_is_compared(tmp_path: Path) -> None:
    rows = [
        grade("a", "one", 2.0), grade("a", "two", 1.0), grade("a", "one", 0.0, 2),  # not by two
        grade("b", "one", 1.0), grade("c", "two", 1.0),
    ]  # fmt: skip
    (order,) = orders(tmp_path, *rows)
    assert (order["models"], order["items"], order["same_order"]) == (["a"], [1], None)
    assert [judge["means"] for judge in order["judges"]] == [[1.0], [0.5]]


def test_models_are_ranked_on_the_questions_that_all_were_asked(tmp_path: Path) -> None:
    """The first was asked one of two questions: the second's reply to the other is left out."""
    rows = [
        *(grade("seldom", judge, 2.0) for judge in ("one", "two")),
        *(grade("always", judge, number, number) for judge in ("one", "two") for number in (1, 2)),
    ]
    (order,) = orders(tmp_path, *rows)
    assert (order["models"], order["items"]) == (["seldom", "always"], [1, 1])
    assert [judge["means"] for judge in order["judges"]] == [[1.0, 0.5]] * 2


def test_conditions_and_rubrics_are_held_apart_and_people_left_out(tmp_path: Path) -> None:
    rows = [
        *(grade("a", judge, 1.0, condition=c) for judge in ("one", "two") for c in ("protocol", "few")),
        grade("b", "one", 1.0), grade("b", "two", 3.0, rubric="criteria", scale=[1, 5]),
        grade("human:x", "one", 2.0), grade("human:x", "two", 2.0),
    ]  # fmt: skip
    found = orders(tmp_path, *rows)
    assert [(o["condition"], o["rubric"], o["models"]) for o in found] == [
        ("few", "points", ["a"]), ("protocol", "points", ["a"]),
    ]  # fmt: skip


def test_one_judge_has_no_order_to_compare(tmp_path: Path) -> None:
    assert orders(tmp_path, grade("a", "one", 1.0), grade("b", "one", 2.0)) == []


def test_who_goes_first() -> None:
    some, none = Grades({"q": 1.0}, (0, 2), 5, 0), Grades({}, (0, 2), 0, 5)
    graded = {("m", "p", "z", "points"): some, ("m", "p", "a", "points"): some, ("m", "p", "0", "points"): none}  # fmt: skip
    assert first_judge(graded, []) == "z"  # as in the file
    assert first_judge(graded, ["0", "b", "a", "z"]) == "a"  # as named, if they graded anything
    assert first_judge({}, ["a"]) is None
    assert judge_orders({}, [], [], {}) == []


def test_a_run_names_its_first_judge(tmp_path: Path) -> None:
    benchmark = blind_benchmark(tmp_path / "b", opened(1))
    manifest = (tmp_path / "b" / "benchmark.yaml").read_text()
    (tmp_path / "b" / "benchmark.yaml").write_text(manifest + "tables: {t: {columns: {All: {}}}}\n")
    benchmark = Benchmark.load(tmp_path / "b")
    run = {
        "models": [{"name": "m"}], "judges": [{"name": "two"}, {"name": "one"}], "seed": 0,
        "conditions": [{"name": "protocol"}], "benchmark": {"name": "b", "path": "../b"}, "versions": {},
    }  # fmt: skip
    out = tmp_path / "run"
    out.mkdir()
    (out / "run.json").write_text(json.dumps(run))
    (out / "predictions.jsonl").write_text('{"id": "q-1", "model": "m", "response": "so"}\n')
    rows = [grade("m", "one", 0.0), grade("m", "two", 2.0)]
    (out / "judgements.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = score_runs(benchmark, [out], 0).scores
    assert scores["tables"][0]["judge"] == "two"
    assert scores["tables"][0]["rows"][0]["cells"][0]["value"] == 1.0
    assert [judge["judge"] for judge in scores["judge_orders"][0]["judges"]] == ["two", "one"]
