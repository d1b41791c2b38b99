"""What a run meets outside: a full disk, a folder that nobody may write to, a clock that goes back."""

import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from commands import CapturedCommand
from servers import Server, completion, serving
from support import blind_benchmark, make_item, reelbench, wait_until

from reelbench.data.benchmark import Benchmark
from reelbench.evaluate.run import run_benchmark

COUNT = 60
LIMIT = 150_000  # bytes that a file may have


def long_answer(body: dict[str, Any], _: int = 0) -> Any:
    text = body["messages"][0]["content"][-1]["text"]
    return completion(f"{'ABCD'[sum(text.encode()) % 4]} {'because it is so ' * 300}")


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    items = [make_item(n, media=make_item(1).media, question=f"Why {n}?") for n in range(COUNT)]
    return blind_benchmark(tmp_path / "b", *items)


def card(folder: Path, server: Server) -> str:
    path = folder / "card.yaml"
    path.write_text(json.dumps({"name": "m", "endpoint": server.url, "sees": False}))
    return str(path)


def on_a_small_disk() -> None:
    """From here on, no file of this process may grow beyond a limit, as if the disk were full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


def test_a_disk_that_fills_up(benchmark: Benchmark, tmp_path: Path) -> None:
    """It ends with a sentence; all that was written stays, and is not asked for again."""
    with serving(long_answer) as server:
        model = card(tmp_path, server)
        run_benchmark(benchmark, [model], tmp_path / "calm")
        calm = len(server.requests)
        command = [sys.executable, "-m", "reelbench", "run", benchmark.root, "--model", model]
        full = subprocess.run(
            [*map(str, command), "--out", str(tmp_path / "r")],
            preexec_fn=on_a_small_disk,
            capture_output=True,
            text=True,
            check=False,
        )
        assert full.returncode == 2
        assert "cannot be written" in full.stderr
        assert "Traceback" not in full.stderr
        status = json.loads((tmp_path / "r" / "status.json").read_text())
        assert status["state"] == "stopped"
        asked = len(server.requests) - calm
        assert 0 < asked < COUNT
        state = run_benchmark(benchmark, [], tmp_path / "r")
        assert state.done == COUNT
        assert state.counts.known > 0
        assert len(server.requests) - calm <= COUNT + 16  # as many as were under way
    name = "predictions.jsonl"
    assert (tmp_path / "r" / name).read_bytes() == (tmp_path / "calm" / name).read_bytes()


WITHOUT_ROOM = """
import resource, sys
from pathlib import Path
from reelbench.evaluate.status import RunState, StatusFile

path, state = Path(sys.argv[1]), RunState(1)
with StatusFile(path, state):
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, path.stat().st_size))
    state.warnings.add("what makes it longer than there is room for")
    raise KeyboardInterrupt
"""


def test_a_status_that_cannot_be_written_is_not_left_running(tmp_path: Path) -> None:
    """Where there is no room for a new file, the old one says that nothing runs any more."""
    path = tmp_path / "status.json"
    command = [sys.executable, "-c", WITHOUT_ROOM, str(path)]
    assert subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode != 0
    assert json.loads(path.read_text())["state"] == "stopped"


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from reelbench.evaluate.status import RunState, StatusFile

def replace_and_interrupt(*names, replace=os.replace):
    replace(*names)
    signal.raise_signal(signal.SIGINT)

os.replace = replace_and_interrupt
with StatusFile(Path(sys.argv[1]), RunState(1)):
    pass
"""


def test_ctrl_c_once_the_status_is_first_written_does_not_leave_it_running(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    command = [sys.executable, "-c", INTERRUPTED, str(path)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    assert "KeyboardInterrupt" in done.stderr
    assert json.loads(path.read_text())["state"] == "stopped"


def test_a_folder_that_nobody_may_write_to(benchmark: Benchmark, tmp_path: Path) -> None:
    closed = Path("/sys/kernel")  # closed to root as well
    if os.geteuid():
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o555)
    done = reelbench("run", benchmark.root, "--model", "baseline:random", "--out", closed / "r")
    assert done.returncode == 2
    assert str(closed / "r") in done.stderr
    assert "Traceback" not in done.stderr


def test_a_clock_that_goes_back(
    benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that decides a run looks at the clock on the wall."""
    with serving(long_answer) as server:
        model = card(tmp_path, server)
        run_benchmark(benchmark, [model], tmp_path / "calm")
        moments = iter(range(2_000_000_000, 0, -86_400))
        monkeypatch.setattr(time, "time", lambda: float(next(moments)))
        state = run_benchmark(benchmark, [model], tmp_path / "back")
        assert state.done == COUNT
        assert run_benchmark(benchmark, [], tmp_path / "back").counts.asked == 0
        monkeypatch.undo()
    for name in ("predictions.jsonl", "run.json"):
        assert (tmp_path / "back" / name).read_bytes() == (tmp_path / "calm" / name).read_bytes()


def test_two_runs_on_one_folder(benchmark: Benchmark, tmp_path: Path) -> None:
    """The second is told so at once, and the first goes on."""
    told = threading.Event()

    def patient(body: dict[str, Any], number: int) -> Any:
        told.wait(200)
        return long_answer(body, number)

    with serving(patient) as server:
        model = card(tmp_path, server)
        words = ["run", benchmark.root, "--model", model, "--out", tmp_path / "r"]
        first = CapturedCommand(*words)
        wait_until(lambda: server.requests or first.poll() is not None)
        second = reelbench(*words)
        told.set()
        assert second.returncode == 2
        assert "another run writes to this folder" in second.stderr
        assert first.wait() == 0
        assert len(server.requests) == COUNT
