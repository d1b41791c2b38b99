"""A PostgreSQL of one's own: Debian's server, in a temporary folder, on a free port."""

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from review.serving import free_port
from support import is_gone, is_stopped, wait_until


def postgresql_programs() -> Path | None:
    """Return the folder of the newest PostgreSQL server on this machine, if there is one."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name)
    )
    on_path = shutil.which("initdb")
    found = [Path(on_path).resolve().parent, *found] if on_path else found
    return next((each for each in reversed(found) if (each / "initdb").exists()), None)


@dataclass
class PostgresServer:
    """A server that can be stopped, killed and started again; it runs as an ordinary user."""

    programs: Path
    folder: Path
    port: int = 0
    process: subprocess.Popen[bytes] | None = None
    user: str | None = field(default_factory=lambda: "nobody" if os.geteuid() == 0 else None)

    def create(self) -> None:
        """Make the files of the server."""
        self.folder.mkdir(parents=True)
        if self.user:
            shutil.chown(self.folder, self.user)
        self.port = free_port()
        self._run("initdb", "--username=tester", "--auth=trust", "--no-sync", "--encoding=UTF8",
                  "--locale=C", self.folder / "data")  # fmt: skip

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        command = [self.programs / "postgres", "-D", self.folder / "data", "-p", self.port,
                   "-c", f"unix_socket_directories={self.folder}", "-h", "127.0.0.1",
                   "-c", "shared_buffers=16MB"]  # fmt: skip
        log = (self.folder.parent / "postgresql.log").open("ab")
        self.process = subprocess.Popen(
            list(map(str, command)), stdout=log, stderr=log, user=self.user, cwd="/",
            start_new_session=True,
        )  # fmt: skip
        log.close()
        ready = [self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        for _ in range(600):
            if subprocess.run(ready).returncode == 0:
                return
            assert self.process.poll() is None, "PostgreSQL ended: see postgresql.log"
            time.sleep(0.05)
        raise AssertionError("PostgreSQL does not answer")

    def kill(self) -> None:
        """End all processes of the server as a power cut would."""
        if self.process is not None:
            first = self.process.pid
            # It must not see its children go, nor start another one that would be left.
            self.process.send_signal(signal.SIGSTOP)
            wait_until(lambda: is_stopped(first))
            # Each of its processes is the leader of a group: those of this parent, then itself.
            listed = subprocess.run(
                ["ps", "-o", "pid=", "--ppid", str(first)], capture_output=True, text=True
            )
            children = [*map(int, listed.stdout.split())]
            for pid in children:
                os.kill(pid, signal.SIGKILL)
            self.process.kill()
            self.process.wait()
            self.process = None
            # One that still ends holds the memory that the next server wants to itself.
            wait_until(lambda: all(map(is_gone, children)))

    def stop(self) -> None:
        """End the server in order."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(100)
            self.process = None

    def database(self) -> str:
        """Return the address of a new, empty database."""
        name = f"review_{uuid4().hex[:8]}"
        self._run("createdb", "-h", "127.0.0.1", "-p", self.port, "-U", "tester", name)
        return f"postgresql://tester@127.0.0.1:{self.port}/{name}"

    def _run(self, program: str, *words: object) -> None:
        command = list(map(str, [self.programs / program, *words]))
        done = subprocess.run(command, capture_output=True, text=True, user=self.user, cwd="/")
        assert done.returncode == 0, done.stderr
