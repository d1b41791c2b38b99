"""Schedules jobs on Ray: which wait, which run where, which are retried.

What a step costs does not grow with what is running: finished calls come by a queue, what is
reserved is counted, and idle actors are kept by the kind of their jobs (docs/scale.md).
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.engine.base import Job, JobResult
from reelbench.engine.machines import POLL_SECONDS, Clock, Machines
from reelbench.engine.remote import RayWorker, do, pack, unpack
from reelbench.engine.slots import JobKind, JobQueue, QueuedJob, RayActor, RayTask

if TYPE_CHECKING:
    from concurrent.futures import Future

_RETRIES = 2  # of a job whose worker or machine died
_NO_ACTOR_SECONDS = 60.0  # for which none comes up, before its jobs are given up
_ELSEWHERE_SECONDS = 300.0  # for which a job that crashed waits for another machine
_CRASHES_IN_A_ROW, _REST_SECONDS = 3, 60.0  # of an actor: what crashes all would take all
_RETRIED = "retried"  # the family of jobs that had none, after a crash
_LEAST_CPUS = 0.1  # even of a job that asks for none, lest all be sent at once
_NO_BOUND = 2**60  # bytes of address space: CUDA reserves more than there is memory


class Dispatch:
    """One run of jobs: the queues, the running tasks and actors, and the results."""

    def __init__(
        self,
        ray: Any,
        jobs: Sequence[Job],
        limit: float,
        memory: int,
        actors: Iterable[RayActor],
        clock: Clock | None = None,
    ) -> None:
        self._ray, self._limit, self._memory = ray, limit, memory
        self._clock = clock or Clock()
        self._machines = Machines(ray, self._clock)
        self._running: dict[Future[Any], RayActor | RayTask] = {}
        self._finished: SimpleQueue[Future[Any]] = SimpleQueue()  # filled by Ray's threads
        self._results: list[JobResult] = []  # not yet yielded
        self._queues: dict[JobKind, JobQueue] = {}
        self._resting: deque[tuple[float, RayActor]] = deque()  # until when
        self._cores_wanted = 0.0  # on machines with GPUs, by actors that start there
        self._tasks = 0
        self._jobs, self._queued = jobs, 0  # how many of the jobs, which may become more
        for actor in actors:
            self._machines.reserve(actor.cpus, actor.kind.gpus)
            self._queue(actor.kind).idle.append(actor)

    def results(self) -> Iterator[JobResult]:
        """Yield the results of the jobs as they finish."""
        while self._queue_new() or self._running or self._has_waiting():
            self._schedule()
            for call in self._wait_for_finished():
                self._collect(call)
            self._schedule()  # before the caller handles the results, which may take a while
            yield from self._results
            self._results.clear()

    def end(self) -> list[RayActor]:
        """Stop what is running; return the idle actors, for another run."""
        for call, slot in list(self._running.items()):
            self._stop(call, slot)
        for _, actor in self._resting:
            self._end_actor(actor)
        return [actor for queue in self._queues.values() for actor in queue.idle]

    def _queue_new(self) -> bool:
        """Queue the jobs that were added; return whether there are any."""
        new = self._jobs[self._queued :]
        self._queued += len(new)
        for job in new:
            kind = JobKind(job.family, max(job.cpus, _LEAST_CPUS), job.gpus)
            self._queue(kind).jobs.append(QueuedJob(job))
        return bool(new)

    def _queue(self, kind: JobKind) -> JobQueue:
        return self._queues.setdefault(kind, JobQueue())

    def _has_waiting(self) -> bool:
        return any(queue.jobs for queue in self._queues.values())

    # Scheduling. An actor runs all the jobs of its family before those of another, so that a model
    # is loaded once. An idle actor is ended while anything else needs its cores: every reserved
    # core is then in use, and whatever is queued in Ray gets its turn.

    def _schedule(self) -> None:
        if self._machines.refresh():
            self._requeue_oversized()
            self._end_left_behind()
        self._reject_impossible()
        self._end_rests()
        waiting = [kind for kind, queue in self._queues.items() if queue.jobs]
        waiting.sort(key=lambda kind: -kind.gpus)  # first what few machines can do
        for kind in waiting:
            self._give_to_idle(kind, self._queues[kind].idle)
        for kind in waiting:
            for other, queue in self._queues.items():
                if queue.idle and kind.family and other[1:] == kind[1:]:
                    self._give_to_idle(kind, queue.idle)
        self._end_needless()
        for kind in waiting:
            queue = self._queues[kind]
            if kind.family:
                while queue.needs_actor(self._clock.now()) and self._has_room(kind):
                    self._start_actor(kind)
            else:
                # As many again wait in Ray: a core need not wait for us.
                while queue.jobs and self._has_room(kind, ahead=2):
                    self._submit(kind)

    def _end_rests(self) -> None:
        while self._resting and self._resting[0][0] <= self._clock.now():
            _, actor = self._resting.popleft()
            self._queues[actor.kind].idle.append(actor)

    def _give_to_idle(self, kind: JobKind, idle: list[RayActor]) -> None:
        """Give the jobs of a kind to idle actors, as far as there are both."""
        queue = self._queues[kind]
        refused = []
        while queue.jobs and idle:
            actor = idle.pop()
            if self._makes_way(actor):
                self._end_actor(actor)
            elif not self._assign(kind, actor):
                refused.append(actor)
        idle += refused

    def _makes_way(self, actor: RayActor) -> bool:
        """Whether its cores are wanted for an actor that needs the GPUs of its machine."""
        if self._cores_wanted <= 0 or actor.kind.gpus:
            return False
        if actor.machine not in self._machines.with_gpus:
            return False
        self._cores_wanted -= actor.cpus
        return True

    def _assign(self, kind: JobKind, actor: RayActor) -> bool:
        """Give an actor the first job of a kind that it may have; return whether there was one."""
        queue = self._queues[kind]
        for _ in range(len(queue.jobs)):
            queued = queue.jobs.popleft()
            if self._is_kept_from(queued, actor):
                queue.jobs.append(queued)
            elif arguments := self._arguments(queued):
                actor.kind, actor.queued = kind, queued
                self._await(actor, actor.handle.do.remote(kind.family, *arguments))
                return True
        return False

    def _is_kept_from(self, queued: QueuedJob, actor: RayActor) -> bool:
        """Whether the job crashed on the actor's machine, and could soon be run on another."""
        return (
            actor.machine in queued.machines
            and self._clock.now() < queued.last_crash + _ELSEWHERE_SECONDS
            and len(queued.machines) < self._machines.count(actor.cpus, actor.kind.gpus)
        )

    def _end_needless(self) -> None:
        """End the actors that nothing waits for, or that keep their cores from what waits."""
        is_contended = bool(self._tasks) or self._has_waiting()
        for kind, queue in self._queues.items():
            if not queue.jobs:
                for actor in list(queue.starting):
                    del queue.starting[actor]
                    if other := self._queue_to_start_for(kind):
                        actor.kind = other
                        self._queues[other].starting[actor] = None
                    else:
                        self._end_actor(actor)
            if is_contended:
                for actor in queue.idle:
                    self._end_actor(actor)
                queue.idle.clear()

    def _queue_to_start_for(self, kind: JobKind) -> JobKind | None:
        """Return a kind that needs an actor such as one of another kind."""
        for other, queue in self._queues.items():
            if other.family and other[1:] == kind[1:] and queue.needs_actor(self._clock.now()):
                return other
        return None

    def _reject_impossible(self) -> None:
        """Fail the jobs that ask for more GPUs than any machine has."""
        for kind, queue in self._queues.items():
            if queue.jobs and self._machines.cpus and not self._machines.has_gpus(kind.gpus):
                self._lose_all(
                    queue, f"asks for {kind.gpus:g} GPU, more than any machine of the cluster has"
                )

    def _lose_all(self, queue: JobQueue, reason: str) -> None:
        self._results += [JobResult(queued.job, lost=reason) for queued in queue.jobs]
        queue.jobs.clear()

    def _has_room(self, kind: JobKind, ahead: int = 1) -> bool:
        return self._machines.has_room(self._machines.cpus_for(kind.cpus), kind.gpus, ahead)

    def _start_actor(self, kind: JobKind) -> None:
        cpus = self._machines.cpus_for(kind.cpus)
        handle = self._ray.remote(RayWorker).options(num_cpus=cpus, num_gpus=kind.gpus).remote()
        actor = RayActor(kind, cpus, handle)
        self._machines.reserve(cpus, kind.gpus)
        self._queues[kind].starting[actor] = None
        if kind.gpus and self._machines.is_full():
            self._cores_wanted += cpus
        self._await(actor, handle.ready.remote())

    def _submit(self, kind: JobKind) -> None:
        queued = self._queues[kind].jobs.popleft()
        if arguments := self._arguments(queued):
            cpus = self._machines.cpus_for(kind.cpus)
            task = self._ray.remote(do).options(num_cpus=cpus, num_gpus=kind.gpus, max_retries=0)
            reference = task.remote(*arguments)
            self._machines.reserve(cpus, kind.gpus)
            self._tasks += 1
            self._await(RayTask(kind, cpus, queued, reference), reference)

    def _arguments(self, queued: QueuedJob) -> tuple[bytes, float, int, int] | None:
        """Return the arguments of a job's remote call; None, with a result, if it has none."""
        try:
            packed = pack(queued.job.work, queued.job.args)
        except ReelbenchError as error:
            self._results.append(JobResult(queued.job, error=error))
            return None
        memory = _NO_BOUND if queued.job.gpus else self._memory
        return packed, self._limit, memory, queued.job.threads

    def _await(self, slot: RayActor | RayTask, reference: Any) -> None:
        # A future tells when it is finished; ray.wait would look at all that are running.
        call: Future[Any] = reference.future()
        self._running[call] = slot
        if isinstance(slot, RayActor):
            slot.call = call
        call.add_done_callback(self._finished.put)

    # Collecting results.

    def _wait_for_finished(self) -> list["Future[Any]"]:
        """Wait up to a second, and return the calls that are finished by then."""
        if self._results or not (self._running or self._has_waiting()):
            return self._clock.take(self._finished, 0)
        if not self._running:
            self._machines.check_any()
        return self._clock.take(self._finished, POLL_SECONDS)

    def _collect(self, call: "Future[Any]") -> None:
        slot = self._running.pop(call, None)
        if slot is None:  # it was stopped
            return
        try:
            outcome, is_lost = call.result(), False
        except self._ray.exceptions.RayError as error:
            outcome, is_lost = ("crashed", self._failure_reason(error)), True
        if isinstance(slot, RayTask):
            self._tasks -= 1
            self._machines.release(slot.cpus, slot.kind.gpus)
            self._record(slot, slot.queued, *outcome)
            return
        queued, slot.queued, slot.call = slot.queued, None, None
        queue = self._queues[slot.kind]
        if queued is None:
            del queue.starting[slot]
            slot.machine = "" if is_lost else outcome
            self._note_start(slot, outcome[1] if is_lost else "")
        if queued:
            self._record(slot, queued, *outcome)
            slot.crashes = slot.crashes + 1 if outcome[0] == "crashed" else 0
        if is_lost:
            self._machines.expect_change()  # before another job is given to an actor there
            self._end_actor(slot)
        elif slot.crashes >= _CRASHES_IN_A_ROW:
            # It keeps its core, so that nothing else is put where everything crashes.
            self._resting.append((self._clock.now() + _REST_SECONDS, slot))
        else:
            queue.idle.append(slot)

    def _note_start(self, actor: RayActor, failure: str) -> None:
        """Note that an actor came up or could not; lose the jobs of its kind if none ever can."""
        queue, now = self._queues[actor.kind], self._clock.now()
        if actor.kind.gpus and self._cores_wanted:
            starting = (one for other in self._queues.values() for one in other.starting)
            cores = sum(one.cpus for one in starting if one.kind.gpus)
            self._cores_wanted = min(self._cores_wanted, cores)
        if not failure:
            queue.failing_since = None
            return
        if queue.failing_since is None:
            queue.failing_since = now
        queue.next_start = now + POLL_SECONDS
        if now > queue.failing_since + _NO_ACTOR_SECONDS and not self._has_actors_like(actor):
            self._lose_all(queue, f"{failure}; no worker came up in {_NO_ACTOR_SECONDS:g} s")

    def _has_actors_like(self, actor: RayActor) -> bool:
        """Whether others are at work that will turn to its jobs when they have done their own."""
        return any(
            isinstance(slot, RayActor) and slot.queued and slot.kind[1:] == actor.kind[1:]
            for slot in self._running.values()
        )

    def _record(self, slot: RayActor | RayTask, queued: QueuedJob, how: str, value: Any) -> None:
        job = queued.job
        if how == "crashed":
            queued.crashes += 1
            if queued.crashes <= _RETRIES:
                # Behind the others: what is free at this moment is where it crashed. In an actor,
                # for of a task one cannot know where it runs.
                kind = slot.kind if slot.kind.family else slot.kind._replace(family=_RETRIED)
                self._queue(kind).jobs.append(queued)
                queued.last_crash = self._clock.now()
                if isinstance(slot, RayActor):
                    queued.machines.add(slot.machine)
            else:
                self._results.append(JobResult(job, lost=f"{value}, {queued.crashes} times"))
        elif how == "lost":
            self._results.append(JobResult(job, lost=value))
        else:
            result, error = unpack(value)
            self._results.append(JobResult(job, result, error))

    def _requeue_oversized(self) -> None:
        """Queue again what no remaining machine is large enough for."""
        for call, slot in list(self._running.items()):
            if slot.cpus > self._machines.most_cpus or slot.kind.gpus > self._machines.most_gpus:
                self._stop(call, slot)
                if isinstance(slot, RayTask):  # which may not have begun
                    self._queues[slot.kind].jobs.appendleft(slot.queued)
                elif slot.queued:
                    self._record(slot, slot.queued, "crashed", "lost its machine")

    def _end_left_behind(self) -> None:
        """End the idle actors whose machine is gone: Ray tells only what was called there."""
        names = self._machines.names
        resting = [actor for _, actor in self._resting]
        idle = [actor for queue in self._queues.values() for actor in queue.idle]
        for actor in idle + resting:
            if actor.machine not in names:
                self._end_actor(actor)
        for queue in self._queues.values():
            queue.idle = [actor for actor in queue.idle if actor.machine in names]
        self._resting = deque(one for one in self._resting if one[1].machine in names)

    def _stop(self, call: "Future[Any]", slot: RayActor | RayTask) -> None:
        if isinstance(slot, RayActor):
            self._queues[slot.kind].starting.pop(slot, None)
            self._end_actor(slot)
            return
        del self._running[call]
        self._tasks -= 1
        self._machines.release(slot.cpus, slot.kind.gpus)
        with suppress(Exception):  # it may be gone already
            self._ray.cancel(slot.reference, force=True)

    def _end_actor(self, actor: RayActor) -> None:
        if actor.call:
            self._running.pop(actor.call, None)
        self._machines.release(actor.cpus, actor.kind.gpus)
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
