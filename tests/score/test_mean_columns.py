"""A column that is the mean of others: each counts the same, and the interval covers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import blind_benchmark, make_item

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media, freeze
from reelbench.score.intervals import Cell, intervals
from reelbench.score.macro import macro_estimate
from reelbench.score.score import score_predictions

TABLE = """
tables:
  tasks:
    columns:
      Avg: {mean_of: [Counting, Order, Later]}
      Counting: {task: counting}
      Order: {task: order}
      Later: {task: not yet}
"""


def asked(number: int, task: str, video: int, **more: Any) -> Item:
    media = (Media(f"media/{video}.mp4"),)
    return make_item(number, media=media, tags=freeze({"task": task}), **more)


def table(folder: Path, items: list[Item], rows: list[dict[str, Any]]) -> dict[str, Any]:
    root = folder / "b"
    blind_benchmark(root, *items)
    (root / "benchmark.yaml").write_text((root / "benchmark.yaml").read_text() + TABLE)
    (folder / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (found,) = score_predictions(Benchmark.load(root), folder / "p.jsonl")["tables"]
    return dict(found)


def test_a_small_task_counts_as_much_as_a_large_one(tmp_path: Path) -> None:
    items = [asked(n, "counting", n) for n in range(30)] + [asked(n, "order", n) for n in (50, 51)]
    right = {*range(10), 50, 51}
    rows = [{"id": i.id, "model": "m", "parsed": ["B" if int(i.id[2:]) in right else "A"]}
            for i in items]  # fmt: skip
    found = table(tmp_path, items, rows)
    mean, *others = found["rows"][0]["cells"]
    assert (mean["value"], mean["items"], mean["covered"]) == (0.666667, 32, 32)
    assert [cell["value"] for cell in others] == [0.333333, 1.0, None]
    assert mean["interval"][0] < mean["value"] < mean["interval"][1]
    assert (mean["videos"], found["columns"][0]["chance"]) == (32, 0.25)
    (warning,) = found["warnings"]
    assert (
        warning
        == "The column 'Avg' of the table tasks leaves out 'Later': no scored item is in there."
    )


def test_a_row_without_one_of_the_columns_has_no_mean(tmp_path: Path) -> None:
    """Nobody graded the open questions: without them the mean would be of another thing."""
    opens = {"kind": "open", "options": (), "answer": (), "reference": "r"}
    items = [asked(1, "counting", 1), asked(2, "order", 2, **opens)]
    rows = [{"id": "q-1", "parsed": ["B"]}, {"id": "q-2", "response": "so"}]
    mean, counting, order, _ = table(tmp_path, items, rows)["rows"][0]["cells"]
    assert (mean["value"], mean["interval"]) == (None, None)
    assert (counting["value"], order["value"], mean["covered"]) == (1.0, None, 1)


def cells_of(draw: np.random.Generator, truths: list[float], videos: int) -> list[Cell]:
    """Tasks on videos of their own, four questions on each, which are alike."""
    found = []
    for task, truth in enumerate(truths):
        hard = np.repeat(draw.beta(4 * truth, 4 * (1 - truth), videos), 4)
        numbers = np.repeat(np.arange(videos) + task * videos, 4)
        found.append(Cell(numbers, (draw.random(len(numbers)) < hard).astype(float)))
    return found


@pytest.mark.parametrize("videos", [4, 8, 25])
def test_the_interval_covers_the_mean_of_the_truths(videos: int) -> None:
    draw, truths = np.random.default_rng(videos), [0.25, 0.5, 0.6, 0.7, 0.85]
    hits = []
    for _ in range(120):
        cells = cells_of(draw, truths, videos)
        low, high = macro_estimate(cells, intervals(cells, 5 * videos)).interval
        hits.append(low <= np.mean(truths) <= high)
    assert 0.9 <= np.mean(hits) <= 0.995


def test_one_column_twice_is_as_sure_as_the_column() -> None:
    """What shares all its videos does not get surer by being counted twice."""
    (cell,) = cells_of(np.random.default_rng(0), [0.6], 20)
    (own,) = intervals([cell], 20)
    both = macro_estimate([cell, cell], [own, own])
    assert both.standard_error == pytest.approx(own.standard_error, abs=1e-6)
    width, alone = (each.interval[1] - each.interval[0] for each in (both, own))
    assert width == pytest.approx(alone, rel=0.2)


def test_where_all_is_right_the_mean_is_not_certain() -> None:
    cells = [Cell([n, n, n + 9, n + 9], [1.0] * 4) for n in range(3)]
    found = macro_estimate(cells, intervals(cells, 12))
    assert found.interval[0] < 0.9 < found.interval[1] == 1.0


def test_the_mean_of_one_column_is_that_column() -> None:
    cell = Cell([0, 0, 1, 2], [1, 0, 1, 1])
    (own,) = intervals([cell], 3)
    assert macro_estimate([cell], [own]) == own
