"""Options that are numbers, times and intervals, drawn around a known truth (L.1, L.2).

All items of a task are drawn together: over them, neither the smallest nor the middle number, the
longest nor the earliest interval is right more often than chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from reelbench.base.seeds import rng_for, seed_for
from reelbench.make.parts.balance.guesses import OptionDraw, by_rank, draw_wrong_options
from reelbench.make.parts.balance.key_placer import KeyPlacer

Interval = tuple[int, int]  # whole seconds
OTHERS = 3  # wrong options of an item
_MOST_WAYS = 200  # to draw intervals for an item that are tried


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
    truths: Mapping[str, int], seed: int, *, within: int = 4, least: int = 3
) -> dict[str, tuple[int, ...]]:
    """Return wrong numbers for each true one: ``within`` so many of it, and at least 1.

    Clips were selected for ``least`` people: a smaller number is offered only where some true one
    is as small, for who knows the rule would strike it out.
    """
    lowest = max(1, min(least, *truths.values())) if truths else least
    draws = {
        item: OptionDraw(truth, list(combinations(_around(truth, within, lowest), OTHERS)))
        for item, truth in truths.items()
    }
    return draw_wrong_options(draws, _number_guesses, seed)


def _around(truth: int, within: int, least: int) -> list[int]:
    return [n for n in range(max(least, truth - within), truth + within + 1) if n != truth]


def _number_guesses(numbers: Sequence[int]) -> dict[str, Sequence[int]]:
    # "7, wherever it is offered": a number must be wrong where it could be right.
    each = {f"number {number}": [place] for place, number in enumerate(numbers)}
    return {**by_rank(numbers, "rank"), **each}


# Starts of actions (TSA).


def draw_starts(
    truths: Mapping[str, ActionStart],
    seed: int,
    *,
    apart: float = 3.0,
    spread: int = 2,
    ongoing: Sequence[int] = (),
) -> dict[str, tuple[int, ...]]:
    """Return the numbers to offer for each action, in seconds: the true one first.

    The wrong ones are at least ``apart`` from the truth and, where the clip is long enough,
    ``spread`` from each other. For an action that goes on throughout, numbers are drawn around a
    made-up truth like the others, or are those of ``ongoing`` (the paper: 1, 4, 7, 10) that lie in
    the clip.
    """
    draws: dict[str, OptionDraw[int]] = {}
    fixed: dict[str, tuple[int, ...]] = {}
    for item, truth in truths.items():
        if truth.at is None and ongoing:
            fixed[item] = tuple(number for number in ongoing if number <= truth.seconds)
            continue
        at = _made_up(truth.seconds, seed, item) if truth.at is None else truth.at
        draws[item] = OptionDraw(
            whole(at, truth.seconds), _starts(at, truth.seconds, apart, spread)
        )
    taken = draw_wrong_options(draws, _start_guesses, seed)
    return {item: (draws[item].key, *wrong) for item, wrong in taken.items()} | fixed


def whole(at: float, seconds: float) -> int:
    """Return a time in whole seconds, inside a clip."""
    return min(max(0, round(at)), int(seconds))


def _made_up(seconds: float, seed: int, item: str) -> float:
    return rng_for(seed, "start", item).uniform(0, seconds)


def _starts(at: float, seconds: float, apart: float, spread: int) -> list[tuple[int, ...]]:
    """Return sets of wrong starts, spread as widely as the clip allows, up to ``spread``."""
    key = whole(at, seconds)
    far = [n for n in range(int(seconds) + 1) if min(abs(n - at), abs(n - key)) >= apart]
    sets = list(combinations(far, OTHERS))
    closest = [min(b - a for a, b in pairwise(each)) for each in sets]
    widest = min(max(closest, default=0), spread)
    return [each for each, least in zip(sets, closest, strict=True) if least >= widest]


def _start_guesses(numbers: Sequence[int]) -> dict[str, Sequence[int]]:
    alone = [min(abs(a - b) for b in numbers if b != a) for a in numbers]
    return {**by_rank(numbers, "rank"), **by_rank(alone, "distance to the next")}


# Appearance times (ATD).


def draw_intervals(
    truths: Mapping[str, Presence],
    seed: int,
    *,
    most_overlap: float = 4.0,
    most_iou: float = 0.5,
    slack: float | None = 3.0,
) -> dict[str, tuple[Interval, ...]]:
    """Return wrong intervals for each true one, in whole seconds inside the clip.

    They share at most ``most_overlap`` seconds with the truth, and at most ``most_iou`` of what
    both cover together. Items are left out where the truth would be the longest too often: beside a
    long one, such intervals can only be short.
    """
    draws = {
        item: OptionDraw(truth.span, _interval_sets(truth, most_overlap, most_iou, seed, item))
        for item, truth in truths.items()
    }
    return draw_wrong_options(draws, _interval_guesses, seed, slack=slack)


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
    last, shortest = int(truth.seconds), max(1, length(truth.span) // 2)
    near = [
        (start, end)
        for start in range(last)
        for end in range(start + shortest, min(last, start + 2 * length(truth.span)) + 1)
        if overlap((start, end), truth.span) <= most_overlap
        and iou((start, end), truth.span) <= most_iou
    ]
    rng = rng_for(seed, "intervals", item)
    sets = [
        tuple(rng.sample(near, OTHERS)) for _ in range(_MOST_WAYS if len(near) >= OTHERS else 0)
    ]
    # The wrong ones must not be one and the same to the eye either.
    return [each for each in sets if all(iou(a, b) <= most_iou for a, b in combinations(each, 2))]


def _interval_guesses(intervals: Sequence[Interval]) -> dict[str, Sequence[int]]:
    shared = [sum(overlap(a, b) for b in intervals) - length(a) for a in intervals]
    return {
        **by_rank([length(each) for each in intervals], "length"),
        **by_rank([start for start, _ in intervals], "start"),
        **by_rank([end for _, end in intervals], "end"),
        **by_rank(shared, "shared with the others"),
        "from the beginning": [n for n, each in enumerate(intervals) if each[0] == 0],
    }


# Alignment (AVAD).


def thirds(seconds: float) -> tuple[int, int, int]:
    """Return the left ends of the three thirds of a clip, rounded to whole seconds."""
    return 0, round(seconds / 3), round(2 * seconds / 3)


def draw_points(lengths: Mapping[str, float], seed: int) -> dict[str, int]:
    """Return for each clip the third whose left end is the key, each equally often."""
    placer = KeyPlacer(seed_for(seed, "points"))
    order = sorted(lengths, key=lambda item: seed_for(seed, "points", item))
    return {item: thirds(lengths[item])[placer.position(3)] for item in order}
