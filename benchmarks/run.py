"""What a request costs: 1,000 questions with 16 frames each, over 64 connections.

The server, in a process of its own, answers after 50 ms. Our run does all that a run does (plan,
prompt, store, journal, predictions), from frames that were decoded before; beside it, in the same
run, a bare aiohttp loop that sends the same frames and keeps nothing, the openai library, and an
evaluation by Inspect. CPU milliseconds a request, and the peak of memory, each in a process of its
own. A peer that is not installed says so.

Run: python benchmarks/run.py (in .venv-models, which `make test-models` makes, all are installed)
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from decoding.videos import Video, make

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.data.manifest import Manifest, Protocol

HERE = Path(__file__).parent
QUESTIONS, CLIPS, CONNECTIONS = 1000, 20, 64


def main() -> None:
    """Print one table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        benchmark = write_benchmark(folder)
        with served() as url:
            measured("ours", benchmark, folder / "warm", url)  # decodes
            print(f"{QUESTIONS} requests, {CONNECTIONS} connections, server with 50 ms latency")
            print("                 CPU ms a request   peak MB   KB a request   seconds")
            for who in ("bare aiohttp", "openai library", "Inspect", "ours"):
                print(f"{who:16s} {measured(who, benchmark, folder / who, url)}")


@contextmanager
def served() -> Iterator[str]:
    """Start the server in a process of its own, and yield its address."""
    command = [sys.executable, "-m", "asking.server"]
    server = subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.communicate()


def write_benchmark(folder: Path) -> Path:
    """Write a benchmark with twenty clips of one video, and many questions on each."""
    root = folder / "benchmark"
    (root / "media").mkdir(parents=True)
    make(Video("", 60, 10, 30, 0), folder).rename(root / "media" / "a.mp4")
    items = []
    for number in range(QUESTIONS):
        start = 3.0 * (number % CLIPS)
        question = f"What does the camera pass over in part {number} of the tour?"
        media = (Media("media/a.mp4", start, start + 3.0),)
        options = ("a hill", "a river", "a road", "a house")
        items.append(Item(f"q-{number}", "single", media, question, options, ("A",)))
    protocol = Protocol(sampling="uniform:16", frame_size="long:360")
    Benchmark(root, Manifest("asking", "1", protocol=protocol), tuple(items)).save(root)
    return root


def measured(who: str, benchmark: Path, out: Path, url: str) -> str:
    """Run one of them; return what it cost, as a line."""
    command = [sys.executable, "-m", "asking.clients", who, str(benchmark), str(out), url]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    run = json.loads(done.stdout.splitlines()[-1])
    each = 1000 * run["cpu"] / QUESTIONS
    return f"{each:18.1f} {run['peak_mb']:9.0f} {run['kilobytes']:14.0f} {run['seconds']:9.1f}"


if __name__ == "__main__":
    main()
