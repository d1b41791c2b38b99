"""Helpers that tests import."""

import csv
import multiprocessing
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from commands import CapturedCommand

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.data.manifest import Manifest, Protocol

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared"
PRELOAD = [
    "reelbench.annotate.annotate",
    "reelbench.recipes.cineaste.recipe",
    "reelbench.recipes.qbench_exact.recipe",
]


def make_item(number: int = 1, **fields: object) -> Item:
    """A plain item; any field can be given."""
    plain: dict[str, object] = {
        "id": f"q-{number}",
        "kind": "single",
        "media": (Media(f"media/{number}.mp4"),),
        "question": f"What happens in scene {number}?",
        "options": ("a door opens", "a dog barks", "it snows", "a bell rings"),
        "answer": ("B",),
    }
    return Item(**(plain | fields))


def reelbench(
    *words: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does, in a process of its own.

    With an environment, which may decide what Python imports, that is a Python of its own.
    """
    if env is None:
        started = CapturedCommand(*words, cwd=cwd)
        output, talk = started.communicate()
        return subprocess.CompletedProcess(words, started.wait(), output, talk)
    command = [sys.executable, "-m", "reelbench", *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def run_here(*words: object) -> int:
    """Run a command in this process, and leave no handler behind."""
    from reelbench.cli import main

    before = signal.getsignal(signal.SIGTERM)
    try:
        return main([*map(str, words)])
    finally:
        signal.signal(signal.SIGTERM, before)


def write_rows(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write rows as CSV, with the names of the first one."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def wait_until(condition: Callable[[], object], limit: float = 200.0) -> None:
    """Wait for something to come true."""
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.002)  # and leave the cores to who is waited for


def is_gone(process: int) -> bool:
    """Whether a process has ended, whoever has not yet asked how."""
    return _state_of(process) in ("", "Z")


def is_stopped(process: int) -> bool:
    """Whether a process was stopped by a signal, until it is sent another one."""
    return _state_of(process) == "T"


def _state_of(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def rows_held(path: Path, table: str) -> int:
    """Count the committed rows of a database that another process holds, in a copy of its files."""
    copy = path.with_name("copy.sqlite")
    try:
        for suffix in ("", "-wal"):
            data = path.with_name(path.name + suffix).read_bytes()
            copy.with_name(copy.name + suffix).write_bytes(data)
        with closing(sqlite3.connect(copy)) as connection:
            return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    except (FileNotFoundError, sqlite3.DatabaseError):
        return 0  # not there yet, or copied while it was being written: look again
    finally:
        for left in path.parent.glob("copy.sqlite*"):
            left.unlink()


@contextmanager
def starting(target: Callable[[list[str], str], None], told: Path) -> Iterator[Callable[..., Any]]:
    """Yield what starts commands as processes that begin at once; what they say is in ``told``."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(PRELOAD)  # all at once: there is one server for all tests
    running = []

    def started(*words: object) -> Any:
        process = processes.Process(target=target, args=([*map(str, words)], str(told)))
        process.start()
        running.append(process)
        return process

    try:
        yield started
    finally:
        for process in running:
            process.kill()
            process.join()


def blind_benchmark(root: Path, *items: Item, **protocol: Any) -> Benchmark:
    """Save a benchmark whose media need not be there, and load it."""
    Benchmark(root, Manifest("blind", "1", protocol=Protocol(**protocol)), items).save(root)
    return Benchmark.load(root)


def pending_signals(process: int) -> bool:
    """Whether a signal was sent to a process that it has not taken notice of."""
    return "ShdPnd:\t0000000000000000" not in Path(f"/proc/{process}/status").read_text()
