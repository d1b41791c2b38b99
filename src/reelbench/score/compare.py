"""Which models differ significantly: pairs on the same items, ranks with intervals, and power."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reelbench.base.errors import ReelbenchError
from reelbench.score.coverage import (
    ASKED_PAIR_POLICY,
    POLICY,
    BothAnswered,
    CoverageGap,
    coverage_warnings,
    not_compared,
)
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
ASKED_RANK_RULE = (
    f"{LEVEL:.0%} interval of a rank, by the pairs: behind every model that is better, and before "
    f"every one that is worse, with p under {ALPHA} over the number of this model's pairs"
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
    items: int  # those that both were asked
    coverage: tuple[float, float]  # the share of them that each of the two answered
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

    @property
    def gap(self) -> CoverageGap:
        """How much of the items each of the two answered."""
        names = self.first, self.second
        return CoverageGap(names, self.coverage, self.difference, self.both_answered, self.items)

    def to_record(self) -> dict[str, Any]:
        """Return what goes into a file."""
        return {
            "models": [self.first, self.second],
            "items": self.items,
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
    rank: int | None  # 1 + models that are better on what both were asked; None if in no pair
    rank_interval: tuple[int, int] | None
    letters: tuple[str, ...]  # shared with those that it cannot be told apart from

    def to_record(self) -> dict[str, Any]:
        """Return what goes into a file."""
        return {
            "model": self.model,
            "score": rounded(self.score),
            "rank": self.rank,
            "rank_interval": self.rank_interval and list(self.rank_interval),
            "letters": list(self.letters),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of models, the best first, and of each pair of them."""

    items: int
    videos: int
    asked_alike: bool  # whether all models were asked the same items
    models: tuple[Standing, ...]
    pairs: tuple[Pair, ...]  # by name; models without a common item make none

    def to_record(self) -> dict[str, Any]:
        """Return what goes into a file."""
        apart = not_compared([each.model for each in self.models], self.pairs)
        gaps = (each.gap for each in self.pairs)
        return {
            "items": self.items,
            "videos": self.videos,
            "policy": POLICY if self.asked_alike else ASKED_PAIR_POLICY,
            "method": METHOD,
            "rank_rule": RANK_RULE if self.asked_alike else ASKED_RANK_RULE,
            "letter_rule": LETTER_RULE + ("; models not compared share none" if apart else ""),
            "power_rule": POWER_RULE,
            "warnings": [*apart, *coverage_warnings(gaps, "see the table of pairs in the report")],
            "models": [each.to_record() for each in self.models],
            "pairs": [each.to_record() for each in self.pairs],
        }


def compare(
    names: Sequence[str],
    scores: Sequence[Sequence[float]] | Numbers,
    videos: Sequence[int] | NDArray[np.integer],
    seed: int,
    asked: NDArray[np.bool_] | None = None,
) -> Comparison:
    """Compare models by their scores, one row each: from 0 to 1, NaN without an answer.

    ``asked`` says which items each model was asked (default: all), for a pair is compared on those
    that both were. Neither the order of the models nor that of the items changes anything.
    """
    table, clusters = _checked(names, scores, videos)
    asked = np.ones(table.shape, np.bool_) if asked is None else asked
    alphabet = sorted(range(len(names)), key=lambda number: names[number])
    models = _Models.of([names[n] for n in alphabet], table[alphabet], clusters, asked[alphabet])
    pairs = tuple(_pairs(models))
    standings = _standings(models, pairs, seed)
    return Comparison(len(clusters), len(set(clusters)), models.asked_alike, standings, pairs)


def compare_two(
    names: tuple[str, str],
    scores: Sequence[Sequence[float]] | Numbers,
    videos: Sequence[int] | NDArray[np.integer],
) -> Pair:
    """Compare two rows of scores as they are given, the first less the second.

    What has no score counts 0. Its ``p_holm`` is for a family of this pair alone.
    """
    table, clusters = _checked(names, scores, videos)
    (pair,) = _pairs(_Models.of(names, table, clusters, np.ones(table.shape, np.bool_)))
    return pair


def _checked(names: Sequence[str], scores: Any, videos: Any) -> tuple[Numbers, NDArray[np.int64]]:
    table, clusters = np.array(scores, np.float64), np.asarray(videos, np.int64)
    faults = []
    if len(set(names)) < len(names) or not names:
        faults.append("each model needs a name of its own")
    if table.shape != (len(names), clusters.size):
        expected = f"({len(names)} models, {clusters.size} items)"
        faults.append(f"the scores have the shape {table.shape}, expected {expected}")
    if ((table < 0) | (table > 1)).any():
        faults.append("scores must lie between 0 and 1: divide them by the highest possible score")
    if not clusters.size:
        faults.append("there is no item")
    if faults:
        raise ReelbenchError(f"These models cannot be compared: {'; '.join(faults)}.")
    return table, clusters


@dataclass(frozen=True, slots=True)
class _Models:
    """Models by name and items by video: what each answer is worth, and what was asked."""

    names: Sequence[str]
    scores: Numbers  # 0 without an answer
    answered: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    videos: NDArray[np.intp]  # the number of each item's, from 0 on

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        table: Numbers,
        clusters: NDArray[np.int64],
        asked: NDArray[np.bool_],
    ) -> "_Models":
        answered = asked & ~np.isnan(table)
        scores = on_grid(np.where(answered, table, 0.0))
        order = np.lexsort((*scores, clusters))  # sums are rounded alike, whatever the order was
        videos = np.unique(clusters[order], return_inverse=True)[1]
        return cls(names, scores[:, order], answered[:, order], asked[:, order], videos)

    @property
    def asked_alike(self) -> bool:
        return bool((self.asked == self.asked[0]).all())


@dataclass(frozen=True, slots=True)
class _PairFacts:
    """The difference of two models on some items, the first less the second, and its errors."""

    items: int
    videos: int
    difference: float
    error: float
    plain_error: float  # as if items were independent
    freedom: float

    @classmethod
    def of(cls, scores: Numbers, videos: NDArray[np.intp]) -> "_PairFacts":
        counts = np.bincount(videos).astype(np.float64)
        first, second = (np.bincount(videos, row)[counts > 0] for row in scores)
        counts, gaps = counts[counts > 0], scores[0] - scores[1]
        difference = float(first.sum() / gaps.size - second.sum() / gaps.size)
        plain = float(gaps.std() / np.sqrt(max(1, gaps.size - 1)))
        if len(counts) == 1:  # one video cannot tell the error
            return cls(gaps.size, 1, difference, inf if gaps.any() else 0.0, plain, 1.0)
        error = clustered_error((first - second).astype(np.float64), counts)
        return cls(gaps.size, len(counts), difference, error, plain, freedom(counts))

    def tested(self) -> tuple[Interval, float, float]:
        """Return the interval of the difference, its p-value, and its standard error."""
        return tested_difference(self.difference, self.error, self.videos, self.freedom)

    def needed(self, error: float) -> tuple[int | None, int | None]:
        """Videos and items to see the difference by; Guenther's term makes up for Student's t."""
        if self.difference == 0 or error == inf:
            return None, None
        reach, power = special.ndtri((1 + LEVEL) / 2), special.ndtri(POWER)
        exact = self.videos * ((reach + power) * error / self.difference) ** 2 + reach**2 / 2
        needed = max(FEWEST_VIDEOS, ceil(round(exact, 6)))
        return needed, ceil(needed * self.items / self.videos)


def _pairs(models: _Models) -> Iterator[Pair]:
    """Yield the pairs with a common item, each on the items that both were asked."""
    found = []
    for one, other in combinations(range(len(models.names)), 2):
        both = models.asked[one] & models.asked[other]
        if both.any():
            names = models.names[one], models.names[other]
            scores, answered = (
                np.stack([each[one, both], each[other, both]])
                for each in (models.scores, models.answered)
            )
            found.append(_pair(names, scores, answered, models.videos[both]))
    for pair, p in zip(found, holm([pair.p for pair in found]), strict=True):
        yield replace(pair, p_holm=p)


def _pair(
    names: tuple[str, str], scores: Numbers, answered: NDArray[Any], videos: NDArray[np.intp]
) -> Pair:
    facts, both = _PairFacts.of(scores, videos), answered[0] & answered[1]
    interval, p, error = facts.tested()
    both_answered = None if np.array_equal(*answered) else BothAnswered(0, None, None)
    if both_answered and both.any():
        there = _PairFacts.of(scores[:, both], videos[both])
        both_answered = BothAnswered(there.items, there.difference, there.tested()[0])
    return Pair(
        *names,
        facts.items,
        (float(answered[0].mean()), float(answered[1].mean())),
        both_answered,
        facts.difference,
        interval,
        error if error < inf else None,
        p,
        p,
        (error / facts.plain_error) ** 2 if facts.plain_error > 0 and error < inf else None,
        *facts.needed(error),
    )


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


def _standings(models: _Models, pairs: Sequence[Pair], seed: int) -> tuple[Standing, ...]:
    names, count = models.names, len(models.names)
    lead, p = np.zeros((count, count)), np.ones((count, count))
    alike = np.eye(count, dtype=np.bool_)  # compared, and not different
    for pair in pairs:
        one, other = names.index(pair.first), names.index(pair.second)
        p[one, other] = p[other, one] = pair.p
        alike[one, other] = alike[other, one] = not pair.different
        lead[one, other], lead[other, one] = pair.difference, -pair.difference
    ranks = 1 + (lead < 0).sum(axis=1)
    means = models.scores.sum(axis=1) / np.maximum(models.asked.sum(axis=1), 1)
    apart = p < _levels(models, means, seed)[:, None]
    ahead, behind = (apart & (lead < 0)), (apart & (lead > 0))
    met = {name for pair in pairs for name in (pair.first, pair.second)}
    order = sorted(range(count), key=lambda n: (names[n] not in met, ranks[n], names[n]))
    ranked = order[: len(met)]
    letters = compact_letters((~alike)[np.ix_(ranked, ranked)].tolist())
    return tuple(
        Standing(
            names[number],
            float(means[number]),
            int(ranks[number]) if own else None,
            (1 + int(ahead[number].sum()), count - int(behind[number].sum())) if own else None,
            own,
        )
        for number, own in zip(order, [*letters, *[()] * (count - len(met))], strict=True)
    )


def _levels(models: _Models, means: Numbers, seed: int) -> Numbers:
    """The level of each model's tests at which one of them errs as often as one test may.

    Resamples know how the differences hang together, so that it is less strict than a division
    by their number (Mogstad, Romano, Shaikh and Wilhelm, 2024, Inference for Ranks), which is
    left where models were asked different items.
    """
    if not models.asked_alike:
        return np.full(len(means), ALPHA / max(1, len(means) - 1))
    by_video = [np.bincount(models.videos), *(np.bincount(models.videos, s) for s in models.scores)]
    sums = resampled(np.stack(by_video).astype(np.float64), seed).astype(np.float64)
    moved = sums[1:] / sums[0] - means[:, None]
    levels = np.full(len(moved), ALPHA)
    for number, own in enumerate(moved):
        gaps = moved - own
        spread = gaps.std(axis=1)
        seen = spread > 0
        if seen.any():
            largest = np.abs(gaps[seen] / spread[seen, None]).max(axis=0)
            levels[number] = min(ALPHA, 2 * special.ndtr(-np.quantile(largest, LEVEL)))
    return levels
