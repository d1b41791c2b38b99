"""Servers that cards start: when they are needed, for as long, and with everything that they start."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import CapturedCommand
from own_cards import PROGRAM, all_gone, asked, card, started
from servers import completion, hosting, json_reply, serving
from support import blind_benchmark, is_gone, make_item, wait_until

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.folder import read_run
from reelbench.evaluate.run import run_benchmark
from reelbench.models.load import load_model
from reelbench.models.server import ModelServer

COUNT = 4


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    items = [make_item(n, media=make_item(1).media, question=f"Why {n}?") for n in range(COUNT)]
    return blind_benchmark(tmp_path / "b", *items, modalities="T")


def test_it_is_started_used_and_ended_with_its_children(
    benchmark: Benchmark,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reelbench.models.server._LINE_SECONDS", 0.0)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    model = card(tmp_path, "slow")
    state = run_benchmark(benchmark, [model], tmp_path / "r")
    assert state.done == COUNT
    assert len(started(tmp_path)) == 1
    assert all_gone(tmp_path)
    assert not any("Authorization" in headers for _, _, headers in asked(tmp_path))
    talk = capsys.readouterr().err
    assert "m: starting its server" in talk
    assert "m: its server is ready at http://127.0.0.1:" in talk
    assert "loading weights 90%" in (tmp_path / "r" / "servers" / "m.log").read_text()
    assert re.search(r"m: waiting for its server, \d+ s of at most 600: loading weights 90%", talk)
    record = read_run(tmp_path / "r")
    assert record["servers"]["m"][-2:] == [str(tmp_path), "slow"]
    assert record["models"][0]["parameters"] == {"model": "m", "temperature": 0}


def test_where_nothing_is_asked_none_is_started(benchmark: Benchmark, tmp_path: Path) -> None:
    model = card(tmp_path)
    run_benchmark(benchmark, [model], tmp_path / "r")
    before = (tmp_path / "r" / "predictions.jsonl").read_bytes()
    # By another command, too: what it answers is decided by the model and its parameters.
    card(tmp_path, "--another-flag")
    state = run_benchmark(benchmark, [], tmp_path / "r")
    assert (state.counts.asked, state.counts.known) == (0, COUNT)
    assert any("started by another command" in warning for warning in state.warnings)
    dry = CapturedCommand(
        "run", benchmark.root, "--model", model, "--out", tmp_path / "x", "--dry-run"
    )
    assert dry.wait() == 0
    assert len(started(tmp_path)) == 1
    assert (tmp_path / "r" / "predictions.jsonl").read_bytes() == before


def test_one_that_is_there_is_used_as_it_is(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(lambda *_: completion("B")) as server:
        model = card(tmp_path, endpoint=server.url)
        state = run_benchmark(benchmark, [model], tmp_path / "r")
        assert state.done == COUNT
        posts = [call for call in server.calls if call.method == "POST"]
        assert len(posts) == COUNT
    assert f"a server answers at {server.url}: it is used, and none is started" in (
        capsys.readouterr().err
    )
    assert started(tmp_path) == []
    # It is gone now: another model of the same card is asked by one of our own.
    other = card(tmp_path, "plain", name="other", endpoint=server.url)
    assert run_benchmark(benchmark, [other], tmp_path / "r2").done == COUNT
    assert len(started(tmp_path)) == 1


def test_models_and_judges_share_one_and_others_take_turns(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    """The first server ends before the next one starts; that of the judge comes last."""
    judge = card(tmp_path, name="judge", model="j", parameters={"temperature": 1})
    same = card(tmp_path, name="same", model="s")
    (tmp_path / "alone").mkdir()
    alone = card(tmp_path / "alone", name="alone")
    item = make_item(9, kind="open", options=(), answer=(), reference="A dog.")
    both = blind_benchmark(tmp_path / "o", make_item(1), item, modalities="T", rubric="points")
    state = run_benchmark(both, [same, alone], tmp_path / "r", judges=[judge])
    assert state.done == 4
    ((first, _),), ((second, _),) = started(tmp_path), started(tmp_path / "alone")
    assert {name for _, name, _ in asked(tmp_path)} == {"s", "j"}
    assert first != second
    alone_ended = (tmp_path / "alone" / "asked").stat().st_mtime_ns
    assert alone_ended < (tmp_path / "started").stat().st_mtime_ns
    assert all_gone(tmp_path)


@pytest.mark.parametrize(
    ("words", "fields", "problems"),
    [
        (["broken"], {}, ["ended with exit status 1 before it was ready", "  | loading weights 90%", "no such weights", "the token is ***"]),
        (["sick"], {"startup": 0.3}, ["was not ready after 0.3 s (", "`startup:`"]),
        ([], {"serve": ["no-such-command", "{port}"]}, ["there is no command 'no-such-command' on this machine"]),
        ([], {"serve": ["/", "{port}"]}, ["there is no command '/'"]),
    ],
)  # fmt: skip
def test_one_that_does_not_start_costs_the_other_models_nothing(
    words: list[str],
    fields: dict[str, Any],
    problems: list[str],
    benchmark: Benchmark,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    environment = {"HUB_TOKEN": "hub-0123456789"}
    model = card(tmp_path, *words, environment=environment, **fields)
    state = run_benchmark(benchmark, [model, "baseline:first"], tmp_path / "r")
    assert state.done == COUNT
    assert [each["model"] for each in state.failures] == ["m"] * COUNT
    assert all(each["error"].startswith("not asked: its server ") for each in state.failures)
    talk = capsys.readouterr().err
    for problem in problems:
        assert problem in talk
    assert talk.count("its server is ready") == 0
    assert state.counts.asked == COUNT  # of the baseline: no failure is in the journal
    assert all_gone(tmp_path)


def test_a_fixed_port_that_something_else_has(benchmark: Benchmark, tmp_path: Path) -> None:
    with hosting(lambda _: json_reply({}, 503)) as other:
        serve = [sys.executable, "-I", "-S", PROGRAM, other.url.rpartition(":")[2], "{folder}"]
        model = card(tmp_path, serve=serve, endpoint=f"{other.url}/v1")
        state = run_benchmark(benchmark, [model], tmp_path / "r")
    assert f"something else listens at {other.url}/v1" in state.failures[0]["error"]
    assert started(tmp_path) == []


def test_a_free_port_that_someone_else_takes_first(benchmark: Benchmark, tmp_path: Path) -> None:
    state = run_benchmark(benchmark, [card(tmp_path, "taken-once")], tmp_path / "r")
    assert state.done == COUNT
    log = (tmp_path / "r" / "servers" / "m.log").read_text()
    assert log.count("Address already in use") == 1


def test_a_breakdown_is_followed_by_another_start(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = run_benchmark(benchmark, [card(tmp_path, "crash")], tmp_path / "r")
    assert state.done == COUNT
    assert not state.failures
    assert len(started(tmp_path)) == 2
    talk = capsys.readouterr().err
    assert "m: its server broke down (ended by SIGKILL) and is started again" in talk
    assert "  | CUDA error: an illegal memory access" in talk
    assert all_gone(tmp_path)


def test_a_breakdown_costs_no_tries_while_what_it_started_ends(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    model = card(tmp_path, "crash", "lingers", retries=1)
    state = run_benchmark(benchmark, [model], tmp_path / "r")
    assert (state.done, state.failures) == (COUNT, [])
    assert len(started(tmp_path)) == 2
    assert all_gone(tmp_path)


def test_what_was_under_way_goes_to_the_new_port(benchmark: Benchmark, tmp_path: Path) -> None:
    """Someone else has taken the old one when it is started again."""
    model = card(tmp_path, "crash", "taken-later", retries=1)
    state = run_benchmark(benchmark, [model], tmp_path / "r")
    assert (state.done, state.failures) == (COUNT, [])
    assert (tmp_path / "tried").exists()


def test_one_that_runs_and_is_not_healthy_again_is_ended(tmp_path: Path) -> None:
    server = load_model(card(tmp_path)).server
    assert isinstance(server, ModelServer)
    server.permitted, server.folder = True, tmp_path

    async def ask() -> str:
        assert await server.ready() == ""
        (tmp_path / "sick").touch()
        server.startup = 0.2
        server.unreached()
        return await server.ready()

    fault = asyncio.run(ask())
    assert "broke down again (was not ready after 0.2 s (" in fault
    assert len(started(tmp_path)) == 1
    assert all_gone(tmp_path)


def test_one_that_breaks_down_before_it_answers_is_given_up(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    state = run_benchmark(benchmark, [card(tmp_path, "crash-always")], tmp_path / "r")
    assert state.done == 0
    assert len(state.failures) == COUNT
    assert len(started(tmp_path)) == 1
    assert "broke down again (ended by SIGKILL)" in state.failures[-1]["error"]
    rows = (tmp_path / "r" / "predictions.jsonl").read_text().splitlines()
    assert {json.loads(row)["status"] for row in rows} == {"error"}


def test_another_model_than_the_card_names_is_reported(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_benchmark(benchmark, [card(tmp_path, model="llava")], tmp_path / "r")
    assert "warning: m: its server lists 'm' and not 'llava'" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_it_ends_with_a_run_that_is_killed_or_stopped(
    number: signal.Signals, benchmark: Benchmark, tmp_path: Path
) -> None:
    model = card(tmp_path, "hang" if number == signal.SIGKILL else "sick")
    run = CapturedCommand("run", benchmark.root, "--model", model, "--out", tmp_path / "r")
    begun = tmp_path / ("asked" if number == signal.SIGKILL else "started")
    wait_until(lambda: begun.exists() and begun.read_text())
    os.kill(run.pid, number)
    assert run.wait(200) == (-9 if number == signal.SIGKILL else 130)
    wait_until(lambda: all_gone(tmp_path))
    if number == signal.SIGINT:
        again = f"run {benchmark.root} --model {model} --out {tmp_path / 'r'}"
        assert f"{again}` resumes" in run.communicate()[1]


def test_one_that_ignores_the_end_is_killed(tmp_path: Path) -> None:
    from reelbench.base.supervise import SupervisedProcess

    command = [sys.executable, "-I", "-S", PROGRAM, "0", str(tmp_path), "deaf"]
    process = SupervisedProcess(command, tmp_path / "log", os.environ, 0.2)
    wait_until(lambda: started(tmp_path))
    process.end()
    assert all_gone(tmp_path)
    process.end()  # twice is once


def test_what_is_left_of_one_that_ended_is_ended(tmp_path: Path) -> None:
    from reelbench.base.supervise import SupervisedProcess

    script = f"setsid sleep 1000 & echo $! > {tmp_path}/left; exit 3"
    process = SupervisedProcess(["sh", "-c", script], tmp_path / "log", os.environ, 5)
    wait_until(lambda: process.status is not None)
    assert process.ending == "ended with exit status 3"
    assert is_gone(int((tmp_path / "left").read_text()))
    process.end()


class TestWhoMayStartOne:
    def test_a_card_that_only_the_record_of_a_run_names_may_not(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        """The folder of a run may be a stranger's."""
        model = card(tmp_path, "broken", environment={"HUB_TOKEN": ""})
        run_benchmark(benchmark, [model], tmp_path / "r")
        card(tmp_path)
        with pytest.raises(ReelbenchError, match="only a card that you name") as caught:
            run_benchmark(benchmark, [], tmp_path / "r")
        assert PROGRAM in str(caught.value)
        assert started(tmp_path) == []
        assert run_benchmark(benchmark, [model], tmp_path / "r").done == COUNT

    def test_a_member_of_a_cascade_that_is_named_may(
        self, benchmark: Benchmark, tmp_path: Path
    ) -> None:
        card(tmp_path)
        cascade = tmp_path / "c.yaml"
        fields = {"name": "c", "backend": "cascade", "model": "m.yaml", "captioners": ["m.yaml"]}
        cascade.write_text(json.dumps(fields))
        assert run_benchmark(benchmark, [str(cascade)], tmp_path / "r").done == COUNT
        assert all_gone(tmp_path)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("serve: vllm serve x", "serve: found 'vllm serve x', expected a list of words"),
        ("serve: [vllm, serve]", 'found a command without a port, expected "{port}" in it'),
        ("serve: [vllm, {prt}, {port}]", "found {prt}, expected a word, or one of {port}, {host}"),
        ("serve: [vllm, true, {port}]", "serve: found a list"),
        ("serve: [hf, {port}]\nbackend: hf", "none, unless the backend is openai"),
        ("serve: [vllm, {port}]\nstartup: 0", "startup: found 0, expected seconds"),
        ("serve: [vllm, {port}]\nhealth: health", "health: found 'health', expected a path"),
        ("serve: [vllm, {port}]\nenvironment: {CUDA_VISIBLE_DEVICES: 0}", "numbers in quotation"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(fields: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(f"name: m\n{fields}\n")
    with pytest.raises(ReelbenchError) as caught:
        load_model(str(path))
    assert problem in str(caught.value)


def test_words_may_be_numbers_and_slots_without_quotation_marks(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("name: m\nserve: [vllm, --max-model-len, 8192, --port, {port}, '{\"a\": 1}']\n")
    words = ["vllm", "--max-model-len", "8192", "--port", "{port}", '{"a": 1}']
    assert load_model(str(path)).card.serve == words


def test_the_program_that_supervises_needs_nothing_that_is_installed() -> None:
    from reelbench.base import supervise

    done = subprocess.run([sys.executable, "-I", "-S", "-c", "import sys, runpy; "
        f"runpy.run_path({supervise.__file__!r}); print('reelbench' in sys.modules)"],
        capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout == "False\n"
