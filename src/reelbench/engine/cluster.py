"""A Ray cluster: the same jobs, on many machines.

Ray finds a machine with room and notices when one is gone. Inside each of its workers, the job is
done by a process of ours (``reelbench.base.workers``), just as on one machine: so what raises,
hangs, crashes or eats memory is told in the same words wherever it ran, and the clock of a job
starts when the job does, not when it began to wait for room.
"""

import logging
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.workers import GIGABYTE, cores
from reelbench.engine.base import Done, Job
from reelbench.engine.dispatch import Dispatch, Holder
from reelbench.weights import needs

_STORE = GIGABYTE // 2  # of shared memory, in a cluster of our own: labels are small
_LONG = 30  # characters: Ray adds 70, and a socket's name may have 107


class RayEngine:
    """Runs jobs on the cluster at an address, or on one that it starts here and ends itself."""

    def __init__(self, address: str | None = None, memory: int = 6 * GIGABYTE) -> None:
        _hush()
        self._ray = needs("ray", "ray")
        self._memory = memory
        self._kept: list[Holder] = []  # with models loaded, between runs
        self._is_running = False
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._is_guest = self._ray.is_initialized()  # of a program that uses Ray itself
        if self._is_guest and address:
            raise ReelbenchError(
                f"This program is connected to a Ray cluster already, so not to {address} as well."
            )
        if not self._is_guest:
            self._connect(address)

    def _connect(self, address: str | None) -> None:
        quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
        try:
            if address:
                _knock(address)
                self._ray.init(address=address, **quiet)
            else:
                self._ray.init(address="local", **quiet, **self._own_cluster())
        except (OSError, RuntimeError, ValueError, self._ray.exceptions.RayError) as error:
            self.close()
            where = f"at {address}" if address else "on this machine"
            raise ReelbenchError(
                f"There is no Ray cluster {where} to work on ({_in_a_line(error)}). Is the "
                "address right, is it up (ray status), has it the same Ray and Python, and is its "
                "secret, if it has one, in RAY_AUTH_MODE=token and RAY_AUTH_TOKEN?"
            ) from error

    def _own_cluster(self) -> dict[str, Any]:
        # A secret of its own, so that Ray writes none into the home folder; a folder of its own,
        # so that no other program takes this cluster for its own, with a short name, for sockets
        # are in it.
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        place = tempfile.gettempdir()
        short = place if len(place) < _LONG else "/tmp"  # noqa: S108 - a fresh folder inside it
        self._folder = tempfile.TemporaryDirectory(
            prefix="reel-", dir=short, ignore_cleanup_errors=True
        )
        return {
            "num_cpus": cores(),
            "include_dashboard": False,
            "object_store_memory": _STORE,
            "_temp_dir": self._folder.name,
        }

    def run(self, jobs: Sequence[Job], limit: float) -> Iterator[Done]:
        """Run jobs where there is room and yield each as it is done."""
        if self._is_running:
            raise RuntimeError("an engine does one run at a time: close the other iterator first")
        self._is_running = True
        run = Dispatch(self._ray, jobs, limit, self._memory, self._kept)
        try:
            yield from run.results()
        finally:
            self._kept = run.end()
            self._is_running = False

    def close(self) -> None:
        """End our workers, and the cluster if it is our own; from another's, only take leave."""
        for holder in self._kept:
            with suppress(Exception):  # it may be gone already
                self._ray.kill(holder.actor)
        self._kept = []
        if not self._is_guest and self._ray.is_initialized():
            self._ray.shutdown()  # what it started, by process id
        if self._folder:
            self._folder.cleanup()
            self._folder = None


def _hush() -> None:
    """Keep Ray, before it is imported, from talking: standard output is for data."""
    logging.getLogger("ray").setLevel(logging.ERROR)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else it warns of a change
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")  # what it would print when a node dies


def _knock(address: str) -> None:
    """Raise OSError where nothing listens, which Ray takes minutes to say."""
    host, _, port = address.rpartition(":")
    if port.isdigit() and "://" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _in_a_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1].rstrip(".")
