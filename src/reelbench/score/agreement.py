"""How far raters agree beyond chance, after Gwet's Handbook of Inter-Rater Reliability.

Every coefficient here is ``(observed - chance) / (1 - chance)``. They differ in what they hold to
be chance, and a missing rating leaves the others of its subject in place. Standard errors are the
handbook's, by subject: they speak of these raters and of other subjects like these.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import working
from reelbench.score.intervals import LEVEL, Interval, wilson
from reelbench.score.ratings import Ratings, Scale
from reelbench.score.rounding import rounded

METHOD = (
    f"{LEVEL:.0%}, Gwet's standard error over subjects for these raters, Student's t; where "
    "nothing varies, Wilson's by subjects"
)
FEWEST_SUBJECTS = 2  # with two ratings each; one alone says nothing about others like it
_NOTHING = 1e-9  # what rounding leaves of a spread that is none

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient with its interval; no value where it would be 0 / 0."""

    method: str
    name: str
    observed: float
    chance: float
    value: float | None
    standard_error: float | None
    interval: Interval | None

    def to_record(self) -> dict[str, Any]:
        """Return the coefficient as plain data, to six digits."""
        return {
            "method": self.method,
            "name": self.name,
            "value": rounded(self.value),
            "interval": self.interval and [rounded(end) for end in self.interval],
            "standard_error": rounded(self.standard_error),
            "observed": rounded(self.observed),
            "chance": rounded(self.chance),
        }


@working("Measuring agreement")
def agreement(ratings: Ratings, weights: str, methods: Sequence[str] = ()) -> list[Coefficient]:
    """Return the coefficients of these methods, or all that apply.

    ``weights`` names how much credit two different categories earn, and the scale that the ratings
    carry counts with all its categories, used or not: both change the value, so neither is guessed.
    """
    matrix = weight_matrix(weights, ratings.scale)
    tally = _tally(ratings, matrix)
    chosen = methods or _applicable(tally.raters, weights)
    _refuse_what_does_not_apply(chosen, tally.raters, weights)
    return [_coefficient(method, tally) for method in chosen]


def weight_matrix(weights: str, scale: Scale) -> Array:
    """Return the credit, from 0 to 1, that each pair of categories earns."""
    if weights not in WEIGHTS:
        raise ReelbenchError(
            f"There are no weights {weights!r}: choose one of {', '.join(WEIGHTS)}."
        )
    if weights == "ratio" and not (scale.is_numeric and min(scale.values) >= 0):
        raise ReelbenchError(
            "Ratio weights compare categories by division, so the categories must be numbers and "
            f"none below zero; they are {', '.join(scale.categories)}. Use linear or ordinal."
        )
    distance = WEIGHTS[weights](np.array(scale.values))
    credit: Array = 1 - distance / distance.max()
    return credit


def _steps(values: Array) -> Array:
    apart: Array = np.abs(np.subtract.outer(values, values))
    return apart


def _identity(values: Array) -> Array:
    return (_steps(values) > 0).astype(np.float64)


def _quadratic(values: Array) -> Array:
    return _steps(values) ** 2


def _radical(values: Array) -> Array:
    return np.sqrt(_steps(values))


def _ratio(values: Array) -> Array:
    total = np.add.outer(values, values)
    share: Array = (_steps(values) / np.where(total == 0, 1, total)) ** 2
    return share


def _ordinal(values: Array) -> Array:
    """Count the pairs of categories from one to the other: their order matters, no distance."""
    steps = _steps(np.arange(len(values), dtype=np.float64))
    pairs: Array = steps * (steps + 1) / 2
    return pairs


WEIGHTS: dict[str, Callable[[Array], Array]] = {
    "identity": _identity,
    "linear": _steps,
    "quadratic": _quadratic,
    "ordinal": _ordinal,
    "radical": _radical,
    "ratio": _ratio,
}


@dataclass(frozen=True, slots=True)
class _Tally:
    """Ratings in the form of the formulas; subjects and raters without any rating are left out."""

    marks: Array  # subjects x raters x categories, 1 where that rating was given
    counts: Array  # subjects x categories
    given: Array  # ratings of each subject
    alike: Array  # weighted pairs of ratings within each subject
    matrix: Array

    @property
    def raters(self) -> int:
        return int(self.marks.shape[1])

    @property
    def paired(self) -> NDArray[np.bool_]:
        """The subjects on which raters can agree at all."""
        return self.given >= 2

    @property
    def shares(self) -> Array:
        """How often a category is used, each subject counted once."""
        share: Array = np.mean(self.counts / self.given[:, None], axis=0)
        return share

    def beyond(self, chance: float) -> Array:
        """Each subject's agreement beyond chance, scaled so that the mean is over the paired."""
        share = len(self.given) / self.paired.sum()
        pairs = np.where(self.paired, self.given * (self.given - 1), 1)
        excess: Array = share * (self.alike / pairs - chance * self.paired)
        return excess


def _tally(ratings: Ratings, matrix: Array) -> _Tally:
    codes = ratings.codes
    codes = codes[(codes >= 0).any(axis=1)][:, (codes >= 0).any(axis=0)]
    marks = (codes[:, :, None] == np.arange(len(matrix))).astype(np.float64)
    counts = marks.sum(axis=1)
    given = counts.sum(axis=1)
    paired = int((given >= 2).sum())
    if paired < FEWEST_SUBJECTS:
        raise ReelbenchError(
            f"{ratings.path}: {paired} of {len(ratings.subjects)} subjects have ratings by two "
            f"raters or more, and agreement needs at least {FEWEST_SUBJECTS}: have raters rate "
            "the same subjects."
        )
    alike = (counts * (counts @ matrix - 1)).sum(axis=1)
    return _Tally(marks, counts, given, np.where(given >= 2, alike, 0.0), matrix)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a coefficient is made of, by subject where its spread comes from there."""

    chance: float
    beyond: Array  # agreement beyond chance; its mean is observed less chance
    drift: Array  # how far each subject moves the chance
    bonus: float = 0.0  # what a correction for few ratings adds to the observed, and not to errors


def _percent(tally: _Tally) -> _Parts:
    return _Parts(0.0, tally.beyond(0.0), np.zeros(len(tally.given)))


def _fleiss(tally: _Tally) -> _Parts:
    """Chance: two ratings drawn from the categories as all raters together use them."""
    likeness = tally.matrix @ tally.shares
    chance = float(tally.shares @ likeness)
    drift = 2 * (tally.counts @ likeness / tally.given - chance)
    return _Parts(chance, tally.beyond(chance), drift)


def _gwet(tally: _Tally) -> _Parts:
    """Chance: only ratings given at random agree by chance, and few are when one rating rules."""
    categories = len(tally.matrix)
    factor = tally.matrix.sum() / (categories * (categories - 1))
    rest = 1 - tally.shares
    chance = float(factor * (tally.shares @ rest))
    drift = 2 * (factor * (tally.counts @ rest) / tally.given - chance)
    return _Parts(chance, tally.beyond(chance), drift)


def _conger(tally: _Tally) -> _Parts:
    """Chance: two raters, each drawing from the categories as that rater uses them."""
    subjects, raters, _ = tally.marks.shape
    rated = tally.marks.sum(axis=0).sum(axis=1)  # subjects of each rater
    habits = tally.marks.sum(axis=0) / rated[:, None]
    others = (habits.sum(axis=0) - habits) @ tally.matrix  # likeness to what all others do
    own = (habits * others).sum(axis=1)
    pairs = raters * (raters - 1)
    chance = float(own.sum() / pairs)
    pulls = (tally.marks * others).sum(axis=2) - tally.marks.sum(axis=2) * own
    drift = 2 / pairs * (pulls * (subjects / rated)).sum(axis=1)
    return _Parts(chance, tally.beyond(chance), drift)


def _krippendorff(tally: _Tally) -> _Parts:
    """Chance: two of all ratings in the bag, which only subjects with two ratings enter."""
    keep = tally.paired
    counts, given, alike = tally.counts[keep], tally.given[keep], tally.alike[keep]
    mean = given.mean()
    shares = counts.mean(axis=0) / mean
    likeness = tally.matrix @ shares
    chance = float(shares @ likeness)
    agreed = alike / (given - 1) / mean
    observed = float(agreed.mean())
    beyond = agreed - observed * (given - mean) / mean - chance
    drift = 2 * (counts @ likeness - chance * given) / mean
    # From a bag of few ratings, the one that was drawn is missed by the second draw.
    return _Parts(chance, beyond, drift, bonus=(1 - observed) / float(given.sum()))


METHODS: dict[str, tuple[str, Callable[[_Tally], _Parts]]] = {
    "percent": ("percent agreement", _percent),
    "cohen": ("Cohen's kappa", _conger),  # Conger's is Cohen's for more than two raters
    "conger": ("Conger's kappa", _conger),
    "fleiss": ("Fleiss' kappa", _fleiss),
    "ac1": ("Gwet's AC1", _gwet),
    "ac2": ("Gwet's AC2", _gwet),
    "krippendorff": ("Krippendorff's alpha", _krippendorff),
}


def _applicable(raters: int, weights: str) -> list[str]:
    left_out = {"conger" if raters == 2 else "cohen", "ac2" if weights == "identity" else "ac1"}
    return [method for method in METHODS if method not in left_out]


def _refuse_what_does_not_apply(methods: Sequence[str], raters: int, weights: str) -> None:
    problems = [
        f"There is no coefficient {method!r}: choose among {', '.join(METHODS)}."
        for method in methods
        if method not in METHODS
    ]
    if "cohen" in methods and raters != 2:
        problems.append(
            f"Cohen's kappa is for two raters and there are {raters}: use conger, its extension."
        )
    if "ac1" in methods and weights != "identity":
        problems.append(f"AC1 has identity weights and these are {weights}: use ac2.")
    if problems:
        raise ReelbenchError("\n".join(problems))


def _coefficient(method: str, tally: _Tally) -> Coefficient:
    name, parts_of = METHODS[method]
    parts = parts_of(tally)
    room = 1 - parts.chance
    beyond = float(parts.beyond.mean()) + parts.bonus
    observed = beyond + parts.chance
    if room < _NOTHING:
        return Coefficient(method, name, observed, parts.chance, None, None, None)
    value, error = beyond / room, _standard_error(parts)
    if error < _NOTHING:  # no spread is not certainty
        ends = wilson(min(1.0, max(0.0, observed)), int(tally.paired.sum()))
        low, high = ((end - parts.chance) / room for end in ends)
    else:
        from scipy import stats  # takes a second, which who reads scores need not pay

        reach = error * float(stats.t.ppf((1 + LEVEL) / 2, len(tally.given) - 1))
        low, high = value - reach, min(1.0, value + reach)
    interval = (max(0.0, low) if method == "percent" else low, high)
    return Coefficient(method, name, observed, parts.chance, value, error, interval)


def _standard_error(parts: _Parts) -> float:
    """Linearize: a subject moves a coefficient by its own agreement and through the chance."""
    room, subjects = 1 - parts.chance, len(parts.beyond)
    value = float(parts.beyond.mean()) / room
    spread = (parts.beyond - (1 - value) * parts.drift) / room - value
    return sqrt(float(spread @ spread) / (subjects * (subjects - 1)))
