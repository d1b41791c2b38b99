"""A real server, transformers' own, with a real model: asked as any other behind an endpoint."""

import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from support import blind_benchmark, wait_until

from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.run import run_benchmark


@pytest.fixture(scope="module")
def served(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that holds the tiny model."""
    home = tmp_path_factory.mktemp("home")
    (home / "hub").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = str(Path(sys.executable).with_name("transformers"))
    process = subprocess.Popen(
        [
            program,
            "serve",
            str(tiny),
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--device",
            "cpu",
        ],
        env={**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def ready() -> bool:
        assert process.poll() is None
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
                return bool(reply.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    try:
        wait_until(ready)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(30)


def test_a_run_through_a_real_server(
    tiny: Path, served: str, benchmark: Benchmark, tmp_path: Path
) -> None:
    card = tmp_path / "m.yaml"
    fields = {"name": "m", "endpoint": served, "model": str(tiny), "connections": 4}
    card.write_text(json.dumps(fields | {"parameters": {"max_tokens": 8}}))
    state = run_benchmark(benchmark, [str(card)], tmp_path / "r")
    assert state.done == state.total == 12
    spent = json.loads((tmp_path / "r" / "status.json").read_text())["spent"]["m"]
    assert spent["input_tokens"] > 12 * 3 * 4
    first = (tmp_path / "r" / "predictions.jsonl").read_bytes()
    again = run_benchmark(benchmark, [], tmp_path / "r")
    assert again.counts.asked == 0
    assert (tmp_path / "r" / "predictions.jsonl").read_bytes() == first


def test_the_server_says_what_the_model_says_when_it_is_asked_directly(
    tiny: Path, served: str, benchmark: Benchmark, tmp_path: Path
) -> None:
    replies = []
    for backend, most in (("openai", "max_tokens"), ("hf", "max_new_tokens")):
        card = tmp_path / f"{backend}.yaml"
        fields = {"name": backend, "backend": backend, "model": str(tiny), "parameters": {most: 8}}
        card.write_text(json.dumps(fields | ({"endpoint": served} if backend == "openai" else {})))
        run_benchmark(benchmark, [str(card)], tmp_path / backend)
        lines = (tmp_path / backend / "predictions.jsonl").read_text().splitlines()
        replies.append([json.loads(line)["response"] for line in lines])
    assert replies[0] == replies[1]


def test_judged_by_a_model_that_cannot(
    tiny: Path, served: str, benchmark: Benchmark, tmp_path: Path
) -> None:
    """A judge that talks nonsense until its limit grades nothing, and every round says so."""
    opened = [
        msgspec.structs.replace(item, kind="open", options=(), answer=(), reference="A dog.")
        for item in benchmark.items[:4]
    ]
    benchmark = blind_benchmark(benchmark.root, *opened, sampling="uniform:3", rubric="points")
    card = tmp_path / "m.yaml"
    fields = {"name": "m", "endpoint": served, "model": str(tiny), "connections": 4}
    card.write_text(json.dumps(fields | {"parameters": {"max_tokens": 8}}))
    state = run_benchmark(benchmark, [str(card)], tmp_path / "r", judges=[str(card)])
    assert state.truncated["m"] > 0
    rows = [
        json.loads(line) for line in (tmp_path / "r" / "judgements.jsonl").read_text().splitlines()
    ]
    assert rows
    assert all(row["score"] is None and len(row["rounds"]) == 5 for row in rows)
    assert all(each["failure"] for row in rows for each in row["rounds"])
