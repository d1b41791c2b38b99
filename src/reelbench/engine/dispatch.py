"""Schedules jobs on Ray: which wait, which run where, which are retried."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from reelbench.base.errors import ReelbenchError
from reelbench.engine.base import Job, JobResult
from reelbench.engine.remote import RayWorker, do, pack, unpack

_RETRIES = 2  # of a job whose worker or machine died
_POLL_SECONDS = 1.0  # seconds between two looks at which machines there are
_NO_MACHINE_SECONDS = 60.0  # seconds without any machine
_LEAST_CPUS = 0.1  # even of a job that asks for none, lest all be sent at once
_NO_BOUND = 2**60  # bytes of address space: CUDA reserves more than there is memory


class _Kind(NamedTuple):
    """What makes jobs interchangeable for an actor: the same family and the same resources."""

    family: str
    cpus: float
    gpus: float


@dataclass(eq=False, slots=True)
class _QueuedJob:
    """A job, and how often its worker or machine crashed."""

    job: Job
    crashes: int = 0


@dataclass(eq=False, slots=True)
class _Task:
    """A job without a family, which runs as a Ray task in any worker."""

    kind: _Kind
    cpus: float  # reserved for it: fewer than asked for where no machine has as many
    queued: _QueuedJob


@dataclass(eq=False, slots=True)
class RayActor:
    """A Ray actor, which keeps the model of one family loaded, and the job it runs, if any."""

    kind: _Kind
    cpus: float
    handle: Any
    is_ready: bool = False
    queued: _QueuedJob | None = None


class Dispatch:
    """One run of jobs: the queues, the running tasks and actors, and the results."""

    def __init__(
        self, ray: Any, jobs: Sequence[Job], limit: float, memory: int, actors: list[RayActor]
    ) -> None:
        self._ray, self._limit, self._memory = ray, limit, memory
        self._machines = _Machines(ray)
        self._actors = actors
        self._running: dict[Any, RayActor | _Task] = {}  # by Ray's reference to the outcome
        self._results: list[JobResult] = []  # not yet yielded
        self._waiting: dict[_Kind, deque[_QueuedJob]] = {}
        self._jobs, self._queued = jobs, 0  # how many of the jobs, which may become more

    def results(self) -> Iterator[JobResult]:
        """Yield the results of the jobs as they finish."""
        while self._queue_new() or self._running or any(self._waiting.values()):
            if self._machines.refresh():
                self._requeue_oversized()
            self._schedule()
            for reference in self._wait_for_finished():
                self._collect(reference)
            self._schedule()  # before the caller handles the results, which may take a while
            yield from self._results
            self._results.clear()

    def _queue_new(self) -> bool:
        """Queue the jobs that were added; return whether there are any."""
        new = self._jobs[self._queued :]
        self._queued += len(new)
        for job in new:
            kind = _Kind(job.family, max(job.cpus, _LEAST_CPUS), job.gpus)
            self._waiting.setdefault(kind, deque()).append(_QueuedJob(job))
        return bool(new)

    def end(self) -> list[RayActor]:
        """Stop what is running; return the idle actors, for another run."""
        for reference, slot in list(self._running.items()):
            self._stop(reference, slot)
        return [actor for actor in self._actors if actor.is_ready and not actor.queued]

    # Scheduling. An actor runs all the jobs of its family before those of another, so that a model
    # is loaded once. An idle actor is ended while anything else needs its cores: every reserved
    # core is then in use, and whatever is queued in Ray gets its turn.

    def _schedule(self) -> None:
        self._reject_impossible()
        for actor in [actor for actor in self._actors if not actor.queued]:
            queue = self._queue_for(actor)
            if queue and actor.is_ready:
                self._assign(actor, queue)
            elif not queue and (not actor.is_ready or self._is_contended()):
                self._end_actor(actor)
        for kind, queue in self._waiting.items():
            if kind.family:
                while len(queue) > self._starting_count(kind) and self._has_room(kind):
                    self._start_actor(kind)
            else:
                # As many again wait in Ray: a core need not wait for us.
                while queue and self._has_room(kind, ahead=2):
                    self._submit(kind, queue)

    def _queue_for(self, actor: RayActor) -> deque[_QueuedJob] | None:
        """Return the queue of the actor's family, or of another family that it switches to."""
        if queue := self._waiting.get(actor.kind):
            return queue
        for kind, queue in self._waiting.items():
            if queue and kind.family and kind[1:] == actor.kind[1:]:
                actor.kind = kind
                return queue
        return None

    def _reject_impossible(self) -> None:
        """Fail the jobs that ask for more GPUs than any machine has."""
        for kind, queue in self._waiting.items():
            if kind.gpus > self._machines.most_gpus and self._machines.cpus:
                lost = f"asks for {kind.gpus:g} GPU, more than any machine of the cluster has"
                self._results += [JobResult(queued.job, lost=lost) for queued in queue]
                queue.clear()

    def _is_contended(self) -> bool:
        return any(self._waiting.values()) or any(
            isinstance(slot, _Task) for slot in self._running.values()
        )

    def _starting_count(self, kind: _Kind) -> int:
        return sum(actor.kind == kind and not actor.is_ready for actor in self._actors)

    def _has_room(self, kind: _Kind, ahead: int = 1) -> bool:
        if not self._machines.cpus:
            return False
        tasks = [slot for slot in self._running.values() if isinstance(slot, _Task)]
        held: list[_Task | RayActor] = [*self._actors, *tasks]
        if not held:
            return True
        cpus = sum(slot.cpus for slot in held) + self._machines.cpus_for(kind)
        gpus = sum(slot.kind.gpus for slot in held) + kind.gpus
        return cpus <= ahead * self._machines.cpus and (
            not kind.gpus or gpus <= ahead * self._machines.gpus
        )

    def _start_actor(self, kind: _Kind) -> None:
        cpus = self._machines.cpus_for(kind)
        handle = self._ray.remote(RayWorker).options(num_cpus=cpus, num_gpus=kind.gpus).remote()
        actor = RayActor(kind, cpus, handle)
        self._actors.append(actor)
        self._running[handle.ready.remote()] = actor

    def _assign(self, actor: RayActor, queue: deque[_QueuedJob]) -> None:
        if call := self._next_call(queue):
            actor.queued, *arguments = call
            self._running[actor.handle.do.remote(actor.kind.family, *arguments)] = actor

    def _submit(self, kind: _Kind, queue: deque[_QueuedJob]) -> None:
        if call := self._next_call(queue):
            queued, *arguments = call
            cpus = self._machines.cpus_for(kind)
            task = self._ray.remote(do).options(num_cpus=cpus, num_gpus=kind.gpus, max_retries=0)
            self._running[task.remote(*arguments)] = _Task(kind, cpus, queued)

    def _next_call(self, queue: deque[_QueuedJob]) -> tuple[_QueuedJob, bytes, float, int] | None:
        """Return the next job of a queue and the arguments of its remote call."""
        queued = queue.popleft()
        try:
            packed = pack(queued.job.work, queued.job.args)
        except ReelbenchError as error:
            self._results.append(JobResult(queued.job, error=error))
            return None
        return queued, packed, self._limit, _NO_BOUND if queued.job.gpus else self._memory

    # Collecting results.

    def _wait_for_finished(self) -> list[Any]:
        """Wait up to a second, and return the references that are finished by then."""
        if not self._running:
            if any(self._waiting.values()):
                self._machines.wait()
            return []
        references = list(self._running)
        done, _ = self._ray.wait(references, timeout=_POLL_SECONDS)
        if done:
            done, _ = self._ray.wait(references, num_returns=len(references), timeout=0)
        return list(done)

    def _collect(self, reference: Any) -> None:
        slot = self._running.pop(reference)
        queued, slot_is_lost = slot.queued, False
        try:
            outcome = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            outcome, slot_is_lost = ("crashed", self._failure_reason(error)), True
        if isinstance(slot, RayActor):
            slot.queued, slot.is_ready = None, True
            if slot_is_lost:
                self._end_actor(slot)
        if queued is None and slot_is_lost and self._waiting[slot.kind]:
            queued = self._waiting[slot.kind].popleft()  # that it was started for: not for ever
        if queued:
            self._record(slot.kind, queued, *outcome)

    def _record(self, kind: _Kind, queued: _QueuedJob, how: str, value: Any) -> None:
        job = queued.job
        if how == "crashed":
            queued.crashes += 1
            if queued.crashes <= _RETRIES:
                self._waiting[kind].appendleft(queued)
            else:
                self._results.append(JobResult(job, lost=f"{value}, {queued.crashes} times"))
        elif how == "lost":
            self._results.append(JobResult(job, lost=value))
        else:
            result, error = unpack(value)
            self._results.append(JobResult(job, result, error))

    def _requeue_oversized(self) -> None:
        """Queue again what no remaining machine is large enough for."""
        for reference, slot in list(self._running.items()):
            if slot.cpus > self._machines.most_cpus or slot.kind.gpus > self._machines.most_gpus:
                self._stop(reference, slot)
                if slot.queued:
                    self._waiting[slot.kind].appendleft(slot.queued)

    def _stop(self, reference: Any, slot: RayActor | _Task) -> None:
        if isinstance(slot, RayActor):
            self._end_actor(slot)
            return
        del self._running[reference]
        with suppress(Exception):  # it may be gone already
            self._ray.cancel(reference, force=True)

    def _end_actor(self, actor: RayActor) -> None:
        self._actors.remove(actor)
        self._running = {r: slot for r, slot in self._running.items() if slot is not actor}
        with suppress(Exception):
            self._ray.kill(actor.handle)

    def _failure_reason(self, error: Exception) -> str:
        """Return why a job has no result though it did not fail itself, as a predicate."""
        errors = self._ray.exceptions
        if isinstance(error, errors.RayTaskError):
            return f"could not be started ({error.cause})"
        if isinstance(error, errors.OutOfMemoryError):
            return "was ended when its machine ran out of memory"
        if isinstance(error, errors.NodeDiedError):
            return "lost its machine"
        if isinstance(error, errors.RayActorError | errors.WorkerCrashedError):
            return "lost its worker"
        return f"was lost by Ray ({str(error).strip().splitlines()[0]})"


class _Machines:
    """The cores and GPUs of the cluster, in total and of its largest machine."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self.cpus = self.gpus = self.most_cpus = self.most_gpus = 0.0
        self._refreshed = -_POLL_SECONDS
        self._last_seen = time.monotonic()  # any at all

    def refresh(self) -> bool:
        """Query the cluster, at most once a second; return whether its largest machine changed."""
        now = time.monotonic()
        if now < self._refreshed + _POLL_SECONDS:
            return False
        self._refreshed = now
        before = (self.most_cpus, self.most_gpus)
        machines = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        cpus = [machine.get("CPU", 0.0) for machine in machines]
        gpus = [machine.get("GPU", 0.0) for machine in machines]
        self.cpus, self.most_cpus = sum(cpus), max(cpus, default=0.0)
        self.gpus, self.most_gpus = sum(gpus), max(gpus, default=0.0)
        if self.cpus:
            self._last_seen = now
        return before != (self.most_cpus, self.most_gpus)

    def cpus_for(self, kind: _Kind) -> float:
        """Return the cores to reserve: those asked for, or all of the largest machine."""
        return min(kind.cpus, self.most_cpus)

    def wait(self) -> None:
        """Sleep while the cluster has no machine; raise once that has lasted a minute."""
        if time.monotonic() > self._last_seen + _NO_MACHINE_SECONDS:
            raise ReelbenchError(
                f"The Ray cluster has had no CPUs for {_NO_MACHINE_SECONDS:g} s. Add a machine "
                "(ray start --address=...) and run the same command again: finished work is kept."
            )
        time.sleep(_POLL_SECONDS / 4)
