"""A pool of worker processes: a job that hangs or crashes does not affect the others.

Libraries that read untrusted files (a video decoder, above all) may crash, loop or use up all
memory. Here they run in a separate process, which is killed and replaced, and the job gets an
error.
"""

import atexit
import math
import os
import pickle
import queue
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, TypeVar

from reelbench.base.errors import ReelbenchError, extension_error, where

Result = TypeVar("Result")
GIGABYTE = 2**30
_START_LIMIT = 120.0  # seconds
_END_LIMIT = 30.0  # seconds, for what the system ends at once unless a driver or a disk hangs
# Bytes in memory from which on a worker is replaced before it loads what another family needs.
_MOST_KEPT = 400 * 2**20
# For glibc, which at first hands the memory of each picture back to the system and asks for it
# anew, page by page: that takes as long as the work on it. It gets to these numbers itself, late.
# Who has set them knows better.
_KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**26)}
# What libraries read when they are loaded: how many threads to start. For OpenMP (PyTorch and
# CTranslate2 use it), OpenBLAS (NumPy), MKL, BLIS, Accelerate, numexpr and OpenCV.
_THREAD_SETTINGS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS", "OPENCV_FOR_THREADS_NUM",
)  # fmt: skip


class WorkerError(Exception):
    """A job that ended its worker: the message says how, as a predicate ("took over 60 s")."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_settings(threads: int) -> dict[str, str]:
    """Return the environment of a process whose libraries start at most ``threads`` threads each.

    Processes that each start a thread for every core wait for one another, and spin meanwhile.
    A lower number that the user has set stays; OMP_NUM_THREADS counts where no other name is set.
    """

    def number(name: str) -> str:
        value = os.environ.get(name) or os.environ.get("OMP_NUM_THREADS", "")
        first = value.partition(",")[0].strip()  # OpenMP takes a number for each level
        return str(min(threads, int(first)) if first.isdecimal() and int(first) else threads)

    return {name: number(name) for name in _THREAD_SETTINGS}


class WorkerPool:
    """Processes that run one job at a time each; started on demand, replaced when they crash.

    The libraries in each start ``threads`` threads at most: its share of the cores by default.
    """

    def __init__(
        self, count: int | None = None, memory: int = 4 * GIGABYTE, threads: int | None = None
    ) -> None:
        self._memory = memory
        self._threads = threads or max(1, cores() // (count or cores()))
        self._closed = False
        self._owner = os.getpid()
        self._workers: set[_Worker] = set()
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(count or cores()):
            self._idle.put(None)  # a place for a worker that is not there yet
        atexit.register(self.close)

    def call(
        self,
        work: Callable[..., Result],
        *args: object,
        limit: float,
        family: str = "",
        threads: int | None = None,
    ) -> Result:
        """Run ``work(*args)`` in a worker and return its result.

        Raises what the work raises, or ``WorkerError`` if its process crashes or takes over
        ``limit`` seconds, not counting the wait for a free worker. Jobs of one ``family`` share
        what they load; a worker that holds much is replaced before it works for another one.
        A job that wants fewer ``threads`` than the pool allows gets a process that starts no more.
        """
        threads = min(self._threads, threads or self._threads)
        worker = self._idle.get()
        try:
            if self._closed:
                raise WorkerError("was stopped")
            # It may also have been ended by someone, not by a job.
            if worker is not None and not (
                worker.is_alive and worker.threads == threads and worker.has_room_for(family)
            ):
                self._lose(worker)
                worker = None
            if worker is None:
                worker = _Worker(self._memory, threads)
                self._workers.add(worker)
                if self._closed:  # while it was starting
                    raise WorkerError("was stopped")
            worker.family = family
            result: Result = worker.call(work, args, limit)
        except BaseException as error:
            if worker and (isinstance(error, WorkerError) or not isinstance(error, Exception)):
                self._lose(worker)
                worker = None
            raise
        finally:
            self._idle.put(worker)
        return result

    @property
    def is_closed(self) -> bool:
        """Whether its workers were ended."""
        return self._closed

    def _lose(self, worker: "_Worker") -> None:
        worker.kill()
        self._workers.discard(worker)

    def close(self) -> None:
        """End all workers at once, also those at work."""
        if os.getpid() != self._owner:
            return  # a copy of this process, made by a fork: the workers are not its own
        self._closed = True
        for worker in list(self._workers):
            self._lose(worker)
        atexit.unregister(self.close)


class ChildProcess:
    """A new Python that runs a function of a module, with a pipe to it; it ends with this process.

    The function gets the numbers of the pipe and of what to ``follow``, and ``numbers``. Its
    libraries start at most ``threads`` threads each.
    """

    def __init__(
        self,
        module: str,
        function: str,
        *numbers: int,
        threads: int,
        environment: Mapping[str, str] | None = None,
        output: IO[bytes] | None = None,
    ) -> None:
        # A new Python, not a fork, which FFmpeg's and BLAS's threads do not survive; and not
        # multiprocessing's spawn, which runs the user's script again.
        self.line, theirs = Pipe()
        life, ours = os.pipe()
        # The system closes it if this process ends.
        self._life = open(ours, "wb", buffering=0)  # noqa: SIM115
        program = f"import sys; from {module} import {function} as f; f(*map(int, sys.argv[1:]))"
        words = [str(number) for number in (theirs.fileno(), life, *numbers)]
        self.process = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-c", program, *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C is the parent's, also while this one starts
            pass_fds=(theirs.fileno(), life),
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            | thread_settings(threads)
            | dict(environment or {}),
        )
        theirs.close()
        os.close(life)

    @property
    def ending(self) -> str:
        """How the process ended: the signal or the exit status."""
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            return "no exit status"
        return signal.Signals(-code).name if code < 0 else f"exit status {code}"

    def kill(self) -> bool:
        """End it at once; return whether it has ended, which a system call may hold up."""
        self.process.kill()
        # The line is not closed: another thread may be reading, and learns of the end that way.
        self._life.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_END_LIMIT)
        return self.process.returncode is not None


class _Worker:
    """One process that runs jobs."""

    def __init__(self, memory: int, threads: int) -> None:
        self.family, self.threads = "", threads
        settings = {n: v for n, v in _KEEP_MEMORY.items() if n not in os.environ}
        self._child = ChildProcess(
            __name__, serve.__name__, memory, threads=threads, environment=settings
        )
        self.process, self._line = self._child.process, self._child.line
        self._await_start()

    def _await_start(self) -> None:
        try:
            if self._line.poll(_START_LIMIT):
                self._line.recv()
                return
        except EOFError:
            pass
        self.kill()
        raise ReelbenchError(
            f"A worker process did not start: check that {sys.executable} can import reelbench and "
            "that there is memory for one more process."
        )

    @property
    def is_alive(self) -> bool:
        """Whether it can be given a job."""
        return self.process.poll() is None

    def has_room_for(self, family: str) -> bool:
        """Whether it loaded nothing for another family that takes much memory."""
        return self.family in ("", family) or _resident_bytes(self.process.pid) <= _MOST_KEPT

    def call(self, work: Callable[..., Any], args: tuple[object, ...], limit: float) -> Any:
        try:
            self._line.send((work, args))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise _unsendable(f"The call for a worker process ({error})") from error
        except OSError:  # it died, or was ended by close()
            raise WorkerError(f"crashed ({self._child.ending})") from None
        try:
            if not self._line.poll(limit):
                raise WorkerError(f"took over {limit:g} s")
            good, value = self._line.recv()
        except (EOFError, OSError):  # it died, or was ended by close()
            raise WorkerError(f"crashed ({self._child.ending})") from None
        if good:
            return value
        raise value

    def kill(self) -> None:
        self._child.kill()


def _resident_bytes(process: int) -> float:
    """Return the memory that a process holds; infinity where the system does not tell."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return math.inf
    return int(pages) * resource.getpagesize()


def serve(line_number: int, life: int, memory: int) -> None:
    """Run the jobs that come over the pipe, for as long as the parent process lives."""
    threading.Thread(target=follow, args=(life,), daemon=True).start()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(ValueError, OSError):  # a system that does not let itself be limited
        most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    line: Connection[Any, Any] = Connection(line_number)
    line.send("ready")
    while True:
        try:
            work, args = line.recv()
        except EOFError:
            return
        except Exception as error:  # of the import of whatever it is
            line.send((False, _unsendable(f"The call for a worker process ({error})")))
            continue
        try:
            answer: tuple[bool, Any] = (True, work(*args))
        except MemoryError:
            answer = (False, WorkerError(f"needs over {memory / GIGABYTE:g} GB of memory"))
        except Exception as error:
            answer = (False, _sendable(error))
        try:
            line.send(answer)
        except Exception as error:  # of pickling whatever it is
            line.send((False, _unsendable(f"The result of {work.__name__} ({error})")))


def _sendable(error: Exception) -> Exception:
    """Return an error that can be pickled, with a note that says which line it comes from.

    Its traceback cannot be sent, and some classes cannot be unpickled from their arguments.
    """
    if isinstance(error, ReelbenchError):
        return error
    if own := extension_error(error):
        return own
    place = where(error)
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # of a class that cannot be made again
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(f"At {place}.")
    return error


def _unsendable(what: str) -> ReelbenchError:
    return ReelbenchError(
        f"{what} cannot be passed between processes: the function must belong to a module that "
        "can be imported, and its arguments and result must be plain data."
    )


def follow(life: int) -> None:
    """End this process when the parent ends, however that happens."""
    os.read(life, 1)
    os._exit(1)
