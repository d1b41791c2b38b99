"""Columns of declared tables that are more than a mean: subsets, errors, measures, questions over options."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import make_item

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media, freeze
from reelbench.data.manifest import Manifest
from reelbench.score.compare import compare
from reelbench.score.differences import difference_of
from reelbench.score.intervals import Cell
from reelbench.score.score import score_predictions

MOODS = ("calm", "surprised", "in Shock", "sad")


def mood(number: int, speaking: str, key: str = "A", **more: Any) -> Item:
    tags = freeze({"task": "ER", "speaking": speaking})
    return make_item(number, options=MOODS, answer=(key,), tags=tags, **more)


def table_of(folder: Path, columns: Any, items: list[Item], letters: dict[str, str], **more: Any) -> Any:  # fmt: skip
    tables = freeze({"t": {"columns": columns, **more}})
    Benchmark(folder / "b", Manifest("b", "1", tables=tables), tuple(items)).save(folder / "b")
    rows = [
        {"id": item.id, "model": model, "parsed": [letter] if letter != "-" else None}
        for model, chosen in letters.items()
        for item, letter in zip(items, chosen, strict=True)
    ]
    (folder / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (found,) = score_predictions(Benchmark.load(folder / "b"), folder / "p.jsonl")["tables"]
    return found


ITEMS = [*(mood(n, "yes") for n in range(4)), *(mood(n, "no") for n in range(4, 8))]


def test_a_subset_is_held_against_the_whole(tmp_path: Path) -> None:
    columns = {
        "Full": {"task": "ER"},
        "Speaking": {"task": "ER", "speaking": "yes", "against": "Full"},
    }
    found = table_of(tmp_path, columns, ITEMS, {"m": "ABCDAAAA"})
    full, speaking = found["rows"][0]["cells"]
    assert (full["value"], speaking["value"]) == (0.625, 0.25)
    assert "difference" not in full
    assert speaking["difference"]["value"] == -0.375
    low, high = speaking["difference"]["interval"]
    assert low < -0.375 < high


def test_errors_are_counted_by_the_words_of_the_option_chosen(tmp_path: Path) -> None:
    columns = {
        "All": {"wrong_options_with": ["surpris", "shock"]},
        "Speaking": {"speaking": "yes", "wrong_options_with": ["surpris", "shock"], "against": "All"},
    }  # fmt: skip
    found = table_of(tmp_path, columns, ITEMS, {"m": "BCDAAAD-", "n": "AAAAAAAA"})
    every, speaking = found["rows"][1]["cells"]
    assert (every["value"], every["items"]) == (0.5, 4)  # B and C of B, C, D, D
    assert (speaking["value"], speaking["items"]) == (0.666667, 3)
    assert speaking["difference"]["value"] == pytest.approx(0.166667)
    assert [column["chance"] for column in found["columns"]] == [0.666667, 0.666667]
    without = found["rows"][0]["cells"][0]
    assert (without["value"], without["items"]) == (None, 0)  # who errs nowhere


def test_words_count_where_they_begin(tmp_path: Path) -> None:
    items = [make_item(1, options=("x", "shocking news", "aftershock"), answer=("A",))]
    columns = {"Shock": {"wrong_options_with": ["shock"]}}
    found = table_of(tmp_path, columns, items, {"m": "B", "n": "C"})
    assert [row["cells"][0]["value"] for row in found["rows"]] == [1.0, 0.0]
    assert found["columns"][0]["chance"] == 0.5


def test_guessing_is_the_mean_over_items_and_questions_over_options_stands_beside(
    tmp_path: Path,
) -> None:
    """Two and six options: a guess is right in 1/3 of the cases; two questions over eight is 1/4."""
    items = [make_item(1, options=("a", "b"), answer=("A",)), make_item(2, options=tuple("abcdef"), answer=("A",))]  # fmt: skip
    found = table_of(tmp_path, {"All": {}}, items, {"m": "AA"}, pooled_chance=True)
    (column,) = found["columns"]
    assert (column["chance"], column["pooled_chance"]) == (0.333333, 0.25)


def test_what_was_measured_is_empty_where_nothing_was(tmp_path: Path) -> None:
    columns = {"All": {}, "Minutes": {"measured": "minutes"}}
    found = table_of(tmp_path, columns, ITEMS[:1], {"m": "A"})
    assert [cell["value"] for cell in found["rows"][0]["cells"]] == [1.0, None]


def test_a_difference_on_the_same_items_is_that_of_a_comparison() -> None:
    draw = np.random.default_rng(3)
    videos = np.repeat(np.arange(12), [1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1])
    one, other = (draw.random((2, len(videos))) < 0.6).astype(float)
    (pair,) = compare(["a", "b"], np.stack([one, other]), list(videos), 0).pairs
    found = difference_of([Cell(videos, one)], [Cell(videos, other)])
    assert found.value == pytest.approx(pair.difference)
    assert found.interval == pytest.approx(pair.interval)
    assert found.standard_error == pytest.approx(pair.standard_error)


def test_differences_of_a_subset_cover_what_they_should() -> None:
    """The subset is harder by 0.2, so that the whole is 0.1 easier than it: 95% of 400 draws."""
    draw = np.random.default_rng(7)
    hits = 0
    for _ in range(400):
        videos = np.repeat(np.arange(40), 3)
        inside = np.arange(40).repeat(3) % 2 == 0
        skill = np.clip(draw.normal(0.6, 0.1, 40), 0, 1).repeat(3) - 0.2 * inside
        right = (draw.random(120) < skill).astype(float)
        found = difference_of([Cell(videos[inside], right[inside])], [Cell(videos, right)])
        assert found.interval is not None
        hits += found.interval[0] <= -0.1 <= found.interval[1]
    assert 0.92 <= hits / 400 <= 0.98


def test_one_video_gives_no_interval() -> None:
    assert difference_of([Cell([0, 0], [1, 0])], [Cell([0], [1])]).interval is None


DISTRACTING = {"kind": "distractors", "bands": [0.5, 1.0]}


def test_wrong_options_by_the_share_of_models_that_chose_them(tmp_path: Path) -> None:
    items = [make_item(n, media=(Media(f"media/{n}.mp4"),)) for n in (1, 2)]  # B is right
    letters = {"a": "AB", "b": "AC", "c": "BC", "d": "C-", "human:x": "DD"}
    found = table_of(tmp_path, {"All": {}}, items, letters, **DISTRACTING)
    # Item 1: A 2 of 4, C 1 of 4, D none. Item 2, which d left out: C 2 of 3, A and D none.
    assert {row["model"]: row["cells"][0]["value"] for row in found["rows"]} == {
        "chosen by at least one model": 0.5,
        "chosen by some, at most 32%": 0.166667,
        "chosen by none": 0.5,
        "0% to 50% of the models": 0.333333,
        "50% to 100% of the models": 0.166667,
    }
    assert (sorted(found["models"]), found["columns"][0]["distractors"]) == (
        ["a", "b", "c", "d"],
        6,
    )


def test_eight_of_25_models_are_within_the_band(tmp_path: Path) -> None:
    items = [make_item(1)]
    letters = {f"m{n:02}": "A" if n < 8 else "C" if n < 17 else "B" for n in range(25)}
    found = table_of(tmp_path, {"All": {}}, items, letters, kind="distractors")
    shares = {row["model"]: row["cells"][0]["value"] for row in found["rows"]}
    assert shares["chosen by some, at most 32%"] == pytest.approx(1 / 3, abs=1e-6)  # A, not C (36%)
    assert shares["16% to 32% of the models"] == pytest.approx(1 / 3, abs=1e-6)
