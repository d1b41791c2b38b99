"""One interface for all places where work runs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Job:
    """One call: ``work(*args)``, which takes about so many cores and graphics cards.

    ``name`` is what errors call it; ``family`` groups jobs that share a model, so that a place may
    keep it loaded for them.
    """

    name: str
    work: Callable[..., Any]
    args: tuple[Any, ...]
    family: str = ""
    cpus: float = 1.0
    gpus: float = 0.0


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a job: its result, or why there is none."""

    job: Job
    result: Any = None
    error: Exception | None = None  # that the work raised
    lost: str = ""  # how its worker ended ("crashed (SIGKILL)", "took over 300 s")


class Engine(Protocol):
    """A place where jobs run."""

    def run(self, jobs: Sequence[Job], limit: float) -> Iterator[Done]:
        """Run jobs, many at a time, and yield each as it is done, in any order.

        A job that raises, hangs for over ``limit`` seconds or ends its worker costs itself alone.
        Closing the iterator ends what is under way.
        """

    def close(self) -> None:
        """Let go of all workers."""
