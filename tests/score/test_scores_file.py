"""scores.json is the same bytes whatever must not matter, and says all that went wrong."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import blind_benchmark, make_item

from reelbench.base.files import pretty_json
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media, freeze
from reelbench.score.coverage import unanswered_in_words
from reelbench.score.predictions import read_predictions
from reelbench.score.score import analyse_items, score_predictions

Save = Callable[..., Path]
PLANTED = ("q-7", "q-31", "q-64")  # items whose key is not what is right


def simulated() -> tuple[list[Item], list[dict[str, Any]]]:
    """Items of all kinds about a few videos, and models from good to bad; three keys are wrong."""
    draw = np.random.default_rng(3)
    items, rows = [], []
    for n in range(120):
        multi, count = n % 10 == 9, 3 + n % 3
        letters = "ABCDE"[:count]
        right = ["A", "B"] if multi else [letters[draw.integers(count)]]
        key = [letters[letters.index(right[0]) - 1]] if f"q-{n}" in PLANTED else right
        items.append(make_item(
            n, kind="multi" if multi else "single", options=tuple(f"o{o} {n}" for o in range(count)),
            answer=tuple(key), media=(Media(f"{n % 17}.mp4", 0, 30 + n * 5),),
            tags=freeze({"skill": ["see", "hear", "read"][: 1 + n % 3]}),
        ))  # fmt: skip
        for model in range(6):
            knows = draw.random() < 0.92 - 0.08 * model
            said = right if knows else [letters[draw.integers(count)]]
            rows += [
                {"id": f"q-{n}", "model": f"m{model}", "condition": c, "parsed": said}
                for c in ("protocol", "other")
                if c == "protocol" or model < 3
            ]
    return items, rows


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_neither_the_order_of_items_nor_of_rows_matters(save: Save, tmp_path: Path) -> None:
    items, rows = simulated()
    texts = set()
    for seed in range(3):
        benchmark = Benchmark.load(save(*items))
        texts.add(pretty_json(score_predictions(benchmark, write(tmp_path / "p.jsonl", rows))))
        random.Random(seed).shuffle(items)
        random.Random(seed).shuffle(rows)
    assert len(texts) == 1


def test_the_number_of_threads_does_not_matter(tmp_path: Path) -> None:
    items, rows = simulated()
    blind_benchmark(tmp_path / "b", *items)
    predictions = write(tmp_path / "p.jsonl", rows)
    texts = []
    for threads in "12":
        command = [sys.executable, "-m", "reelbench", "score", "--benchmark", tmp_path / "b"]
        command += ["--predictions", predictions, "--out", tmp_path / "scores.json"]
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = os.environ | dict.fromkeys(names, threads)
        subprocess.run(command, env=environment, check=True, capture_output=True)
        texts.append((tmp_path / "scores.json").read_bytes())
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["comparison"]["models"]


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("scores")
    items, rows = simulated()
    benchmark = blind_benchmark(folder / "b", *items)
    return score_predictions(benchmark, write(folder / "p.jsonl", rows))


def test_planted_wrong_keys_are_suspects_with_what_is_right(scores: Any) -> None:
    items, rows = simulated()
    best = {row["id"]: row["parsed"][0] for row in reversed(rows) if row["model"] == "m0"}
    found = {each["id"]: each for each in scores["items"]["suspects"]}
    assert set(PLANTED) <= set(found)
    assert len(found) <= len(PLANTED) + 2
    for item in items:
        if item.id in PLANTED:
            assert found[item.id]["key"] == item.answer[0] != found[item.id]["instead"]
            assert found[item.id]["instead"] == best[item.id]


def test_models_are_compared_where_most_were_asked(scores: Any) -> None:
    assert scores["main_condition"] == "protocol"
    assert scores["comparison"]["condition"] == scores["items"]["condition"] == "protocol"
    standing = [each["model"] for each in scores["comparison"]["models"]]
    assert sorted(standing) == scores["items"]["models"] == [f"m{n}" for n in range(6)]
    assert len(scores["results"]) == 9
    shares = [row["accuracy"] for row in scores["results"]]
    assert shares == sorted(shares, reverse=True)


def test_wrong_options_are_counted_by_how_many_chose_them(scores: Any) -> None:
    items, _ = simulated()
    wrong = sum(len(item.options) - len(item.answer) for item in items)
    found = scores["items"]["distractors"]
    assert (sum(found["histogram"]), len(found["histogram"])) == (wrong, 6 + 1)
    assert found["distractors"] == wrong


@pytest.mark.parametrize(("asked", "main"), [
    ([("a", "x")], "x"),
    ([("a", "x"), ("b", "x"), ("a", "protocol")], "x"),
    ([("a", "x"), ("a", "protocol")], "protocol"),
    ([("a", "z"), ("a", "y")], "y"),
])  # fmt: skip
def test_the_main_condition_has_most_models_then_is_the_protocol_then_first_by_name(
    asked: list[tuple[str, str]], main: str, tmp_path: Path
) -> None:
    benchmark = blind_benchmark(tmp_path / "b", make_item(1))
    rows = [{"id": "q-1", "model": m, "condition": c, "parsed": ["B"]} for m, c in asked]
    found = score_predictions(benchmark, write(tmp_path / "p.jsonl", rows))
    assert found["main_condition"] == main
    several = sum(condition == main for _, condition in asked) > 1
    assert (found["comparison"] is not None, found["items"] is not None) == (several, several)


def test_failures_have_rates_of_all_that_was_asked(tmp_path: Path) -> None:
    benchmark = blind_benchmark(tmp_path / "b", *(make_item(n) for n in range(10)))
    rows: list[dict[str, Any]] = [
        *({"id": f"q-{n}", "response": "B"} for n in range(3)),
        {"id": "q-3", "response": "It is a nice video."},
        {"id": "q-4", "status": "refused", "response": None},
        {"id": "q-5", "status": "refused", "response": "B"},
        {"id": "q-6", "status": "error", "response": None},
        {"id": "q-7", "status": "timeout", "response": None},
        {"id": "q-8", "status": "over_budget", "response": None},
    ]
    (row,) = score_predictions(benchmark, write(tmp_path / "p.jsonl", rows))["results"]
    assert row["statuses"] == {"error": 1, "ok": 4, "over_budget": 1, "refused": 2, "timeout": 1}
    assert (row["unread"], row["missing"], row["answered"], row["correct"]) == (1, 1, 3, 3)
    assert row["asked"] == 8  # what was over the budget never was
    assert row["rates"] == {"parse_failure": 1 / 8, "cut_off": 0, "refused": 2 / 8, "error": 2 / 8}
    assert (row["items"], row["all_items"], row["failed"]) == (8, 10, 2)
    shares = (row["accuracy"], row["accuracy_of_answered"], row["coverage"])
    assert shares == (0.375, 1, 0.375)
    assert unanswered_in_words(row).endswith("1 not asked; at most 62.5% had no call failed")


def test_a_refusal_in_words_is_a_refusal_and_not_unreadable(tmp_path: Path) -> None:
    benchmark = blind_benchmark(tmp_path / "b", *(make_item(n) for n in range(8)))
    no = "I'm sorry, but I can't help with that."
    rows: list[dict[str, Any]] = [
        {"id": "q-0", "response": "B"},
        {"id": "q-1", "response": no},
        {
            "id": "q-2",
            "parsed": None,
            "response": no,
            "parse_failure": "refusal",
        },  # as runs have it
        {"id": "q-3", "status": "refused", "response": None},
        {"id": "q-4", "response": "It is a nice video."},
        {"id": "q-5", "status": "truncated", "response": no},
    ]
    (row,) = score_predictions(benchmark, write(tmp_path / "p.jsonl", rows))["results"]
    assert (row["refused_in_words"], row["statuses"]["refused"], row["unread"]) == (2, 1, 1)
    shares = {name: share * 6 for name, share in row["rates"].items()}
    assert shares == pytest.approx(
        {"parse_failure": 1, "cut_off": 1, "refused": 3, "error": 0}, abs=1e-5
    )
    words = "3 refused (2 in words), 1 cut off before an answer, 1 unreadable, 2 not asked"
    assert unanswered_in_words(row) == words


def test_several_models_may_answer_open_and_closed_questions(tmp_path: Path) -> None:
    opened = make_item(2, kind="open", options=(), answer=(), reference="r")
    benchmark = blind_benchmark(tmp_path / "b", make_item(1), opened)
    rows = [{"id": f"q-{n}", "model": m, "response": "B"} for n in (1, 2) for m in "ab"]
    found = score_predictions(benchmark, write(tmp_path / "p.jsonl", rows))
    assert [row["accuracy"] for row in found["results"]] == [1, 1]
    assert found["items"]["distractors"]["distractors"] == 3
    outcomes = read_predictions(tmp_path / "p.jsonl", benchmark)
    looked = analyse_items(benchmark, outcomes, 0)
    assert [each["id"] for each in looked["items"]] == ["q-1"]


def test_scoring_time_grows_no_faster_than_the_items(tmp_path: Path) -> None:
    def seconds(count: int) -> float:
        items = [make_item(n, media=(Media(f"{n}.mp4", 0, 9),)) for n in range(count)]
        benchmark = blind_benchmark(tmp_path / str(count), *items)
        path = write(tmp_path / "p.jsonl", [{"id": i.id, "parsed": ["B"]} for i in items])
        begin = time.process_time()
        score_predictions(benchmark, path)
        return time.process_time() - begin

    seconds(500)  # whatever is imported and made once
    assert seconds(8000) < 2.5 * 8 * seconds(1000)


def test_open_questions_alone_have_no_result_and_break_nothing(tmp_path: Path) -> None:
    opened = make_item(1, kind="open", options=(), answer=(), reference="r")
    benchmark = blind_benchmark(tmp_path / "b", opened)
    rows = [{"id": "q-1", "model": model, "response": "r"} for model in "ab"]
    found = score_predictions(benchmark, write(tmp_path / "p.jsonl", rows))
    assert (found["results"], found["comparison"], found["items"]) == ([], None, None)
    assert found["chance"] == {"accuracy": 0, "guessing": {}, "by": {}}
