"""A number that stands in two places has one interval, with its error and its videos beside it."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import blind_benchmark, make_item

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media, freeze
from reelbench.score.score import score_predictions

TABLE = """
tables:
  closed: {columns: {All: {kind: [single, multi]}, One: {kind: single}, X: {type: x}}}
"""


def items() -> list[Item]:
    """Closed items on twenty videos; open ones on others, and one that ties two videos together."""
    found = []
    for n in range(80):
        tags = freeze({"type": "x" if n % 3 else "y", "deep": str(n % 7)})
        media = (Media(f"media/{n % 20:02}.mp4"),)
        if n % 4 == 3:
            found.append(make_item(n, kind="multi", answer=("A", "C"), media=media, tags=tags))
        else:
            found.append(make_item(n, media=media, tags=tags))
    opened = {"kind": "open", "options": (), "answer": (), "reference": "r"}
    found += [make_item(n, media=(Media(f"media/{n}.mp4"),), **opened) for n in range(80, 95)]
    ties = (Media("media/00.mp4"), Media("media/01.mp4"))
    return [*found, make_item(99, media=ties, **opened)]


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder, draw = tmp_path_factory.mktemp("scores"), random.Random(5)
    root = folder / "b"
    blind_benchmark(root, *items())
    (root / "benchmark.yaml").write_text((root / "benchmark.yaml").read_text() + TABLE)
    rows = [
        {"id": item.id, "model": model, "parsed": sorted(draw.choice(["A", "B", "AC", "ACD"]))}
        if item.kind == "multi"
        else {"id": item.id, "model": model, "parsed": [draw.choice("ABBB")]}
        for model in ("a", "b")
        for item in items()
        if item.kind != "open"
    ]
    (folder / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return score_predictions(Benchmark.load(root), folder / "p.jsonl")


SURE = ("interval", "standard_error", "videos")


def test_rows_and_declared_tables_have_the_same_interval(scores: dict[str, Any]) -> None:
    (table,) = scores["tables"]
    for row, declared in zip(scores["results"], table["rows"], strict=True):
        assert row["model"] == declared["model"]
        same = [row, row["by"]["kind"]["single"], row["by"]["type"]["x"]]
        for one, other in zip(same, declared["cells"], strict=True):
            assert one["accuracy"] == other["value"]
            assert [one[name] for name in SURE] == [other[name] for name in SURE]


def walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():  # fmt: skip
        yield from walk(part)


def test_every_interval_of_a_share_has_its_error_and_its_videos(scores: dict[str, Any]) -> None:
    """But those of ranks have none, and those of differences rest on all videos."""
    where = {name: scores[name] for name in ("results", "tables", "judged")}
    found = [each for each in walk(where) if "interval" in each]
    assert len(found) > 50
    for each in found:
        assert each["videos"] > 0
        assert each["standard_error"] is None or 0 <= each["standard_error"] < 1
    assert all("standard_error" in pair for pair in scores["comparison"]["pairs"])


def test_macro_is_the_mean_of_the_exact_shares(scores: dict[str, Any]) -> None:
    for row in scores["results"]:
        cells = row["by"]["deep"].values()
        exact = sum(cell["correct"] / cell["items"] for cell in cells) / len(cells)
        assert row["macro"]["deep"] == round(exact, 6)


def test_means_are_not_taken_from_rounded_shares(tmp_path: Path) -> None:
    """0, 2/3 and 2/3 make 0.444444, where 0, 0.666667 and 0.666667 would make 0.444445."""
    found = [make_item(n, tags=freeze({"t": "xyz"[n // 3]})) for n in range(9)]
    benchmark = blind_benchmark(tmp_path / "b", *found)
    right = {
        "m": {3, 4, 6, 7},
        "human:1": set(),
        "human:2": set(range(6)),
        "human:3": set(range(6)),
    }
    rows = [
        {"id": f"q-{n}", "model": model, "parsed": ["B" if n in own else "A"]}
        for model, own in right.items()
        for n in range(9)
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = score_predictions(benchmark, tmp_path / "p.jsonl")
    macro = {row["model"]: row["macro"]["t"] for row in scores["results"]}
    assert macro["m"] == 0.444444
    assert scores["humans"][0]["accuracy"] == 0.444444
    assert scores["humans"][0]["range"] == [0.0, 0.666667]


def test_micro_values_have_intervals_and_belong_together(scores: dict[str, Any]) -> None:
    sets = [item for item in items() if item.kind == "multi"]
    assert {row["model"] for row in scores["results"]} == {"a", "b"}
    for row in scores["results"]:
        f1 = row["micro"]["f1"]
        assert f1["options"] == row["micro"]["precision"]["options"] + 2 * len(sets)
        p, r = row["micro"]["precision"]["value"], row["micro"]["recall"]["value"]
        assert f1["value"] == pytest.approx(2 * p * r / (p + r), abs=1e-5)
        for cell in row["micro"].values():
            low, high = cell["interval"]
            assert 0 <= low < cell["value"] < high <= 1


def test_micro_f1_by_a_loop_that_draws_videos(tmp_path: Path) -> None:
    draw = random.Random(1)
    found = [
        make_item(n, kind="multi", answer=("A", "C"), media=(Media(f"media/{n % 25}.mp4"),))
        for n in range(100)
    ]
    benchmark = blind_benchmark(tmp_path / "b", *found)
    said = {i.id: draw.choice([["A"], ["A", "C"], ["B", "C"], ["D"]]) for i in found}
    rows = [{"id": name, "parsed": letters} for name, letters in said.items()]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (row,) = score_predictions(benchmark, tmp_path / "p.jsonl")["results"]
    table = np.zeros((25, 2))
    for number, item in enumerate(found):
        both = len({"A", "C"} & set(said[item.id]))
        table[number % 25] += [2 * both, 2 + len(said[item.id])]
    drawn = np.random.default_rng(0).integers(25, size=(10_000, 25))
    sums = table[drawn].sum(axis=1)
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [0.025, 0.975])
    f1 = row["micro"]["f1"]
    assert f1["value"] == pytest.approx(table[:, 0].sum() / table[:, 1].sum(), abs=1e-6)
    assert f1["interval"] == pytest.approx([low, high], abs=0.025)
    assert f1["videos"] == 25
