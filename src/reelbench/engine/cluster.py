"""A Ray cluster: the same jobs, on many machines.

Ray finds a machine with room and notices when one is gone. Inside each of its workers, the job is
done by a process of ours (``reelbench.base.workers``), just as on one machine: so what raises,
hangs, crashes or uses too much memory is reported in the same words wherever it ran, and the time
limit of a job counts from when the job starts, not from when it was queued.
"""

import logging
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.workers import GIGABYTE, cores
from reelbench.engine.base import Job, JobResult
from reelbench.engine.dispatch import Dispatch
from reelbench.weights import import_extra

if TYPE_CHECKING:
    from reelbench.engine.slots import RayActor

_STORE_BYTES = GIGABYTE // 2  # of shared memory, in a cluster of our own: labels are small
_LONGEST_FOLDER = 30  # characters: Ray adds 70, and a socket's name may have 107


class RayEngine:
    """Runs jobs on the cluster at an address, or on one that it starts here and ends itself."""

    def __init__(self, address: str | None = None, memory: int = 6 * GIGABYTE) -> None:
        _silence_ray()
        self._ray = import_extra("ray", "ray")
        self._memory = memory
        self._actors: list[RayActor] = []  # with models loaded, between runs
        self._is_running = False
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._is_shared = self._ray.is_initialized()  # of a program that uses Ray itself
        if self._is_shared and address:
            raise ReelbenchError(
                f"This program is already connected to a Ray cluster and cannot connect to "
                f"{address} as well: leave the address out, or call ray.shutdown() first."
            )
        if not self._is_shared:
            self._connect(address)

    def _connect(self, address: str | None) -> None:
        quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
        try:
            if address:
                _check_reachable(address)
                self._ray.init(address=address, **quiet)
            else:
                self._ray.init(address="local", **quiet, **self._own_cluster())
        except (OSError, RuntimeError, ValueError, self._ray.exceptions.RayError) as error:
            self.close()
            where = f"at {address}" if address else "on this machine"
            raise ReelbenchError(
                f"No Ray cluster could be reached {where} ({_last_line(error)}). Check that the "
                "address is right, that the cluster is running (ray status), that it has the same "
                "versions of Ray and Python, and, if it asks for a token, that RAY_AUTH_MODE=token "
                "and RAY_AUTH_TOKEN are set."
            ) from error

    def _own_cluster(self) -> dict[str, Any]:
        # A secret of its own, so that Ray writes none into the home folder; a folder of its own,
        # so that no other program takes this cluster for its own, with a short name, for sockets
        # are in it.
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        place = tempfile.gettempdir()
        short = place if len(place) < _LONGEST_FOLDER else "/tmp"  # noqa: S108 - a fresh folder inside it
        self._folder = tempfile.TemporaryDirectory(
            prefix="reel-", dir=short, ignore_cleanup_errors=True
        )
        return {
            "num_cpus": cores(),
            "include_dashboard": False,
            "object_store_memory": _STORE_BYTES,
            "_temp_dir": self._folder.name,
        }

    def run(self, jobs: Sequence[Job], limit: float) -> Iterator[JobResult]:
        """Run jobs on the cluster and yield the result of each as it finishes."""
        if self._is_running:
            raise RuntimeError("an engine runs one batch at a time: close the other iterator first")
        self._is_running = True
        run = Dispatch(self._ray, jobs, limit, self._memory, self._actors)
        try:
            yield from run.results()
        finally:
            self._actors = run.end()
            self._is_running = False

    def close(self) -> None:
        """End our workers and disconnect; a cluster that this engine started is shut down."""
        for actor in self._actors:
            with suppress(Exception):  # it may be gone already
                self._ray.kill(actor.handle)
        self._actors = []
        if not self._is_shared and self._ray.is_initialized():
            self._ray.shutdown()  # what it started, by process id
        if self._folder:
            self._folder.cleanup()
            self._folder = None


def _silence_ray() -> None:
    """Set what keeps Ray from printing, before it is imported: standard output is for data."""
    logging.getLogger("ray").setLevel(logging.ERROR)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else it warns of a change
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")  # what it would print when a node dies


def _check_reachable(address: str) -> None:
    """Raise OSError where nothing listens at an address; Ray itself takes minutes to notice."""
    host, _, port = address.rpartition(":")
    if port.isdigit() and "://" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _last_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1].rstrip(".")
