"""Work in other processes, on all cores; they end with their parent, however that ends."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import TypeVar

Result = TypeVar("Result")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each_in_a_process(
    work: Callable[..., Result], jobs: Sequence[tuple[object, ...]]
) -> Iterator[Result]:
    """Yield the result of ``work(*job)`` for each job, in the order of the jobs."""
    if not jobs:
        return
    # Spawned, not forked: FFmpeg's and BLAS's threads do not survive a fork.
    pool = ProcessPoolExecutor(
        min(cores(), len(jobs)), mp_context=get_context("spawn"), initializer=_follow_the_parent
    )
    try:
        yield from map(_result, [pool.submit(work, *job) for job in jobs])
    except BaseException:
        # At once: what they are at is not wanted any more, and they would be waited for.
        for process in list(pool._processes.values()):
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _result(future: Future[Result]) -> Result:
    return future.result()


def _follow_the_parent() -> None:
    """Leave Ctrl-C to the parent, and end when it does: it may be killed without a word."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
