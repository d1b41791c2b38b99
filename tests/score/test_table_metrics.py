"""Metrics, modality, tiers, random and people in declared tables, by hand and by enumeration."""

import itertools
import json
import random
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
import yaml
from support import make_item

from reelbench.data.benchmark import Benchmark, BenchmarkError
from reelbench.data.items import Item, Media, freeze
from reelbench.data.manifest import Manifest
from reelbench.data.table_rules import RANDOM_POLICIES, SHARE_METRICS, TABLE_METRICS
from reelbench.interop.musebench.manifest import musebench_manifest
from reelbench.interop.musebench.taxonomy import CATEGORIES
from reelbench.report.declared import notes_on, shown
from reelbench.score.expectation import expected_value, size_shares
from reelbench.score.f1 import f1_of_means
from reelbench.score.given import given_in
from reelbench.score.metrics import METRICS
from reelbench.score.predictions import read_predictions
from reelbench.score.score import score_outcomes


def question(number: int, options: int, key: str, category: str = "a") -> Item:
    texts = tuple(f"option {n} of {number}" for n in range(options))
    return make_item(
        number,
        kind="multi" if len(key) > 1 else "single",
        options=texts,
        answer=tuple(key),
        media=(Media(f"media/{number // 2}.mp4"),),
        tags=freeze({"category": category}),
    )


ITEMS = [
    question(0, 4, "B"),
    question(1, 8, "H", "b"),
    question(2, 4, "AC"),
    question(3, 5, "ABD", "b"),
    question(4, 5, "AE", "b"),
]


def rows(model: str, answers: list[str], condition: str = "protocol") -> list[dict[str, Any]]:
    return [
        {"id": f"q-{n}", "model": model, "condition": condition, "parsed": sorted(answer)}
        for n, answer in enumerate(answers)
        if answer != "."
    ]


def table_of(
    folder: Path, table: dict[str, Any], *given: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    tables = freeze({"t": table})
    Benchmark(folder / "b", Manifest("b", "1", tables=tables), tuple(ITEMS)).save(folder / "b")
    bench = Benchmark.load(folder / "b")
    (folder / "p.jsonl").write_text("".join(json.dumps(r) + "\n" for some in given for r in some))
    found = score_outcomes(bench, read_predictions([folder / "p.jsonl"], bench), 0, **more)
    return {**found["tables"][0], "scores": found}


COLUMNS = {name: {"metric": name} for name in TABLE_METRICS}
GIVEN = ["B", "A", "A", "ABC", ""]  # right, wrong of 8, half of two, 2 of 3 with one wrong, none


def values(found: dict[str, Any], row: int = 0) -> dict[str, float]:
    names = [column["name"] for column in found["columns"]]
    cells = found["rows"][row]["cells"]
    return {name: cell["value"] for name, cell in zip(names, cells, strict=True)}


def test_each_metric_of_a_column_is_what_it_is_by_hand(tmp_path: Path) -> None:
    found = table_of(tmp_path, {"columns": COLUMNS}, rows("m", GIVEN))
    p, r = (1 + 2 / 3 + 0) / 3, (1 / 2 + 2 / 3 + 0) / 3
    assert values(found) == pytest.approx({
        "accuracy": 1 / 5, "steady": 1 / 5, "exact_match": 0, "precision": p, "recall": r,
        "f1": (2 / 3 + 2 / 3 + 0) / 3, "caa": (1 - 1 / 7) / 2, "f1_of_means": 2 * p * r / (p + r),
        "precision_micro": 3 / 4, "recall_micro": 3 / 7, "f1_micro": 6 / 11,
    }, abs=1e-6)  # fmt: skip
    assert [c["items"] for c in found["columns"]] == [5, 5, 3, 3, 3, 3, 2, 3, 3, 3, 3]


def test_a_number_has_one_interval_in_the_table_and_in_the_result(tmp_path: Path) -> None:
    found = table_of(tmp_path, {"columns": COLUMNS}, rows("m", GIVEN))
    (result,) = found["scores"]["results"]
    for column, cell in zip(COLUMNS, found["rows"][0]["cells"], strict=True):
        own = result["metrics"].get(column)
        if own:
            assert {n: cell[n] for n in ("value", "interval", "standard_error")} == {
                n: own[n] for n in ("value", "interval", "standard_error")
            }, column
        low, high = cell["interval"]
        assert low <= cell["value"] <= high <= 1, column
    by = result["by"]["category"]["b"]["metrics"]
    assert by["f1_of_means"]["value"] == pytest.approx(2 / 3 / 2, abs=1e-6)  # P = R = 1/3
    assert by["f1_micro"]["value"] == pytest.approx(4 / 8)


def test_f1_of_means_is_linear_at_its_means() -> None:
    draw = random.Random(3)
    p, r = (np.array([draw.random() for _ in range(50)]) for _ in range(2))
    found = f1_of_means(p, r)
    assert found.value == pytest.approx(2 * p.mean() * r.mean() / (p.mean() + r.mean()))
    assert found.scale * found.shares.mean() == pytest.approx(found.value)
    step = 1e-6  # of one question's precision
    moved = p.copy()
    moved[7] += step
    grown = (f1_of_means(moved, r).value - found.value) / step
    assert grown == pytest.approx(2 * (r.mean() / (p.mean() + r.mean())) ** 2 / 50, rel=1e-3)
    assert f1_of_means(np.zeros(2), np.zeros(2)).value == 0


@pytest.mark.parametrize("policy", RANDOM_POLICIES)
def test_guessing_is_exactly_what_all_answers_come_to(policy: str) -> None:
    for options, right in [(4, 2), (5, 4), (6, 3), (5, 2)]:
        item = question(0, options, "ABCDEFGH"[:right])
        shares = size_shares(options, right, policy)
        assert sum(shares.values()) == pytest.approx(1)
        for metric in ("accuracy", "exact_match", "precision", "recall", "f1"):
            brute = 0.0
            for size, share in shares.items():
                sets = list(itertools.combinations(item.letters, size))
                worth = fmean(METRICS[metric].credit(item, frozenset(each)) for each in sets)
                brute += share * worth
            assert expected_value([item], metric, policy) == pytest.approx(brute), metric


def test_guessing_one_option_of_any_number_is_worth_nothing_in_caa() -> None:
    singles = [question(n, n, "A") for n in range(4, 9)]
    assert expected_value(singles, "caa", "subsets") == pytest.approx(0)
    assert expected_value(singles, "accuracy", "coin") == pytest.approx(
        fmean(1 / n for n in range(4, 9))
    )
    assert expected_value([question(1, 4, "AB")], "exact_match", "subsets") == pytest.approx(1 / 15)
    assert expected_value([], "caa", "subsets") is None


def test_random_people_tiers_and_modality_stand_as_a_paper_prints_them(tmp_path: Path) -> None:
    table = {
        "columns": {"ACC": {"metric": "accuracy"}, "CAA": {"metric": "caa"}},
        "random": "coin", "people": {"title": "Expert", "protocol": "Two of us."},
        "tiers": True, "modality": True, "second_best": True,
    }  # fmt: skip
    run = {
        "models": [{"name": "x", "sees": True, "hears": True}, {"name": "y", "sees": True}],
        "conditions": [{"name": "protocol", "modalities": "V+A+T"}],
    }
    found = table_of(
        tmp_path, table,
        rows("x", ["B", "H", "AC", "A", "A"]), rows("y", ["B", "A", "A", "A", "A"]),
        rows("z", ["A", "A", "A", "A", "A"]), rows("human:p", ["B", "H", ".", ".", "."]),
        tiers={"y": "Open", "x": "Closed"}, given=given_in([run]),
    )  # fmt: skip
    printed = shown(found)
    coin = (1 / 4 + 1 / 8 + 1 / 16 + 1 / 32 + 1 / 32) / 5
    assert printed.columns == ["Model", "Modality", "ACC", "CAA"]
    assert [list(row) for row in printed.rows] == [
        ["Random", "", f"{100 * coin:.1f}%", "0.0%"],
        ["Expert, 1 participant", "-", "100.0% (2 of 5)", "100.0%"],
        ["Open", "", "", ""], ["y", "V+T", "20.0%", "42.9%"],
        ["Closed", "", "", ""], ["x", "V+A+T", "60.0%", "100.0%"],
        ["Other models", "", "", ""], ["z", "-", "0.0%", "-23.8%"],
    ]  # fmt: skip
    assert set(printed.best) == {(5, 2), (5, 3)}
    assert set(printed.second) == {(3, 2), (3, 3)}
    assert "<u>20.0%</u>" in printed.to_markdown()
    assert r"\underline{20.0\%}" in printed.to_latex()
    notes = " ".join(notes_on(found))
    assert "perhaps none is." in notes
    assert "Expert: Two of us." in notes


def test_conditions_can_be_columns(tmp_path: Path) -> None:
    names = {"T": "blind", "A+T": "deaf", "V+T": "protocol"}
    table = {"columns": {name: {"condition": each} for name, each in names.items()}}
    found = table_of(
        tmp_path, table,
        rows("m", ["B", "H", "AC", "A", "A"]), rows("m", ["B", "A", "A", "A", "A"], "blind"),
        rows("n", ["A", "A", "A", "A", "A"], "blind"), rows("n", ["A"] * 5, "deaf"),
        rows("alone", ["B", "H", "AC", "A", "A"]),
    )  # fmt: skip
    assert [row["model"] for row in found["rows"]] == ["m", "n"]
    assert values(found) == {"T": 0.2, "A+T": None, "V+T": 0.6}
    assert values(found, 1) == {"T": 0.0, "A+T": 0.0, "V+T": None}
    assert [row[0] for row in shown(found).rows] == ["m", "n", "chance"]


@pytest.mark.parametrize(("table", "words"), [
    ({"columns": {"O": {"metric": "bleu"}}}, "columns.O.metric: found 'bleu', expected one of: accuracy"),
    ({"columns": {"O": {"metric": "caa"}, "M": {"mean_of": ["O"]}}}, "found 'O', expected a column"),
    ({"columns": {"O": {"metric": "caa"}, "P": {"against": "O"}}}, "another column of the same sort"),
    ({"columns": {"O": {"metric": "f1_micro"}}, "averages": ["models"]}, "where the table has averages"),
    ({"columns": {"O": {"metric": "f1", "wrong_options_with": ["x"]}}}, "expected no metric"),
    ({"columns": {"O": {}}, "random": "dice"}, "how sets of options are guessed, one of: subsets"),
    ({"columns": {"O": {}}, "people": {"title": "T"}}, "people.protocol: found nothing"),
    ({"columns": {"O": {}}, "tiers": "yes"}, "whether rows stand under their tiers"),
    ({"columns": {"O": {"condition": "a"}, "P": {}}}, "a condition for each column, or for none"),
    ({"columns": {"O": {"condition": 3}}}, "expected a condition's name"),
    ({"columns": {"O": {"condition": "a"}}, "conditions": ["a"]}, "no conditions where columns have"),
])  # fmt: skip
def test_what_such_a_table_cannot_have_is_refused(
    table: dict[str, Any], words: str, tmp_path: Path
) -> None:
    Benchmark(tmp_path / "b", Manifest("b", "1"), (ITEMS[0],)).save(tmp_path / "b")
    text = yaml.safe_dump({"name": "b", "version": "1", "tables": {"t": table}})
    (tmp_path / "b" / "benchmark.yaml").write_text(text)
    with pytest.raises(BenchmarkError) as caught:
        Benchmark.load(tmp_path / "b")
    assert words in str(caught.value)


def test_the_metrics_of_tables_are_those_that_are_scored() -> None:
    assert set(SHARE_METRICS) | {"caa"} == set(METRICS)


def test_musebench_has_its_tables_with_the_three_f1(tmp_path: Path) -> None:
    items = [
        question(n, 4 + n % 5, "AB" if n % 3 else "C", category)
        for n, category in enumerate([*CATEGORIES] * 6)
    ]
    manifest = musebench_manifest("Ours", items, made_with="x")
    assert manifest.taxonomy["category"] == tuple(CATEGORIES)
    Benchmark(tmp_path / "b", manifest, tuple(items)).save(tmp_path / "b")
    bench = Benchmark.load(tmp_path / "b")
    lines = [
        {"id": i.id, "model": m, "condition": c, "parsed": ["A", "C"][: 1 + (i.kind == "multi")]}
        for i in items for m in ("m", "n") for c in ("protocol", "text-only")
    ]  # fmt: skip
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    outcomes = read_predictions([tmp_path / "p.jsonl"], bench)
    tables = {t["name"]: t for t in score_outcomes(bench, outcomes, 0)["tables"]}
    names = [column["name"] for column in tables["table-1"]["columns"]]
    assert names[:5] == ["ACC", "CAA", "EM", "Cin CAA", "Cin EM"]
    assert len(names) == 11
    assert len(tables["table-7"]["columns"]) == 21
    assert values(tables["f1"])["F1 of means"] == pytest.approx(0.5)
    assert values(tables["table-2"])["A+T"] is None
    assert values(tables["table-2"])["T"] == values(tables["table-1"])["ACC"]
    assert all(column["chance"] is not None for column in tables["table-1"]["columns"])
    assert [column["chance"] for column in tables["table-1"]["columns"] if "CAA" in column["name"]] == [0.0] * 5  # fmt: skip
