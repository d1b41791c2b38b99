"""Splits: run, score and report take one, say which it is, and never mix two."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import make_item, run_here

from reelbench import Benchmark, ReelbenchError, run_benchmark, score_predictions
from reelbench.data.items import freeze
from reelbench.data.manifest import Protocol

Save = Callable[..., Path]
TABLES = {"of-test": {"where": {"split": "test"}, "columns": {"All": {}}}}


@pytest.fixture
def root(save: Save) -> Path:
    """Eight items: three of them dev, and the first option is right in two of those."""
    items = [
        make_item(
            number,
            answer=("A" if number < 3 else "B",),
            tags=freeze({"split": "dev" if number < 4 else "test"}),
        )
        for number in range(1, 9)
    ]
    return save(
        *items,
        splits=freeze({"dev": {}, "test": {}}),
        protocol=Protocol(modalities="T"),
        tables=freeze(TABLES),
    )


def run(root: Path, out: Path, *words: str) -> int:
    return run_here("run", root, "--model", "baseline:first", "--out", out, *words)


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_a_run_of_a_split_asks_its_items_alone_and_says_so(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert run(root, out, "--split", "dev") == 0
    assert "3 of 8 items: split dev." in capsys.readouterr().err
    rows = [json.loads(line) for line in (out / "predictions.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["q-1", "q-2", "q-3"]
    assert read(out / "run.json")["benchmark"]["selection"] == {"split": "dev"}
    scores = read(out / "scores.json")
    assert (scores["benchmark"]["all_items"], scores["benchmark"]["items"]) == (8, 3)
    assert scores["results"][0]["correct"] == 2
    assert "3 of 8 items: split dev" in (out / "report.html").read_text()


def test_a_run_keeps_its_split_and_goes_on_with_no_other(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert run(root, out, "--split", "dev") == 0
    assert run_here("run", root, "--out", out) == 0  # as the message of a stopped run says
    assert read(out / "scores.json")["benchmark"]["items"] == 3
    capsys.readouterr()
    assert run(root, out, "--split", "test") == 2
    assert "holds a run of split dev, not of split test" in capsys.readouterr().err
    assert run_here("score", out, "--split", "test") == 2
    assert "None of the items of split dev is in split 'test'" in capsys.readouterr().err
    whole = tmp_path / "whole"
    assert run(root, whole) == 0
    assert run(root, whole, "--split", "dev") == 2
    assert "holds a run of all items, not of split dev" in capsys.readouterr().err


def test_a_split_of_a_run_of_all_items_is_scored_apart(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert run(root, out) == 0
    before = (out / "scores.json").read_bytes()
    assert "selection" not in read(out / "run.json")["benchmark"]
    assert run_here("score", out, "--split", "dev", "--out", tmp_path / "dev.json") == 0
    assert run_here("score", out, "--split", "dev") == 0
    assert run_here("report", out, "--split", "dev") == 0
    assert read(tmp_path / "dev.json")["results"][0]["correct"] == 2
    assert (out / "scores.json").read_bytes() == before
    assert "3 of 8 items: split dev" in (out / "report-dev.html").read_text()
    assert "split dev" not in (out / "report.html").read_text().partition("<nav")[0]


def test_a_run_of_a_split_and_one_of_all_items_share_a_page_by_that_split(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, tmp_path / "dev", "--split", "dev") == 0
    assert run_here(
        "run", root, "--model", "baseline:longest", "--out", tmp_path / "all"
    ) == 0  # fmt: skip
    both = ("report", tmp_path / "dev", tmp_path / "all", "--out", tmp_path / "both.html")
    assert run_here(*both) == 2
    assert "with --split dev" in capsys.readouterr().err
    assert run_here(*both, "--split", "dev") == 0
    assert "3 of 8 items: split dev" in (tmp_path / "both.html").read_text()


def test_anyones_predictions_are_scored_by_split_and_checked_in_full(
    root: Path, tmp_path: Path
) -> None:
    path = tmp_path / "theirs.jsonl"
    path.write_text("".join(f'{{"id": "q-{n}", "parsed": ["A"]}}\n' for n in range(1, 9)))
    dev = Benchmark.load(root).split("dev")
    (row,) = score_predictions(dev, path)["results"]
    assert (row["items"], row["correct"], row["missing"]) == (3, 2, 0)
    path.write_text('{"id": "q-99", "parsed": ["A"]}\n')
    with pytest.raises(ReelbenchError, match="q-99"):
        score_predictions(dev, path)


def test_an_unknown_split_names_those_there_are(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, tmp_path / "run", "--split", "train") == 2
    assert "no split 'train'; its splits: dev, test" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_changes_to_other_splits_leave_a_run_valid(root: Path, tmp_path: Path) -> None:
    dev = Benchmark.load(root).split("dev")
    run_benchmark(dev, ["baseline:first"], tmp_path / "run")
    items = (root / "items.jsonl").read_text()
    (root / "items.jsonl").write_text(items.replace("scene 8", "the last scene"))
    assert run_here("score", tmp_path / "run") == 0
    (root / "items.jsonl").write_text(items.replace("scene 1", "the first scene"))
    assert run_here("score", tmp_path / "run") == 2


def test_items_tagged_with_splits_need_no_declaration(save: Save) -> None:
    tags = [freeze({"split": name}) for name in ("b", "a", "a")]
    benchmark = Benchmark.load(save(*(make_item(n, tags=each) for n, each in enumerate(tags))))
    assert benchmark.split_names == ("a", "b")
    part = benchmark.split("a")
    assert [item.id for item in part.items] == ["q-1", "q-2"]
    assert part.split("b").whole == benchmark
