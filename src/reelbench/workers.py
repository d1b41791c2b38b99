"""Work in other processes: on all cores, and so that what hangs or dies costs one job.

Foreign code that reads foreign files (a video decoder, above all) may crash, loop or eat all
memory. Here it does so in a process of its own, which is killed and replaced, and the job gets an
error.
"""

import atexit
import os
import queue
import resource
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

Result = TypeVar("Result")
GIGABYTE = 2**30


class WorkerError(Exception):
    """A job that ended its worker: the message says how, as a predicate ("took over 60 s")."""


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class WorkerPool:
    """A few processes that do one job at a time each; started when needed, replaced when lost."""

    def __init__(self, count: int | None = None, memory: int = 4 * GIGABYTE) -> None:
        self._memory = memory
        self._closed = False
        self._workers: set[_Worker] = set()
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(count or cores()):
            self._idle.put(None)  # a place for a worker that is not there yet
        atexit.register(self.close)

    def call(self, work: Callable[..., Result], *args: object, limit: float) -> Result:
        """Do a job in a worker; raise what it raises, or ``WorkerError`` if it never returns.

        Waits for a free worker first; the limit, in seconds, is for the job alone.
        """
        worker = self._idle.get()
        try:
            if self._closed:
                raise WorkerError("was stopped")
            if worker is None:
                worker = _Worker(self._memory)
                self._workers.add(worker)
            result: Result = worker.call(work, args, limit)
        except BaseException as error:
            if worker and (isinstance(error, WorkerError) or not isinstance(error, Exception)):
                worker.kill()
                self._workers.discard(worker)
                worker = None
            raise
        finally:
            self._idle.put(worker)
        return result

    def close(self) -> None:
        """End all workers at once, also those at work."""
        self._closed = True
        while self._workers:
            self._workers.pop().kill()
        atexit.unregister(self.close)


def each_in_a_process(
    work: Callable[..., Result], jobs: Sequence[tuple[object, ...]], limit: float
) -> Iterator[Result]:
    """Yield the result of ``work(*job)`` for each job, in the order of the jobs."""
    if not jobs:
        return
    pool = WorkerPool(min(cores(), len(jobs)))
    with ThreadPoolExecutor(min(cores(), len(jobs))) as threads:
        try:
            results = [threads.submit(pool.call, work, *job, limit=limit) for job in jobs]
            for result in results:
                yield result.result()
        finally:
            # The threads wait for the workers, and end when those are gone.
            pool.close()
            threads.shutdown(wait=False, cancel_futures=True)


class _Worker:
    """One process, and the line to it."""

    def __init__(self, memory: int) -> None:
        # Spawned, not forked: FFmpeg's and BLAS's threads do not survive a fork.
        context = get_context("spawn")
        self._line, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, memory), daemon=True)
        self.process.start()
        theirs.close()

    def call(self, work: Callable[..., Any], args: tuple[object, ...], limit: float) -> Any:
        try:
            self._line.send((work, args))
            if not self._line.poll(limit):
                raise WorkerError(f"took over {limit:g} s")
            good, value = self._line.recv()
        except (EOFError, OSError):  # it died, or was ended by close()
            self.process.join(5)
            code = self.process.exitcode or 0
            how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            raise WorkerError(f"crashed ({how})") from None
        if good:
            return value
        raise value

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self._line.close()


def _serve(line: Connection, memory: int) -> None:
    """Do the jobs that come over the line, for as long as the parent lives."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    while True:
        try:
            work, args = line.recv()
        except EOFError:
            return
        try:
            answer: tuple[bool, Any] = (True, work(*args))
        except MemoryError:
            answer = (False, WorkerError(f"needs over {memory / GIGABYTE:g} GB of memory"))
        except Exception as error:
            answer = (False, error)
        line.send(answer)


def _follow(sentinel: int) -> None:
    """End with the parent, which may be killed without a word."""
    wait([sentinel])
    os._exit(1)
