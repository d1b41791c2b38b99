"""What tests ask workers to do. A module of its own, for a worker must be able to import it."""

import os
import signal
import threading
from pathlib import Path

from reelbench.base.workers import GIGABYTE


def double(number: int) -> int:
    return 2 * number


def fail(text: str) -> None:
    raise ValueError(text)


def fail_at(path: Path, kind: type[Exception]) -> None:
    raise kind(f"of ours, at {path}")


def hang() -> None:
    threading.Event().wait()


def die(sign: int) -> None:
    os.kill(os.getpid(), sign)


def eat() -> int:
    return len(bytearray(3 * GIGABYTE))


def stall_or_double(number: int) -> int:
    if number == 3:
        die(signal.SIGKILL)
    return 2 * number


def environment(*names: str) -> list[str | None]:
    return [os.environ.get(name) for name in names]


def threads_with_numpy() -> int:
    """How many threads this process has once NumPy is loaded."""
    import numpy as np

    np.ones((200, 200)) @ np.ones((200, 200))
    return len(list(Path("/proc/self/task").iterdir()))


def make_a_lock() -> object:
    return threading.Lock()
