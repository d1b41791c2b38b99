"""Work in other processes: all cores, and a crash that costs one job."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
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
    with ProcessPoolExecutor(min(cores(), len(jobs)), mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(work, *job) for job in jobs]
        try:
            for future in futures:
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
