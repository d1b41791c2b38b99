"""What hangs, dies or eats memory costs one job."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import (
    die,
    double,
    eat,
    environment,
    fail,
    hang,
    make_a_lock,
    threads_with_numpy,
)  # fmt: skip
from support import wait_until

from reelbench.base.errors import ReelbenchError
from reelbench.base.workers import GIGABYTE, WorkerError, WorkerPool


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(1, memory=2 * GIGABYTE)
    yield pool
    pool.close()


def test_results_and_exceptions_come_back(pool: WorkerPool) -> None:
    assert pool.call(double, 21, limit=30) == 42
    with pytest.raises(ValueError, match="on purpose"):
        pool.call(fail, "on purpose", limit=30)
    assert pool.call(double, 4, limit=30) == 8


@pytest.mark.parametrize(("work", "args", "words"), [
    (hang, (), "took over 0.5 s"),
    (die, (signal.SIGSEGV,), "crashed \\(SIGSEGV\\)"),
    (die, (signal.SIGKILL,), "crashed \\(SIGKILL\\)"),
    (os._exit, (7,), "crashed \\(exit status 7\\)"),
    (eat, (), "needs over 2 GB of memory"),
])  # fmt: skip
def test_a_lost_worker_costs_one_job(
    pool: WorkerPool, work: object, args: tuple[object, ...], words: str
) -> None:
    pool.call(double, 1, limit=30)  # so that the limit is not spent on starting
    with pytest.raises(WorkerError, match=words):
        pool.call(work, *args, limit=0.5 if work is hang else 30)
    assert pool.call(double, 5, limit=30) == 10


def test_closing_ends_what_is_at_work(pool: WorkerPool) -> None:
    pool.call(double, 1, limit=30)
    errors: list[BaseException] = []

    def wait_for_ever() -> None:
        try:
            pool.call(hang, limit=600)
        except WorkerError as error:
            errors.append(error)

    thread = threading.Thread(target=wait_for_ever)
    thread.start()
    (worker,) = pool._workers
    wait_until(
        lambda: not (Path(f"/proc/{worker.process.pid}/wchan").exists() and not pool._idle.empty())
    )
    pool.close()
    thread.join()
    assert not thread.is_alive()
    assert len(errors) == 1


def test_an_idle_worker_that_was_ended_is_replaced(pool: WorkerPool) -> None:
    pool.call(double, 1, limit=30)
    (worker,) = pool._workers
    worker.process.kill()
    worker.process.wait()
    assert pool.call(double, 2, limit=30) == 4


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    program = (
        "import os\nfrom reelbench.base.workers import WorkerPool\n"
        "pool = WorkerPool(1)\nprint(pool.call(os.getpid, limit=30), flush=True)\n"
        "import threading; threading.Event().wait()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdin
    assert parent.stdout
    # A program from standard input, unguarded: it must not be run again by its workers.
    parent.stdin.write(program)
    parent.stdin.close()
    worker = int(parent.stdout.readline())
    assert Path(f"/proc/{worker}").exists()
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: not (is_running(worker)))


def is_running(number: int) -> bool:
    """Whether a process is there and not merely waiting to be forgotten."""
    try:
        status = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return status.rsplit(")", 1)[1].split()[0] != "Z"


def test_a_copy_of_the_process_leaves_the_workers_alone(pool: WorkerPool) -> None:
    pool.call(double, 1, limit=30)
    copy = os.fork()
    if not copy:
        pool.close()
        os._exit(0)
    os.waitpid(copy, 0)
    assert pool.call(double, 2, limit=30) == 4


NAMES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OPENCV_FOR_THREADS_NUM")


@pytest.mark.parametrize(("own", "expected"), [
    ({}, "3 3 3 3"),
    ({"OMP_NUM_THREADS": "1"}, "1 1 1 1"),
    ({"OMP_NUM_THREADS": "2,1"}, "2 2 2 2"),
    ({"OMP_NUM_THREADS": "64"}, "3 3 3 3"),
    ({"OPENBLAS_NUM_THREADS": "1"}, "3 1 3 3"),
    ({"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "2"}, "1 1 2 1"),
    ({"OMP_NUM_THREADS": "many", "MKL_NUM_THREADS": "0"}, "3 3 3 3"),
])  # fmt: skip
def test_a_lower_number_of_threads_stays(
    own: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    pool = WorkerPool(1, threads=3)
    try:
        assert pool.call(environment, *NAMES, limit=30) == expected.split()
        # A job that wants fewer gets another process.
        assert pool.call(environment, *NAMES, limit=30, threads=1) == ["1"] * len(NAMES)
    finally:
        pool.close()


def test_as_many_workers_as_cores_start_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    pool = WorkerPool()
    try:
        # Its own, and the one that waits for the end of its parent.
        assert pool.call(threads_with_numpy, limit=60) == 2
    finally:
        pool.close()


def test_where_memory_is_limited_already() -> None:
    program = (
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))\n"
        "from reelbench.base.workers import WorkerPool\nprint(WorkerPool(1).call(abs, -5, limit=30))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout == "5\n", done.stderr


def test_what_cannot_be_passed_on_is_told_so(pool: WorkerPool) -> None:
    with pytest.raises(ReelbenchError, match="cannot be passed between processes"):
        pool.call(lambda: 1, limit=30)
    with pytest.raises(ReelbenchError, match="The result of make_a_lock"):
        pool.call(make_a_lock, limit=30)
    assert pool.call(double, 2, limit=30) == 4


def test_a_function_of_a_script(tmp_path: Path) -> None:
    program = (
        "from reelbench.base.workers import WorkerPool\n"
        "def own(): return 1\n"
        "try: WorkerPool(1).call(own, limit=30)\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("ReelbenchError The call for a worker process")
    assert done.stderr == ""
