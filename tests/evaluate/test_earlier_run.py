"""A run folder of the version before opens, goes on and scores as it did; see tests/earlier_run."""

import gzip
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support import REPOSITORY

from reelbench import Benchmark, run_benchmark
from reelbench.base.files import pretty_json
from reelbench.base.limits import decode_json
from reelbench.cli import main

EARLIER = REPOSITORY / "tests" / "earlier_run"


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    return shutil.copytree(EARLIER, tmp_path / "earlier")


def scores_then() -> str:
    return gzip.decompress((EARLIER / "scores.json.gz").read_bytes()).decode()


# Which the version before did not have.
NEW = {
    "f1_of_means",
    "f1_micro",
    "condition_pairs",
    "asked",
    "refused_in_words",
    "all_items",
    "failed",
}


def without(value: Any, names: set[str]) -> Any:
    """Leave out the fields of these names, wherever they are."""
    if isinstance(value, dict):
        return {name: without(part, names) for name, part in value.items() if name not in names}
    return [without(part, names) for part in value] if isinstance(value, list) else value


def calls(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "journal.sqlite")) as journal:
        return int(journal.execute("SELECT COUNT(*) FROM responses").fetchone()[0])


def test_an_earlier_run_resumes_without_a_call(earlier: Path) -> None:
    """Its server is gone, so that any request would be a failure; four are, of baselines."""
    run = earlier / "run"
    before = {name: (run / name).read_bytes() for name in ("predictions.jsonl", "judgements.jsonl")}
    paid = calls(run)
    run_benchmark(Benchmark.load(earlier / "benchmark"), [], run)
    assert {name: (run / name).read_bytes() for name in before} == before
    assert calls(run) - paid == 4, "refusals of baselines, which are asked again"


def test_an_earlier_run_scores_to_the_same_bytes(
    earlier: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", str(earlier / "run"), "--out", str(earlier / "scores.json")]) == 0
    found = decode_json((earlier / "scores.json").read_text())
    for pair in found["comparison"]["pairs"]:
        del pair["items"]  # is new there
    then = decode_json(scores_then())
    found["interval"] = then["interval"]  # the words of two rules that have changed, no number
    found["comparison"]["policy"] = then["comparison"]["policy"]
    assert pretty_json(without(found, NEW)) == scores_then()
    assert "scripted" in capsys.readouterr().out


def test_an_earlier_run_has_a_page(earlier: Path) -> None:
    assert main(["report", str(earlier / "run")]) == 0
    assert "Which colour is the square?" in (earlier / "run" / "report.html").read_text()
