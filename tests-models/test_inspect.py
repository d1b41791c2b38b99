"""Inspect's providers, through a real server on loopback."""

import json
from pathlib import Path
from typing import Any

import pytest
from servers import completion, serving

from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.run import run_benchmark

# What Inspect itself calls of others' is for Inspect to renew.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOOPBACK_API_KEY", "sk-unseen")
    return tmp_path / "m.yaml"


def write(card: Path, url: str, **fields: Any) -> str:
    plain = {"name": "m", "backend": "inspect", "model": "openai-api/loopback/x", "endpoint": url}
    card.write_text(json.dumps(plain | {"retries": 1, "backoff": 0.001} | fields))
    return str(card)


def test_a_run(benchmark: Benchmark, card: Path, tmp_path: Path) -> None:
    status, headers, body = completion("B")
    whole = json.dumps(json.loads(body) | {"model": "x", "created": 0}).encode()
    with serving(lambda *_: (status, headers, whole)) as server:
        state = run_benchmark(benchmark, [write(card, server.url)], tmp_path / "r")
    assert state.done == 12
    assert len(server.requests) == 12
    content = server.requests[0]["messages"][0]["content"]
    assert [part["type"] for part in content] == ["image_url"] * 3 + ["text"]
    spent = state.ledger.spent["m"]
    assert (spent.requests, spent.input_tokens, spent.output_tokens) == (12, 1200, 36)


def test_a_server_that_fails_is_asked_as_often_as_the_card_says(
    benchmark: Benchmark, card: Path, tmp_path: Path
) -> None:
    with serving(lambda *_: (500, {}, b"{}")) as server:
        state = run_benchmark(benchmark, [write(card, server.url)], tmp_path / "r")
    assert len(state.failures) == 12
    assert {failure["status"] for failure in state.failures} == {"error"}
    assert len(server.requests) == 12 * 2
    assert "sk-unseen" not in (tmp_path / "r" / "status.json").read_text()
