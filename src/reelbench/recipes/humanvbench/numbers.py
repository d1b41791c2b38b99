"""Options that are numbers, times and intervals, drawn around a known truth (L.1, L.2).

All items of a task are drawn together: over them, neither the smallest nor the middle number, the
longest interval nor one at an end of the clip is right more often than chance.
"""

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from reelbench.base.seeds import rng_for
from reelbench.make.parts.balance.guesses import (
    OptionDraw,
    Picks,
    Values,
    by_rank,
    draw_options,
    equal_to,
    off_the_mean,
    off_the_next,
)

Interval = tuple[int, int]  # whole seconds
OTHERS = 3  # wrong options of an item
_MOST_WAYS = 100  # to draw intervals for an item that are tried


@dataclass(frozen=True, slots=True)
class ActionStart:
    """When an action starts in a clip; None where it goes on throughout."""

    seconds: float  # that the clip lasts
    at: float | None


@dataclass(frozen=True, slots=True)
class Presence:
    """From when to when someone is seen in a clip."""

    seconds: float  # that the clip lasts
    span: Interval


# Counting (HC).


def draw_counts(
    truths: Mapping[str, int],
    seed: int,
    *,
    within: int = 4,
    least: int = 3,
    slack: float | None = None,
) -> dict[str, tuple[int, ...]]:
    """Return the numbers to offer for each true one, the true one first.

    The wrong ones differ from it by at most ``within``, and are at least 1. Clips were selected for
    ``least`` people, and a player who knows the rule would strike out smaller numbers: they are
    offered only where some true one is as small.
    """
    lowest = max(1, min(least, *truths.values())) if truths else least
    draws = {
        item: OptionDraw(
            [(truth, *way) for way in combinations(_around(truth, within, lowest), OTHERS)]
        )
        for item, truth in truths.items()
    }
    numbers = range(lowest, max(truths.values(), default=0) + within + 1)
    return draw_options(draws, lambda options, _: _count_rules(options, numbers), seed, slack=slack)


def _around(truth: int, within: int, least: int) -> list[int]:
    return [n for n in range(max(least, truth - within), truth + within + 1) if n != truth]


def _count_rules(options: Values, numbers: Sequence[int]) -> Picks:
    # "7, wherever it is offered": a number must be wrong where it could be right.
    off = [np.abs(options - number) for number in numbers]
    ranks = by_rank(options, off_the_next(options), off_the_mean(options), *off)
    return np.concatenate([ranks, equal_to(options, numbers)])


# What times of a clip say (ATD, TSA, AVAD).

_TENTHS = 10  # of a clip
_SECONDS = 30  # from its start, and from its end, that rules know one by one
_LENGTHS = (9, 12, 16, 22)  # seconds: what is rare over all clips may be the rule in short ones


def _group(seconds: float) -> int:
    """Return the group of a clip by its length."""
    return bisect(_LENGTHS, seconds)


def _time_rules(starts: Values, ends: Values, seconds: float, *more: Values) -> Picks:
    """Return the rules that go by where in the clip an option lies, and by ``more`` measures."""
    middles, last = (starts + ends) / 2, int(seconds)
    off_tenths = [np.abs(middles - seconds * tenth / _TENTHS) for tenth in range(1, _TENTHS)]
    off_ends = np.minimum(starts, seconds - ends)
    tenths = np.minimum(middles * _TENTHS // seconds, _TENTHS - 1)
    at_start, at_end = starts == 0, ends >= last
    return np.concatenate(
        [
            by_rank(middles, off_the_next(middles), off_the_mean(middles), off_ends, *more),
            by_rank(*off_tenths),
            equal_to(tenths, range(_TENTHS)),
            equal_to(starts, range(_SECONDS)),
            equal_to(last - ends, range(_SECONDS)),
            [at_start | at_end, ~at_start, ~at_end, ~(at_start | at_end)],
        ]
    )


# Starts of actions (TSA).


def draw_starts(
    truths: Mapping[str, ActionStart],
    seed: int,
    *,
    apart: float = 3.0,
    ongoing: Sequence[int] = (),
    slack: float | None = None,
) -> dict[str, tuple[int, ...]]:
    """Return the numbers to offer for each action, in seconds: the true one first.

    The wrong ones are at least ``apart`` from the truth and, where the clip is long enough, from
    each other. For an action that goes on throughout, numbers are drawn around a made-up truth,
    which lies in the clip where one of the others does, or are those of ``ongoing`` (the paper: 1,
    4, 7, 10) that lie in the clip.
    """
    known = sorted(truth.at / truth.seconds for truth in truths.values() if truth.at is not None)
    starting: dict[str, OptionDraw[int]] = {}
    going_on: dict[str, OptionDraw[int]] = {}
    fixed: dict[str, tuple[int, ...]] = {}
    for item, truth in truths.items():
        if truth.at is None and ongoing:
            fixed[item] = tuple(number for number in ongoing if number <= truth.seconds)
            continue
        at = _made_up(truth.seconds, known, seed, item) if truth.at is None else truth.at
        draws = going_on if truth.at is None else starting
        sets = _starts(at, truth.seconds, apart)
        draws[item] = OptionDraw(sets, truth.seconds, _group(truth.seconds))
    drawn = [draw_options(each, _start_rules, seed, slack=slack) for each in (starting, going_on)]
    return drawn[0] | drawn[1] | fixed


def whole(at: float, seconds: float) -> int:
    """Return a time in whole seconds, inside a clip."""
    return min(max(0, round(at)), int(seconds))


def _made_up(seconds: float, known: Sequence[float], seed: int, item: str) -> float:
    rng = rng_for(seed, "start", item)
    return seconds * (rng.choice(known) if known else rng.random())


def _starts(at: float, seconds: float, apart: float) -> list[tuple[int, ...]]:
    """Return sets of starts, the true one first, spread as widely as the clip allows."""
    key = whole(at, seconds)
    far = [n for n in range(int(seconds) + 1) if min(abs(n - at), abs(n - key)) >= apart]
    sets = list(combinations(far, OTHERS))
    closest = [min(b - a for a, b in pairwise(each)) for each in sets]
    widest = min(max(closest, default=0), apart)
    return [(key, *each) for each, least in zip(sets, closest, strict=True) if least >= widest]


def _start_rules(options: Values, seconds: float) -> Picks:
    return _time_rules(options, options, seconds)


# Appearance times (ATD).


def draw_intervals(
    truths: Mapping[str, Presence],
    seed: int,
    *,
    most_overlap: float = 4.0,
    most_iou: float = 0.5,
    slack: float | None = 3.0,
) -> dict[str, tuple[Interval, ...]]:
    """Return the intervals to offer for each true one, which is the first, in whole seconds.

    The wrong ones share at most ``most_overlap`` seconds with the truth, and at most ``most_iou``
    of what both cover together. Items are left out where the truth would be the longest too often:
    beside a long one, such intervals can only be short.
    """
    draws = {
        item: OptionDraw(
            _interval_sets(truth, most_overlap, most_iou, seed, item),
            truth.seconds,
            _group(truth.seconds),
        )
        for item, truth in truths.items()
    }
    return draw_options(draws, _interval_rules, seed, slack=slack)


def overlap(a: Interval, b: Interval) -> int:
    """Return the seconds that two intervals share."""
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


def iou(a: Interval, b: Interval) -> float:
    """Return what two intervals share, of what they cover together."""
    shared = overlap(a, b)
    return shared / (length(a) + length(b) - shared)


def length(interval: Interval) -> int:
    """Return how long an interval lasts."""
    return interval[1] - interval[0]


def _interval_sets(
    truth: Presence, most_overlap: float, most_iou: float, seed: int, item: str
) -> list[tuple[Interval, ...]]:
    last, here = int(truth.seconds), length(truth.span)
    starts, ends = (side.ravel() for side in np.mgrid[0:last, 0 : last + 1])
    shared = np.minimum(ends, truth.span[1]) - np.maximum(starts, truth.span[0])
    shared, lengths = np.maximum(shared, 0), ends - starts
    fits = (lengths >= max(1, here // 2)) & (lengths <= 2 * here) & (shared <= most_overlap)
    fits &= shared <= most_iou * (lengths + here - shared)
    near = list(zip(starts[fits].tolist(), ends[fits].tolist(), strict=True))
    rng = rng_for(seed, "intervals", item)
    sets = [
        tuple(rng.sample(near, OTHERS)) for _ in range(_MOST_WAYS if len(near) >= OTHERS else 0)
    ]
    # The wrong ones must not be one and the same to the eye either.
    return [
        (truth.span, *each)
        for each in sets
        if all(iou(a, b) <= most_iou for a, b in combinations(each, 2))
    ]


def _interval_rules(options: Values, seconds: float) -> Picks:
    starts, ends = options[:, :, 0], options[:, :, 1]
    latest = np.maximum(starts[:, :, None], starts[:, None, :])
    shared = np.maximum(0, np.minimum(ends[:, :, None], ends[:, None, :]) - latest).sum(axis=2)
    lengths = ends - starts
    return _time_rules(starts, ends, seconds, starts, ends, lengths, shared - lengths)


# Alignment (AVAD).


def thirds(seconds: float) -> tuple[int, int, int]:
    """Return the left ends of the three thirds of a clip, rounded to whole seconds."""
    return 0, round(seconds / 3), round(2 * seconds / 3)


def draw_points(lengths: Mapping[str, float], seed: int) -> dict[str, int]:
    """Return for each clip the third whose left end is the key, each equally often."""
    draws = {
        item: OptionDraw(_turned(thirds(seconds)), seconds, _group(seconds))
        for item, seconds in lengths.items()
    }
    return {item: key for item, (key, *_) in draw_options(draws, _start_rules, seed).items()}


def _turned(points: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the ways to take one of the points for the key, the first of each."""
    return [(key, *points[:place], *points[place + 1 :]) for place, key in enumerate(points)]
