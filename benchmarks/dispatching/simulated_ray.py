"""A Ray cluster in virtual time: the part of Ray's interface that the dispatcher uses.

Nothing runs: a job's function says what it comes to, and a ``Load`` among its arguments how long
it takes and how it ends. Machines die, are noticed to be dead some time later, and come back; what
is sent to one that is dead and not noticed is lost with it. Time passes in ``SimulatedClock.take``,
where the dispatcher waits, and by what Ray asks of the driver for each call.
"""

import heapq
import pickle
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from reelbench.base.seeds import rng_for
from reelbench.engine.machines import Clock
from reelbench.engine.remote import RayWorker

if TYPE_CHECKING:
    from queue import SimpleQueue

_CALL_SECONDS = 0.0006  # of the driver, for one call: measured on Ray 2.60, docs/scale.md
_ACTOR_SECONDS = 3.0  # from a place to a process that has imported what it needs
_ACTORS_PER_SECOND = 500  # that a cluster can create
_TASK_SECONDS = 0.02
_CRASH_SECONDS = 0.1  # on a machine where everything crashes


class RayError(Exception):
    """What a reference holds instead of a value."""


class RayTaskError(RayError):
    """A call raised."""

    cause = None


class OutOfMemoryError(RayError):
    """A machine ran out of memory."""


class NodeDiedError(RayError):
    """A task's machine died."""


class WorkerCrashedError(RayError):
    """A task's process died."""


class RayActorError(RayError):
    """An actor's process or machine died."""


class TaskCancelledError(RayError):
    """A task was cancelled."""


_ERRORS = (RayError, RayTaskError, OutOfMemoryError, NodeDiedError, WorkerCrashedError)


class Load(NamedTuple):
    """What a simulated job costs, and how it ends."""

    name: str
    seconds: float
    end: str = "done"  # "kills": its worker, each time; "crashes": its own process, each time


class Shape(NamedTuple):
    """What a task or an actor reserves."""

    cpus: float
    gpus: float


@dataclass(frozen=True)
class Trouble:
    """What goes wrong, apart from machines that die."""

    slow_share: float = 0.0  # of attempts, which take ``slow_times`` as long
    slow_times: float = 20.0
    lost_loading: float = 0.0  # share of model loadings that end the actor
    load_seconds: float = 0.0  # of a model, for the first job of another family
    notice_seconds: tuple[float, float] = (1.0, 30.0)  # until a dead machine is seen to be dead


@dataclass(eq=False)
class Machine:
    """A node: what it has, what is free, and what holds the rest."""

    number: int
    total: Shape
    cpus: float = 0.0
    gpus: float = 0.0
    is_up: bool = True  # as a matter of fact
    is_alive: bool = True  # as far as Ray knows
    crashes_all: bool = False
    holders: dict["Holding", None] = field(default_factory=dict)

    def fits(self, shape: Shape) -> bool:
        """Return whether there is room, in ten thousandths as Ray counts."""
        return self.cpus >= shape.cpus - 1e-4 and self.gpus >= shape.gpus - 1e-4


@dataclass(eq=False)
class Holding:
    """A task or an actor: queued, on a machine, or ended."""

    shape: Shape
    is_actor: bool
    machine: Machine | None = None
    has_ended: bool = False
    is_up: bool = False
    family: str = ""
    call: "Reference | None" = None  # not answered yet
    load: Any = None  # (work, args) of the task, until it is placed
    limit: float = 0.0
    began: float | None = None  # of the job under way


class Reference:
    """What a call will have come to."""

    def __init__(self, holding: Holding) -> None:
        self.holding = holding
        self.outcome: Future[Any] = Future()

    def future(self) -> "Future[Any]":
        """Return it as a future, as Ray does."""
        return self.outcome


class SimulatedClock(Clock):
    """Virtual seconds, which pass where the dispatcher waits."""

    def __init__(self) -> None:
        self.time = 0.0
        self.simulating = 0.0  # real seconds that the simulation itself has taken
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0

    def now(self) -> float:
        """Return the virtual time."""
        return self.time

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Do something later."""
        self._count += 1
        heapq.heappush(self._events, (self.time + seconds, self._count, act))

    def take(self, finished: "SimpleQueue[Any]", seconds: float) -> list[Any]:
        """Let time pass until something is finished, or the seconds are over."""
        with self.measured():
            end = self.time + seconds
            while finished.empty() and self._events and self._events[0][0] <= end:
                self._step()
            if finished.empty():
                self.time = max(self.time, end)
            while self._events and self._events[0][0] <= self.time:  # at the same moment
                self._step()
            return [finished.get() for _ in range(finished.qsize())]

    def _step(self) -> None:
        moment, _, act = heapq.heappop(self._events)
        self.time = max(self.time, moment)
        act()

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Count the time of the body as the simulation's."""
        began = time.perf_counter()
        yield
        self.simulating += time.perf_counter() - began


class SimulatedRay:
    """Stands where the module ``ray`` would, with machines that are numbers."""

    exceptions = SimpleNamespace(
        **{error.__name__: error for error in (*_ERRORS, RayActorError, TaskCancelledError)}
    )

    def __init__(self, shapes: list[Shape], seed: int, trouble: Trouble) -> None:
        self.clock = SimulatedClock()
        self.machines = [
            Machine(number, shape, shape.cpus, shape.gpus) for number, shape in enumerate(shapes)
        ]
        self.attempts: Counter[str] = Counter()  # of each job
        self.finished: Counter[str] = Counter()  # times that it was done to the end
        self.useful = 0.0  # core seconds of what was done to the end
        self.wasted = 0.0  # and of what was lost
        self.busy: list[tuple[float, float]] = []  # when so many cores began or ended to be busy
        self.offered: list[tuple[float, float]] = [(0.0, sum(shape.cpus for shape in shapes))]
        self._seed, self._trouble = seed, trouble
        self._open = dict.fromkeys(self.machines)  # those that may have room
        self._queue: dict[Shape, deque[Holding]] = {}
        self._actors_created = 0.0  # when the last of those asked for is

    # What the dispatcher calls.

    def nodes(self) -> list[dict[str, Any]]:
        """Return the machines as Ray lists them."""
        with self.clock.measured():
            return [
                {
                    "NodeID": f"{machine.number}",
                    "Alive": machine.is_alive,
                    "Resources": {"CPU": machine.total.cpus, "GPU": machine.total.gpus},
                }
                for machine in self.machines
            ]

    def remote(self, what: Any) -> "_Remote":
        """Return what can be given options and called."""
        return _Remote(self, what is RayWorker, Shape(1.0, 0.0))

    def kill(self, handle: "_ActorHandle") -> None:
        """End an actor at once."""
        with self.clock.measured():
            self.end(handle.holding, RayActorError("killed"))

    def cancel(self, reference: Reference, *, force: bool) -> None:
        """End a task at once."""
        assert force
        with self.clock.measured():
            self.end(reference.holding, TaskCancelledError("cancelled"))

    # What happens to machines.

    def fail(self, machine: Machine, notice: float) -> None:
        """Let a machine die; Ray notices so many seconds later."""
        if not machine.is_up:
            return
        machine.is_up = False
        for holding in machine.holders:
            self._stop_working(holding, useful=False)
        self.offered.append((self.clock.time, -machine.total.cpus))
        self.clock.after(notice, lambda: self._notice(machine))

    def recover(self, machine: Machine) -> None:
        """Let a machine come back, empty."""
        if machine.is_up:
            return
        self._notice(machine)
        machine.is_up = machine.is_alive = True
        machine.cpus, machine.gpus = machine.total
        self.offered.append((self.clock.time, machine.total.cpus))
        self._make_room(machine)

    def _notice(self, machine: Machine) -> None:
        if machine.is_up or not machine.is_alive:
            return
        machine.is_alive = False
        self._open.pop(machine, None)
        for holding in list(machine.holders):
            kind = RayActorError if holding.is_actor else NodeDiedError
            self.end(holding, kind("its machine died"))

    # Placing.

    def create(self, holding: Holding) -> None:
        """Queue a task or an actor for a place."""
        delay = 0.0
        if holding.is_actor:
            moment = max(self._actors_created, self.clock.time) + 1 / _ACTORS_PER_SECOND
            self._actors_created = moment
            delay = moment - self.clock.time
        self.clock.after(delay, lambda: self._find_place(holding))

    def _find_place(self, holding: Holding) -> None:
        if holding.has_ended:
            return
        for machine in self._open:
            if machine.fits(holding.shape):
                self._place(holding, machine)
                return
        self._queue.setdefault(holding.shape, deque()).append(holding)

    def _make_room(self, machine: Machine) -> None:
        if not machine.is_alive:
            return
        self._open[machine] = None
        for shape, queue in self._queue.items():
            while queue and machine.fits(shape):
                holding = queue.popleft()
                if not holding.has_ended:
                    self._place(holding, machine)

    def _place(self, holding: Holding, machine: Machine) -> None:
        holding.machine = machine
        machine.cpus -= holding.shape.cpus
        machine.gpus -= holding.shape.gpus
        machine.holders[holding] = None
        if machine.cpus < 1e-4:
            self._open.pop(machine, None)
        if holding.is_actor:
            self.clock.after(_ACTOR_SECONDS, lambda: self._come_up(holding))
        else:
            self._work(holding, _TASK_SECONDS, *holding.load)

    # Working.

    def _come_up(self, holding: Holding) -> None:
        if not holding.has_ended and holding.machine and holding.machine.is_up:
            holding.is_up = True
            self._answer(holding, f"{holding.machine.number}")

    def do(self, holding: Holding, family: str, packed: bytes, limit: float) -> None:
        """Let an actor work at a job."""
        assert holding.is_up, "it is given a job before it is up"
        holding.limit = limit
        delay = 0.0
        if family != holding.family:
            holding.family, delay = family, self._trouble.load_seconds
        self._work(holding, delay, *pickle.loads(pickle.loads(packed)[1]))

    def _work(
        self, holding: Holding, delay: float, work: Callable[..., Any], args: tuple[Any, ...]
    ) -> None:
        assert holding.machine
        load = next(one for one in args if isinstance(one, Load))
        self.attempts[load.name] += 1
        if not holding.machine.is_up:  # which Ray does not know yet
            return
        rng = rng_for(self._seed, "attempt", load.name, self.attempts[load.name])
        seconds = load.seconds
        if rng.random() < self._trouble.slow_share:
            seconds *= self._trouble.slow_times
        call, outcome = holding.call, ("done", "")
        lost_loading = delay >= self._trouble.load_seconds > 0 and (
            rng.random() < self._trouble.lost_loading
        )
        if holding.machine.crashes_all:
            seconds, outcome = _CRASH_SECONDS, ("crashed", "crashed (SIGBUS)")
        elif load.end == "crashes":
            outcome = ("crashed", "crashed (SIGSEGV)")
        elif load.end == "kills" or lost_loading:
            outcome = ("kills", "")
        elif seconds > holding.limit:
            seconds, outcome = holding.limit, ("lost", f"took over {holding.limit:g} s")
        holding.began = self.clock.time
        self.busy.append((self.clock.time, holding.shape.cpus))

        def end() -> None:
            if holding.call is call:
                self._end_work(holding, load.name, outcome, lambda: work(*args))

        self.clock.after(delay + seconds, end)

    def _end_work(
        self, holding: Holding, name: str, outcome: tuple[str, str], work: Callable[[], Any]
    ) -> None:
        if holding.machine is None or not holding.machine.is_up:
            return
        how, reason = outcome
        self._stop_working(holding, useful=how == "done")
        if how == "kills":
            self.end(holding, (RayActorError if holding.is_actor else WorkerCrashedError)("died"))
            return
        if how == "done":
            self.finished[name] += 1
        value = pickle.dumps((work(), None)) if how == "done" else reason
        self._answer(holding, (how, value))
        if not holding.is_actor:
            self._leave(holding)

    def _stop_working(self, holding: Holding, useful: bool) -> None:
        if holding.began is None:
            return
        seconds = (self.clock.time - holding.began) * holding.shape.cpus
        if useful:
            self.useful += seconds
        else:
            self.wasted += seconds
        self.busy.append((self.clock.time, -holding.shape.cpus))
        holding.began = None

    def end(self, holding: Holding, error: RayError) -> None:
        """End a task or an actor with an error, wherever it is."""
        if holding.has_ended:
            return
        self._stop_working(holding, useful=False)
        self._answer(holding, error)
        self._leave(holding)

    def _answer(self, holding: Holding, value: Any) -> None:
        call, holding.call = holding.call, None
        if call is None:
            return
        if isinstance(value, RayError):
            call.outcome.set_exception(value)
        else:
            call.outcome.set_result(value)

    def _leave(self, holding: Holding) -> None:
        holding.has_ended = True
        machine, holding.machine = holding.machine, None
        if machine:
            del machine.holders[holding]
            machine.cpus += holding.shape.cpus
            machine.gpus += holding.shape.gpus
            self._make_room(machine)


class _Remote:
    """A function or a class that is called on the cluster."""

    def __init__(self, ray: SimulatedRay, is_actor: bool, shape: Shape) -> None:
        self._ray, self._is_actor, self._shape = ray, is_actor, shape

    def options(self, num_cpus: float, num_gpus: float, max_retries: int = 0) -> "_Remote":
        assert max_retries == 0
        return _Remote(self._ray, self._is_actor, Shape(num_cpus, num_gpus))

    def remote(self, *arguments: Any) -> Any:
        with self._ray.clock.measured():
            self._ray.clock.time += _CALL_SECONDS
            holding = Holding(self._shape, self._is_actor)
            self._ray.create(holding)
            if self._is_actor:
                return _ActorHandle(self._ray, holding)
            packed, holding.limit, *_ = arguments
            holding.load = pickle.loads(pickle.loads(packed)[1])
            holding.call = Reference(holding)
            return holding.call


class _ActorHandle:
    """An actor whose methods can be called."""

    def __init__(self, ray: SimulatedRay, holding: Holding) -> None:
        self._ray, self.holding = ray, holding
        self.ready = SimpleNamespace(remote=self._ready)
        self.do = SimpleNamespace(remote=self._do)

    def _ready(self) -> Reference:
        self.holding.call = Reference(self.holding)
        return self.holding.call

    def _do(self, family: str, packed: bytes, limit: float, *_: int) -> Reference:
        clock = self._ray.clock
        with clock.measured():
            clock.time += _CALL_SECONDS
            reference = Reference(self.holding)
            if self.holding.has_ended:
                reference.outcome.set_exception(RayActorError("dead"))
            else:
                self.holding.call = reference
                self._ray.do(self.holding, family, packed, limit)
            return reference
