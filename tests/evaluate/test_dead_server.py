"""A server that never answers is named early, asked no more, and costs the other models nothing."""

import json
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from commands import CapturedCommand
from servers import completion, serving
from support import blind_benchmark, make_item, pending_signals, run_here, wait_until

from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.run import run_benchmark
from reelbench.models.reachability import Reachability, shown_address

COUNT = 60
NOBODY = "http://127.0.0.1:9"  # the port of a service that is gone from every machine


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    items = [make_item(n, media=make_item(1).media, question=f"Why {n}?") for n in range(COUNT)]
    return blind_benchmark(tmp_path / "b", *items, modalities="T")


def card(folder: Path, endpoint: str, name: str = "m", **fields: Any) -> str:
    path = folder / f"{name}.yaml"
    said = {"name": name, "endpoint": endpoint, "sees": False, "backoff": 0.01}
    path.write_text(json.dumps(said | fields))
    return str(path)


def errors_of(state: Any) -> list[str]:
    return [failure["error"] for failure in state.failures]


def test_nobody_is_there(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = card(tmp_path, f"{NOBODY}/openai", model="their-name")
    state = run_benchmark(benchmark, [model, "baseline:first"], tmp_path / "r")
    talk = capsys.readouterr().err
    first, *_ = talk.splitlines()
    assert "m: 3 calls in a row failed" in first
    for hint in (f"{NOBODY}/openai/chat/completions", "/v1", "key:", "'their-name'"):
        assert hint in talk
    assert talk.count("is asked no more") == 1
    assert state.done == COUNT  # of the other model
    assert len(state.failures) == COUNT
    unasked = [error for error in errors_of(state) if error.startswith("not asked: ")]
    assert len(unasked) >= COUNT - 16 - 1  # those under way, and no more, were tried
    assert state.ledger.spent["m"].requests == COUNT - len(unasked)
    rows = rows_of(tmp_path / "r")
    assert sum(row["status"] == "error" for row in rows) == COUNT


def test_a_resume_asks_again(benchmark: Benchmark, tmp_path: Path) -> None:
    with serving(lambda *_: (401, {}, b"who are you?")) as server:
        model = card(tmp_path, server.url)
        assert run_benchmark(benchmark, [model], tmp_path / "r").done == 0
        assert len(server.requests) < COUNT / 2
        server.answer = lambda *_: completion("B")
        state = run_benchmark(benchmark, [], tmp_path / "r")
    assert (state.done, len(state.failures)) == (COUNT, 0)


@pytest.mark.parametrize("status", [401, 403, 404, 405, 500, 503, 200])
def test_whatever_fails_for_all_is_not_tried_for_all(
    benchmark: Benchmark, tmp_path: Path, status: int
) -> None:
    with serving(lambda *_: (status, {}, b"<html>no</html>")) as server:
        state = run_benchmark(benchmark, [card(tmp_path, server.url, retries=1)], tmp_path / "r")
        assert len(server.requests) < COUNT
        if status in (404, 405):
            assert f"HTTP {status} at {server.url}/chat/completions" in " ".join(errors_of(state))
    assert len(state.failures) == COUNT


def test_a_server_that_refuses_single_questions_is_there(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    """The first questions may be too long for it, and all others fine."""

    def answer(_: dict[str, Any], number: int) -> Any:
        return (400, {}, b"too long") if number < 30 else completion("B")

    with serving(answer) as server:
        state = run_benchmark(benchmark, [card(tmp_path, server.url)], tmp_path / "r")
    assert (state.done, len(state.failures)) == (COUNT - 30, 30)


def test_what_a_filter_blocks_is_refused_and_asked_again_as_other_refusals_are(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    """The first forty are blocked, by a status of which as many would mean a wrong key."""
    blocked = (403, {}, b'{"error": {"code": "content_policy_violation"}}')
    with serving(lambda _, n: blocked if n < 40 else completion("B")) as server:
        model = card(tmp_path, server.url)
        state = run_benchmark(benchmark, [model], tmp_path / "r")
        assert {failure["status"] for failure in state.failures} == {"refused"}
        assert (state.done, len(state.failures), len(server.requests)) == (COUNT - 40, 40, COUNT)
        again = run_benchmark(benchmark, [], tmp_path / "r")
        assert (again.done, len(server.requests)) == (COUNT, COUNT + 40)


def test_a_server_that_has_answered_is_not_given_up(benchmark: Benchmark, tmp_path: Path) -> None:
    def answer(_: dict[str, Any], number: int) -> Any:
        return completion("B") if number == 0 else (500, {}, b"no")

    with serving(answer) as server:
        model = card(tmp_path, server.url, retries=0, connections=1)
        state = run_benchmark(benchmark, [model], tmp_path / "r")
        assert len(server.requests) == COUNT
    assert not any("not asked" in error for error in errors_of(state))


def test_what_comes_and_goes_is_not_told_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    server = Reachability("m")
    for _ in range(50):
        server.answered()
        for _ in range(5):
            server.failed("http://a", "HTTP 500", 0, reached=True, final=True)
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not server.given_up


def test_an_address_is_shown_without_what_is_secret_in_it() -> None:
    assert shown_address("https://me:pass@host:8/v1/chat?key=abc#x") == "https://host:8/v1/chat"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_polite_end_finishes_what_is_under_way(
    benchmark: Benchmark, tmp_path: Path, number: int
) -> None:
    going_on = threading.Event()

    def patient(*_: Any) -> Any:
        going_on.wait(200)
        return completion("B")

    with serving(patient) as server:
        model = card(tmp_path, server.url, connections=4)
        process = CapturedCommand("run", benchmark.root, "--model", model, "--out", tmp_path / "r")
        wait_until(lambda: len(server.requests) == 4 or process.poll() is not None)
        process.send_signal(number)
        wait_until(lambda: not pending_signals(process.pid))
        going_on.set()
        _, talk = process.communicate()
        asked = len(server.requests)
    assert process.returncode == 130
    assert "Nothing is lost" in talk
    assert 4 <= asked < COUNT
    rows = rows_of(tmp_path / "r")
    assert [row["status"] for row in rows] == ["ok"] * asked
    assert json.loads((tmp_path / "r" / "status.json").read_text())["state"] == "stopped"


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "predictions.jsonl").read_text().splitlines()]


def test_a_reason_is_said_once_with_what_helps(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r"
    with serving(lambda *_: (400, {}, b"image input is not supported")) as server:
        model = card(tmp_path, server.url)
        words = ("--model", model, "--model", "baseline:first", "--out", out)
        assert run_here("run", benchmark.root, *words) == 1
        assert f"--out {out} --without m`" in (talk := capsys.readouterr().err)
        assert "questions): error: HTTP 400: image input is not supported" in talk
        assert talk.count(": error: ") <= 2  # this, and that it is asked no more
        assert "modalities=T" in talk
        assert "points ahead" not in talk
        assert run_here("run", benchmark.root, "--out", out, "--without", "m") == 0
    assert "modalities" not in capsys.readouterr().err
