"""Jobs dealt out to Ray: who waits, who is where, who is sent again."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from reelbench.base.errors import ReelbenchError
from reelbench.engine.base import Done, Job
from reelbench.engine.remote import RayWorker, do, pack, unpack

_RETRIES = 2  # of a job whose worker or machine died
_GLANCE = 1.0  # seconds between two looks at which machines there are
_PATIENCE = 60.0  # seconds without any machine
_LEAST_CPUS = 0.1  # even of a job that asks for none, lest all be sent at once
_NO_BOUND = 2**60  # bytes of address space: CUDA reserves more than there is memory


class _Kind(NamedTuple):
    """Jobs that may take each other's place."""

    family: str
    cpus: float
    gpus: float


@dataclass(eq=False, slots=True)
class _Ticket:
    """A job, and how often its worker or machine died."""

    job: Job
    deaths: int = 0


@dataclass(eq=False, slots=True)
class _Task:
    """A job that holds no model, in whichever worker."""

    kind: _Kind
    cpus: float  # that it got, where no machine has as many as were asked for
    ticket: _Ticket


@dataclass(eq=False, slots=True)
class Holder:
    """An actor, which holds the model of one family at a time; and the job it does, if any."""

    kind: _Kind
    cpus: float
    actor: Any
    is_ready: bool = False
    ticket: _Ticket | None = None


class Dispatch:
    """What waits, what is under way, and where there is room."""

    def __init__(
        self, ray: Any, jobs: Sequence[Job], limit: float, memory: int, holders: list[Holder]
    ) -> None:
        self._ray, self._limit, self._memory = ray, limit, memory
        self._machines = _Machines(ray)
        self._holders = holders
        self._under_way: dict[Any, Holder | _Task] = {}  # by Ray's reference to the outcome
        self._settled: list[Done] = []  # and not yet told
        self._waiting: dict[_Kind, deque[_Ticket]] = {}
        for job in jobs:
            kind = _Kind(job.family, max(job.cpus, _LEAST_CPUS), job.gpus)
            self._waiting.setdefault(kind, deque()).append(_Ticket(job))

    def results(self) -> Iterator[Done]:
        """Yield what comes of the jobs, as it comes."""
        while self._under_way or any(self._waiting.values()):
            if self._machines.look():
                self._recall()
            self._place()
            for reference in self._come():
                self._take(reference)
            self._place()  # before the caller takes his time over the results
            yield from self._settled
            self._settled.clear()

    def end(self) -> list[Holder]:
        """Stop what is under way; return the holders that have nothing to do, for another run."""
        for reference, place in list(self._under_way.items()):
            self._stop(reference, place)
        return [holder for holder in self._holders if holder.is_ready and not holder.ticket]

    # Placing. A holder does all the jobs of its family before those of another, so that a model is
    # loaded once. One that is out of work is ended while anything else wants a place: whoever
    # holds cores is then at work, so all that is queued in Ray gets its turn.

    def _place(self) -> None:
        self._refuse()
        for holder in [holder for holder in self._holders if not holder.ticket]:
            queue = self._queue_for(holder)
            if queue and holder.is_ready:
                self._give(holder, queue)
            elif not queue and (not holder.is_ready or self._is_pressed()):
                self._end(holder)
        for kind, queue in self._waiting.items():
            if kind.family:
                while len(queue) > self._starting(kind) and self._has_room(kind):
                    self._start(kind)
            else:
                # As many again wait in Ray: a core need not wait for us.
                while queue and self._has_room(kind, ahead=2):
                    self._send(kind, queue)

    def _queue_for(self, holder: Holder) -> deque[_Ticket] | None:
        """Return the jobs of its family, or of another that it turns to."""
        if queue := self._waiting.get(holder.kind):
            return queue
        for kind, queue in self._waiting.items():
            if queue and kind.family and kind[1:] == holder.kind[1:]:
                holder.kind = kind
                return queue
        return None

    def _refuse(self) -> None:
        """Give up what asks for graphics cards that no machine has."""
        for kind, queue in self._waiting.items():
            if kind.gpus > self._machines.most_gpus and self._machines.cpus:
                lost = f"asks for {kind.gpus:g} GPU, and no machine of the cluster has as many"
                self._settled += [Done(ticket.job, lost=lost) for ticket in queue]
                queue.clear()

    def _is_pressed(self) -> bool:
        return any(self._waiting.values()) or any(
            isinstance(place, _Task) for place in self._under_way.values()
        )

    def _starting(self, kind: _Kind) -> int:
        return sum(holder.kind == kind and not holder.is_ready for holder in self._holders)

    def _has_room(self, kind: _Kind, ahead: int = 1) -> bool:
        if not self._machines.cpus:
            return False
        tasks = [place for place in self._under_way.values() if isinstance(place, _Task)]
        held: list[_Task | Holder] = [*self._holders, *tasks]
        if not held:
            return True
        cpus = sum(place.cpus for place in held) + self._machines.share(kind)
        gpus = sum(place.kind.gpus for place in held) + kind.gpus
        return cpus <= ahead * self._machines.cpus and (
            not kind.gpus or gpus <= ahead * self._machines.gpus
        )

    def _start(self, kind: _Kind) -> None:
        cpus = self._machines.share(kind)
        actor = self._ray.remote(RayWorker).options(num_cpus=cpus, num_gpus=kind.gpus).remote()
        holder = Holder(kind, cpus, actor)
        self._holders.append(holder)
        self._under_way[actor.ready.remote()] = holder

    def _give(self, holder: Holder, queue: deque[_Ticket]) -> None:
        if call := self._packed(queue):
            holder.ticket, *words = call
            self._under_way[holder.actor.do.remote(holder.kind.family, *words)] = holder

    def _send(self, kind: _Kind, queue: deque[_Ticket]) -> None:
        if call := self._packed(queue):
            ticket, *words = call
            cpus = self._machines.share(kind)
            task = self._ray.remote(do).options(num_cpus=cpus, num_gpus=kind.gpus, max_retries=0)
            self._under_way[task.remote(*words)] = _Task(kind, cpus, ticket)

    def _packed(self, queue: deque[_Ticket]) -> tuple[_Ticket, bytes, float, int] | None:
        """Return the next job and what is sent of it."""
        ticket = queue.popleft()
        try:
            packed = pack(ticket.job.work, ticket.job.args)
        except ReelbenchError as error:
            self._settled.append(Done(ticket.job, error=error))
            return None
        return ticket, packed, self._limit, _NO_BOUND if ticket.job.gpus else self._memory

    # Taking back.

    def _come(self) -> list[Any]:
        """Wait a moment, and return what is done by then."""
        if not self._under_way:
            if any(self._waiting.values()):
                self._machines.wait()
            return []
        references = list(self._under_way)
        done, _ = self._ray.wait(references, timeout=_GLANCE)
        if done:
            done, _ = self._ray.wait(references, num_returns=len(references), timeout=0)
        return list(done)

    def _take(self, reference: Any) -> None:
        place = self._under_way.pop(reference)
        ticket, place_is_lost = place.ticket, False
        try:
            outcome = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            outcome, place_is_lost = ("crashed", self._how(error)), True
        if isinstance(place, Holder):
            place.ticket, place.is_ready = None, True
            if place_is_lost:
                self._end(place)
        if ticket is None and place_is_lost and self._waiting[place.kind]:
            ticket = self._waiting[place.kind].popleft()  # that it was started for: not for ever
        if ticket:
            self._settle(place.kind, ticket, *outcome)

    def _settle(self, kind: _Kind, ticket: _Ticket, how: str, value: Any) -> None:
        job = ticket.job
        if how == "crashed":
            ticket.deaths += 1
            if ticket.deaths <= _RETRIES:
                self._waiting[kind].appendleft(ticket)
            else:
                self._settled.append(Done(job, lost=f"{value}, {ticket.deaths} times"))
        elif how == "lost":
            self._settled.append(Done(job, lost=value))
        else:
            result, error = unpack(value)
            self._settled.append(Done(job, result, error))

    def _recall(self) -> None:
        """Take back what no machine has room for any more, the large ones being gone."""
        for reference, place in list(self._under_way.items()):
            if place.cpus > self._machines.most_cpus or place.kind.gpus > self._machines.most_gpus:
                self._stop(reference, place)
                if place.ticket:
                    self._waiting[place.kind].appendleft(place.ticket)

    def _stop(self, reference: Any, place: Holder | _Task) -> None:
        if isinstance(place, Holder):
            self._end(place)
            return
        del self._under_way[reference]
        with suppress(Exception):  # it may be gone already
            self._ray.cancel(reference, force=True)

    def _end(self, holder: Holder) -> None:
        self._holders.remove(holder)
        self._under_way = {r: place for r, place in self._under_way.items() if place is not holder}
        with suppress(Exception):
            self._ray.kill(holder.actor)

    def _how(self, error: Exception) -> str:
        """Say how a job came to nothing that did nothing wrong itself."""
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
    """How much there is in the cluster, and how much in its largest machine."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self.cpus = self.gpus = self.most_cpus = self.most_gpus = 0.0
        self._looked = -_GLANCE
        self._seen = time.monotonic()  # any at all

    def look(self) -> bool:
        """Look again, if it has been a while; return whether there may be less than before."""
        now = time.monotonic()
        if now < self._looked + _GLANCE:
            return False
        self._looked = now
        had = (self.most_cpus, self.most_gpus)
        machines = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        cpus = [machine.get("CPU", 0.0) for machine in machines]
        gpus = [machine.get("GPU", 0.0) for machine in machines]
        self.cpus, self.most_cpus = sum(cpus), max(cpus, default=0.0)
        self.gpus, self.most_gpus = sum(gpus), max(gpus, default=0.0)
        if self.cpus:
            self._seen = now
        return had != (self.most_cpus, self.most_gpus)

    def share(self, kind: _Kind) -> float:
        """Return how many cores a job gets: what it asks for, or all of the largest machine."""
        return min(kind.cpus, self.most_cpus)

    def wait(self) -> None:
        """Let time pass, as long as there is hope that a machine will come."""
        if time.monotonic() > self._seen + _PATIENCE:
            raise ReelbenchError(
                f"The Ray cluster has had no machine with cores for {_PATIENCE:g} s. Add one (ray "
                "start --address=...) and run again: what is done stays done."
            )
        time.sleep(_GLANCE / 4)
