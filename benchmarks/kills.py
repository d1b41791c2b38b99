"""What a run loses when it is killed: 100 times kill -9, at random moments, until it is done.

Each time, all responses that were in the journal before must be there after; a call may be made
again only if it was under way, which is at most the connections for each kill; and in the end
predictions and scores must be those of a run that nobody disturbed, byte for byte.

Run: python benchmarks/kills.py
"""

import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing
from pathlib import Path

from run import served, write_benchmark

KILLS, CONNECTIONS = 100, 4
FILES = ("predictions.jsonl", "scores.json")


def main() -> None:
    """Kill, go on, and print one table."""
    with tempfile.TemporaryDirectory() as name, served() as url:
        killed_and_calm(Path(name), write_benchmark(Path(name)), url)


def killed_and_calm(folder: Path, benchmark: Path, url: str) -> None:
    """Disturb one run, leave another alone, and compare them."""
    card = folder / "card.yaml"
    card.write_text(json.dumps({"name": "m", "endpoint": url, "connections": CONNECTIONS}))
    started(benchmark, card, folder / "calm").wait()
    before, rng = asked(url), random.Random(7)
    kept: set[str] = set()
    lost = kills = 0
    while kills < KILLS:
        process = started(benchmark, card, folder / "killed")
        wait_for_a_call(url, process)
        moment = time.monotonic() + rng.uniform(0, 0.1)
        while time.monotonic() < moment and process.poll() is None:
            pass
        if process.poll() is not None:
            break  # it was done before it could be killed
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
        keys = answered(folder / "killed" / "journal.sqlite")
        lost += len(kept - keys)
        kept = keys
    started(benchmark, card, folder / "killed").wait()
    total = len(answered(folder / "killed" / "journal.sqlite"))
    extra = asked(url) - before - total
    same = all(
        (folder / "killed" / file).read_bytes() == (folder / "calm" / file).read_bytes()
        for file in FILES
    )
    print(f"kill -9                        {kills}")
    print(f"questions                      {total}")
    print(f"answers lost                   {lost}")
    print(f"calls made again               {extra} (at most {kills * CONNECTIONS} may be)")
    print(f"predictions and scores         {'the same bytes' if same else 'DIFFERENT'}")


def started(benchmark: Path, card: Path, out: Path) -> subprocess.Popen[bytes]:
    """Begin a run, or go on with it."""
    command = [sys.executable, "-m", "reelbench", "run", benchmark, "--model", card, "--out", out]
    return subprocess.Popen(
        list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def wait_for_a_call(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until a run has asked something."""
    before = asked(url)
    while process.poll() is None and asked(url) == before:
        time.sleep(0.002)


def answered(journal: Path) -> set[str]:
    """Return the keys of the answers in a journal, from a copy of its files."""
    with tempfile.TemporaryDirectory() as name:
        for file in journal.parent.glob(f"{journal.name}*"):
            shutil.copy(file, name)
        with closing(sqlite3.connect(Path(name) / journal.name)) as connection:
            try:
                rows = connection.execute("SELECT key FROM responses WHERE status = 'ok'")
            except sqlite3.OperationalError:
                return set()  # killed before it had a table
            return {key for (key,) in rows}


def asked(url: str) -> int:
    """Return how many requests the server has had."""
    with urllib.request.urlopen(f"{url}/count") as reply:
        return int(reply.read())


if __name__ == "__main__":
    main()
