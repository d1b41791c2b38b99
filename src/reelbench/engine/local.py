"""This machine: worker processes, as many as there are cores, each of which can be killed."""

import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from reelbench.base.workers import GIGABYTE, WorkerError, WorkerPool, cores
from reelbench.engine.base import Job, JobResult


class LocalEngine:
    """Runs jobs in processes of this machine."""

    def __init__(self, workers: int | None = None, memory: int = 6 * GIGABYTE) -> None:
        self._count, self._memory = workers or cores(), memory
        self._pool = WorkerPool(self._count, memory)

    def run(self, jobs: Sequence[Job], limit: float) -> Iterator[JobResult]:
        """Run jobs in parallel and yield the result of each as it finishes."""
        done: queue.SimpleQueue[JobResult] = queue.SimpleQueue()
        with ThreadPoolExecutor(self._count) as threads:
            try:
                for job in jobs:
                    threads.submit(self._one, job, limit).add_done_callback(
                        lambda future: None if future.cancelled() else done.put(future.result())
                    )
                for _ in jobs:
                    yield done.get()
            except BaseException:  # nobody wants the rest, and the threads wait for these workers
                threads.shutdown(wait=False, cancel_futures=True)
                self._pool.close()
                self._pool = WorkerPool(self._count, self._memory)
                raise

    def _one(self, job: Job, limit: float) -> JobResult:
        try:
            return JobResult(job, self._pool.call(job.work, *job.args, limit=limit))
        except WorkerError as error:
            return JobResult(job, lost=str(error))
        except Exception as error:  # whatever the work raised is its result
            return JobResult(job, error=error)

    def close(self) -> None:
        """End the workers."""
        self._pool.close()
