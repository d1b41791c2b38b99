"""Conditions are held against each other on the same items, each way of asking once."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, make_item

from reelbench.data.items import Media
from reelbench.report.comparison import condition_pairs
from reelbench.report.tables import tables
from reelbench.score.compare import compare
from reelbench.score.score import score_predictions

VIDEOS, EACH = 10, 4
ITEMS = [make_item(n, media=(Media(f"media/{n // EACH}.mp4"),)) for n in range(VIDEOS * EACH)]
SETTINGS: dict[str, dict[str, Any]] = {
    "protocol": {"modalities": "V+A+T", "sampling": "uniform:8"},
    "silent": {"modalities": "V+T", "sampling": "uniform:8"},
    "more": {"modalities": "V+A+T", "sampling": "uniform:16"},
    "silent, more": {"modalities": "V+T", "sampling": "uniform:16"},
    "again": {"modalities": "V+A+T", "sampling": "uniform:8"},
}
CONDITIONS = [{"name": name, **each} for name, each in SETTINGS.items()]
WRONG = {  # numbers of items
    ("a", "protocol"): {0},
    ("a", "silent"): {*range(4, 24)},
    ("a", "more"): {0, 1},
    ("a", "silent, more"): set(),
    ("a", "again"): {0},
    ("b", "protocol"): {3},
    ("b", "silent"): {3},
}


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("conditions")
    benchmark = blind_benchmark(folder / "b", *ITEMS)
    rows = [
        {"id": f"q-{n}", "model": m, "condition": c, "parsed": ["A" if n in wrong else "B"]}
        for (m, c), wrong in WRONG.items()
        for n in range(len(ITEMS))
    ]
    path = folder / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return score_predictions(benchmark, path, conditions=CONDITIONS)


def test_each_is_held_against_the_protocol_and_others_that_differ_in_one_field(scores: Any) -> None:
    found = [(pair["model"], *pair["conditions"]) for pair in scores["condition_pairs"]["pairs"]]
    assert sorted(found) == [
        ("a", "more", "silent, more"),
        ("a", "protocol", "more"),
        ("a", "protocol", "silent"),
        ("a", "protocol", "silent, more"),
        ("a", "silent", "silent, more"),
        ("b", "protocol", "silent"),
    ]  # and "again" asks as the protocol does: it is no column of its own


def test_a_pair_counts_what_changed_and_is_tested_as_models_are(scores: Any) -> None:
    pairs = {(p["model"], *p["conditions"]): p for p in scores["condition_pairs"]["pairs"]}
    pair = pairs["a", "protocol", "silent"]
    assert (pair["right_to_wrong"], pair["wrong_to_right"]) == (20, 1)
    assert pair["correct"] == [39, 20]
    assert pair["difference"] == pytest.approx(19 / 40)
    assert pair["fields"] == ["modalities"]
    table = [[n not in WRONG["a", c] for n in range(len(ITEMS))] for c in ("protocol", "silent")]
    videos = [n // EACH for n in range(len(ITEMS))]
    (same,) = compare(["1", "2"], table, videos, 0).to_record()["pairs"]
    for name in ("difference", "interval", "standard_error", "p", "needed_items"):
        assert pair[name] == same[name]
    assert pair["p_holm"] > pair["p"]  # of six
    level = pairs["b", "protocol", "silent"]
    assert (level["difference"], level["p_holm"], level["different"]) == (0, 1, False)
    assert level["needed_items"] is None


def test_an_ablation_has_each_way_of_asking_once(scores: Any) -> None:
    found = {(each["field"], *each["conditions"]) for each in scores["ablations"]}
    assert ("modalities", "protocol", "silent") in found
    assert not any("again" in each for each in found)


def test_the_table_has_the_pairs_with_signs(scores: Any) -> None:
    table = condition_pairs(scores)
    row = dict(zip(table.columns, table.rows[1], strict=True))
    assert (row["Condition"], row["Other condition"]) == ("protocol", "silent")
    assert (row["Accuracy"], row["Other accuracy"]) == ("97.5%", "50.0%")
    assert row["Difference, points"] == "+47.5"
    assert (row["Right to wrong"], row["Wrong to right"], row["Items"]) == ("20", "1", "40")
    assert "conditions" in {each.name for each in tables(scores)}


def test_one_condition_has_nothing_to_be_held_against(tmp_path: Path) -> None:
    benchmark = blind_benchmark(tmp_path / "b", make_item(1))
    (tmp_path / "p.jsonl").write_text('{"id": "q-1", "parsed": ["B"]}\n')
    scores = score_predictions(benchmark, tmp_path / "p.jsonl")
    assert scores["condition_pairs"] is None
    assert condition_pairs(scores).rows == []
