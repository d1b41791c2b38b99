"""How often the interval of F1 of means holds the truth, beside percentiles of resampled videos.

Multi-select questions have four to eight options, two to four of them right. A right option is
chosen with a probability that differs between videos (log odds with a normal spread), a wrong one
with a quarter. The truth is F1 of means over six thousand videos.

Run: python benchmarks/f1_coverage.py [repeats]
"""

import sys

import numpy as np
from numpy.typing import NDArray

from reelbench.score.f1 import f1_of_means
from reelbench.score.intervals import LEVEL, Cell, intervals

REPEATS = 400
VIDEOS, SPREADS = (5, 15, 40), (0.0, 0.8)
QUESTIONS = 4  # of a video
RESAMPLES = 1000

Numbers = NDArray[np.float64]


def drawn(videos: int, spread: float, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
    """Return precision and recall of each question, a row for each video."""
    shape = (videos, QUESTIONS)
    options = rng.integers(4, 9, shape)
    right = rng.integers(2, np.minimum(4, options - 1) + 1)
    odds = 0.6 + rng.normal(0, spread, (videos, 1)) if spread else np.full((videos, 1), 0.6)
    true = rng.binomial(right, 1 / (1 + np.exp(-odds)))
    chosen = true + rng.binomial(options - right, 0.25)
    return true / np.maximum(chosen, 1), true / right


def coverage(videos: int, spread: float, repeats: int) -> tuple[Numbers, Numbers]:
    """Return coverage and mean width of our interval and of the percentiles."""
    rng = np.random.default_rng(0)
    truth = f1_of_means(*(each.ravel() for each in drawn(6000, spread, rng))).value
    hits, widths = np.zeros(2), np.zeros(2)
    for _ in range(repeats):
        precision, recall = drawn(videos, spread, rng)
        found = f1_of_means(precision.ravel(), recall.ravel())
        places = np.repeat(np.arange(videos), QUESTIONS).tolist()
        ends = intervals([Cell(places, found.shares.tolist())], videos)[0].interval
        again = rng.integers(videos, size=(RESAMPLES, videos))
        p, r = (each.mean(axis=1)[again].mean(axis=1) for each in (precision, recall))
        tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
        resampled = np.quantile(2 * p * r / np.maximum(p + r, 1e-9), tails)
        both = np.array([[end * found.scale for end in ends], resampled]).clip(0, 1)
        hits += (both[:, 0] <= truth) & (truth <= both[:, 1])
        widths += both[:, 1] - both[:, 0]
    return hits / repeats, widths / repeats


def main() -> None:
    """Print coverage, and the mean width in brackets."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else REPEATS
    print(f"| videos, spread | ours | resampled videos |  ({repeats} benchmarks each)")
    for videos in VIDEOS:
        for spread in SPREADS:
            hits, widths = coverage(videos, spread, repeats)
            cells = " | ".join(f"{h:.2f} ({w:.2f})" for h, w in zip(hits, widths, strict=True))
            print(f"| {videos} videos, {spread:g} | {cells} |")


if __name__ == "__main__":
    main()
