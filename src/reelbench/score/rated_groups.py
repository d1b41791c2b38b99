"""Ratings by group, such as each axis in each category: means, spread and agreement of each.

The ratings of a subject are averaged first; means and standard deviations are over subjects. A
group of groups, such as a category over all its axes, averages a subject over its groups, and its
coefficient is the plain mean of theirs.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import mean, stdev
from typing import Any

from reelbench.score.agreement import FEWEST_SUBJECTS, Coefficient, agreement
from reelbench.score.intervals import Interval
from reelbench.score.ratings import Ratings
from reelbench.score.rounding import rounded

GroupKey = tuple[str, ...]  # values of the columns that ratings are split by; empty: of all


@dataclass(frozen=True, slots=True)
class RatedGroup:
    """What the ratings of one group, or of a group of groups, come to."""

    key: GroupKey
    subjects: int  # with ratings enough
    left_out: int  # with fewer
    raters: int
    mean: float | None  # of the averaged ratings of subjects; None for words
    sd: float | None
    value: float | None  # the coefficient, or the mean of the groups' coefficients
    coefficient: Coefficient | None  # where it is not of several groups
    groups: int = 1  # how many have a coefficient

    def to_record(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return it as plain data, to six digits, with the names of the columns."""
        return {
            **dict(zip(columns, self.key, strict=True)),
            "subjects": self.subjects,
            "left_out": self.left_out,
            "raters": self.raters,
            "mean": rounded(self.mean),
            "sd": rounded(self.sd),
            "value": rounded(self.value),
            "interval": self.interval and [rounded(end) for end in self.interval],
            "groups": self.groups,
        }

    @property
    def interval(self) -> Interval | None:
        """The interval of the coefficient of one group."""
        return self.coefficient.interval if self.coefficient else None


def rated_groups(
    cells: Mapping[GroupKey, Ratings], weights: str, method: str = "ac2", least: int = 2
) -> list[RatedGroup]:
    """Return all groups in the order of the cells, each column's values followed by all of them.

    Subjects with fewer than ``least`` ratings are left out of means; agreement is of those with two
    ratings or more in any case.
    """
    single = {key: _cell(key, cells[key], weights, method, least) for key in cells}
    averages = {key: _averages(cells[key], least) for key in cells}
    found = []
    for key in _keys(list(cells)):
        if key in single:
            found.append(single[key])
            continue
        inside = [each for each in cells if _is_in(each, key)]
        if inside:
            parts = [single[each] for each in inside]
            found.append(_several(key, parts, [averages[each] for each in inside],
                                  [cells[each] for each in inside]))  # fmt: skip
    return found


def _keys(cells: Sequence[GroupKey]) -> list[GroupKey]:
    """Return the keys of all groups, those of several with an empty text for each value."""
    if not cells:
        return []
    columns = [[*dict.fromkeys(values), ""] for values in zip(*cells, strict=True)]
    return list(product(*columns))


def _is_in(cell: GroupKey, key: GroupKey) -> bool:
    return all(wanted in ("", value) for value, wanted in zip(cell, key, strict=True))


def _cell(key: GroupKey, ratings: Ratings, weights: str, method: str, least: int) -> RatedGroup:
    scores = _averages(ratings, least)
    enough = _with_ratings(ratings, 2) >= FEWEST_SUBJECTS
    coefficient = agreement(ratings, weights, [method])[0] if enough else None
    rated = sum(bool((row >= 0).any()) for row in ratings.codes)
    centre, spread = _centre(list(scores.values()))
    value = coefficient.value if coefficient else None
    raters = int((ratings.codes >= 0).any(axis=0).sum())
    counted = len(scores) if ratings.scale.is_numeric else _with_ratings(ratings, least)
    return RatedGroup(
        key, counted, rated - counted, raters, centre, spread, value, coefficient,
        int(value is not None),
    )  # fmt: skip


def _with_ratings(ratings: Ratings, least: int) -> int:
    return int(((ratings.codes >= 0).sum(axis=1) >= least).sum())


def _averages(ratings: Ratings, least: int) -> dict[str, float]:
    """Return the mean rating of each subject with ratings enough; none where they are words."""
    if not ratings.scale.is_numeric:
        return {}
    found = {}
    for subject, codes in zip(ratings.subjects, ratings.codes, strict=True):
        given = [ratings.scale.values[code] for code in codes if code >= 0]
        if len(given) >= least:
            found[subject] = mean(given)
    return found


def _centre(scores: Sequence[float]) -> tuple[float | None, float | None]:
    return mean(scores) if scores else None, stdev(scores) if len(scores) > 1 else None


def _several(
    key: GroupKey,
    parts: Sequence[RatedGroup],
    averages: Sequence[Mapping[str, float]],
    cells: Sequence[Ratings],
) -> RatedGroup:
    by_subject: dict[str, list[float]] = defaultdict(list)
    for each in averages:
        for subject, score in each.items():
            by_subject[subject].append(score)
    centre, spread = _centre([mean(scores) for scores in by_subject.values()])
    values = [each.value for each in parts if each.value is not None]
    subjects = len({subject for each in cells for subject in each.subjects})
    raters = len({rater for each in cells for rater in each.raters})
    counted = len(by_subject) or max(each.subjects for each in parts)
    return RatedGroup(
        key, counted, max(0, subjects - counted), raters, centre, spread,
        mean(values) if values else None, None, len(values),
    )  # fmt: skip
