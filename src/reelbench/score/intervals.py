"""How sure a score is: intervals by resampling videos, since questions about one hang together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reelbench.seeds import seed_for

RESAMPLES = 10_000
LEVEL = 0.95
FEWEST_VIDEOS = 6  # with fewer, resamples cannot reach as far as the truth may lie

METHOD = (
    f"{LEVEL:.0%} by {RESAMPLES} resamples of videos (BCa), widened for their number and sizes; "
    f"Wilson's where no video has two questions, and by videos where there are under "
    f"{FEWEST_VIDEOS} or all agree"
)

_GRID = 2.0**26  # shares of the best are rounded to this part of one, see `on_grid`
_EXACT = 2**24  # whole numbers up to here are exact in four bytes
_BLOCK = 2**25  # numbers held in memory at a time, for cells that are summed together
_CHUNK = 2**21  # numbers held in memory at a time, for the draws
_CACHED = 2**15  # numbers drawn at a time: these stay in the processor's cache

Interval = tuple[float, float]
Numbers = NDArray[np.float64]
Sums = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Cell:
    """One share to be sure about: for each of its items, the video's number and the verdict."""

    videos: Sequence[int]
    right: Sequence[float]  # 0 or 1, or a share of the best that there is


@dataclass(frozen=True, slots=True)
class Estimate:
    """How sure a share is: its interval, its standard error, and the videos both rest on.

    The standard error is `clustered_error`'s; there is none where all items are of one video.
    """

    interval: Interval
    standard_error: float | None
    videos: int  # those that the cell has items of


def intervals(cells: Sequence[Cell], videos: int, seed: int) -> list[Estimate]:
    """Return how sure each cell is, all from the same draws of videos."""
    by_formula = [_by_formula(*_per_video(cell, videos)) for cell in cells]
    others = [cell for cell, found in zip(cells, by_formula, strict=True) if not found]
    drawn = _by_resampling(others, videos, seed)
    return [
        _estimate(found or next(drawn), *_per_video(cell, videos))
        for cell, found in zip(cells, by_formula, strict=True)
    ]


def _estimate(ends: Interval, counts: Numbers, right: Numbers) -> Estimate:
    seen = counts > 0
    held = int(seen.sum())
    error = clustered_error(right[seen], counts[seen]) if held > 1 else None
    return Estimate(ends, error, held)


def clustered_error(sums: Numbers, counts: Numbers) -> float:
    """Return the standard error of a mean over items of two or more videos.

    It comes from how much the videos' sums differ from what their counts let expect, with the
    correction of Bell and McCaffrey for few videos and unequal sizes (CR2).
    """
    items = counts.sum()
    apart = sums - counts * (sums.sum() / items)
    return float(np.sqrt((apart**2 / (1 - counts / items)).sum()) / items)


def _per_video(cell: Cell, videos: int) -> tuple[Numbers, Numbers]:
    """The number of items of each video, and of those that are right."""
    counts = np.bincount(cell.videos, minlength=videos).astype(np.float64)
    right = on_grid(np.asarray(cell.right, np.float64))
    return counts, np.bincount(cell.videos, right, minlength=videos).astype(np.float64)


def on_grid(shares: Numbers) -> Numbers:
    """Round shares to a grid so fine that no result shows it.

    Their sums are then exact, like those of zeros and ones, and so the same in any order: neither
    the machine nor the number of its threads changes a digit.
    """
    return np.rint(shares * _GRID) / _GRID


def _by_formula(counts: Numbers, right: Numbers) -> Interval | None:
    """Wilson's interval, of items or of videos; None where resamples say more."""
    items, wins, videos = counts.sum(), right.sum(), int((counts > 0).sum())
    if counts.max() <= 1:
        return wilson(wins / items, int(items))
    if videos < FEWEST_VIDEOS or np.array_equal(right * items, counts * wins):
        return wilson(wins / items, videos)
    return None


def _by_resampling(cells: Sequence[Cell], videos: int, seed: int) -> Iterator[Interval]:
    size = max(1, _BLOCK // (RESAMPLES + 5 * videos))
    for start in range(0, len(cells), size):
        # Models that answer the same items share a row of counts, which is summed once.
        places: dict[bytes, int] = {}
        counts: list[Numbers] = []
        rights, own = [], []
        for cell in cells[start : start + size]:
            held, right = _per_video(cell, videos)
            own.append(places.setdefault(held.tobytes(), len(places)))
            counts += [held] * (len(places) - len(counts))
            rights.append(right)
        sums = resampled(np.stack([*counts, *rights]), seed)
        for place, right, wins in zip(own, rights, sums[len(counts) :], strict=True):
            items = sums[place].astype(np.float64)
            drawn = items > 0  # a small cell may have no video in a resample
            yield _percentiles(wins[drawn] / items[drawn], counts[place], right)


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


def _percentiles(shares: Numbers, counts: Numbers, right: Numbers) -> Interval:
    """The percentiles that bound the share: BCa's, of Efron, with the reach of Student's t.

    Plain percentiles are too narrow for few videos or sizes that differ, as a normal interval is
    beside Student's, and lie too high for shares near one, where the resamples lean.
    """
    counts, right = counts[counts > 0], right[counts > 0]
    share = right.sum() / counts.sum()
    apart, weights = right - counts * share, counts / counts.sum()
    pulls = apart / (1 - weights)  # how far the share moves without this video
    lean = (pulls**3).sum() / (6 * (pulls**2).sum() ** 1.5)
    below = ((shares < share).mean() + (shares <= share).mean()) / 2
    bias = special.ndtri(np.clip(below, 1 / RESAMPLES, 1 - 1 / RESAMPLES))
    wider = sqrt((apart * pulls).sum() / (apart**2).sum())
    reach = wider * special.stdtrit(freedom(counts), (1 + LEVEL) / 2)
    # Where the correction runs away, nothing is left out.
    low, high = (
        special.ndtr(bias + z / (1 - lean * z)) if lean * z < 1 else float(z > 0)
        for z in (bias - reach, bias + reach)
    )
    ends = np.quantile(shares, [min(low, high), max(low, high)])
    return float(ends[0]), float(ends[1])


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
