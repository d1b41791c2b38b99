"""Commands as processes that begin at once: forks of one that has imported what they need.

A Python that imports NumPy, SciPy, FFmpeg and all of Reelbench spends a second on that, and tests
start several hundred commands. As a program, this module is that process; imported, it asks it.
A command has its own process, folder, environment, signals and streams, and ends as any other. It can
be interrupted at a step of its own: whoever looks at it from outside and then sends a signal may be
too late, on a busy machine.
"""

import atexit
import gc
import itertools
import json
import os
import pkgutil
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

_NUMBER = struct.Struct("!q")
NEVER = 1e6  # seconds
Step = tuple[int, str, int]  # a signal, the name of a function, and after which of its calls
_PRELOAD = (
    "reelbench.evaluate.run",
    "reelbench.lint.lint",
    "reelbench.make.pipeline.make",
    "reelbench.recipes.demo.recipe",
    "reelbench.report.report",
    "reelbench.score.agreement",
    "rich.progress",
    "scipy.stats",
)


class Command:
    """A command that runs; it is spoken to as to a ``subprocess.Popen``."""

    def __init__(
        self,
        words: Sequence[object],
        streams: Sequence[int],
        cwd: Path | None = None,
        server: str | None = None,
        interrupted: Step | None = None,
    ) -> None:
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(server or _server())
        request = {
            "words": [*map(str, words)],
            "cwd": str(cwd or os.getcwd()),
            "env": dict(os.environ),
            "interrupted": interrupted,
        }
        data = json.dumps(request).encode()
        socket.send_fds(self._line, [_NUMBER.pack(len(data))], streams)
        self._line.sendall(data)
        self.pid = _number(self._line)
        self.returncode: int | None = None

    def wait(self, limit: float | None = None) -> int:
        """Wait for its end, and return its exit status; below zero, the signal that ended it."""
        if self.returncode is None:
            if not select.select([self._line], [], [], limit)[0]:
                raise subprocess.TimeoutExpired("reelbench", limit or 0)
            self.returncode = _number(self._line)
            self._line.close()
        return self.returncode

    def poll(self) -> int | None:
        """Return its exit status if it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, sign: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, sign)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


class CapturedCommand(Command):
    """A command whose output and talk are kept."""

    def __init__(
        self, *words: object, cwd: Path | None = None, interrupted: Step | None = None
    ) -> None:
        self._files = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115
        self._texts: list[str] = []
        with open(os.devnull, "rb") as nothing:
            streams = [file.fileno() for file in (nothing, *self._files)]
            super().__init__(words, streams, cwd, interrupted=interrupted)

    def wait(self, limit: float | None = None) -> int:
        """Wait for its end, and return its exit status; below zero, the signal that ended it."""
        status = super().wait(limit)
        for file in self._files:
            with file:
                file.seek(0)
                self._texts.append(file.read().decode())
        self._files = []
        return status

    def communicate(self) -> tuple[str, str]:
        """Wait for its end, and return its output and its talk."""
        self.wait()
        return self._texts[0], self._texts[1]


def shim(folder: Path) -> Path:
    """Write a program ``reelbench`` into a folder, for who looks there: a shell, for one."""
    program = folder / "reelbench"
    program.write_text(
        f"#!{sys.executable} -S\nimport sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from commands import Command\n"
        f"status = Command(sys.argv[1:], (0, 1, 2), server={_server()!r}).wait()\n"
        "sys.exit(status if status >= 0 else 128 - status)\n"
    )
    program.chmod(0o755)
    return program


@cache
def _server() -> str:
    """Start the process that forks, once; it ends with this one."""
    address = os.path.join(tempfile.mkdtemp(prefix="reelbench-commands-"), "socket")
    process = subprocess.Popen(
        [sys.executable, __file__, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(process.communicate)  # which closes the pipe that it waits for
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    return address


def _number(line: socket.socket) -> int:
    data = line.recv(_NUMBER.size, socket.MSG_WAITALL)
    assert len(data) == _NUMBER.size, "the process that starts commands has ended"
    return int(_NUMBER.unpack(data)[0])


def serve(address: str) -> None:
    """Take requests, and fork for each, for as long as who started this one lives."""
    for name in _PRELOAD:
        import_module(name)
    with suppress(ImportError):  # of an extra
        import_module("reelbench.review.serve")
        people = import_module("reelbench.review.people")
        # Slow on purpose, a hundred times; Accounts in the tests' own process hash in earnest.
        people.PasswordHasher = partial(
            people.PasswordHasher, time_cost=1, memory_cost=64, parallelism=1
        )
    for name in import_module("reelbench.cli").COMMANDS:
        import_module(f"reelbench.cli.{name}")
    # A slow machine is not seen in what commands say: lines about how long they are at work.
    import_module("reelbench.base.progress")._LINE_SECONDS = NEVER
    gc.freeze()
    ends, tell = os.pipe()  # a byte when a command ends
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    print("ready", flush=True)
    lines: dict[int, socket.socket] = {}
    while sys.stdin not in (ready := select.select([listener, sys.stdin, ends], [], [])[0]):
        if listener in ready:
            line, _ = listener.accept()
            lines[_start(line)] = line
        if ends in ready:
            os.read(ends, 1)
            _say_ends(lines)
    os.unlink(address)
    os.rmdir(os.path.dirname(address))


def _start(line: socket.socket) -> int:
    """Fork a command, and say its number."""
    size, streams, _, _ = socket.recv_fds(line, _NUMBER.size, 3)
    request = json.loads(line.recv(_NUMBER.unpack(size)[0], socket.MSG_WAITALL))
    command = os.fork()
    if command == 0:
        _perform(request, streams)
    for stream in streams:
        os.close(stream)
    line.sendall(_NUMBER.pack(command))
    return command


def _say_ends(lines: dict[int, socket.socket]) -> None:
    """Tell those who asked for commands that have ended how they did."""
    with suppress(ChildProcessError):
        while (end := os.waitpid(-1, os.WNOHANG))[0]:
            with lines.pop(end[0]) as line, suppress(OSError):  # who asked may be gone
                line.sendall(_NUMBER.pack(os.waitstatus_to_exitcode(end[1])))


def _perform(request: dict[str, Any], streams: Sequence[int]) -> NoReturn:
    """Be the command, as ``python -m reelbench`` is."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.path[0] = request["cwd"]
    sys.argv = ["reelbench", *request["words"]]
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    if request["interrupted"]:
        _interrupt(*request["interrupted"])
    try:
        status = import_module("reelbench.cli").main()
    except SystemExit as end:  # of argparse
        status = end.code
    try:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
    finally:  # also where Ctrl-C comes once more: what follows is the life of the process that forks
        os._exit(status)  # taking three thousand modules apart would double what a command costs


def _interrupt(sign: int, function: str, calls: int) -> None:
    """Send this process a signal when a function has been called so many times."""
    place, _, name = function.rpartition(".")
    owner = pkgutil.resolve_name(place)
    real, called = getattr(owner, name), itertools.count(1)

    def counting(*words: Any, **more: Any) -> Any:
        result = real(*words, **more)
        if next(called) == calls:
            os.kill(os.getpid(), sign)
        return result

    setattr(owner, name, counting)


if __name__ == "__main__":
    serve(sys.argv[1])
