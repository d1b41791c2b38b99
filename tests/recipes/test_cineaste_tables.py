"""Cinéaste's tables from predictions made by hand: each number, row and mark is worked out again."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import make_item

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, freeze
from reelbench.evaluate.condition import conditions_for
from reelbench.recipes.cineaste.recipe import CATEGORIES, RECIPE
from reelbench.report.declared import notes_on, shown
from reelbench.score.given import given_in
from reelbench.score.predictions import read_predictions
from reelbench.score.score import score_outcomes

CODES = ["VR", "SC", "TO", "CE", "MU"]
EACH = 10  # items of a category: B is right in all
TIERS = {"gpt": "Proprietary", "claude": "Proprietary", "aria": "Open", "llava": "Open"}


def items() -> list[Item]:
    return [
        make_item(
            place * EACH + n,
            id=f"{CODES[place]}-{n}",
            options=("v", "w", "x", "y", "z"),
            tags=freeze({"category": category}),
        )
        for place, category in enumerate(CATEGORIES)
        for n in range(EACH)
    ]


def rows(model: str, condition: str, right: list[int], **more: Any) -> list[dict[str, Any]]:
    """As many of each category are right; with rounds, an item that is right is so in all of them."""
    return [
        {"id": f"{code}-{n}", "model": model, "condition": condition,
         "parsed": ["B" if n < count else "A"], **more}
        for code, count in zip(CODES, right, strict=True)
        for n in range(EACH)
    ]  # fmt: skip


def in_rounds(model: str, condition: str, right: list[int]) -> list[dict[str, Any]]:
    """Item n of a category is right in as many of five rounds as its place in ``right`` says."""
    return [
        {"id": f"{code}-{n}", "model": model, "condition": condition, "round": number,
         "parsed": ["B" if number < (right[n] if n < len(right) else 0) else "C"]}
        for code in CODES
        for n in range(EACH)
        for number in range(5)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("tables")
    manifest = RECIPE.manifest(made := items(), folder)
    Benchmark(folder / "b", manifest, tuple(made)).save(folder / "b")
    asked = ["protocol", "frames-64", "fps-0.1", "frames", "no-context", "captions"]
    conditions = [each.to_record() for each in conditions_for(manifest, None, asked)]
    cards = [{"name": name, "sees": True} for name in TIERS] + [{"name": "llama", "sees": False}]
    cards[2]["frames"] = 16  # aria takes no more: what asks for more is the same to it
    predictions = [
        *rows("gpt", "protocol", [7, 8, 7, 9, 8]),
        *rows("gpt", "frames/sampling=uniform:32", [7, 8, 7, 9, 8]),
        *rows("gpt", "frames/sampling=uniform:8", [5, 5, 5, 5, 5]),
        *rows("gpt", "frames/sampling=uniform:64", [9, 5, 5, 5, 5]),
        *rows("claude", "fps-0.1", [5, 6, 7, 7, 6]),
        *rows("aria", "frames-64", [6, 6, 5, 6, 6]),
        *rows("aria", "protocol", [6, 6, 5, 6, 6]),
        *rows("aria", "frames/sampling=uniform:16", [6, 6, 5, 6, 6]),
        *rows("aria", "frames/sampling=uniform:32", [6, 6, 5, 6, 6]),
        *rows("llava", "frames-64", [3, 6, 4, 5, 5]),
        *in_rounds("llama", "no-context", [5, 4, 3]),
        *in_rounds("llama", "captions", [5, 5, 4, 4, 3, 3]),
    ]
    (folder / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in predictions))
    bench = Benchmark.load(folder / "b")
    outcomes = read_predictions([folder / "p.jsonl"], bench)
    run = {"models": cards, "conditions": conditions}
    scores = score_outcomes(
        bench, outcomes, 0, conditions=conditions, tiers=TIERS, given=given_in([run])
    )
    return {table["name"]: table for table in scores["tables"]}


def test_table_2_has_the_categories_in_order_the_average_and_the_frames(
    tables: dict[str, Any],
) -> None:
    printed = shown(tables["table-2"])
    assert printed.columns == ["Model", "Frames", *CODES, "Avg. Accuracy"]
    assert [list(row) for row in printed.rows] == [
        ["Proprietary", *[""] * 7],
        ["gpt", "32", "70.0%", "80.0%", "70.0%", "90.0%", "80.0%", "78.0%"],
        ["claude", "0.1 fps", "50.0%", "60.0%", "70.0%", "70.0%", "60.0%", "62.0%"],
        ["Open", *[""] * 7],
        ["aria", "16", "60.0%", "60.0%", "50.0%", "60.0%", "60.0%", "58.0%"],
        ["llava", "64", "30.0%", "60.0%", "40.0%", "50.0%", "50.0%", "46.0%"],
        ["chance", "", *["20.0%"] * 6],
    ]
    assert printed.groups == {0, 3}


def test_the_best_two_are_those_of_each_group(tables: dict[str, Any]) -> None:
    printed = shown(tables["table-2"])
    assert set(printed.best) == {
        *((1, column) for column in (2, 3, 4, 5, 6, 7)), (2, 4),
        *((4, column) for column in (2, 3, 4, 5, 6, 7)), (5, 3),
    }  # fmt: skip
    assert set(printed.second) == {
        *((2, column) for column in (2, 3, 5, 6, 7)),
        *((5, column) for column in (2, 4, 5, 6, 7)),
    }
    assert r"\multicolumn{8}{l}{\textit{Open}} \\" in printed.to_latex()
    assert r"llava & 64 & \underline{30.0\%}" in printed.to_latex()
    assert "| aria | 16 | **60.0%** |" in printed.to_markdown()
    assert "Open,,,,,,,\n" in printed.to_csv()
    notes = " ".join(notes_on(tables["table-2"]))
    assert "TO: Temporal Ordering" in notes
    assert "The best of each column and group is bold, the second best underlined." in notes


def test_table_3_has_each_number_of_frames_once_and_in_order(tables: dict[str, Any]) -> None:
    printed = shown(tables["table-3"])
    assert [list(row[:3]) for row in printed.rows] == [
        ["Proprietary", "", ""],
        ["gpt", "8", "50.0%"], ["gpt", "32", "70.0%"], ["gpt", "64", "90.0%"],
        ["Open", "", ""], ["aria", "16", "60.0%"], ["chance", "", "20.0%"],
    ]  # fmt: skip


def test_table_4_counts_what_is_right_in_four_of_five_rounds(tables: dict[str, Any]) -> None:
    printed = shown(tables["table-4"])
    assert [list(row) for row in printed.rows] == [
        ["llama, no-context", *["20.0%"] * 6],
        ["llama, captions", *["40.0%"] * 6],
        ["chance", *["-"] * 6],
    ]
    assert "agree on it" in " ".join(notes_on(tables["table-4"]))


def test_categories_without_items_have_no_column(tmp_path: Path) -> None:
    manifest = RECIPE.manifest([i for i in items() if i.id[:2] in ("TO", "VR")], tmp_path)
    for table in manifest.tables.values():
        assert list(table["columns"]) == ["VR", "TO", "Avg. Accuracy"]
