"""The machines of a Ray cluster, and the clock that the dispatcher goes by."""

import queue
import time
from collections import Counter
from contextlib import suppress
from math import inf
from typing import Any

from reelbench.base.errors import ReelbenchError

POLL_SECONDS = 1.0  # seconds between two looks at which machines there are
_NO_MACHINE_SECONDS = 60.0  # seconds without any machine
_NO_GPU_SECONDS = 600.0  # for which a machine with GPUs may be away: as long as a restart takes


class Clock:
    """The time, and waiting. A simulation passes another, whose time is virtual."""

    def now(self) -> float:
        """Return seconds since some moment."""
        return time.monotonic()

    def take(self, finished: "queue.SimpleQueue[Any]", seconds: float) -> list[Any]:
        """Return all that is in the queue; while it is empty, wait up to so many seconds."""
        taken = []
        with suppress(queue.Empty):
            taken.append(finished.get(timeout=seconds))
            while True:
                taken.append(finished.get_nowait())
        return taken


class Machines:
    """The cores and GPUs of the cluster, of its largest machine, and how many are reserved."""

    def __init__(self, ray: Any, clock: Clock) -> None:
        self._ray, self._clock = ray, clock
        self.cpus = self.gpus = self.most_cpus = self.most_gpus = 0.0
        self._reserved: Counter[tuple[float, float]] = Counter()  # by cores and GPUs
        self.names: set[str] = set()
        self.with_gpus: set[str] = set()
        self._sizes: list[tuple[float, float]] = []
        self._gpus_seen: dict[float, float] = {}  # when the largest machine last had so many
        self._refreshed = -inf
        self._last_seen = clock.now()  # any at all

    def refresh(self) -> bool:
        """Query the cluster, at most once a second; return whether its machines are others."""
        now = self._clock.now()
        if now < self._refreshed + POLL_SECONDS:
            return False
        self._refreshed = now
        before = self.names
        machines = {
            node["NodeID"]: node["Resources"] for node in self._ray.nodes() if node["Alive"]
        }
        self.names = set(machines)
        self.with_gpus = {name for name, one in machines.items() if one.get("GPU")}
        self._sizes = [(one.get("CPU", 0.0), one.get("GPU", 0.0)) for one in machines.values()]
        cpus, gpus = [size[0] for size in self._sizes], [size[1] for size in self._sizes]
        self.cpus, self.most_cpus = sum(cpus), max(cpus, default=0.0)
        self.gpus, self.most_gpus = sum(gpus), max(gpus, default=0.0)
        self._gpus_seen[self.most_gpus] = now
        if self.cpus:
            self._last_seen = now
        return before != self.names

    def expect_change(self) -> None:
        """Let the next refresh query the cluster, however short ago the last one was."""
        self._refreshed = -inf

    def cpus_for(self, cpus: float) -> float:
        """Return the cores to reserve: those asked for, or all of the largest machine."""
        return min(cpus, self.most_cpus)

    def reserve(self, cpus: float, gpus: float) -> None:
        """Count what a task or an actor has asked Ray for."""
        self._reserved[cpus, gpus] += 1

    def release(self, cpus: float, gpus: float) -> None:
        """Count it no more."""
        self._reserved[cpus, gpus] -= 1
        if not self._reserved[cpus, gpus]:
            del self._reserved[cpus, gpus]

    def has_room(self, cpus: float, gpus: float, ahead: int = 1) -> bool:
        """Return whether so much is free, or would be if the cluster were larger."""
        if not self.cpus or not self._reserved:
            return bool(self.cpus)
        # Few sizes are asked for, and sums of products do not drift as running totals do. What
        # needs GPUs has room though others have the cores: they make way (``Dispatch``).
        held = [(size, n) for size, n in self._reserved.items() if size[1] or not gpus]
        all_cpus = cpus + sum(n * size[0] for size, n in held)
        all_gpus = gpus + sum(n * size[1] for size, n in held)
        return all_cpus <= ahead * self.cpus and (not gpus or all_gpus <= ahead * self.gpus)

    def is_full(self) -> bool:
        """Return whether all cores are reserved, or more."""
        return sum(n * size[0] for size, n in self._reserved.items()) > self.cpus

    def count(self, cpus: float, gpus: float) -> int:
        """Return how many machines are large enough for so many cores and GPUs."""
        return sum(size[0] >= cpus and size[1] >= gpus for size in self._sizes)

    def has_gpus(self, gpus: float) -> bool:
        """Return whether a machine has so many GPUs, or had them until recently."""
        since = self._clock.now() - _NO_GPU_SECONDS
        return any(most >= gpus and seen >= since for most, seen in self._gpus_seen.items())

    def check_any(self) -> None:
        """Raise once the cluster has had no machine for a minute."""
        if self._clock.now() > self._last_seen + _NO_MACHINE_SECONDS:
            raise ReelbenchError(
                f"The Ray cluster has had no CPUs for {_NO_MACHINE_SECONDS:g} s. Add a machine "
                "(ray start --address=...) and run the same command again: finished work is kept."
            )
