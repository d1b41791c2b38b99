"""A local model on several engines: the same replies, whoever dies, and nothing is asked twice."""

import asyncio
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from support import blind_benchmark, is_gone, make_item, rows_held, wait_until
from videos import make_video

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Media
from reelbench.evaluate.run import run_benchmark
from reelbench.models.base import Message, Request, Response, TextPart
from reelbench.models.card import Card
from reelbench.models.local.engines import LocalEngines, environments
from reelbench.models.local.model import LocalModel
from reelbench.models.local.workers import PipelineProcess

QUESTIONS = 24


@pytest.fixture
def spans(tmp_path: Path) -> Benchmark:
    """Questions about eight parts of a video."""
    root = tmp_path / "b"
    (root / "media").mkdir(parents=True)
    make_video(root / "media" / "a.mp4")
    items = [
        make_item(
            n,
            question=f"What happens {n} times?",
            media=(Media("media/a.mp4", n % 8 * 0.4, n % 8 * 0.4 + 0.3),),
        )
        for n in range(QUESTIONS)
    ]
    return blind_benchmark(root, *items, sampling="uniform:2", frame_size="long:64")


def card(path: Path, tiny: Path, tokens: int = 48, **fields: Any) -> str:
    told = {"backend": "hf", "name": "m", "model": str(tiny), "batch": 1}
    parameters = {"max_new_tokens": tokens, "min_new_tokens": tokens}
    path.write_text(json.dumps(told | {"parameters": parameters} | fields))
    return str(path)


def workers_of(parent: int) -> list[int]:
    """The processes with a pipeline that a process has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
            above = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if above == parent and b"serve_pipeline" in words and not is_gone(int(folder.name)):
            found.append(int(folder.name))
    return found


def recorded(out: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(out / "journal.sqlite")) as rows:
        return rows.execute("SELECT key, status FROM responses").fetchall()


@contextmanager
def meanwhile(work: Callable[[], None]) -> Iterator[None]:
    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join()


def test_killed_workers_cost_nothing_and_replies_are_those_of_one_engine(
    tiny: Path, spans: Benchmark, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here = card(tmp_path / "here.yaml", tiny)
    assert run_benchmark(spans, [here], tmp_path / "one").done == QUESTIONS
    two = card(tmp_path / "two.yaml", tiny, workers=2)
    out = tmp_path / "two"

    def kill_all() -> None:  # one of them may still be loading
        wait_until(lambda: rows_held(out / "journal.sqlite", "responses") >= 3)
        for worker in workers_of(os.getpid()):
            os.kill(worker, signal.SIGKILL)

    capfd.readouterr()
    with meanwhile(kill_all):
        state = run_benchmark(spans, [two], out)
    assert state.failures == []
    assert state.done == QUESTIONS
    keys = [key for key, status in recorded(out) if status in ("ok", "truncated")]
    assert len(keys) == len(set(keys)) == len(recorded(out)) == QUESTIONS
    same = [(tmp_path / name / "predictions.jsonl").read_bytes() for name in ("one", "two")]
    assert same[0] == same[1]
    assert workers_of(os.getpid()) == []
    output = capfd.readouterr()
    assert output.out == ""
    assert re.search(r"m: worker \d is lost.*: it ended \(SIGKILL", output.err)
    assert "%|" not in output.err


def test_a_worker_that_hangs_is_ended_and_costs_nothing(
    tiny: Path, spans: Benchmark, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"

    def freeze() -> None:
        wait_until(lambda: rows_held(out / "journal.sqlite", "responses") >= 3)
        for worker in workers_of(os.getpid())[:1]:
            os.kill(worker, signal.SIGSTOP)

    with meanwhile(freeze):
        hung = card(tmp_path / "m.yaml", tiny, workers=1, timeout=5)
        state = run_benchmark(spans, [hung], out)
    assert state.failures == []
    assert state.done == len(recorded(out)) == QUESTIONS
    assert "worker 1 is lost" in (error := capfd.readouterr().err)
    assert "gave no sign of work" in error
    assert workers_of(os.getpid()) == []


class Deadly(LocalEngines):
    """Engines whose process is killed whenever a certain request is sent to it."""

    starts = 0

    def start(self, card: Card, number: int, say: Callable[[str], None]) -> Any:
        self.starts += 1
        engine = super().start(card, number, say)
        assert isinstance(engine, PipelineProcess)
        submit = engine.submit

        def deadly(requests: Any) -> Future[list[Response]]:
            if any("deadly" in request.question for request in requests):
                for worker in workers_of(os.getpid()):
                    os.kill(worker, signal.SIGKILL)
            return submit(requests)

        engine.submit = deadly  # type: ignore[method-assign]
        return engine


def request(text: str) -> Request:
    return Request(text, (Message("user", (TextPart(text),)),), "open", text)


def test_a_request_that_ends_every_worker_is_an_error_and_the_others_are_answered(
    tiny: Path,
) -> None:
    model = LocalModel(
        Card(name="m", backend="hf", model=str(tiny), workers=1, parameters={"max_new_tokens": 4})
    )
    model.source = source = Deadly()

    async def ask() -> list[Response]:
        texts = ["first", "a deadly question", "second", "third"]
        found = await asyncio.gather(*(model.ask(request(text)) for text in texts))
        await model.close()
        return found

    first, deadly, *others = asyncio.run(ask())
    assert all(each.replied for each in (first, *others))
    assert deadly.status == "error"
    assert not deadly.unasked
    assert "ends its worker" in (deadly.error or "")
    assert "SIGKILL" in (deadly.error or "")
    assert source.starts <= 4


def test_weights_that_cannot_be_loaded_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    model = LocalModel(Card(name="m", backend="hf", model=str(tmp_path / "empty"), workers=1))

    async def ask() -> list[Response]:
        found = await asyncio.gather(*(model.ask(request(text)) for text in "ab"))
        await model.close()
        return found

    for response in asyncio.run(ask()):
        assert response.unasked
        assert "empty" in (response.error or "")


def started(spans: Benchmark, model: str, out: Path) -> "subprocess.Popen[str]":
    words = ["run", str(spans.root), "--model", model, "--out", str(out)]
    return subprocess.Popen(
        [sys.executable, "-m", "reelbench", *words], stderr=subprocess.PIPE, text=True
    )


def test_ctrl_c_ends_after_the_batch(tiny: Path, spans: Benchmark, tmp_path: Path) -> None:
    spans.save(spans.root)
    out = tmp_path / "out"
    process = started(spans, card(tmp_path / "m.yaml", tiny, tokens=300), out)
    wait_until(lambda: rows_held(out / "journal.sqlite", "responses") >= 2)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate()
    assert process.returncode == 130, error
    assert "Nothing is lost" in error
    rows = recorded(out)
    assert {status for _, status in rows} <= {"ok", "truncated"}
    assert 2 <= len(rows) < QUESTIONS
    lines = (out / "predictions.jsonl").read_text().splitlines()
    assert sum(json.loads(line)["status"] == "error" for line in lines) == 0


def test_workers_end_with_a_parent_that_is_killed(
    tiny: Path, spans: Benchmark, tmp_path: Path
) -> None:
    spans.save(spans.root)
    out = tmp_path / "out"
    process = started(spans, card(tmp_path / "m.yaml", tiny, tokens=300, workers=1), out)
    wait_until(lambda: rows_held(out / "journal.sqlite", "responses") >= 1)
    workers = workers_of(process.pid)
    assert len(workers) == 1
    process.kill()
    process.communicate()
    wait_until(lambda: all(map(is_gone, workers)))


@pytest.mark.parametrize(
    ("fields", "gpus", "expected"),
    [
        ({}, 0, [None]),
        ({"workers": 2}, 0, [{}, {}]),
        ({}, 2, [{"CUDA_VISIBLE_DEVICES": "5"}, {"CUDA_VISIBLE_DEVICES": "7"}]),
        ({"workers": 1}, 2, [{"CUDA_VISIBLE_DEVICES": "5"}]),
        ({"parameters": {"device_map": "auto"}}, 2, [{"CUDA_VISIBLE_DEVICES": "5,7"}]),
        ({"parameters": {"device": "cuda:1"}}, 2, [{}]),
    ],
)
def test_each_process_sees_its_own_gpus(
    fields: dict[str, Any], gpus: int, expected: list[Any]
) -> None:
    made = Card(name="m", backend="hf", **fields)
    here = {"CUDA_VISIBLE_DEVICES": "5,7", "OMP_NUM_THREADS": "1"}
    assert environments(made, gpus, here) == expected


def test_where_it_runs_decides_no_reply() -> None:
    plain = LocalModel(Card(name="m", backend="hf"))
    parameters = {"device": "cuda", "device_map": "auto"}
    placed = LocalModel(Card(name="m", backend="hf", workers=3, parameters=parameters))
    assert plain.parameters == placed.parameters


def test_a_card_of_another_backend_has_no_workers() -> None:
    with pytest.raises(ValueError, match="unless the backend is hf"):
        Card(name="m", backend="openai", workers=2)
