"""What happens inside one of Ray's workers: one job at a time, in a process that can be killed."""

import functools
import pickle
import sys
from collections.abc import Callable
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.workers import WorkerError, WorkerPool
from reelbench.weights import import_extra


def pack(work: Callable[..., Any], args: tuple[Any, ...]) -> bytes:
    """Pickle a call together with ``sys.path``, by which the worker finds its code."""
    try:
        return pickle.dumps((sys.path, pickle.dumps((work, args))))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise _not_importable(error) from error


def unpack(outcome: bytes) -> tuple[Any, Exception | None]:
    """Return what a job returned, or what it raised."""
    try:
        result, error = pickle.loads(outcome)  # noqa: S301 - our own, from our own worker
    except Exception as failure:  # of a class that cannot be made again
        return None, failure
    return result, error


def do(packed: bytes, limit: float, memory: int, threads: int) -> tuple[str, Any]:
    """Run a job; return "done" with its pickled outcome, or "lost" or "crashed" with the reason."""
    try:
        work, args = _unpack_call(packed)
        result = _process(memory).call(work, *args, limit=limit, threads=threads)
        return "done", pickle.dumps((result, None))
    except WorkerError as error:
        # A crash may come from outside, as when memory is short, and is worth another attempt.
        return "crashed" if str(error).startswith("crashed") else "lost", str(error)
    except Exception as error:  # whatever the work raised is its outcome
        return "done", pickle.dumps((None, error))


class RayWorker:
    """A Ray actor for one family of jobs at a time, whose process keeps what they load."""

    def __init__(self) -> None:
        self._family = ""

    def ready(self) -> str:
        """Return, once the actor has started, Ray's name of its machine."""
        return str(import_extra("ray", "ray").get_runtime_context().get_node_id())

    def do(
        self, family: str, packed: bytes, limit: float, memory: int, threads: int
    ) -> tuple[str, Any]:
        """Run a job; in a new process if it is of another family than the last."""
        if family != self._family:
            _process(memory).close()
            _process.cache_clear()
            self._family = family
        return do(packed, limit, memory, threads)


def _unpack_call(packed: bytes) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    path, call = pickle.loads(packed)  # noqa: S301 - our own, from our own driver
    sys.path += [place for place in path if place not in sys.path]  # where it is the same here
    try:
        work, args = pickle.loads(call)  # noqa: S301
    except Exception as error:  # of the import of whatever it is
        raise _not_importable(error) from error
    return work, args


@functools.cache
def _process(memory: int) -> WorkerPool:
    return WorkerPool(1, memory)


def _not_importable(error: Exception) -> ReelbenchError:
    return ReelbenchError(
        f"A job cannot be sent to the Ray cluster ({error}): its function must belong to a module "
        "that every machine can import, with the same packages installed, and its arguments must "
        "be plain data."
    )
