"""A local model through transformers' generic classes: asked in batches, the same as one by one."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support import blind_benchmark

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.run import run_benchmark
from reelbench.models.load import load_model


def card(path: Path, **fields: Any) -> str:
    path.write_text(json.dumps({"backend": "hf", "parameters": {"max_new_tokens": 8}} | fields))
    return str(path)


def rows(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "predictions.jsonl").read_text().splitlines()]


def test_batches_give_what_one_by_one_gives(
    tiny: Path, benchmark: Benchmark, tmp_path: Path
) -> None:
    replies = {}
    for batch in (1, 5):
        model = card(tmp_path / f"{batch}.yaml", name="m", model=str(tiny), batch=batch)
        state = run_benchmark(benchmark, [model], tmp_path / f"r{batch}")
        assert state.done == state.total == 12
        replies[batch] = [row["response"] for row in rows(tmp_path / f"r{batch}")]
    assert replies[1] == replies[5]
    assert len(set(replies[1])) > 1  # it looks at the question and the frames
    spent = json.loads((tmp_path / "r5" / "status.json").read_text())["spent"]["m"]
    assert spent["requests"] == 12
    assert spent["output_tokens"] <= 12 * 8
    assert spent["input_tokens"] > 12 * 3 * 4  # a frame is four tokens
    assert spent["usd"] == 0


def test_it_looks(tiny: Path, benchmark: Benchmark, tmp_path: Path) -> None:
    """The same questions without their frames get other replies."""
    model = card(tmp_path / "m.yaml", name="m", model=str(tiny))
    run_benchmark(benchmark, [model], tmp_path / "r", conditions=["protocol", "blind modalities=T"])
    said: dict[str, list[str]] = {}
    for row in rows(tmp_path / "r"):
        said.setdefault(row["condition"], []).append(row["response"])
    assert said["protocol"] != said["blind"]


def test_a_question_that_breaks_the_processor_fails_alone(
    tiny: Path, benchmark: Benchmark, tmp_path: Path
) -> None:
    odd = msgspec.structs.replace(benchmark.items[1], question="Is <image> a picture?")
    items = (benchmark.items[0], odd, *benchmark.items[2:])
    benchmark = blind_benchmark(benchmark.root, *items, sampling="uniform:3")
    model = card(tmp_path / "m.yaml", name="m", model=str(tiny))
    state = run_benchmark(benchmark, [model], tmp_path / "r")
    assert [failure["id"] for failure in state.failures] == [odd.id]
    assert state.done == 11


def test_a_folder_without_a_model(benchmark: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    model = card(tmp_path / "m.yaml", name="m", model=str(tmp_path / "empty"))
    state = run_benchmark(benchmark, [model], tmp_path / "r")
    assert len(state.failures) == 12
    assert "empty" in state.failures[0]["error"]


def test_what_it_cannot_take(tmp_path: Path) -> None:
    with pytest.raises(ReelbenchError, match="`video: frames`"):
        load_model(card(tmp_path / "m.yaml", name="m", model="x", video="clip"))
