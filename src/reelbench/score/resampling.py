"""Sums over videos drawn with replacement, the same on any machine, and fast."""

import numpy as np
from numpy.typing import NDArray

from reelbench.base.seeds import seed_for
from reelbench.score.intervals import Numbers

RESAMPLES = 10_000
FEWEST_VIDEOS = 6  # with fewer, resamples cannot reach as far as the truth may lie

_EXACT = 2**24  # whole numbers up to here are exact in four bytes
_CHUNK = 2**21  # numbers held in memory at a time, for the draws
_CACHED = 2**15  # numbers drawn at a time: these stay in the processor's cache

Sums = NDArray[np.floating]


def resampled(tables: Numbers, seed: int) -> Sums:
    """Draw videos with replacement; return the sum of each row's numbers in each resample.

    The numbers, one a video, are whole or on the grid, so that their sums are exact.
    """
    rows, videos = tables.shape
    columns = tables.T.astype(_exact_type(tables), order="C")  # this way round is the faster
    generator = np.random.Generator(np.random.PCG64(seed_for(seed, "bootstrap")))
    sums = np.empty((rows, RESAMPLES), columns.dtype)
    chunk = max(1, _CHUNK // videos)
    for start in range(0, RESAMPLES, chunk):
        times = _drawn(generator, min(chunk, RESAMPLES - start), videos)
        sums[:, start : start + chunk] = (times.astype(columns.dtype) @ columns).T
    return sums


def _exact_type(tables: Numbers) -> str:
    """The smaller type if it holds all sums exactly: it takes half the time and the memory."""
    whole = np.array_equal(tables, np.rint(tables))
    return "float32" if whole and tables.max() * tables.shape[1] < _EXACT else "float64"


def _drawn(generator: np.random.Generator, rows: int, videos: int) -> NDArray[np.uint16]:
    """How many times each video comes, in each of some resamples."""
    times = np.empty((rows, videos), np.uint16)
    step = max(1, _CACHED // videos)
    for start in range(0, rows, step):
        draws = generator.integers(videos, size=(min(step, rows - start), videos))
        draws += videos * np.arange(len(draws))[:, None]
        counts = np.bincount(draws.ravel(), minlength=draws.size)
        times[start : start + step] = counts.reshape(draws.shape)
    return times
