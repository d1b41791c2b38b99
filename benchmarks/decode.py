"""What it costs to get a few frames out of a long video, beside five other loaders.

All loaders give the same frames of the same generated 720p files, each in a process of its own;
the figures are CPU seconds of all its threads and the peak of its memory. The peers live in an
environment of their own, for some are heavy:

    python -m venv peers
    peers/bin/pip install torch==2.13.0 torchcodec==0.13 decord opencv-python-headless av numpy
    pip download --no-deps lmms-eval==0.7.3 --dest peers
    python benchmarks/decode.py --peers peers/bin/python --lmms-eval peers/*.whl

A peer that is not there is named and passed over. torchcodec needs FFmpeg's libraries on the
system. Making the files takes about ten minutes, once.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import av
import numpy as np
from decoding.loaders import numbers, ours
from decoding.videos import VIDEOS, make
from numpy.typing import NDArray

from reelbench.base.cache import cache_folder
from reelbench.media import decode

COUNTS = (16, 64)
PEERS = (
    "naive", "opencv", "decord", "torchcodec exact", "torchcodec approximate", "lmms-eval pyav",
    "lmms-eval decord",
)  # fmt: skip
REPEATS = 3
HERE = Path(__file__).parent


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, help="where the videos are kept (a cache)")
    parser.add_argument(
        "--peers", default=sys.executable, type=os.path.abspath, help="the peers' Python"
    )
    parser.add_argument(
        "--lmms-eval", default="", type=os.path.abspath, help="the wheel of lmms-eval"
    )
    options = parser.parse_args()
    folder = options.folder or cache_folder("benchmarks")
    folder.mkdir(parents=True, exist_ok=True)
    for video in VIDEOS:
        path = make(video, folder.resolve())
        print(f"\n{video.name}: {video.frames:,} frames, {path.stat().st_size / 1e6:.0f} MB")
        for count in COUNTS:
            compare(path, count, options.peers, options.lmms_eval)
            profile(path, count)
            keep(path, count)


def compare(path: Path, count: int, peers: str, wheel: str) -> None:
    """Print one line a loader: what it cost, and whether its frames are the right ones."""
    right = reference(path, count)
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in ("ours", *PEERS)}
    verdicts: dict[str, str] = {}
    for _ in range(REPEATS):  # in turn, so that a busy moment of the machine hits all alike
        for name, done in runs.items():
            if done and ("error" in done[0] or done[0]["cpu"] > 20):
                continue  # no need to see that again
            python = sys.executable if name == "ours" else peers
            figures, images = measured(python, name, path, count, wheel)
            done.append(figures)
            if images is not None:
                verdicts[name] = likeness(images, right)
    print(f"\n{count} frames                CPU s  to ours  peak MB  pixels")
    for name, done in runs.items():
        if name not in verdicts:
            print(f"{name:24s} {done[0]['error']}")
            continue
        cpu, ratio = least(done), least(done) / least(runs["ours"])
        peak = max(run["peak_mb"] for run in done)
        print(f"{name:24s} {cpu:6.2f} {ratio:7.2f}x {peak:8.0f}  {verdicts[name]}")
    others = [name for name in verdicts if name != "ours"]
    if others:
        peer = min(others, key=lambda name: least(runs[name]))
        print(f"ours / best peer: {least(runs['ours']) / least(runs[peer]):.2f} ({peer})")


def least(runs: list[dict[str, Any]]) -> float:
    """The CPU seconds of the cheapest of some runs."""
    return float(min(run["cpu"] for run in runs))


def measured(
    python: str, name: str, path: Path, count: int, wheel: str
) -> tuple[dict[str, Any], NDArray[np.uint8] | None]:
    """Run a loader in a process of its own; return what it cost, and its frames."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "frames.npy"
        command = [python, "-m", "decoding.loaders", name, str(path), str(count), str(out), wheel]
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
        if done.returncode:
            return {"error": done.stderr.strip().splitlines()[-1]}, None
        return json.loads(done.stdout), np.load(out)


def reference(path: Path, count: int) -> NDArray[np.uint8]:
    """The same frames from a decode of the whole file, in order."""
    kept = path.with_name(f"{path.stem}-{count}.npy")
    if not kept.exists():
        with av.open(str(path)) as container:
            wanted = set(numbers(container.streams.video[0].frames, count))
            frames = enumerate(container.decode(video=0))
            np.save(kept, [f.to_ndarray(format="rgb24") for n, f in frames if n in wanted])
    images: NDArray[np.uint8] = np.load(kept)
    return images


def likeness(images: NDArray[np.uint8], right: NDArray[np.uint8]) -> str:
    """Say whether frames are the right ones: to the bit, but for colours, or not at all."""
    if images.shape != right.shape:
        return f"{len(images)} frames of {len(right)}"
    if np.array_equal(images, right):
        return "identical"
    apart = [float(np.abs(a.astype(int) - b).mean()) for a, b in zip(images, right, strict=True)]
    wrong = sum(difference > 4 for difference in apart)
    return f"{wrong} wrong frames" if wrong else "same frames, colours converted otherwise"


def profile(path: Path, count: int) -> None:
    """Print where our own CPU time goes, by a clock around the decoder and the conversion."""
    spent: dict[str, float] = defaultdict(float)
    calls: Counter[str] = Counter()

    def clocked(name: str) -> Callable[..., Any]:
        plain = getattr(decode, name)

        def work(*args: Any, **options: Any) -> Any:
            began = time.process_time()
            try:
                return plain(*args, **options)
            finally:
                spent[name] += time.process_time() - began
                calls[name] += 1

        return work

    load = ours()
    with (
        mock.patch.object(decode, "_feed", clocked("_feed")),
        mock.patch.object(decode, "upright", clocked("upright")),
    ):
        began = time.process_time()
        load(str(path), count)
        total = time.process_time() - began
    decoding, colours = spent["_feed"] / total, spent["upright"] / total
    print(
        f"ours, by the clock: {decoding:.0%} in FFmpeg's decoder ({calls['_feed']} packets the "
        f"frames rest on), {colours:.0%} on colours, {1 - decoding - colours:.0%} the rest"
    )


def keep(path: Path, count: int) -> None:
    """Print what the whole way costs, with worker, JPEG and store: once cold, then again."""
    command = [sys.executable, "-m", "decoding.store", str(path), str(count)]
    done = subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, check=True)
    run = json.loads(done.stdout)
    times = f"cold {run['cold']:.2f} s, then {1000 * run['warm']:.1f} ms"
    print(f"through the store: {times} (1/{run['cold'] / run['warm']:.0f})")
    print(
        f"  {run['decodes']} decode for {run['asked']} requests; peaks of {run['peak_mb']:.0f} MB "
        f"and, in the worker, {run['worker_peak_mb']:.0f} MB"
    )


if __name__ == "__main__":
    main()
