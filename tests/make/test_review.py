"""A recipe waits for people, they decide in the browser's way, and making goes on."""

import json
import shutil
from pathlib import Path

import pytest
from review.serving import local, served
from support import run_here, wait_until

from reelbench.data.benchmark import Benchmark
from reelbench.data.verdicts import read_verdicts
from reelbench.make.pipeline.make import waiting_file

RECIPE = """
from reelbench.make.parts.existing import collect, items_in, same_manifest
from reelbench.make.parts.verdicts import verdicts
from reelbench.make.pipeline.stage import Recipe

RECIPE = Recipe(
    name="checked", description="for tests", sources=items_in, roles={}, media="source",
    stages=(verdicts("people.jsonl", needed=2), collect()), manifest=same_manifest,
)
"""


def test_rows_that_wait_are_decided_in_a_review_and_become_items(
    small_demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    shutil.copytree(small_demo / "benchmark", source)
    items = Benchmark.load(source).items[:3]
    Benchmark(source, Benchmark.load(source).manifest, items).save(source)
    recipe = tmp_path / "checked.py"
    recipe.write_text(RECIPE)
    words = ("make", recipe, "--source", source, "--out", out)
    assert run_here(*words) == 1
    assert "3 rows wait for people: " in capsys.readouterr().err

    with served(out, "--local", "--protocol", "verify") as review:
        someone = local(review)
        for decision in ("accept", "reject", "change"):
            task = someone.next("verify")
            assert task is not None
            video = f"/media/verify/0?item={task['item']}"
            wait_until(
                lambda path=video: someone.send("GET", f"/api{path}")[1]["status"] == "ready"
            )
            assert someone.send("GET", video, headers={"range": "bytes=0-99"})[0] == 206
            assert someone.act(task, "answered", {"choice": [0]})[0] == 200
            body = {"decision": decision}
            body |= {"tags": ["bad video"]} if decision == "reject" else {}
            body |= {"changes": {"question": "Which?"}} if decision == "change" else {}
            assert someone.act(task, "verdict", body)[0] == 200
            if decision == "accept":  # while the server runs
                wait_until((out / "verdicts.jsonl").exists)
                assert run_here("review", out, "--export", tmp_path / "first") == 0
        assert someone.next("verify") is None
    settled = read_verdicts(out / "verdicts.jsonl")  # when it has ended
    assert [settled[item.id][-1].settled for item in items] == [True] * 3

    assert run_here(*words) == 0
    made = Benchmark.load(out).items
    assert len(made) == 2
    assert made[-1].question == "Which?"
    assert not waiting_file(out, "verdicts").exists()
    assert json.loads((out / "rejects.jsonl").read_text())["detail"] == "bad video"

    with served(out, "--local"):
        pass  # whose rows have all gone on
    assert read_verdicts(out / "verdicts.jsonl") == settled
    assert run_here(*words) == 0
    assert Benchmark.load(out).items == made
