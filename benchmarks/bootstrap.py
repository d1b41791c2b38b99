"""What intervals cost: 15,000 items, 28 models; 10,000 resamples for those who resample.

Beside ours, in the same run and each in a process of its own: a plain NumPy loop that draws videos
by their numbers, and scipy.stats.bootstrap on the sums of the videos (both give plain percentiles
and ours are of a model, so that their ends lie a little apart). Then ours alone with 60 tags, with
grades, with one item a video, and the comparison of all pairs of models. The peak is that of the
whole process; its imports alone take about 97 MB of it.

Run: python benchmarks/bootstrap.py
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from reelbench.score.compare import compare
from reelbench.score.intervals import LEVEL, Cell, intervals
from reelbench.score.resampling import RESAMPLES

ITEMS, MODELS, TAGS = 15_000, 28, 60
TAIL = (1 - LEVEL) / 2
Table = NDArray[np.float64]
Ends = list[tuple[float, float]]


def main() -> None:
    """Print one table."""
    print(f"{ITEMS:,} items, {MODELS} models, {RESAMPLES:,} resamples")
    print("                                   seconds   CPU s   peak MB   ends apart from ours")
    ours = measured("ours", 3000)
    for name, videos in (
        ("ours", 3000), ("NumPy loop", 3000), ("scipy.stats.bootstrap", 3000), ("ours", 7500),
        ("ours", 15_000), ("ours, graded", 3000), (f"ours, {TAGS} tags", 3000),
        (f"ours, {TAGS} tags", 7500), ("comparison of pairs", 3000),
        ("comparison of pairs", 15_000),
    ):  # fmt: skip
        run = measured(name, videos)
        apart = ""
        if run["ends"] and videos == 3000 and name in PEERS:
            apart = f"{np.abs(np.array(run['ends']) - ours['ends']).max():.4f}"
        title = f"{name}, {videos:,} videos"
        costs = f"{run['seconds']:7.2f} {run['cpu']:7.2f} {run['peak_mb']:9.0f}"
        print(f"{title:34s} {costs}   {apart}", flush=True)


def measured(name: str, videos: int) -> dict[str, float | list[list[float]]]:
    """Run one of them in a process of its own."""
    command = [sys.executable, __file__, name, str(videos)]
    found: dict[str, float | list[list[float]]] = json.loads(subprocess.check_output(command))
    return found


def work(name: str, videos: int) -> None:
    """Run one of them here, and print what it cost."""
    numbers = np.repeat(np.arange(videos), ITEMS // videos)
    scores = verdicts(numbers)
    if name.endswith("graded"):
        scores = (scores + np.random.default_rng(1).integers(0, 4, scores.shape) / 3) / 2
    task = PEERS.get(name, tagged if "tags" in name else ours)
    if name.startswith("comparison"):
        task = compared
    began, cpu = time.perf_counter(), time.process_time()
    ends = task(scores, numbers)
    costs = {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
    }
    print(json.dumps({**costs, "ends": ends}))


def verdicts(numbers: NDArray[np.int64]) -> Table:
    """Zeros and ones of models that find the same videos hard."""
    generator = np.random.default_rng(0)
    hard = generator.normal(size=numbers.max() + 1)[numbers]
    skill = np.linspace(1, -0.5, MODELS)[:, None]
    right: NDArray[np.bool_] = skill + hard + generator.normal(size=(MODELS, ITEMS)) > 0
    return right.astype(float)


def ours(scores: Table, numbers: NDArray[np.int64]) -> Ends:
    """One cell a model."""
    cells = [Cell(numbers.tolist(), row) for row in scores.tolist()]
    return [each.interval for each in intervals(cells, last(numbers))]


def tagged(scores: Table, numbers: NDArray[np.int64]) -> Ends:
    """One cell for each model and tag; every tenth item has a tag."""
    generator = np.random.default_rng(2)
    tags = [np.flatnonzero(generator.random(ITEMS) < 0.1) for _ in range(TAGS)]
    cells = [Cell(numbers[tag].tolist(), row[tag].tolist()) for row in scores for tag in tags]
    return [each.interval for each in intervals(cells, last(numbers))]


def compared(scores: Table, numbers: NDArray[np.int64]) -> Ends:
    """All pairs, with ranks."""
    names = [f"model {number:02d}" for number in range(MODELS)]
    return [pair.interval for pair in compare(names, scores, numbers, 0).pairs]


def loop(scores: Table, numbers: NDArray[np.int64]) -> Ends:
    """Draw videos by their numbers, one resample at a time."""
    generator = np.random.default_rng(0)
    counts, sums = per_video(scores, numbers)
    shares = np.empty((RESAMPLES, MODELS))
    for row in shares:
        drawn = generator.integers(len(counts), size=len(counts))
        row[:] = sums[:, drawn].sum(axis=1) / counts[drawn].sum()
    low, high = np.quantile(shares, [TAIL, 1 - TAIL], axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def by_scipy(scores: Table, numbers: NDArray[np.int64]) -> Ends:
    """The same by SciPy, a model at a time."""
    counts, sums = per_video(scores, numbers)

    def share(wins: Table, items: Table, axis: int) -> Table:
        result: Table = wins.sum(axis=axis) / items.sum(axis=axis)
        return result

    found = [
        stats.bootstrap(
            (row, counts), share, n_resamples=RESAMPLES, batch=100, paired=True, vectorized=True,
            confidence_level=LEVEL, method="percentile", rng=np.random.default_rng(0),
        ).confidence_interval
        for row in sums
    ]  # fmt: skip
    return [(float(each.low), float(each.high)) for each in found]


def per_video(scores: Table, numbers: NDArray[np.int64]) -> tuple[Table, Table]:
    """The items of each video, and each model's sum on them."""
    sums = np.stack([np.bincount(numbers, row) for row in scores])
    return np.bincount(numbers).astype(float), sums.astype(float)


def last(numbers: NDArray[np.int64]) -> int:
    """How many videos there are."""
    return int(numbers.max()) + 1


PEERS: dict[str, Callable[[Table, NDArray[np.int64]], Ends]] = {
    "ours": ours,
    "NumPy loop": loop,
    "scipy.stats.bootstrap": by_scipy,
}

if __name__ == "__main__":
    if sys.argv[1:]:
        work(sys.argv[1], int(sys.argv[2]))
    else:
        main()
