"""The difference of two means, such as of a subset and the whole, or of two conditions.

Both may share items, and always share videos. So each video's pull on the difference is taken as
one, by linearisation: the error is that of the sum of these pulls, with the correction for few
videos that comparisons of models have.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, inf
from typing import Any

import numpy as np

from reelbench.score.compare import tested_difference
from reelbench.score.intervals import Cell, Interval, Numbers, freedom
from reelbench.score.rounding import rounded

_GRID = 2.0**40  # on it, what cancels out is 0, on any machine


@dataclass(frozen=True, slots=True)
class Difference:
    """A signed difference; without an interval where all items are of one video."""

    value: float
    interval: Interval | None
    standard_error: float | None

    def to_record(self) -> dict[str, Any]:
        """Return what goes into a file."""
        ends = self.interval
        return {
            "value": rounded(self.value),
            "interval": None if ends is None else [rounded(end) for end in ends],
            "standard_error": rounded(self.standard_error),
        }


def difference_of(one: Sequence[Cell], other: Sequence[Cell]) -> Difference:
    """Return the mean of some cells' means less that of others', each cell weighing the same."""
    videos = 1 + max(max(cell.videos) for cell in (*one, *other))
    value = _mean(one) - _mean(other)
    pulls = _pulls(one, videos) - _pulls(other, videos)
    shares = (_shares(one, videos) + _shares(other, videos)) / 2
    there = shares > 0
    pulls, shares = np.rint(pulls[there] * _GRID) / _GRID, shares[there]
    if len(shares) < 2:
        return Difference(value, None, None)
    error = float(np.sqrt((pulls**2 / (1 - shares)).sum()))
    ends, _, error = tested_difference(value, error, len(shares), freedom(shares))
    return Difference(value, ends, error if error < inf else None)


def _mean(cells: Sequence[Cell]) -> float:
    return fsum(fsum(cell.right) / len(cell.right) for cell in cells) / len(cells)


def _pulls(cells: Sequence[Cell], videos: int) -> Numbers:
    """What each video adds to the mean beside what all add alike."""
    found = np.zeros(videos)
    for cell in cells:
        right = np.asarray(cell.right, np.float64)
        weight = 1 / (len(right) * len(cells))
        found += np.bincount(cell.videos, (right - right.mean()) * weight, videos)
    return found


def _shares(cells: Sequence[Cell], videos: int) -> Numbers:
    """How much of the mean each video is."""
    found = np.zeros(videos)
    for cell in cells:
        weights = np.full(len(cell.right), 1 / (len(cell.right) * len(cells)))
        found += np.bincount(cell.videos, weights, videos)
    return found
