"""What tests of engines ask to be done. A module of its own, for a worker must find it."""

import os
import time
from pathlib import Path

WAITING = 300.0  # seconds: no test waits so long


def mark(folder: str, name: str, seconds: float = 0.0) -> str:
    """Take a while; leave a line when it is done, so that it is seen if it is done twice."""
    _leave(folder, "begun", f"{name} {os.getpid()} {os.getppid()}")
    time.sleep(seconds)
    _leave(folder, "done", name)
    return name.upper()


def mark_again(folder: str, name: str) -> str:
    """Mark at the second attempt: the first waits to be killed, however long that takes."""
    if name not in begun(Path(folder)):
        mark(folder, name, WAITING)
    return mark(folder, name)


def mark_elsewhere(folder: str, name: str, away: int) -> str:
    """Mark on all nodes but one: there it waits to be killed with the node."""
    return mark(folder, name, WAITING if node() == away else 0.1)


def mark_and_die(folder: str, sign: int) -> None:
    _leave(folder, "begun", f"dying {os.getpid()} {os.getppid()}")
    os.kill(os.getpid(), sign)


def node(seconds: float = 0.0) -> int:
    """Return which node this is, as its process tree is a session."""
    time.sleep(seconds)
    return os.getsid(os.getppid())


def begun(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the last worker of each, and its parent."""
    lines = [line.split() for line in _read(folder, "begun")]
    return {name: (int(worker), int(parent)) for name, worker, parent in lines}


def attempts(folder: Path) -> int:
    return len(_read(folder, "begun"))


def done(folder: Path) -> list[str]:
    return sorted(_read(folder, "done"))


def _leave(folder: str, file: str, line: str) -> None:
    with open(Path(folder) / file, "a") as lines:  # one write: no line is torn
        lines.write(f"{line}\n")


def _read(folder: Path, file: str) -> list[str]:
    path = folder / file
    return path.read_text().splitlines() if path.exists() else []
