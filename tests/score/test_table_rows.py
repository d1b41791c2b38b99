"""Rows of declared tables: conditions held against one, means of models and tiers, and who was asked."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media, freeze
from reelbench.data.manifest import Manifest
from reelbench.score.predictions import read_predictions
from reelbench.score.score import score_outcomes, score_predictions
from reelbench.score.tiers import read_tiers

COLUMNS = {"X": {"task": "x"}, "Y": {"task": "y"}, "Both": {"mean_of": ["X", "Y"]}}


def item(number: int, task: str, **more: Any) -> Item:
    return make_item(number, tags=freeze({"task": task}), **more)


ITEMS = [*(item(n, "x") for n in range(4)), *(item(n, "y") for n in range(4, 6))]


def rows(model: str, letters: str, condition: str = "protocol") -> list[dict[str, Any]]:
    """A prediction for each letter, from the first item on; a dot is an item that was not asked."""
    return [
        {"id": f"q-{n}", "model": model, "condition": condition, "parsed": [letter]}
        for n, letter in enumerate(letters)
        if letter != "."
    ]


def benchmark(folder: Path, table: dict[str, Any], items: list[Item] = ITEMS) -> Benchmark:
    tables = freeze({"t": {"columns": COLUMNS, **table}})
    Benchmark(folder / "b", Manifest("b", "1", tables=tables), tuple(items)).save(folder / "b")
    return Benchmark.load(folder / "b")


def table_of(
    folder: Path, table: dict[str, Any], *predictions: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    lines = [json.dumps(row) + "\n" for some in predictions for row in some]
    (folder / "p.jsonl").write_text("".join(lines))
    bench = benchmark(folder, table)
    outcomes = read_predictions([folder / "p.jsonl"], bench)
    (found,) = score_outcomes(bench, outcomes, 0, **more)["tables"]
    return dict(found)


def values(found: dict[str, Any]) -> dict[tuple[str, str], list[float | None]]:
    return {
        (row["model"], row["condition"]): [cell["value"] for cell in row["cells"]]
        for row in found["rows"]
    }


def test_what_was_never_asked_is_no_zero_and_has_no_mean(tmp_path: Path) -> None:
    found = table_of(tmp_path, {}, rows("all", "BBAABB"), rows("part", "BBAA.."))
    assert values(found) == {
        ("all", "protocol"): [0.5, 1.0, 0.75],
        ("part", "protocol"): [0.5, None, None],
    }
    assert [cell["covered"] for cell in found["rows"][1]["cells"]] == [4, 0, 4]


def test_what_was_not_asked_is_left_out_unless_all_is_to_count(tmp_path: Path) -> None:
    found = table_of(tmp_path, {}, rows("m", "BB..B."))
    assert values(found)["m", "protocol"] == [1.0, 1.0, 1.0]
    assert [cell["covered"] for cell in found["rows"][0]["cells"]] == [2, 1, 3]
    found = table_of(tmp_path, {}, rows("m", "BB..B."), scope="all")
    assert values(found)["m", "protocol"] == [0.5, 0.5, 0.5]


def test_differences_are_on_the_items_that_both_conditions_asked(tmp_path: Path) -> None:
    """Under "few" the second half was not asked, where all is right under the protocol."""
    found = table_of(
        tmp_path, {"against": "protocol"}, rows("m", "ABBBBB"), rows("m", "BA..A.", "few")
    )
    few = next(row for row in found["rows"] if row["condition"] == "few")
    assert [cell["value"] for cell in few["cells"]] == [0.5, 0.0, 0.25]
    assert [cell["difference"]["value"] for cell in few["cells"]] == [0.0, -1.0, -0.5]


def test_people_are_scored_on_the_sample_that_they_were_shown(tmp_path: Path) -> None:
    found = table_of(tmp_path, {}, rows("human:a", "BB..B."), rows("human:b", ".AB..."))
    (people,) = found["rows"]
    assert people["participants"] == 2
    # Items 0, 1, 2: right, half right, right.
    assert [(c["value"], c["covered"], c["items"]) for c in people["cells"]] == [
        (0.833333, 3, 4), (1.0, 1, 2), (0.916667, 4, 6),
    ]  # fmt: skip


def test_a_table_has_the_rows_of_its_conditions_by_model(tmp_path: Path) -> None:
    table = {"conditions": ["plain", "frames"]}
    given = [
        rows("good", "BBBBBB", "plain"), rows("poor", "AAAAAA", "plain"),
        rows("good", "BBBBAA", "frames/sampling=uniform:4"), rows("good", "AAAAAA", "other"),
        rows("poor", "BBBBAA", "frames/sampling=uniform:8"),
    ]  # fmt: skip
    assert list(values(table_of(tmp_path, table, *given))) == [
        ("good", "plain"), ("good", "frames/sampling=uniform:4"),
        ("poor", "plain"), ("poor", "frames/sampling=uniform:8"),
    ]  # fmt: skip


def test_differences_from_a_condition_have_their_sign(tmp_path: Path) -> None:
    table = {"conditions": ["plain", "stamped"], "against": "plain", "averages": ["models"]}
    given = [
        rows("up", "AABBBB", "plain"), rows("up", "BBBBAB", "stamped"),
        rows("down", "BBBBBB", "plain"), rows("down", "AAABBB", "stamped"),
        rows("alone", "BBBBBB", "stamped"),
    ]  # fmt: skip
    found = table_of(tmp_path, table, *given)
    told = {
        (row["model"], row["condition"]): [c["difference"]["value"] for c in row["cells"]]
        for row in found["rows"]
        if "difference" in row["cells"][0]
    }
    assert told == {
        ("up", "stamped"): [0.5, -0.5, 0.0],
        ("down", "stamped"): [-0.75, 0.0, -0.375],
        ("mean", "stamped"): [-0.125, -0.25, -0.1875],  # of the two that have both
    }
    assert found["against"] == "plain"
    stamped = next(row for row in found["rows"] if row["model"] == "up" and row["condition"] == "stamped")  # fmt: skip
    low, high = stamped["cells"][0]["difference"]["interval"]
    assert low < 0.5 < high


def test_means_over_tiers_and_models_are_rows(tmp_path: Path) -> None:
    table = {"averages": ["tiers", "models"]}
    given = [rows("a", "BBBBBB"), rows("b", "BBAABA"), rows("c", "AAAABB"), rows("human:x", "AAAAAA")]  # fmt: skip
    found = table_of(tmp_path, table, *given, tiers={"a": "strong", "b": "strong", "c": "mid"})
    assert [(row["model"], row.get("models")) for row in found["rows"]][3:6] == [
        ("strong", ["a", "b"]),
        ("mid", ["c"]),
        ("mean", ["a", "b", "c"]),
    ]
    assert [c["value"] for c in found["rows"][3]["cells"]] == [0.75, 0.75, 0.75]
    assert [c["value"] for c in found["rows"][5]["cells"]] == [0.5, 0.833333, 0.666667]


def test_a_mean_of_models_needs_all_of_them(tmp_path: Path) -> None:
    given = [rows("a", "BBBBBB"), rows("b", "BBBB..")]
    found = table_of(tmp_path, {"averages": ["models"]}, *given)
    assert [c["value"] for c in found["rows"][-1]["cells"]] == [1.0, None, None]


def test_tiers_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "tiers.yaml"
    path.write_text("strong: [a, b]\nmid: [c]\n")
    assert read_tiers(path) == {"a": "strong", "b": "strong", "c": "mid"}
    path.write_text("strong: [a]\nmid: [a]\n")
    with pytest.raises(ReelbenchError, match="a is in strong and in mid"):
        read_tiers(path)
    for text in ("[a]", "strong: a", ""):
        path.write_text(text)
        with pytest.raises(ReelbenchError, match="holds no tiers"):
            read_tiers(path)


def test_models_that_helped_to_make_the_items_are_named(tmp_path: Path) -> None:
    made = [
        item(0, "x", provenance=freeze({"write": {"model": "writer"}})),
        item(1, "y", provenance=freeze({"caption": {"models": {"captioner": "c", "judges": ["d", "e"]}}})),
    ]  # fmt: skip
    bench = benchmark(tmp_path, {}, made)
    record = {"models": {"ensemble": [{"name": "c"}, {"name": "f"}]}}
    (bench.root / "make").mkdir()
    (bench.root / "make" / "make.json").write_text(json.dumps(record))
    predictions = tmp_path / "p.jsonl"
    lines = [json.dumps(row) + "\n" for m in ("writer", "c", "d", "f", "other") for row in rows(m, "BB")]  # fmt: skip
    predictions.write_text("".join(lines))
    (found,) = score_predictions(bench, predictions)["tables"]
    assert {row["model"]: row.get("helped") for row in found["rows"]} == {
        "writer": ["write"], "c": ["captioner", "ensemble"], "d": ["judges"], "f": ["ensemble"],
        "other": None,
    }  # fmt: skip


def test_videos_that_two_conditions_share_do_not_count_twice(tmp_path: Path) -> None:
    """The same change on every video is surer than changes that cancel out."""
    items = [item(n, "x", media=(Media(f"media/{n % 10}.mp4"),)) for n in range(40)]
    columns = {"X": {"task": "x"}}
    table = {"columns": columns, "conditions": ["plain", "even", "odd"], "against": "plain"}
    bench = benchmark(tmp_path, table, items)
    plain = "".join("BA"[n % 2] for n in range(40))
    even = "".join("B" if n < 10 else plain[n] for n in range(40))
    given = [*rows("m", plain, "plain"), *rows("m", even, "even"), *rows("m", plain, "odd")]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    (found,) = score_predictions(bench, tmp_path / "p.jsonl")["tables"]
    by = {row["condition"]: row["cells"][0] for row in found["rows"]}
    assert by["even"]["difference"]["value"] == 0.125
    low, high = by["even"]["difference"]["interval"]
    assert 0 <= low < 0.125 < high < 0.25
    width = by["even"]["interval"][1] - by["even"]["interval"][0]
    assert high - low < width  # what both conditions share takes no part
    assert by["odd"]["difference"]["value"] == 0
