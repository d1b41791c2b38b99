"""Summary statistics of some values, and a small histogram of them."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.progress import counted
from reelbench.pages.text import is_number, number

MOST_BINS = 16
_STEPS = (1, 2, 2.5, 5, 10)  # widths of bins that people can read off


@dataclass(frozen=True, slots=True)
class Bin:
    """A bar of a histogram: from where to where, and how many values are in it."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Distribution:
    """Summary statistics of some values, and their histogram."""

    name: str
    count: int
    mean: float
    median: float
    least: float
    most: float
    bins: tuple[Bin, ...]
    single: bool  # whether each bar is for one whole number

    @property
    def words(self) -> str:
        """The description of the histogram for screen readers."""
        shown = "; ".join(f"{self.span(bar)}: {bar.count}" for bar in self.bins if bar.count)
        return f"{self.name}, {counted(self.count, 'value')}. {shown}"

    def span(self, bar: Bin) -> str:
        """Return which values a bar counts."""
        return number(bar.low) if self.single else f"{number(bar.low)} to {number(bar.high)}"

    @property
    def ends(self) -> tuple[str, str]:
        """The labels under the first and the last bar."""
        last = self.bins[-1]
        return number(self.bins[0].low), number(last.low if self.single else last.high)

    @property
    def mean_at(self) -> float:
        """Where the mean is between the ends of the histogram, from 0 to 1."""
        low, high = self.bins[0].low, self.bins[-1].high
        middle = 0.5 if self.single else 0.0  # of the bar of a whole number
        return (self.mean + middle - low) / (high - low)


def distribution(name: str, values: Iterable[Any]) -> Distribution | None:
    """Return the distribution of the numbers among some values; None where there are none."""
    numbers = sorted(value for value in values if is_number(value))
    if not numbers:
        return None
    mean, median = statistics.fmean(numbers), float(statistics.median(numbers))
    bins = _with_room(bins_of(numbers))
    single = _are_whole(numbers) and bins[0].high - bins[0].low == 1
    return Distribution(name, len(numbers), mean, median, numbers[0], numbers[-1], bins, single)


def bins_of(numbers: Sequence[float]) -> list[Bin]:
    """Sort numbers into bars: one for each whole number if they are few, else of a round width."""
    low, high = min(numbers), max(numbers)
    width = _round_width((high - low) / MOST_BINS, _are_whole(numbers))
    start = math.floor(low / width)
    places = Counter(math.floor(number / width) for number in numbers)
    # Beside 1e17 a bar of width 1 is nothing: then all values share one bar.
    last = max(places)
    if last - start > 2 * MOST_BINS or start * width + width == start * width:
        return [Bin(low, high + 1, len(numbers))]
    return [
        Bin(_without_dust(place * width), _without_dust((place + 1) * width), places[place])
        for place in range(start, last + 1)
    ]


def _with_room(bins: Sequence[Bin]) -> tuple[Bin, ...]:
    """Put an empty bar on either side of one that is alone: it would fill the picture."""
    if len(bins) > 1:
        return tuple(bins)
    (bar,) = bins
    width = bar.high - bar.low
    below, above = Bin(bar.low - width, bar.low, 0), Bin(bar.high, bar.high + width, 0)
    # Of what cannot be negative there is no room below 0.
    return (bar, above) if bar.low == 0 else (below, bar, above)


def _are_whole(numbers: Sequence[float]) -> bool:
    return all(float(number).is_integer() for number in numbers)


def _round_width(least: float, whole: bool) -> float:
    """Return the next round number that is at least this."""
    if least <= 0:
        return 1.0
    size = 10 ** math.floor(math.log10(least))
    width = float(next(step * size for step in _STEPS if step * size >= least * (1 - 1e-9)))
    return max(1.0, math.ceil(width)) if whole else width


def _without_dust(value: float) -> float:
    """Take off what floating point adds at the far end."""
    return float(f"{value:.12g}")
