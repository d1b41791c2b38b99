"""Intervals of scores: questions about one video are correlated, so videos are the sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reelbench.score.beta_binomial import credible_interval

LEVEL = 0.95

METHOD = (
    f"{LEVEL:.0%}, from a beta-binomial model of the videos, over all correlations within videos "
    "(priors of Jeffreys), and, the more videos there are, from the variance between them (CR2)"
)

_GRID = 2.0**26  # shares of the best are rounded to this part of one, see `on_grid`
_BINARY = 2.0  # items all right or all wrong that a mean of grades begins with, see `_scale`

Interval = tuple[float, float]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Cell:
    """The items of one share: for each, the number of its video and whether it is right."""

    videos: Sequence[int]
    right: Sequence[float]  # 0 or 1, or a share of the best that there is
    weights: Sequence[float] | None = None  # of the items in the share; all the same if None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The interval of a share, its standard error, and the number of videos they rest on.

    The standard error is `clustered_error`'s; there is none where all items are of one video.
    """

    interval: Interval
    standard_error: float | None
    videos: int  # those that the cell has items of


def intervals(cells: Sequence[Cell], videos: int) -> list[Estimate]:
    """Return the estimate of each cell."""
    return [_estimate(cell, videos) for cell in cells]


def _estimate(cell: Cell, videos: int) -> Estimate:
    numbers, shares = np.asarray(cell.videos), on_grid(np.asarray(cell.right, np.float64))
    weights = np.ones(len(shares)) if cell.weights is None else _weights(cell.weights)
    counts = np.bincount(numbers, weights, videos).astype(np.float64)
    right = np.bincount(numbers, on_grid(weights * shares), videos).astype(np.float64)
    counts, right = counts[counts > 0], right[counts > 0]
    scale = _scale(shares, weights, right.sum() / counts.sum())
    several = len(counts) > 1
    error, degrees = (clustered_error(right, counts), freedom(counts)) if several else (0.0, 0.0)
    ends = credible_interval(right * scale, (counts - right) * scale, LEVEL, error, degrees)
    return Estimate(ends, error if several else None, len(counts))


def _weights(given: Sequence[float]) -> Numbers:
    """Scale weights so that their sum is the number of equal items that would tell as much."""
    weights = np.asarray(given, np.float64)
    ordered = np.sort(weights)  # sums are rounded alike, whatever the order was
    return on_grid(weights * (ordered.sum() / (ordered**2).sum()))


def _scale(shares: Numbers, weights: Numbers, mean: float) -> float:
    """How many items that are right or wrong tell as much as one of these: 1, or more for grades.

    Grades spread less about their mean than zeros and ones do. That they do is believed only as
    far as there are items to show it.
    """
    most = (weights.sum() + _BINARY) * mean * (1 - mean)
    less = on_grid(weights * shares * (1 - shares)).sum()
    return float(1 / (1 - less / most)) if less else 1.0


def clustered_error(sums: Numbers, counts: Numbers) -> float:
    """Return the standard error of a mean over items of two or more videos.

    It comes from how much the videos' sums differ from what their counts let expect, with the
    correction of Bell and McCaffrey for few videos and unequal sizes (CR2).
    """
    items = counts.sum()
    apart = sums - counts * (sums.sum() / items)
    return float(np.sqrt((apart**2 / (1 - counts / items)).sum()) / items)


def on_grid(shares: Numbers) -> Numbers:
    """Round shares to a grid so fine that no result shows it.

    Their sums are then exact, like those of zeros and ones, and so the same in any order: neither
    the machine nor the number of its threads changes a digit.
    """
    return np.rint(shares * _GRID) / _GRID


def freedom(counts: Numbers) -> float:
    """Return the degrees of freedom of an error estimated from videos of such sizes.

    That of Bell and McCaffrey (2002) for a mean: one less than the videos where all have as many
    items, and fewer where some are large.
    """
    weights = counts / counts.sum()
    scale = 1 / (1 - weights)
    trace = (scale * counts * (1 - weights)).sum()
    # The covariance of the videos' residuals is diag(counts) - counts * weights, up to scale.
    outer = (scale * counts * weights).sum()
    squares = outer**2 + (scale**2 * counts**2 * (1 - 2 * weights)).sum()
    return float(trace**2 / squares)


def wilson(share: float, count: int) -> Interval:
    """Return Wilson's interval of a share of so many independent draws."""
    z = float(special.ndtri((1 + LEVEL) / 2))
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))
