"""Conditions that differ in one field of the protocol stand side by side, and no others."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item

from reelbench.data.manifest import Protocol
from reelbench.evaluate.condition import Condition
from reelbench.score.score import score_predictions

Changes = dict[str, dict[str, Any]]


def ablations(
    folder: Path, conditions: Changes, *rows: dict[str, Any], items: int = 4
) -> list[dict[str, Any]]:
    """What fields do, under these changes of the protocol."""
    benchmark = blind_benchmark(folder / "b", *(make_item(n) for n in range(items)))
    made = [Condition.of(Protocol(), name, changes) for name, changes in conditions.items()]
    records = json.loads(json.dumps([each.to_record() for each in made]))
    path = folder / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = score_predictions(benchmark, path, conditions=records)["ablations"]
    assert isinstance(found, list)
    return found


def said(model: str, condition: str, letters: str) -> list[dict[str, Any]]:
    """Answers to the items in turn; the key is B, and a dash is no answer."""
    return [
        {"id": f"q-{n}", "model": model, "condition": condition,
         "parsed": None if letter == "-" else [letter]}
        for n, letter in enumerate(letters)
    ]  # fmt: skip


@pytest.mark.parametrize(("field", "values"), [
    ("sampling", ["uniform:4", "uniform:8", "uniform:16", "uniform:128"]),
    ("sampling", ["fps:0.25", "fps:0.5", "fps:1", "fps:2"]),
    ("frame_size", ["long:96", "long:224", "long:1024"]),
    ("orders", [1, 2, 10]),
    ("modalities", ["A+T", "T", "V+A+T", "V+T"]),
    ("prompt", ["default", "other"]),
    ("timestamps", [False, True]),
])  # fmt: skip
def test_values_of_one_field_are_in_their_natural_order(
    field: str, values: list[Any], tmp_path: Path
) -> None:
    mixed = values[1::2] + values[::2]
    conditions = {f"c{n}": {field: value} for n, value in enumerate(mixed)}
    rows = [row for name in conditions for row in said("m", name, "BBBB")]
    (found,) = ablations(tmp_path, conditions, *rows)
    assert (found["field"], found["values"]) == (field, [str(value) for value in values])
    assert [conditions[name][field] for name in found["conditions"]] == values


def test_accuracy_the_best_and_the_same_answers_by_hand(tmp_path: Path) -> None:
    conditions: Changes = {
        "protocol": {},
        "few": {"sampling": "uniform:8"},
        "one": {"sampling": "uniform:1"},
    }
    (found,) = ablations(
        tmp_path,
        conditions,
        *said("a", "protocol", "BBBA"),
        *said("a", "few", "BBAA"),
        *said("a", "one", "BA-C"),
        *said("b", "protocol", "BBBB"),
        *said("b", "few", "----"),
        *said("b", "one", "BBBB"),
    )
    assert found["conditions"] == ["one", "few", "protocol"]
    a, b = found["models"]
    assert (a["model"], a["accuracy"], a["best"]) == ("a", [0.25, 0.5, 0.75], "protocol")
    assert a["same_answers"] == pytest.approx(1 / 3, abs=1e-6)  # q-0, of q-0, q-1 and q-3
    assert (b["accuracy"], b["best"], b["same_answers"]) == ([1, 0, 1], "one", None)
    for model in found["models"]:
        for share, (low, high) in zip(model["accuracy"], model["interval"], strict=True):
            assert low <= share <= high


@pytest.mark.parametrize(("conditions", "fields"), [
    ({"protocol": {}}, []),
    ({"protocol": {}, "x": {"sampling": "uniform:8", "timestamps": True}}, []),
    ({"protocol": {}, "x": {"rubric": "mean"}}, []),
    ({"protocol": {}, "x": {"prompt": "p"}, "y": {"prompt": "p", "orders": 2}}, ["orders", "prompt"]),
    ({"protocol": {}, "x": {"orders": 2}, "y": {"rounds": 2}, "z": {"orders": 2, "rounds": 2}},
     ["orders", "orders", "rounds", "rounds"]),
], ids=["one condition", "two fields differ", "only the judge's rubric", "a chain", "a grid"])  # fmt: skip
def test_only_fields_that_alone_tell_conditions_apart(
    conditions: Changes, fields: list[str], tmp_path: Path
) -> None:
    rows = [row for name in conditions for row in said("m", name, "BBBB")]
    found = ablations(tmp_path, conditions, *rows)
    assert [each["field"] for each in found] == fields
    for each in found:
        assert len(each["conditions"]) == len(each["values"]) == 2


def test_a_model_that_was_not_asked_under_all_is_left_out(tmp_path: Path) -> None:
    conditions: Changes = {"protocol": {}, "few": {"sampling": "uniform:8"}}
    (found,) = ablations(
        tmp_path,
        conditions,
        *said("a", "protocol", "BBBB"),
        *said("b", "protocol", "BBBB"),
        *said("b", "few", "BBBB"),
    )
    assert [model["model"] for model in found["models"]] == ["b"]


def test_without_a_run_nothing_is_known_of_conditions(tmp_path: Path) -> None:
    assert ablations(tmp_path, {}, *said("a", "x", "B"), *said("a", "y", "B")) == []
