"""Figures about one and several right options: two halves of a profile, tiers, pooled positions."""

import json
from typing import Any

import pytest
from support import make_item

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media, freeze
from reelbench.data.manifest import Manifest
from reelbench.report.profile_figures import (
    pooled_positions,
    position_table,
    precision_and_recall,
    profiles,
)
from reelbench.score.predictions import read_predictions
from reelbench.score.score import score_outcomes

TIERS = {"x": "Closed", "y": "Open", "z": "Open"}


def question(number: int, options: int, key: str, category: str) -> Item:
    texts = tuple(f"option {n} of {number}" for n in range(options))
    kind = "multi" if len(key) > 1 else "single"
    tags = freeze({"category": category})
    media = (Media(f"media/{number}.mp4"),)
    return make_item(number, kind=kind, options=texts, answer=tuple(key), tags=tags, media=media)


ITEMS = [
    question(0, 4, "D", "a"), question(1, 5, "B", "a"), question(2, 6, "F", "b"),
    question(3, 4, "AB", "a"), question(4, 5, "AC", "b"),
]  # fmt: skip
GIVEN = {"x": "D B F AB AC", "y": "A A F A AC", "z": "A B A AB B", "human:p": "D B F AB A"}


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("b")
    Benchmark(folder / "b", Manifest("b", "1"), tuple(ITEMS)).save(folder / "b")
    bench = Benchmark.load(folder / "b")
    lines = [
        {"id": f"q-{n}", "model": model, "parsed": list(letters)}
        for model, words in GIVEN.items()
        for n, letters in enumerate(words.split())
    ]
    (folder / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    outcomes = read_predictions([folder / "p.jsonl"], bench)
    return score_outcomes(bench, outcomes, 0, tiers=TIERS)


def test_a_profile_for_each_tier_has_caa_above_and_exact_match_below(
    scores: dict[str, Any],
) -> None:
    found = profiles(scores, ["category"])
    assert [figure.title.rpartition(": ")[2] for figure in found] == ["Closed", "Open", "people"]
    (z,) = (trace for trace in found[1].data if trace["name"] == "z")
    # CAA of a: one of four wrong, one of five right; of b: one of six wrong. EM of b, then of a.
    assert z["theta"] == ["a<br>CAA", "b<br>CAA", "b<br>EM", "a<br>EM", "a<br>CAA"]
    assert z["r"] == pytest.approx([100 * (1 - 1 / 3) / 2, -20, 0, 100, 100 * (1 - 1 / 3) / 2], abs=1e-3)  # fmt: skip
    polar = found[1].layout["polar"]
    assert polar["angularaxis"]["rotation"] == 180 - 45  # the first of four axes is left, on top
    # The lowest of the tier: y has both of a wrong.
    assert polar["radialaxis"]["range"][0] == pytest.approx(-100 * (1 / 3 + 1 / 4) / 2, abs=1e-3)


def test_without_sets_or_tiers_there_is_none_or_one(scores: dict[str, Any]) -> None:
    assert profiles(scores, ["kind"]) == []
    assert len(profiles({**scores, "tiers": {}}, ["kind", "category"])) == 1


def test_points_of_a_tier_have_its_mark_and_heading(scores: dict[str, Any]) -> None:
    figure = precision_and_recall(scores)
    assert figure
    marks = {trace["name"]: (trace["legendgroup"], trace["marker"]["symbol"]) for trace in figure.data}  # fmt: skip
    assert marks["y"] == marks["z"] != marks["x"]
    assert marks["x"][0] == "Closed"
    assert figure.data[0]["mode"] == "markers+text"


def test_positions_are_of_single_select_questions_with_five_options_or_more(
    scores: dict[str, Any],
) -> None:
    figure = pooled_positions(scores)
    assert figure
    shares = {trace["name"]: trace["y"] for trace in figure.data}
    # Items 1 and 2 alone: y chose A and F, z chose B and A.
    assert shares["Open"] == pytest.approx([50, 25, 0, 0, 0, 25])
    assert shares["Closed"] == pytest.approx([0, 50, 0, 0, 0, 50])
    dashes = [shape["y0"] for shape in figure.layout["shapes"]]
    assert dashes == pytest.approx([0, 50, 0, 0, 0, 50])
    table = position_table(scores)
    assert list(table.columns) == ["Model", *"ABCDEF", "Answers"]
    assert [row[0] for row in table.rows] == ["Closed", "Open", "people", "x", "human:p", "y", "z", "right"]  # fmt: skip
    assert table.rows[1][1:] == ["50.0%", "25.0%", "0.0%", "0.0%", "0.0%", "25.0%", "4"]
