"""What the page of a make draws with: colours of categories, small histograms, numbers in words."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.progress import counted
from reelbench.report.figures import COLOURS

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
    """Some values in numbers, and as a histogram."""

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
        """What the histogram says to who cannot see it."""
        shown = "; ".join(f"{self.span(bar)}: {bar.count}" for bar in self.bins if bar.count)
        return f"{self.name}, {counted(self.count, 'value')}. {shown}"

    def span(self, bar: Bin) -> str:
        """Say which values a bar counts."""
        return number(bar.low) if self.single else f"{number(bar.low)} to {number(bar.high)}"

    @property
    def ends(self) -> tuple[str, str]:
        """What stands under the first and the last bar."""
        last = self.bins[-1]
        return number(self.bins[0].low), number(last.low if self.single else last.high)

    @property
    def mean_at(self) -> float:
        """Where the mean is between the ends of the histogram, from 0 to 1."""
        low, high = self.bins[0].low, self.bins[-1].high
        middle = 0.5 if self.single else 0.0  # of the bar of a whole number
        return (self.mean + middle - low) / (high - low)


def distribution(name: str, values: Iterable[Any]) -> Distribution | None:
    """Sum up the numbers among some values; None where there are none."""
    numbers = sorted(value for value in values if _is_number(value))
    if not numbers:
        return None
    mean, median = statistics.fmean(numbers), float(statistics.median(numbers))
    bins = tuple(bins_of(numbers))
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


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def number(value: Any) -> str:
    """Write a number as people do; a year is not parted by a comma."""
    if not _is_number(value):
        return str(value)
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}" if abs(value) >= 10_000 else str(int(value))
    if abs(value) >= 1e15 or abs(value) < 0.001:
        return f"{value:.3g}"
    digits = 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}" if abs(value) >= 10_000 else f"{value:.{digits}f}"


def many(unit: str) -> str:
    """Return the plural of the name of a kind of row."""
    if unit.endswith("y") and unit[-2:-1] not in "aeiou":
        return f"{unit[:-1]}ies"
    return f"{unit}es" if unit.endswith(("s", "x", "ch", "sh")) else f"{unit}s"


def units(count: int, unit: str) -> str:
    """Write how many rows of a kind there are."""
    return counted(count, unit, many(unit))


def shortened(text: str, limit: int) -> str:
    """Cut a text that is longer than this."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def category_colours(funnel: Mapping[str, Any]) -> dict[str, str]:
    """Give each category one colour, in the order in which they come up in the funnel."""
    names = dict.fromkeys(
        name for stage in funnel["stages"] for name in stage.get("by_category", ())
    )
    return {name: _colour(place) for place, name in enumerate(names)}


def _colour(place: int) -> str:
    """After the last colour they come again, mixed with grey."""
    colour, turn = COLOURS[place % len(COLOURS)], place // len(COLOURS)
    kept = 0.55**turn
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part * kept + 136 * (1 - kept)):02X}" for part in parts)
