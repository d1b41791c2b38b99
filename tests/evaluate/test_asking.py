"""A run against a real server: each thing asked once, nothing lost, the same bytes whatever happens."""

import json
import os
import random
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from commands import CapturedCommand
from servers import Server, completion, serving
from support import make_item, pending_signals, reelbench, wait_until
from videos import make_video

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.data.manifest import Manifest, Protocol
from reelbench.evaluate.run import run_benchmark
from reelbench.score.score import score_run

SECRET = "sk-never-to-be-seen-0987654321"
COUNT = 40


def letter(body: dict[str, Any], _: int = 0) -> Any:
    """A model that always gives the same answer to the same question."""
    text = body["messages"][0]["content"][-1]["text"]
    return completion("ABCD"[sum(text.encode()) % 4])


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    """Forty questions about eight clips of one video."""
    (tmp_path / "b" / "media").mkdir(parents=True)
    make_video(tmp_path / "b" / "media" / "a.mp4")
    items = [question(n) for n in range(COUNT)]
    protocol = Protocol(sampling="uniform:2", frame_size="long:64")
    Benchmark(tmp_path / "b", Manifest("asking", "1", protocol=protocol), tuple(items)).save(
        tmp_path / "b"
    )
    return Benchmark.load(tmp_path / "b")


def question(number: int) -> Item:
    start = number % 8 / 2
    media = (Media("media/a.mp4", start, start + 0.5),)
    return make_item(number, question=f"Question number {number}?", media=media)


@pytest.fixture
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("A_KEY", SECRET)
    return tmp_path / "card.yaml"


def write(card: Path, server: Server, **more: Any) -> str:
    fields = {"name": "far", "endpoint": server.url, "key": "A_KEY", "backoff": 0.01, **more}
    card.write_text(json.dumps(fields))
    return str(card)


def results(out: Path) -> bytes:
    return (out / "predictions.jsonl").read_bytes()


def test_each_question_once_and_never_again(
    benchmark: Benchmark, card: Path, tmp_path: Path
) -> None:
    with serving(letter) as server:
        state = run_benchmark(benchmark, [write(card, server)], tmp_path / "r")
        assert (state.counts.asked, state.done) == (COUNT, COUNT)
        assert len(server.requests) == COUNT
        first = results(tmp_path / "r")
        again = run_benchmark(benchmark, [], tmp_path / "r")
        assert (again.counts.asked, again.counts.known) == (0, COUNT)
        assert len(server.requests) == COUNT
    assert results(tmp_path / "r") == first


def test_the_same_bytes_with_any_number_of_connections(
    benchmark: Benchmark, card: Path, tmp_path: Path
) -> None:
    made = set()
    for connections, latency in ((1, 0.0), (7, 0.005), (64, 0.01)):
        with serving(letter, latency=latency) as server:
            out = tmp_path / f"r{connections}"
            run_benchmark(benchmark, [write(card, server, connections=connections)], out)
            made.add(results(out))
    assert len(made) == 1


def test_equal_requests_at_the_same_time_are_one_call(
    benchmark: Benchmark, card: Path, tmp_path: Path
) -> None:
    one = question(3)
    items = [make_item(n, question=one.question, media=one.media) for n in range(20)]
    same = Benchmark(benchmark.root, benchmark.manifest, tuple(items))
    same.save(tmp_path / "b")
    with serving(letter, latency=0.05) as server:
        state = run_benchmark(Benchmark.load(tmp_path / "b"), [write(card, server)], tmp_path / "r")
        assert len(server.requests) == 1
    assert (state.counts.asked, state.counts.repeated, state.done) == (1, 19, 20)


def test_a_failure_is_no_answer_and_is_asked_again(
    benchmark: Benchmark, card: Path, tmp_path: Path
) -> None:
    with serving(lambda body, _: (500, {}, b"no") if "7?" in str(body) else letter(body)) as server:
        state = run_benchmark(benchmark, [write(card, server, retries=1)], tmp_path / "r")
        failed = [failure["id"] for failure in state.failures]
        assert len(failed) == 4  # 7, 17, 27, 37
        rows = [json.loads(line) for line in results(tmp_path / "r").splitlines()]
        assert {row["id"] for row in rows if row["parsed"] is None} == set(failed)
        assert all(
            row["status"] == "error" and row["response"] is None
            for row in rows
            if row["id"] in failed
        )
        server.answer = letter
        again = run_benchmark(benchmark, [], tmp_path / "r")
    assert (again.counts.asked, again.counts.known, len(again.failures)) == (4, COUNT - 4, 0)


def test_the_key_is_in_no_file(benchmark: Benchmark, card: Path, tmp_path: Path) -> None:
    def echo(body: dict[str, Any], number: int) -> Any:
        return (401, {}, f"wrong key: {SECRET}".encode()) if number % 3 == 0 else letter(body)

    with serving(echo) as server:
        words = ["--model", write(card, server), "--out", tmp_path / "r"]
        done = reelbench("run", tmp_path / "b", *words)
    assert done.returncode == 1
    assert "wrong key: ***" in done.stderr
    assert SECRET not in done.stdout + done.stderr
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path


def started(benchmark: Path, model: str, out: Path) -> CapturedCommand:
    return CapturedCommand("run", benchmark, "--model", model, "--out", out)


def wait_for(server: Server, count: int, process: CapturedCommand) -> None:
    wait_until(lambda: len(server.requests) >= count or process.poll() is not None)


def test_kill_9_at_random_moments(benchmark: Benchmark, card: Path, tmp_path: Path) -> None:
    """Nothing acknowledged is lost; what was under way is asked once more; the end is the same."""
    connections, kills, count = 4, 12, 200  # benchmarks/kills.py has hundreds
    many = [question(n) for n in range(count)]
    Benchmark(benchmark.root, benchmark.manifest, tuple(many)).save(benchmark.root)
    with serving(letter) as server:
        calm = started(tmp_path / "b", write(card, server), tmp_path / "calm")
        assert calm.wait() == 0
    rng = random.Random(5)
    with serving(letter, latency=0.01) as server:
        model = write(card, server, connections=connections)
        for _ in range(kills):
            process = started(tmp_path / "b", model, tmp_path / "r")
            wait_for(server, len(server.requests) + rng.randrange(1, 9), process)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        last = started(tmp_path / "b", model, tmp_path / "r")
        assert last.wait() == 0
        assert count <= len(server.requests) <= count + kills * connections
    assert results(tmp_path / "r") == results(tmp_path / "calm")
    whole = Benchmark.load(benchmark.root)
    assert score_run(whole, tmp_path / "r").scores == score_run(whole, tmp_path / "calm").scores


def test_ctrl_c_finishes_what_is_under_way(
    benchmark: Benchmark, card: Path, tmp_path: Path
) -> None:
    told = threading.Event()

    def held(body: dict[str, Any], number: int) -> Any:
        """The first two at once, all others when it has been told to stop."""
        if number > 1:
            told.wait(120)
        return letter(body)

    with serving(held, latency=0.05) as server:
        model = write(card, server, connections=4)
        process = started(tmp_path / "b", model, tmp_path / "r")
        wait_for(server, 6, process)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: process.poll() is not None or not pending_signals(process.pid))
        told.set()
        process.communicate()
        asked = len(server.requests)
        assert asked < COUNT
        rows = results(tmp_path / "r").splitlines()
        assert len(rows) == asked  # all that was asked was written down
        state = json.loads((tmp_path / "r" / "status.json").read_text())["state"]
        assert state == "stopped"


def test_ctrl_c_twice_ends_at_once(benchmark: Benchmark, card: Path, tmp_path: Path) -> None:
    with serving(letter, latency=600.0) as server:
        process = started(tmp_path / "b", write(card, server), tmp_path / "r")
        wait_for(server, 2, process)
        while process.poll() is None:
            os.kill(process.pid, signal.SIGINT)
            try:
                process.wait(0.3)
            except subprocess.TimeoutExpired:
                continue
        process.communicate()
        server.latency = 0.0
