"""A command that ends together with all that it started, also if this process is killed.

Between this process and the command runs a supervisor: this file as a program, which imports
little and starts at once. It adopts what the command leaves behind, so that nothing is lost sight
of, and ends all of it when the pipe to this process closes, which the system does however this
process ends.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

GRACE = 10.0  # seconds between SIGTERM and SIGKILL
_LEFT_BEHIND = 2.0  # the same, for what a command that ended by itself has left
_ADOPT_ORPHANS, _DIE_WITH_PARENT = 36, 1  # prctl's numbers for them
_BY_SIGNAL = 128  # plus the number of a signal: the exit status of what it ended, as in a shell


class SupervisedProcess:
    """A command that runs, with its output in a file; it is not reached by Ctrl-C."""

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str], grace: float
    ) -> None:
        theirs, self._life = os.pipe()
        try:
            with log.open("ab") as output:
                self._process = subprocess.Popen(  # noqa: S603 - what the user names
                    [sys.executable, "-I", "-S", __file__, str(theirs), str(grace), *command],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=(theirs,),
                    env=environment,
                )
        except BaseException:
            os.close(self._life)
            raise
        finally:
            os.close(theirs)
        self._is_ended = False

    @property
    def status(self) -> int | None:
        """The exit status once it and all that it started have ended; None while it runs."""
        return self._process.poll()

    @property
    def ending(self) -> str:
        """How it ended: the exit status or the signal."""
        status = self._process.poll()
        if status is None:
            return "still runs"
        number = -status if status < 0 else status - _BY_SIGNAL
        if number > 0:
            with suppress(ValueError):
                return f"ended by {signal.Signals(number).name}"
        return f"ended with exit status {status}"

    def end(self) -> None:
        """End it and all that it started, and return when they are gone."""
        if not self._is_ended:
            self._is_ended = True
            os.close(self._life)
        self._process.wait()


def main(words: Sequence[str]) -> int:
    """Run a command until it ends or the pipe closes; return its exit status."""
    life, grace, command = int(words[0]), float(words[1]), words[2:]
    os.set_inheritable(life, False)
    _prctl(_ADOPT_ORPHANS, 1)
    news, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    try:
        process = subprocess.Popen(  # noqa: S603 - what the user names
            command,
            start_new_session=True,
            preexec_fn=lambda: _prctl(_DIE_WITH_PARENT, signal.SIGKILL),
        )
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error}\n")
        return 127
    # `process` stays alive: its deletion would take the exit status of a command that has ended.
    child = process.pid
    status = _watch(child, life, news)
    _end_all(child, grace if status is None else min(grace, _LEFT_BEHIND), news)
    return 0 if status is None else status if status >= 0 else _BY_SIGNAL - status


def _watch(child: int, life: int, news: int) -> int | None:
    """Return the exit status of the command, or None if it is to be ended."""
    while True:
        for process, status in _ended():
            if process == child:
                return status
        ready = select.select([life, news], [], [])[0]
        if life in ready:
            return None
        if not {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}.isdisjoint(os.read(news, 4096)):
            return None


def _end_all(child: int, grace: float, news: int) -> None:
    for number, limit, times in ((signal.SIGTERM, grace, 1), (signal.SIGKILL, 0.2, 50)):
        for _ in range(times):  # what is being started may not be on the first list
            if not _send(number, child):
                return
            deadline = _now() + limit
            while (left := deadline - _now()) > 0:
                _ended()
                if not _descendants(child):
                    return
                if select.select([news], [], [], min(left, 0.2))[0]:
                    os.read(news, 4096)


def _send(number: int, child: int) -> bool:
    """Send a signal to all that is left; return whether anything is."""
    _ended()
    left = _descendants(child)
    for process in left:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
    return bool(left)


def _ended() -> list[tuple[int, int]]:
    """Return the processes that have ended since the last time, and how."""
    found = []
    with suppress(ChildProcessError):
        while (end := os.waitpid(-1, os.WNOHANG))[0]:
            found.append((end[0], os.waitstatus_to_exitcode(end[1])))
    return found


def _descendants(child: int) -> list[int]:
    """Return the processes below this one; where the system has no list, the command's group."""
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if entry.isdigit():
            with suppress(OSError, IndexError, ValueError):
                state, parent = (
                    Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[:2]
                )
                if state not in "ZX":
                    parents[int(entry)] = int(parent)
    if not parents:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, 0)
            return [-child]  # as os.kill takes a group
        return []
    found, below = [], {os.getpid()}
    while below:
        below = {process for process, parent in parents.items() if parent in below}
        found += sorted(below)
    return found


def _prctl(option: int, value: int) -> None:
    with suppress(OSError, AttributeError):  # where it is not Linux
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _now() -> float:
    return os.times().elapsed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
