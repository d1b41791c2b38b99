"""This machine: worker processes, as many as there are cores, each of which can be killed."""

import queue
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock, Thread

from reelbench.base.workers import GIGABYTE, WorkerError, WorkerPool, cores
from reelbench.engine.base import Job, JobResult


class LocalEngine:
    """Runs jobs in processes of this machine.

    A process runs the jobs of one family before those of another, so that a model is loaded once;
    one that holds much memory is replaced when it changes the family.
    """

    def __init__(self, workers: int | None = None, memory: int = 6 * GIGABYTE) -> None:
        count = workers or cores()
        self._memory, self._threads = memory, max(1, cores() // count)
        self._slots = [_Slot(self._pool()) for _ in range(count)]

    def _pool(self) -> WorkerPool:
        return WorkerPool(1, self._memory, self._threads)

    def run(self, jobs: Sequence[Job], limit: float) -> Iterator[JobResult]:
        """Run jobs in parallel and yield the result of each as it finishes."""
        done: queue.SimpleQueue[JobResult] = queue.SimpleQueue()
        waiting = _WaitingJobs(self._slots)
        threads = [
            Thread(target=_work, args=(slot, waiting, done, limit), daemon=True)
            for slot in self._slots
        ]
        for thread in threads:
            thread.start()
        given = yielded = 0
        try:
            while given < len(jobs) or yielded < given:
                for job in jobs[given:]:
                    given += 1
                    waiting.add(job)
                yielded += 1
                yield done.get()
        except BaseException:  # nobody wants the rest, and the threads wait for these workers
            waiting.clear()
            self.close()
            raise
        finally:
            for slot in self._slots:
                slot.inbox.put(None)
            for thread in threads:
                thread.join()
            # With the same processes, unless they were ended.
            self._slots = [
                _Slot(self._pool()) if slot.pool.is_closed else _Slot(slot.pool, slot.family)
                for slot in self._slots
            ]

    def close(self) -> None:
        """End the workers."""
        for slot in self._slots:
            slot.pool.close()


@dataclass(eq=False)
class _Slot:
    """A worker process, the family of its last job, and the job that it is to run next."""

    pool: WorkerPool
    family: str = ""
    inbox: queue.SimpleQueue[Job | None] = field(default_factory=queue.SimpleQueue)


class _WaitingJobs:
    """The jobs that wait for a process, by family, and the processes that wait for a job."""

    def __init__(self, slots: Sequence[_Slot]) -> None:
        self._lock = Lock()
        self._idle = list(reversed(slots))
        self._jobs: dict[str, deque[tuple[int, Job]]] = {}
        self._count = 0

    def add(self, job: Job) -> None:
        """Give a job to an idle process, preferably to one that ran such jobs, or keep it."""
        with self._lock:
            if not self._idle:
                self._count += 1
                self._jobs.setdefault(job.family, deque()).append((self._count, job))
                return
            fitting = [slot for slot in self._idle if slot.family == job.family]
            slot = (fitting or self._idle)[-1]  # the last to become idle: others may not run yet
            self._idle.remove(slot)
        slot.inbox.put(job)

    def next_for(self, slot: _Slot) -> None:
        """Give an idle process the next job of its family, or the one that has waited longest."""
        with self._lock:
            waiting = {family: jobs for family, jobs in self._jobs.items() if jobs}
            if not waiting:
                self._idle.append(slot)
                return
            oldest = min(waiting, key=lambda family: waiting[family][0][0])
            _, job = waiting.get(slot.family, waiting[oldest]).popleft()
        slot.inbox.put(job)

    def clear(self) -> None:
        """Forget the jobs that wait."""
        with self._lock:
            self._jobs.clear()


def _work(
    slot: _Slot, waiting: _WaitingJobs, done: queue.SimpleQueue[JobResult], limit: float
) -> None:
    """Run jobs in the process of a slot until there is a None instead of one."""
    while (job := slot.inbox.get()) is not None:
        slot.family = job.family
        result = _result(slot.pool, job, limit)
        waiting.next_for(slot)  # before the caller handles the result, which may take a while
        done.put(result)


def _result(pool: WorkerPool, job: Job, limit: float) -> JobResult:
    try:
        value = pool.call(job.work, *job.args, limit=limit, family=job.family, threads=job.threads)
    except WorkerError as error:
        return JobResult(job, lost=str(error))
    except Exception as error:  # whatever the work raised is its result
        return JobResult(job, error=error)
    return JobResult(job, value)
