"""How sure a score is: intervals by resampling videos, since questions about one hang together."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from reelbench.seeds import seed_for

RESAMPLES = 2000
LEVEL = 0.95
_FEWEST_VIDEOS = 6  # with fewer, resamples cannot reach as far as the truth may lie
_CHUNK = 100  # resamples held in memory at a time

METHOD = (
    f"{LEVEL:.0%} by {RESAMPLES} resamples of videos, widened for their number; Wilson's where "
    f"no video has two questions, and by videos where there are under {_FEWEST_VIDEOS} or all "
    "agree"
)

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Cell:
    """One share to be sure about: for each of its items, the video's number and the verdict."""

    videos: Sequence[int]
    right: Sequence[float]  # 0 or 1, or a share of the best that there is


def intervals(cells: Sequence[Cell], videos: int, seed: int) -> list[Interval]:
    """Return the interval of each cell, all from the same draws of videos."""
    counts = np.stack([_per_video(cell.videos, None, videos) for cell in cells], axis=1)
    wins = np.stack([_per_video(cell.videos, cell.right, videos) for cell in cells], axis=1)
    shares = _resampled(counts, wins, seed)
    return [
        _interval(counts[:, number], wins[:, number], shares[:, number])
        for number in range(len(cells))
    ]


def _per_video(
    numbers: Sequence[int], right: Sequence[float] | None, videos: int
) -> NDArray[np.float64]:
    weights = None if right is None else np.asarray(right, np.float64)
    return np.bincount(numbers, weights, minlength=videos).astype(np.float64)


def _resampled(
    counts: NDArray[np.float64], wins: NDArray[np.float64], seed: int
) -> NDArray[np.float64]:
    """Draw videos with replacement, and return each cell's share in each resample.

    The sums are of whole numbers, which are exact in any order: no machine changes a digit.
    """
    videos = len(counts)
    generator = np.random.Generator(np.random.PCG64(seed_for(seed, "bootstrap")))
    rows = []
    for _ in range(RESAMPLES // _CHUNK):
        draws = generator.integers(videos, size=(_CHUNK, videos))
        weights = np.stack([np.bincount(draw, minlength=videos) for draw in draws]).astype(float)
        with np.errstate(invalid="ignore"):
            rows.append((weights @ wins) / (weights @ counts))  # not a number: nothing was drawn
    return np.concatenate(rows)


def _interval(
    counts: NDArray[np.float64], wins: NDArray[np.float64], shares: NDArray[np.float64]
) -> Interval:
    items, right, videos = counts.sum(), wins.sum(), int((counts > 0).sum())
    if counts.max() <= 1:
        return wilson(right / items, int(items))
    drawn = shares[~np.isnan(shares)]
    if videos < _FEWEST_VIDEOS or drawn.min() == drawn.max():
        return wilson(right / items, videos)
    # Plain percentiles are too narrow for few videos, as a normal interval is beside Student's.
    reach = stats.t.ppf((1 + LEVEL) / 2, videos - 1) * sqrt(videos / (videos - 1))
    tail = stats.norm.sf(reach)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return float(low), float(high)


def wilson(share: float, count: int) -> Interval:
    """Return Wilson's interval of a share of so many independent draws."""
    z = stats.norm.ppf((1 + LEVEL) / 2)
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))
