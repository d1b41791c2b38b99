"""Jobs on a Ray cluster: one node against two, on this machine.

Each node is a process tree of its own, with its own folder, object store and one core; the same 40
jobs of about half a second of hashing each go to one node and to two, in turns, twice over.

This machine may have other things to do, which cost two nodes more than one: with one, they find
the other core free. So beside the plain times there is a fair one, without what Linux counts
(/proc/PID/schedstat) as time in which a job was ready and another program had its core. What Ray
and we cost, between jobs, stays in.

Run: python benchmarks/ray_nodes.py (needs reelbench[ray])
"""

import hashlib
import os
import secrets
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reelbench.engine.base import Engine, Job
from reelbench.engine.cluster import RayEngine
from reelbench.engine.local import LocalEngine

JOBS, SECONDS, ROUNDS = 40, 0.5, 2


def main() -> None:
    """Measure, and print one table."""
    size = calibrated(SECONDS)
    jobs = [Job(f"job {n}", burn, (n, size), family="burn") for n in range(JOBS)]
    local = LocalEngine(1)
    expected = digests(local, jobs)
    local.close()
    plain: dict[int, list[float]] = {1: [], 2: []}
    fair: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(ROUNDS):
        for count in plain:
            with cluster(count) as (address, _nodes):
                engine = RayEngine(address)
                list(
                    engine.run([Job("warm", burn, (n, size), family="burn") for n in range(8)], 60)
                )
                wall, waited, same = measured(engine, jobs, expected)
                engine.close()
            plain[count].append(wall)
            fair[count].append(wall - waited)
            print(
                f"{count} node{'s' * (count > 1)}: {wall:.1f} s, {waited:.1f} of them for others' "
                f"work; results {'the same' if same else 'DIFFERENT'}",
                file=sys.stderr,
            )
    show(plain, fair)


def show(plain: dict[int, list[float]], fair: dict[int, list[float]]) -> None:
    """Print the means of the rounds."""
    print(f"{JOBS} jobs of {SECONDS:g} s, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("                               one node   two nodes   throughput")
    for name, seconds in (("as the clock saw it", plain), ("without others' work", fair)):
        one, two = statistics.mean(seconds[1]), statistics.mean(seconds[2])
        print(f"{name:28} {one:8.1f} s {two:9.1f} s {one / two:10.2f} x")


def burn(number: int, size: int) -> tuple[str, int, float]:
    """Hash so many megabytes; return the digest, which node it was, and how long it waited."""
    before = waiting()
    block, digest = bytes([number % 256]) * 2**20, hashlib.sha256()
    for _ in range(size):
        digest.update(block)
    return digest.hexdigest(), os.getsid(os.getppid()), waiting() - before


def waiting() -> float:
    """Return the seconds for which this process was ready and had no core."""
    return int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9


def calibrated(seconds: float) -> int:
    """Return how many megabytes take so long."""
    began = time.process_time()
    burn(0, 100)
    return max(1, round(100 * seconds / (time.process_time() - began)))


def digests(engine: Engine, jobs: list[Job]) -> dict[str, str]:
    """Return what each job came to."""
    return {done.job.name: done.result[0] for done in engine.run(jobs, 120)}


def measured(
    engine: Engine, jobs: list[Job], expected: dict[str, str]
) -> tuple[float, float, bool]:
    """Return the time it took, how much of it the most waiting node waited, and if all is right."""
    began = time.monotonic()
    results = {done.job.name: done.result for done in engine.run(jobs, 120)}
    wall = time.monotonic() - began
    waits: dict[int, float] = {}
    for _, node, wait in results.values():
        waits[node] = waits.get(node, 0.0) + wait
    same = {name: result[0] for name, result in results.items()} == expected
    return wall, max(waits.values()), same


@contextmanager
def cluster(nodes: int) -> Iterator[tuple[str, list["Node"]]]:
    """Start a cluster of nodes with one core each; yield its address; leave nothing of it."""
    # Ray asks for one secret that all nodes and programs of a cluster share.
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    started: list[Node] = []
    try:
        started.append(Node(address, head=True))
        started += [Node(address) for _ in range(nodes - 1)]
        yield address, started
    finally:
        for node in reversed(started):
            node.kill()


class Node:
    """One node: the processes of a session, which are killed together."""

    def __init__(self, address: str, head: bool = False) -> None:
        self.folder = tempfile.TemporaryDirectory(
            prefix="node-", dir="/tmp", ignore_cleanup_errors=True
        )
        role = ["--head", f"--port={address.rpartition(':')[2]}", "--include-dashboard=false"]
        command = [
            str(Path(sys.executable).with_name("ray")),
            *("start", "--block", "--disable-usage-stats", "--num-cpus=1", "--num-gpus=0"),
            *("--node-ip-address=127.0.0.1", "--object-store-memory=100000000"),
            f"--temp-dir={self.folder.name}",
            *(role if head else [f"--address={address}"]),
        ]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        said = ""
        assert self.process.stdout
        for line in self.process.stdout:
            said += line
            if "Ray runtime started" in line:
                return
        self.kill()
        raise RuntimeError(f"a node of Ray did not start:\n{said}")

    def kill(self) -> None:
        """End all its processes, as when a machine loses its power."""
        while living := processes_of(self.process.pid):
            for number in living:
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            self.process.poll()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()
        self.folder.cleanup()


def processes_of(session: int) -> list[int]:
    """Return the processes of a session that are alive."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue  # it has just ended
        state, _, _, its_session = rest.split()[:4]
        if int(its_session) == session and state != "Z":
            found.append(int(name.split()[0]))
    return found


if __name__ == "__main__":
    import ray_nodes  # as workers know it, who cannot run what is in __main__

    ray_nodes.main()
