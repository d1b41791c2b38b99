"""Which models differ significantly: pairs on the same items, ranks with intervals, and power."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, inf
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reelbench.base.errors import ReelbenchError
from reelbench.score.coverage import BothAnswered, CoverageGap, coverage_warnings
from reelbench.score.intervals import (
    LEVEL,
    Interval,
    Numbers,
    clustered_error,
    freedom,
    on_grid,
    wilson,
)
from reelbench.score.letters import compact_letters
from reelbench.score.resampling import FEWEST_VIDEOS, RESAMPLES, resampled
from reelbench.score.rounding import rounded, significant

ALPHA = round(1 - LEVEL, 6)
POWER = 0.8
LEAST_P = 1e-300  # what is smaller still cannot be written, and nothing is impossible
Missing = Literal["wrong", "common"]

POLICIES: dict[Missing, str] = {
    "wrong": "an item that a model did not answer counts as wrong",
    "common": "only the items that all models answered are compared",
}
METHOD = (
    "each pair on the same items: difference of the means, its error from the spread between "
    "videos (CR2), Student's t with the degrees of freedom of Bell and McCaffrey, p no smaller "
    "than 2 to the power of 1 - videos, corrected for all pairs after Holm"
)
RANK_RULE = (
    f"{LEVEL:.0%} interval of a rank: behind every model that is better, and before every one that "
    "is worse, beyond what the largest of this model's differences reaches by chance in "
    f"{RESAMPLES} resamples of videos"
)
LETTER_RULE = (
    "two models share a letter if and only if they are not significantly different (p after Holm "
    f"not under {ALPHA})"
)
POWER_RULE = (
    f"what is needed to see a true difference as large as this one with {POWER:.0%} power in one "
    f"test at {ALPHA}, with videos like these and as many items on each"
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models on the same items; the difference is the first's mean less the second's."""

    first: str
    second: str
    coverage: tuple[float, float]  # the share of the items that each of them answered
    both_answered: BothAnswered | None  # None where they answered the same items
    difference: float
    interval: Interval
    standard_error: float | None  # None where all items are of one video
    p: float
    p_holm: float
    design_effect: float | None  # variance beside that of as many independent items
    needed_videos: int | None  # None where there is no difference to see
    needed_items: int | None

    @property
    def different(self) -> bool:
        """Whether the two differ significantly, corrected for all pairs."""
        return self.p_holm < ALPHA

    def gap(self, items: int) -> CoverageGap:
        """Return how much of these items each of the two answered."""
        names = self.first, self.second
        return CoverageGap(names, self.coverage, self.difference, self.both_answered, items)

    def to_record(self) -> dict[str, Any]:
        """Return what goes into a file."""
        return {
            "models": [self.first, self.second],
            "coverage": [rounded(share) for share in self.coverage],
            "difference": rounded(self.difference),
            "interval": [rounded(end) for end in self.interval],
            "standard_error": rounded(self.standard_error),
            "p": significant(self.p),
            "p_holm": significant(self.p_holm),
            "different": self.different,
            "design_effect": None if self.design_effect is None else rounded(self.design_effect),
            "needed_videos": self.needed_videos,
            "needed_items": self.needed_items,
            "both_answered": self.both_answered and self.both_answered.to_record(),
        }


@dataclass(frozen=True, slots=True)
class Standing:
    """The rank of one model among the others."""

    model: str
    score: float
    rank: int  # one more than the models with a higher score
    rank_interval: tuple[int, int]
    letters: tuple[str, ...]  # shared with those that it cannot be told apart from

    def to_record(self) -> dict[str, Any]:
        """Return what goes into a file."""
        return {
            "model": self.model,
            "score": rounded(self.score),
            "rank": self.rank,
            "rank_interval": list(self.rank_interval),
            "letters": list(self.letters),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of models, the best first, and of each pair of them."""

    items: int
    videos: int
    missing: Missing
    models: tuple[Standing, ...]
    pairs: tuple[Pair, ...]  # by name

    def to_record(self) -> dict[str, Any]:
        """Return what goes into a file."""
        return {
            "items": self.items,
            "videos": self.videos,
            "policy": POLICIES[self.missing],
            "method": METHOD,
            "rank_rule": RANK_RULE,
            "letter_rule": LETTER_RULE,
            "power_rule": POWER_RULE,
            "warnings": coverage_warnings(
                (each.gap(self.items) for each in self.pairs),
                "see the table of pairs in the report",
            ),
            "models": [each.to_record() for each in self.models],
            "pairs": [each.to_record() for each in self.pairs],
        }


def compare(
    names: Sequence[str],
    scores: Sequence[Sequence[float]] | Numbers,
    videos: Sequence[int] | NDArray[np.integer],
    seed: int,
    missing: Missing = "wrong",
) -> Comparison:
    """Compare models by their scores, one row each: from 0 to 1, NaN without an answer.

    Neither the order of the models nor that of the items changes anything.
    """
    table, clusters = _checked(names, scores, videos, missing)
    alphabet = sorted(range(len(names)), key=lambda number: names[number])
    names, table = [names[number] for number in alphabet], table[alphabet]
    facts, pairs = _facts_and_pairs(names, table, clusters)
    return Comparison(
        table.shape[1], len(facts.counts), missing, _standings(names, facts, pairs, seed), pairs
    )


def compare_two(
    names: tuple[str, str],
    scores: Sequence[Sequence[float]] | Numbers,
    videos: Sequence[int] | NDArray[np.integer],
) -> Pair:
    """Compare two rows of scores as they are given, the first less the second.

    What has no score counts 0. Its ``p_holm`` is for a family of this pair alone.
    """
    _, (pair,) = _facts_and_pairs(names, *_checked(names, scores, videos, "wrong"))
    return pair


def _facts_and_pairs(
    names: Sequence[str], table: Numbers, clusters: NDArray[np.int64]
) -> tuple["_Facts", tuple[Pair, ...]]:
    answered = ~np.isnan(table)
    table = on_grid(np.nan_to_num(table, nan=0.0))
    order = np.lexsort((*table, clusters))  # sums are rounded alike, whatever the order was
    facts = _Facts.of(table[:, order], clusters[order])
    return facts, _pairs(names, facts, _coverages(table, answered, clusters))


def _checked(
    names: Sequence[str], scores: Any, videos: Any, missing: Missing
) -> tuple[Numbers, NDArray[np.int64]]:
    table, clusters = np.array(scores, np.float64), np.asarray(videos, np.int64)
    faults = []
    if missing not in get_args(Missing):
        faults.append(f"missing is {missing!r}, expected one of {', '.join(POLICIES)}")
    if len(set(names)) < len(names) or not names:
        faults.append("each model needs a name of its own")
    if table.shape != (len(names), clusters.size):
        expected = f"({len(names)} models, {clusters.size} items)"
        faults.append(f"the scores have the shape {table.shape}, expected {expected}")
    if ((table < 0) | (table > 1)).any():
        faults.append("scores must lie between 0 and 1: divide them by the highest possible score")
    if faults:
        raise ReelbenchError(f"These models cannot be compared: {'; '.join(faults)}.")
    if missing == "common":
        asked = ~np.isnan(table).any(axis=0)
        table, clusters = table[:, asked], clusters[asked]
    if not clusters.size:
        raise ReelbenchError(
            "These models cannot be compared: no item was answered by all of them. Ask the same "
            "items, or count those without an answer as wrong."
        )
    return table, clusters


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of each video and each pair; matrices are models by models."""

    counts: Numbers  # items of each video
    sums: Numbers  # of each model's scores on each video
    means: Numbers
    errors: Numbers  # of the differences
    plain_errors: Numbers  # as if items were independent
    freedom: float

    @classmethod
    def of(cls, table: Numbers, clusters: NDArray[np.int64]) -> "_Facts":
        numbers = np.unique(clusters, return_inverse=True)[1]
        counts = np.bincount(numbers).astype(np.float64)
        sums = np.stack([np.bincount(numbers, row) for row in table]).astype(np.float64)
        errors, plain = np.zeros((2, len(table), len(table)))
        for one, other in combinations(range(len(table)), 2):
            gaps = table[one] - table[other]
            error = _error(sums[one] - sums[other], counts)
            errors[one, other] = errors[other, one] = error
            plain[one, other] = plain[other, one] = gaps.std() / np.sqrt(max(1, gaps.size - 1))
        free = freedom(counts) if len(counts) > 1 else 1.0
        return cls(counts, sums, sums.sum(axis=1) / counts.sum(), errors, plain, free)

    def difference(self, one: int, other: int) -> float:
        return float(self.means[one] - self.means[other])


def _error(gaps: Numbers, counts: Numbers) -> float:
    """The standard error of a mean difference; one video cannot tell it."""
    if len(counts) == 1:
        return inf if gaps.any() else 0.0
    return clustered_error(gaps, counts)


_Coverage = tuple[tuple[float, float], BothAnswered | None]


def _coverages(
    table: Numbers, answered: NDArray[np.bool_], clusters: NDArray[np.int64]
) -> list[_Coverage]:
    """What the two of each pair answered, and how they compare where both did."""
    shares = [float(row.mean()) for row in answered]
    found: list[_Coverage] = []
    for one, other in combinations(range(len(table)), 2):
        both = answered[one] & answered[other]
        same = np.array_equal(answered[one], answered[other])
        held = None if same else _both_answered(table[[one, other]][:, both], clusters[both])
        found.append(((shares[one], shares[other]), held))
    return found


def _both_answered(table: Numbers, clusters: NDArray[np.int64]) -> BothAnswered:
    if not clusters.size:
        return BothAnswered(0, None, None)
    facts = _Facts.of(table, clusters)
    return BothAnswered(int(clusters.size), facts.difference(0, 1), _tested(0, 1, facts)[0])


def _pairs(names: Sequence[str], facts: _Facts, coverages: Sequence[_Coverage]) -> tuple[Pair, ...]:
    places = list(combinations(range(len(names)), 2))
    tests = [_tested(*place, facts) for place in places]
    corrected = holm([p for _, p, _ in tests])
    return tuple(
        Pair(
            names[one],
            names[other],
            *coverage,
            facts.difference(one, other),
            interval,
            error if error < inf else None,
            p,
            p_holm,
            _design_effect(error, facts.plain_errors[one, other]),
            *_needed(facts.difference(one, other), error, facts),
        )
        for (one, other), coverage, (interval, p, error), p_holm in zip(
            places, coverages, tests, corrected, strict=True
        )
    )


def _tested(one: int, other: int, facts: _Facts) -> tuple[Interval, float, float]:
    """The interval of a difference, its p-value, and its standard error."""
    error = float(facts.errors[one, other])
    return tested_difference(facts.difference(one, other), error, len(facts.counts), facts.freedom)


def tested_difference(
    difference: float, error: float, videos: int, free: float
) -> tuple[Interval, float, float]:
    """Return the interval of a difference, its p-value, and its standard error.

    Few videos that all say the same leave no spread, which is not certainty: the error is raised
    until p is what turning round the sign of each video could show at best. ``free`` are
    the degrees of freedom.
    """
    if difference == 0 and error == 0:
        half = wilson(0.0, videos)[1]
        return (-half, half), 1.0, 0.0
    least = max(2.0 ** (1 - min(videos, 1000)), LEAST_P)
    most = -special.stdtrit(free, least / 2)
    error = max(error, abs(difference) / most) if most > 0 else inf
    p = 2 * special.stdtr(free, -abs(difference) / error)
    half = special.stdtrit(free, (1 + LEVEL) / 2) * error
    ends = max(-1.0, float(difference - half)), min(1.0, float(difference + half))
    return ends, max(float(p), LEAST_P), float(error)


def holm(values: Sequence[float]) -> list[float]:
    """Correct p-values for their number, after Holm."""
    order = sorted(range(len(values)), key=lambda number: values[number])
    corrected, largest = [0.0] * len(values), 0.0
    for place, number in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - place) * values[number]))
        corrected[number] = largest
    return corrected


def _design_effect(error: float, plain: float) -> float | None:
    return float((error / plain) ** 2) if plain > 0 and error < inf else None


def _needed(difference: float, error: float, facts: _Facts) -> tuple[int | None, int | None]:
    """Videos and items to see a difference by; Guenther's term makes up for Student's t."""
    if difference == 0 or error == inf:
        return None, None
    reach, power = special.ndtri((1 + LEVEL) / 2), special.ndtri(POWER)
    videos = len(facts.counts)
    exact = videos * ((reach + power) * error / difference) ** 2 + reach**2 / 2
    needed = max(FEWEST_VIDEOS, ceil(round(exact, 6)))
    return needed, ceil(needed * int(facts.counts.sum()) / videos)


def _standings(
    names: Sequence[str], facts: _Facts, pairs: Sequence[Pair], seed: int
) -> tuple[Standing, ...]:
    means, count = facts.means, len(names)
    ranks = 1 + (means[:, None] < means).sum(axis=1)
    p, p_holm = np.ones((2, count, count))
    for (one, other), pair in zip(combinations(range(count), 2), pairs, strict=True):
        p[one, other] = p[other, one] = pair.p
        p_holm[one, other] = p_holm[other, one] = pair.p_holm
    apart = p < _levels(facts, seed)[:, None]
    ahead, behind = (apart & (means > means[:, None])), (apart & (means < means[:, None]))
    best_first = sorted(range(count), key=lambda number: (ranks[number], names[number]))
    different = (p_holm < ALPHA)[np.ix_(best_first, best_first)].tolist()
    return tuple(
        Standing(
            names[number],
            float(means[number]),
            int(ranks[number]),
            (1 + int(ahead[number].sum()), count - int(behind[number].sum())),
            letters,
        )
        for number, letters in zip(best_first, compact_letters(different), strict=True)
    )


def _levels(facts: _Facts, seed: int) -> Numbers:
    """The level of each model's tests at which one of them errs as often as one test may.

    Resamples know how the differences hang together, so that it is less strict than a division
    by their number (Mogstad, Romano, Shaikh and Wilhelm, 2024, Inference for Ranks).
    """
    sums = resampled(np.vstack([facts.counts, facts.sums]), seed).astype(np.float64)
    moved = sums[1:] / sums[0] - facts.means[:, None]
    levels = np.full(len(moved), ALPHA)
    for number, own in enumerate(moved):
        gaps = moved - own
        spread = gaps.std(axis=1)
        seen = spread > 0
        if seen.any():
            largest = np.abs(gaps[seen] / spread[seen, None]).max(axis=0)
            levels[number] = min(ALPHA, 2 * special.ndtr(-np.quantile(largest, LEVEL)))
    return levels
