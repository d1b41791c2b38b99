"""The interface of all engines."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Job:
    """One call: ``work(*args)``, and the number of cores and GPUs to reserve for it.

    ``name`` identifies it in errors; ``family`` groups jobs that share a model, so that an engine
    can keep the model loaded for them.
    """

    name: str
    work: Callable[..., Any]
    args: tuple[Any, ...]
    family: str = ""
    cpus: float = 1.0
    gpus: float = 0.0

    @property
    def threads(self) -> int:
        """How many threads its libraries may start: one for each core that it reserves."""
        return max(1, int(self.cpus))


@dataclass(frozen=True, slots=True)
class JobResult:
    """The outcome of a job: its result, the error it raised, or how its worker ended."""

    job: Job
    result: Any = None
    error: Exception | None = None  # raised by the work
    lost: str = ""  # how its worker ended ("crashed (SIGKILL)", "took over 300 s")


class Engine(Protocol):
    """Runs jobs: on this machine or on a cluster."""

    def run(self, jobs: Sequence[Job], limit: float) -> Iterator[JobResult]:
        """Run jobs in parallel and yield the result of each as it finishes, in any order.

        A caller that learns from a result what to do next appends it to ``jobs``, a list then.
        A job that raises, runs for over ``limit`` seconds or crashes its worker does not affect
        the others. Closing the iterator stops the jobs that are running.
        """

    def close(self) -> None:
        """End all workers."""
