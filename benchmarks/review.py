"""Fifty annotators at once for a minute: what a save takes, and whether one is lost or kept twice.

A real server process on 2,000 items, on SQLite and on a PostgreSQL of our own; annotators in
another process. Each takes an item, thinks for a second on average (half of them answer a test,
half verify), and saves. Beside it, in the same run, the least that could keep an action: a bare
FastAPI endpoint that adds one row and waits for the disk. Then once more while the server, and
then PostgreSQL with all its processes, are killed again and again: who gets no answer sends the
same action once more. Lost: acknowledged, and not in the database. Twice: two events of one person
for one thing they did.

Run: python benchmarks/review.py [--annotators 50] [--seconds 60] [--pause 1.0] [--items 2000]
"""

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.data.manifest import Manifest
from reelbench.review import serve
from reelbench.review.database import PEOPLE, ReviewDatabase, sqlite_url

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "tests" / "review"))
from databases import PostgresServer, postgresql_programs  # type: ignore[import-not-found] # noqa: E402

HEADING = (
    f"{'':34s}{'saves':>7s}{'a second':>9s}{'p50':>8s}{'p95':>8s}{'p99 ms':>8s}"
    f"{'lost':>6s}{'twice':>6s}{'CPU ms a save':>15s}"
)


@dataclass(frozen=True)
class Place:
    """Where a load goes: a benchmark's folder, a database, and what kills on the way."""

    root: Path
    database: str
    port: int
    peer: bool = False


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds of thought, on average")
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--only", default="", help="lines that hold this text")
    options = parser.parse_args()
    print(f"{options.annotators} annotators, {options.seconds:g} s, {options.items} items, "
          f"{options.pause:g} s of thought on average, {os.cpu_count()} cores")  # fmt: skip
    print(HEADING)
    with tempfile.TemporaryDirectory() as name, postgresql(Path(name)) as server:
        for where in ("SQLite", "PostgreSQL") if server else ("SQLite",):
            for what in ("bare endpoint", "review", "review, server killed", "review, all killed"):
                if options.only in f"{what}, {where}" and (where, what) != LEFT_OUT:
                    folder = Path(tempfile.mkdtemp(dir=name))
                    print(line(f"{what}, {where}", folder, options, server), flush=True)


LEFT_OUT = "SQLite", "review, all killed"  # it has no process of its own


@contextmanager
def postgresql(folder: Path) -> Iterator[Any]:
    """Start PostgreSQL in a folder; None where it is not installed."""
    programs = postgresql_programs()
    if programs is None:
        print("PostgreSQL is not installed: SQLite alone is measured.")
        yield None
        return
    folder.chmod(0o755)
    server = PostgresServer(programs, folder / "postgresql")
    server.create()
    server.start()
    try:
        yield server
    finally:
        server.stop()


def line(what: str, folder: Path, options: argparse.Namespace, server: Any) -> str:
    """Measure one load; return its line of the table."""
    place = Place(
        folder / "benchmark",
        server.database() if "PostgreSQL" in what else "",
        free_port(),
        what.startswith("bare"),
    )
    write_benchmark(place.root, options.items)
    sessions = ["-"] * options.annotators if place.peer else people(place, options.annotators)
    plan = {"port": place.port, "seconds": options.seconds, "pause": options.pause,
            "sessions": sessions, "peer": place.peer}  # fmt: skip
    kills = kills_of(what, server)
    with ServerProcess(place) as process:
        report, seconds = load(plan, process, kills)
        spent = process.cpu()
    times = sorted(report["seconds"])
    lost, twice = ("-", "-") if place.peer else map(str, lost_and_twice(place, report))
    cuts = statistics.quantiles(times, n=100)
    shown = "".join(f"{1000 * cuts[at - 1]:8.1f}" for at in (50, 95, 99))
    cpu = f"{1000 * spent / len(times):15.1f}" if not kills else f"{process.kills:9d} kills"
    refused = f"  refused: {report['refused'][:2]}" if report["refused"] else ""
    return (f"{what:34s}{len(times):7d}{len(times) / seconds:9.1f}{shown}{lost:>6s}{twice:>6s}"
            f"{cpu}{refused}")  # fmt: skip


class ServerProcess:
    """A server that can be killed and started again on its port."""

    def __init__(self, place: Place) -> None:
        self._place, self.kills = place, 0

    def __enter__(self) -> "ServerProcess":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._process.kill()
        self._process.wait()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        place = self._place
        words = [sys.executable, "-m", "reelbench", "review", place.root, "--no-browser",
                 "--port", place.port]  # fmt: skip
        words += ["--database", place.database] if place.database else []
        if place.peer:
            file = place.root / "peer.sqlite"
            words = [sys.executable, "-m", "reviewing.peer", place.port, place.database or file]
        self._process = subprocess.Popen(
            list(map(str, words)), cwd=HERE, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        for _ in range(600):
            with suppress(OSError), socket.create_connection(("127.0.0.1", place.port)):
                return
            time.sleep(0.1)
        raise SystemExit("The server does not start.")

    def kill(self) -> None:
        """End it as a power cut would, and start it again."""
        self._process.kill()
        self._process.wait()
        self.kills += 1
        self.start()

    def cpu(self) -> float:
        """Return the seconds of CPU that it took."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def kills_of(what: str, server: Any) -> Callable[[ServerProcess], None] | None:
    """Return what is done every few seconds; None where nothing is killed."""
    if "killed" not in what:
        return None

    def kill(process: ServerProcess) -> None:
        if "all" in what:
            server.kill()
            process.kills += 1
            time.sleep(1.0)
            server.start()
        else:
            process.kill()

    return kill


def load(
    plan: dict[str, Any], process: ServerProcess, kill: Callable[[ServerProcess], None] | None
) -> tuple[dict[str, Any], float]:
    """Let all annotators work; return what they report, and the seconds it took."""
    command = [sys.executable, "-m", "reviewing.annotators"]
    began = time.monotonic()
    workers = subprocess.Popen(
        command, cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert workers.stdin
    workers.stdin.write(json.dumps(plan))
    workers.stdin.close()
    workers.stdin = None
    while kill and workers.poll() is None and time.monotonic() < began + plan["seconds"]:
        time.sleep(max(2.0, plan["seconds"] / 10))
        kill(process)
    text, _ = workers.communicate()
    return json.loads(text), time.monotonic() - began


def people(place: Place, count: int) -> list[str]:
    """Make accounts, and return a session of each."""
    names = [f"annotator {number}" for number in range(count)]
    with serve.opened_review(place.root, serve.ServeOptions(database=place.database)) as found:
        review, accounts, _ = found
        with review.database.writing() as connection:
            for name in ("organiser", *names):
                role = "organiser" if name == "organiser" else "annotator"
                values = {"name": name, "role": role, "password": "-", "expertise": "[]"}
                connection.execute(PEOPLE.insert().values(active=True, **values))
        return [accounts.open_session(name) for name in names]


def opened(place: Place) -> ReviewDatabase:
    """Open the database of a load."""
    return ReviewDatabase(place.database or sqlite_url(place.root / "review" / "review.sqlite"))


def lost_and_twice(place: Place, report: dict[str, Any]) -> tuple[int, int]:
    """Count acknowledged actions that are not kept, and what is kept more than once."""
    database = opened(place)
    events = database.events_after(0)
    database.close()
    kept = {event.id for event in events}
    made = Counter((e.who, e.queue, e.item, e.type) for e in events if e.type != "opened")
    lost = sum(key not in kept for key in report["acknowledged"])
    return lost, sum(count - 1 for count in made.values())


def write_benchmark(root: Path, count: int) -> None:
    """Write a benchmark with many items."""
    (root / "media").mkdir(parents=True)
    (root / "media" / "a.mp4").write_bytes(b"")
    options = ("a hill", "a river", "a road", "a house")
    items = [
        Item(f"q-{n}", "single", (Media("media/a.mp4"),), f"What is in part {n}?", options, ("A",))
        for n in range(count)
    ]
    Benchmark(root, Manifest("load", "1"), tuple(items)).save(root)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


if __name__ == "__main__":
    main()
