"""The interval of a mean of several means, such as an average over tasks."""

from collections.abc import Sequence
from math import fsum, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reelbench.score.intervals import LEVEL, Cell, Estimate, Numbers, freedom

_GRID = 2.0**20  # on it, products add up to the same on any machine


def macro_estimate(cells: Sequence[Cell], estimates: Sequence[Estimate]) -> Estimate:
    """Return the estimate of the mean of some cells' means, each with the same weight.

    Its ends lie as far from it as those of the cells put together (MOVER: Zou and Donner, 2008,
    Construction of confidence limits about effect measures), with the correlation that cells have
    by the videos they share. A cell leans as its own interval does, and reaches as far as Student's
    t of all videos lets its standard error: alone it would not know how unsure it is. Where a cell
    has no spread, its own interval stands.
    """
    if len(cells) == 1:
        return estimates[0]
    means = np.array([fsum(cell.right) / len(cell.right) for cell in cells])
    ends = np.array([estimate.interval for estimate in estimates])
    errors = np.array([estimate.standard_error or 0.0 for estimate in estimates])
    alike, videos = _correlations(cells), _weights(cells)
    mean = fsum(means) / len(means)
    own = (ends[:, 1] - ends[:, 0]) / 2
    reach = special.stdtrit(freedom(videos), (1 + LEVEL) / 2) if len(videos) > 1 else 0.0
    within = np.where(errors > 0, reach * errors / np.maximum(own, 1e-9), 1.0)
    known = all(estimate.standard_error is not None for estimate in estimates)
    return Estimate(
        (
            max(0.0, mean - _together((means - ends[:, 0]) * within, alike)),
            min(1.0, mean + _together((ends[:, 1] - means) * within, alike)),
        ),
        _together(errors, alike) if known else None,
        len(videos),
    )


def _together(distances: Numbers, alike: Numbers) -> float:
    """The distance of a mean, from those of its parts."""
    return sqrt(max(0.0, float(distances @ alike @ distances))) / len(distances)


def _correlations(cells: Sequence[Cell]) -> Numbers:
    """How the errors of means hang together, from what each video adds to each of them."""
    pulls = []
    for cell in cells:
        right = np.asarray(cell.right, np.float64)
        pulls.append(_by_video(cells, cell.videos, right - right.mean()))
    table = np.stack(pulls)
    lengths = np.sqrt((table**2).sum(axis=1, keepdims=True))
    table /= np.where(lengths > 0, lengths, 1.0)
    table = np.rint(table * _GRID) / _GRID
    found: Numbers = table @ table.T
    np.fill_diagonal(found, 1.0)
    return found


def _weights(cells: Sequence[Cell]) -> Numbers:
    """How much of the mean each video is, for those that are in it at all."""
    shares = [_by_video(cells, cell.videos, np.full(len(cell.right), 1 / len(cell.right)))
              for cell in cells]  # fmt: skip
    found: Numbers = np.sum(shares, axis=0)
    return found[found > 0]


def _by_video(cells: Sequence[Cell], videos: Sequence[int], values: NDArray[np.float64]) -> Numbers:
    count = 1 + max(max(cell.videos) for cell in cells)
    return np.bincount(videos, values, minlength=count).astype(np.float64)
