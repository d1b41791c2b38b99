"""What answers are worth, by hand, against a published model and against blind guessing."""

import csv
import gzip
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from support import SHARED, blind_benchmark, make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item, Kind, Media, freeze
from reelbench.score.metrics import METRICS, Metric, guessing
from reelbench.score.score import score_predictions

NEXTQA = SHARED / "data" / "nextqa"


def scored(folder: Path, items: list[Item], *rows: dict[str, Any]) -> dict[str, Any]:
    """Score these predictions of a benchmark without media."""
    benchmark = blind_benchmark(folder / "b", *items)
    path = folder / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return score_predictions(benchmark, path)


def of_kind(kind: Kind, options: int, answer: str, number: int = 1, **fields: Any) -> Item:
    texts = tuple(f"option {n} of {number}" for n in range(options))
    return make_item(number, kind=kind, options=texts, answer=tuple(answer), **fields)


@pytest.mark.parametrize(("kind", "options", "key", "chosen", "worth"), [
    ("single", 4, "B", "B", {"accuracy": 1, "caa": 1}),
    ("single", 4, "B", "C", {"accuracy": 0, "caa": -1 / 3}),
    ("single", 4, "B", None, {"accuracy": 0, "caa": -1 / 3}),
    ("single", 10, "J", "A", {"accuracy": 0, "caa": -1 / 9}),
    ("yesno", 2, "A", "B", {"accuracy": 0, "caa": -1}),
    ("multi", 4, "AC", "AC", {"accuracy": 1, "exact_match": 1, "precision": 1, "recall": 1, "f1": 1}),
    ("multi", 4, "AC", "A", {"accuracy": 0, "exact_match": 0, "precision": 1, "recall": 1 / 2, "f1": 2 / 3}),
    ("multi", 4, "AC", "ABC", {"exact_match": 0, "precision": 2 / 3, "recall": 1, "f1": 4 / 5}),
    ("multi", 4, "AC", "BD", {"exact_match": 0, "precision": 0, "recall": 0, "f1": 0}),
    ("multi", 4, "AC", "", {"exact_match": 0, "precision": 0, "recall": 0, "f1": 0}),
    ("multi", 4, "AC", None, {"accuracy": 0, "exact_match": 0, "precision": 0, "recall": 0, "f1": 0}),
])  # fmt: skip
def test_one_answer_is_worth(
    kind: Kind, options: int, key: str, chosen: str | None, worth: dict[str, float]
) -> None:
    item = of_kind(kind, options, key)
    answer = None if chosen is None else frozenset(chosen)
    found = {name: METRICS[name].credit(item, answer) for name in worth}
    assert found == pytest.approx(worth)


@pytest.mark.parametrize("credit", [2, -0.5, math.nan, None, "1"])
def test_a_credit_that_is_none_is_refused_by_item_and_metric(
    credit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = Metric("odd one", ("single",), lambda _item, _answer: credit)
    monkeypatch.setitem(METRICS, "odd", odd)
    with pytest.raises(ReelbenchError, match=r"'odd one' gives item q-1 a credit of .* from 0, "):
        scored(tmp_path, [make_item(1)], {"id": "q-1", "model": "m", "response": "A"})


def test_each_metric_is_the_mean_over_the_kinds_it_is_about(tmp_path: Path) -> None:
    items = [
        of_kind("single", 4, "A", 1),
        of_kind("single", 10, "A", 2),
        of_kind("yesno", 2, "A", 3),
        of_kind("multi", 4, "AC", 4),
        of_kind("multi", 4, "ABD", 5),
        of_kind("multi", 4, "B", 6),
    ]
    said = {"q-1": ["A"], "q-2": ["B"], "q-3": None, "q-4": ["A"], "q-5": ["A", "C"], "q-6": []}
    rows = [{"id": name, "parsed": letters} for name, letters in said.items()]
    (row,) = scored(tmp_path, items, *rows)["results"]
    found = {name: (cell["value"], cell["items"]) for name, cell in row["metrics"].items()}
    expected = {
        "caa": ((1 - 1 / 9 - 1) / 3, 3),
        "exact_match": (0, 3),
        "precision": ((1 + 1 / 2 + 0) / 3, 3),
        "recall": ((1 / 2 + 1 / 3 + 0) / 3, 3),
        "f1": ((2 / 3 + 2 / 5 + 0) / 3, 3),
        "f1_of_means": (2 * (1 / 2) * (5 / 18) / (1 / 2 + 5 / 18), 3),
        "f1_micro": (2 * 2 / (3 + 6), 3),
    }
    assert found == {name: pytest.approx(value, abs=1e-6) for name, value in expected.items()}
    # Chosen are A, A and C; right are A and C, A, B and D, and B; both are A and A.
    assert {name: cell["value"] for name, cell in row["micro"].items()} == pytest.approx(
        {"precision": 2 / 3, "recall": 2 / 6, "f1": 4 / 9}, abs=1e-6
    )
    assert [cell["options"] for cell in row["micro"].values()] == [3, 6, 9]
    assert (row["accuracy"], row["answered"]) == (pytest.approx(1 / 6, abs=1e-6), 4)
    assert row["accuracy_of_answered"] == 0.25
    assert row["by"]["kind"]["multi"]["accuracy_of_answered"] == 0
    for cell in (*row["metrics"].values(), *row["micro"].values()):
        assert cell["interval"][0] <= cell["value"] <= cell["interval"][1]
    assert row["metrics"]["caa"]["interval"][0] >= -1


def test_sets_without_any_answer_are_worth_nothing_and_break_nothing(tmp_path: Path) -> None:
    items = [of_kind("multi", 4, "AC", n) for n in (1, 2)]
    rows = [{"id": "q-1", "parsed": []}, {"id": "q-2", "response": ""}]
    (row,) = scored(tmp_path, items, *rows)["results"]
    assert {name: cell["value"] for name, cell in row["micro"].items()} == {
        "precision": 0, "recall": 0, "f1": 0,
    }  # fmt: skip
    assert row["micro"]["precision"]["interval"] is None  # of no option at all
    assert row["micro"]["recall"]["interval"][0] == 0 < row["micro"]["recall"]["interval"][1]
    assert {cell["value"] for cell in row["metrics"].values()} == {0}
    assert row["accuracy_of_answered"] is None


def test_where_there_are_no_sets_nothing_is_said_of_them(tmp_path: Path) -> None:
    (row,) = scored(tmp_path, [make_item(1)], {"id": "q-1", "parsed": ["B"]})["results"]
    assert (set(row["metrics"]), row["micro"]) == ({"caa"}, {})


def test_guessing_both_ways() -> None:
    items = [of_kind("single", 2, "A"), of_kind("yesno", 2, "A"), of_kind("single", 6, "A")]
    assert guessing(items) == pytest.approx(
        {"mean_of_1_over_k": (1 / 2 + 1 / 2 + 1 / 6) / 3, "questions_over_options": 0.3, "caa": 0}
    )
    assert guessing([of_kind("multi", 3, "A"), of_kind("multi", 2, "A")]) == pytest.approx(
        {"exact_match": (1 / 7 + 1 / 3) / 2}
    )
    assert guessing([]) == {}


def test_guessing_is_worth_a_caa_of_0_and_an_accuracy_of_the_mean_of_1_over_k(
    tmp_path: Path,
) -> None:
    draw = random.Random(5)
    sizes = [draw.choice((2, 3, 4, 5, 10)) for _ in range(1000)]
    items = [
        of_kind("single", size, "ABCDEFGHIJ"[n % size], n, media=(Media(f"{n // 5}.mp4"),))
        for n, size in enumerate(sizes)
    ]
    rows = [
        {"id": item.id, "model": f"blind {model}", "parsed": [draw.choice(item.letters)]}
        for model in range(10)
        for item in items
    ]
    scores = scored(tmp_path, items, *rows)
    cells = [row["metrics"]["caa"] for row in scores["results"]]
    within = [cell["interval"][0] <= 0 <= cell["interval"][1] for cell in cells]
    assert sum(within) >= 8  # of 10 intervals of 95 %: fewer by chance once in 90 seeds
    assert max(cell["interval"][1] - cell["interval"][0] for cell in cells) < 0.12
    mean = sum(row["accuracy"] for row in scores["results"]) / 10
    assert scores["chance"]["guessing"]["mean_of_1_over_k"] == pytest.approx(mean, abs=0.01)
    assert scores["chance"]["guessing"]["questions_over_options"] < mean - 0.05


def test_macro_weighs_each_value_of_a_tag_alike(tmp_path: Path) -> None:
    items = [make_item(n, tags=freeze({"skill": "see" if n < 4 else "hear"})) for n in range(1, 5)]
    rows = [{"id": f"q-{n}", "parsed": ["B" if n < 4 else "A"]} for n in range(1, 5)]
    (row,) = scored(tmp_path, items, *rows)["results"]
    assert (row["accuracy"], row["macro"]) == (0.75, {"skill": 0.5, "kind": 0.75})


def test_people_have_a_row_with_mean_and_spread(tmp_path: Path) -> None:
    items = [make_item(n) for n in range(10)]
    right = {"human:1": 9, "human:2": 8, "human:anna": 4, "not human:4": 0}
    rows = [
        {"id": f"q-{n}", "model": model, "parsed": ["B" if n < count else "C"]}
        for model, count in right.items()
        for n in range(10)
    ]
    alone = {"id": "q-1", "model": "human:1", "condition": "silent", "parsed": ["B"]}
    blank = {"id": "q-2", "model": "human:1", "condition": "silent", "parsed": None}
    scores = scored(tmp_path, items, *rows, alone, blank)
    protocol, silent = scores["humans"]
    assert {name: protocol[name] for name in ("participants", "accuracy", "sd", "range")} == {
        "participants": 3,
        "accuracy": 0.7,
        "sd": pytest.approx(0.264575, abs=1e-6),
        "range": [0.4, 0.9],
    }
    # Nothing is guessed for the nine that nobody answered there.
    found = (silent["accuracy"], silent["sd"], silent["range"], silent["answered"])
    assert found == (1.0, None, [1.0, 1.0], [1, 1])
    assert (silent["overall"]["covered"], silent["overall"]["items"]) == (1, 10)
    ranked = {(row["model"], row["condition"]) for row in scores["results"]}
    assert ("human:1", "protocol") in ranked
    assert ("human:1", "silent") not in ranked


def test_a_published_model_gets_its_published_numbers(tmp_path: Path) -> None:
    if not NEXTQA.exists():
        pytest.skip("../shared/data/nextqa is absent: it holds the published predictions")
    types = {"C": "causal", "T": "temporal", "D": "descriptive"}
    with gzip.open(NEXTQA / "val.csv.gz", "rt", encoding="utf-8", newline="") as file:
        items = [
            Item(
                id=f"{row['video']}_{row['qid']}",
                kind="single",
                media=(Media(f"{row['video']}.mp4"),),
                question=row["question"],
                options=tuple(f"{row[f'a{n}']}" for n in range(5)),
                answer=("ABCDE"[int(row["answer"])],),
                tags=freeze({"type": types[row["type"][0]]}),
            )
            for row in csv.DictReader(file)
        ]
    with gzip.open(NEXTQA / "HGA-bert-ft-h256-val.json.gz", "rt", encoding="utf-8") as file:
        said = json.load(file)
    rows = [{"id": name, "parsed": ["ABCDE"[each["prediction"]]]} for name, each in said.items()]
    (row,) = scored(tmp_path, items, *rows)["results"]
    found = {name: round(100 * cell["accuracy"], 2) for name, cell in row["by"]["type"].items()}
    assert found == {"causal": 46.26, "temporal": 50.74, "descriptive": 59.33}
    assert (round(100 * row["accuracy"], 2), row["items"], row["coverage"]) == (49.74, 4996, 1)


@pytest.mark.parametrize("options", [(4, 4, 4), (2, 4, 8)])
def test_with_nothing_right_the_adjusted_interval_is_that_of_accuracy(
    options: tuple[int, ...], tmp_path: Path
) -> None:
    items = [
        of_kind("single", options[n % 3], "A", n, media=(Media(f"{n // 6}.mp4"),))
        for n in range(24)
    ]
    scores = scored(tmp_path, items, *({"id": item.id, "parsed": ["B"]} for item in items))
    (row,) = scores["results"]
    least = -sum(1 / (options[n % 3] - 1) for n in range(24)) / 24
    wanted = [least + (1 - least) * end for end in row["interval"]]
    assert row["metrics"]["caa"]["value"] == pytest.approx(least, abs=1e-6)
    assert row["metrics"]["caa"]["interval"] == pytest.approx(wanted, abs=0.02)
    assert row["metrics"]["caa"]["interval"][0] == pytest.approx(least, abs=1e-6)
