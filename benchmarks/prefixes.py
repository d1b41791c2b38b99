"""How much of the input a server has in its cache: requests by video, beside the same shuffled.

Six videos with nine questions each, as text alone (subtitles of 2,000 tokens, and the
question). The server is that of llama.cpp, with a small model that always says one letter: what
it computes is real, what it says is not. By video is a run; shuffled are the bodies of that run,
sent by a bare loop over as many connections. A slot holds one conversation; without memory for
others the cache is as full as that of a GPU with many videos. The most that can be had is printed
first: all but the first request of a video find its beginning.

Run: python benchmarks/prefixes.py (in .venv-models, which `make test-models` makes)
"""

import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiohttp
from decoding.videos import Video, make

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.data.manifest import Manifest, Protocol
from reelbench.evaluate.run import run_benchmark
from reelbench.models.health import Health

HERE = Path(__file__).parent
sys.path += [str(HERE.parent / "tests"), str(HERE.parent / "tests-models")]

from servers import completion, serving  # type: ignore[import-not-found]  # noqa: E402
from tiny_gguf import make_gguf  # type: ignore[import-not-found]  # noqa: E402

VIDEOS, QUESTIONS, WORDS, CONNECTIONS = 6, 9, 400, 8
VOCABULARY = ("a", "the", "dog", "cat", "house", "road", "runs", "sees", "goes", "says")


def main() -> None:
    """Print one table."""
    if find_spec("xllamacpp") is None:
        print("xllamacpp is not installed: use .venv-models, which `make test-models` makes")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        benchmark, model = write_benchmark(folder), folder / "model.gguf"
        make_gguf(model, width=128, layers=3, context=4096)
        bodies = bodies_of(benchmark, folder)
        shared = shared_part(bodies)
        print(
            f"{VIDEOS} videos x {QUESTIONS} questions, {CONNECTIONS} connections; "
            f"{shared:.1%} of the bytes were sent before"
        )
        print("                                by video                shuffled")
        print("slots   memory for others   hits  CPU s     s       hits  CPU s     s")
        for slots, memory in ((1, 0), (4, 0), (1, 8192)):
            with served(model, slots, memory) as ours:
                together = run(benchmark, folder / f"{slots}-{memory}", ours.url)
            with served(model, slots, memory) as theirs:
                shuffled = asyncio.run(post_all(theirs.url, bodies))
            print(
                f"{slots:5d} {f'{memory} MB':>19s}"
                f" {together[0]:6.1%} {ours.cpu_seconds:6.1f} {together[1]:5.1f}"
                f"     {shuffled[0]:6.1%} {theirs.cpu_seconds:6.1f} {shuffled[1]:5.1f}",
                flush=True,
            )


def write_benchmark(folder: Path) -> Benchmark:
    """Write videos whose subtitles are all that is shown of them, with questions in turn."""
    root = folder / "benchmark"
    (root / "media").mkdir(parents=True)
    video = make(Video("", 2, 5, 5, 0), folder)
    for number in range(VIDEOS):
        rng = random.Random(number)
        words = " ".join(rng.choices(VOCABULARY, k=WORDS))
        shutil.copyfile(video, root / "media" / f"{number}.mp4")
        cue = f"1\n00:00:00,000 --> 00:00:01,500\n{words}\n"
        (root / "media" / f"{number}.srt").write_text(cue)
    items = [
        Item(
            f"q-{question}-{number}",
            "single",
            (Media(f"media/{number}.mp4"),),
            f"Which of these comes as number {question}?",
            ("a dog", "a cat", "a house", "a road"),
            ("A",),
        )
        for question in range(QUESTIONS)
        for number in range(VIDEOS)
    ]
    protocol = Protocol(modalities="T", subtitles=True)
    Benchmark(root, Manifest("prefixes", "1", protocol=protocol), tuple(items)).save(root)
    return Benchmark.load(root)


def bodies_of(benchmark: Benchmark, folder: Path) -> list[bytes]:
    """Return what a run sends, one after another."""
    with serving(lambda *_: completion("A")) as server:
        run_benchmark(benchmark, [write_card(folder, server.url, 1)], folder / "bodies")
    return [call.raw for call in server.calls]


def shared_part(bodies: Sequence[bytes]) -> float:
    """Return the share of all bytes that begin a request as they began the one before."""
    beginnings = (
        next((n for n, (a, b) in enumerate(zip(*pair, strict=False)) if a != b), len(pair[0]))
        for pair in pairwise(bodies)
    )
    return sum(beginnings) / sum(map(len, bodies))


def write_card(folder: Path, url: str, connections: int = CONNECTIONS) -> str:
    """Write the card of a model at an address."""
    path = folder / "m.yaml"
    fields = {"name": "m", "endpoint": url, "sees": False, "connections": connections}
    path.write_text(json.dumps(fields | {"parameters": {"max_tokens": 4}}))
    return str(path)


def run(benchmark: Benchmark, out: Path, url: str) -> tuple[float, float]:
    """Return the hit rate of a run, by its own count, and its seconds."""
    began = time.monotonic()
    state = run_benchmark(benchmark, [write_card(out.parent, url)], out)
    seconds = time.monotonic() - began
    assert state.done == state.total, state.failures
    (row,) = json.loads((out / "usage.json").read_text())
    return row["cached_tokens"] / row["input_tokens"], seconds


async def post_all(url: str, bodies: Sequence[bytes]) -> tuple[float, float]:
    """Send these bodies in another order; return the hit rate and the seconds."""
    shuffled = random.Random(0).sample(list(bodies), len(bodies))
    places = asyncio.Semaphore(CONNECTIONS)
    headers = {"Content-Type": "application/json"}
    began = time.monotonic()
    async with aiohttp.ClientSession(headers=headers) as session:

        async def post(body: bytes) -> dict[str, Any]:
            async with places, session.post(f"{url}/chat/completions", data=body) as reply:
                reply.raise_for_status()
                used: dict[str, Any] = (await reply.json())["usage"]
                return used

        usage = await asyncio.gather(*map(post, shuffled))
    seconds = time.monotonic() - began
    cached = sum(each["prompt_tokens_details"]["cached_tokens"] for each in usage)
    return cached / sum(each["prompt_tokens"] for each in usage), seconds


@dataclass
class Served:
    """A server: its address, and what it has computed once it has ended."""

    url: str
    cpu_seconds: float = 0.0


@contextmanager
def served(model: Path, slots: int, memory: int) -> Iterator[Served]:
    """Start a server with so many slots and so many megabytes for conversations in none."""
    command = [sys.executable, "-m", "reelbench.models.gguf", str(model), "--port", "0"]
    command += ["--slots", str(slots), "--memory", str(memory), "--threads", "1"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    found = Served("")
    try:
        assert server.stdout
        address = next(line.strip() for line in server.stdout if line.startswith("http"))
        found.url = f"{address}/v1"
        while not asyncio.run(Health("", "m", {}).is_good(found.url)):
            time.sleep(0.1)
        yield found
    finally:
        server.kill()
        _, server.returncode, used = os.wait4(server.pid, 0)
        found.cpu_seconds = used.ru_utime + used.ru_stime
        server.communicate()


if __name__ == "__main__":
    main()
