"""What the dispatcher keeps track of: jobs that wait, and the tasks and actors that run them."""

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from reelbench.engine.base import Job

if TYPE_CHECKING:
    from concurrent.futures import Future


class JobKind(NamedTuple):
    """What makes jobs interchangeable for an actor: the same family and the same resources."""

    family: str
    cpus: float
    gpus: float


@dataclass(eq=False, slots=True)
class QueuedJob:
    """A job, how often its worker or machine crashed, and where and when that was."""

    job: Job
    crashes: int = 0
    machines: set[str] = field(default_factory=set)
    last_crash: float = 0.0


@dataclass(eq=False, slots=True)
class RayTask:
    """A job without a family, which runs as a Ray task in any worker."""

    kind: JobKind
    cpus: float  # reserved for it: fewer than asked for where no machine has as many
    queued: QueuedJob
    reference: Any


@dataclass(eq=False, slots=True)
class RayActor:
    """A Ray actor, which keeps the model of one family loaded, and the job it runs, if any."""

    kind: JobKind
    cpus: float
    handle: Any
    machine: str = ""  # Ray's name of it, once the actor is up
    queued: QueuedJob | None = None
    crashes: int = 0  # of its jobs, in a row
    call: "Future[Any] | None" = None  # that it has not answered yet


@dataclass(eq=False, slots=True)
class JobQueue:
    """The jobs of one kind that wait, and the actors that could take them."""

    jobs: deque[QueuedJob] = field(default_factory=deque)
    idle: list[RayActor] = field(default_factory=list)
    starting: dict[RayActor, None] = field(default_factory=dict)
    failing_since: float | None = None  # when an actor could not start, and none has since
    next_start: float = 0.0  # not before, while that is so

    def needs_actor(self, now: float) -> bool:
        """Return whether more actors should be started."""
        if self.failing_since is not None:
            # One at a time: the only idle core may be one where none ever comes up.
            return bool(self.jobs) and not self.starting and now >= self.next_start
        return len(self.starting) < len(self.jobs)
