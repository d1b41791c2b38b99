"""The constants of scoring: on their value, and one step beside it."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln

from reelbench.score.compare import compare
from reelbench.score.coverage import BothAnswered, CoverageGap, best_case, no_score
from reelbench.score.estimates import few_videos
from reelbench.score.intervals import Cell, clustered_error, freedom, intervals
from reelbench.score.macro import macro_estimate
from reelbench.score.metrics import METRICS, STEADY
from reelbench.score.predictions import ItemOutcome


def by_brute_force(videos: list[tuple[int, int]]) -> tuple[float, float]:
    """The interval of unequal videos, in one pass over a grid: each counts by its variance.

    Beside this model counts what is seen: a binomial likelihood with the variance between videos.
    """
    angles = (np.arange(600) + 0.5) * np.pi / 1200
    share, correlation = np.sin(angles) ** 2, np.sin(angles[::4]) ** 2
    total = (1 - correlation) / correlation
    heights, variances = [], []
    for wins, items in videos:
        one, other = share[:, None] * total, (1 - share)[:, None] * total
        heights.append(betaln(wins + one, items - wins + other) - betaln(one, other))
        variances.append(1 + (items - 1) * correlation)
    sizes = np.array([items for _, items in videos])
    mean = sum(n * v for n, v in zip(sizes, variances, strict=True)) / sizes.sum()
    plain = np.exp(sum(heights) - np.max(sum(heights)))
    likely = plain.sum(axis=0) / plain.sum()
    weighed = sum(h * v / mean for h, v in zip(heights, variances, strict=True))
    best = sum(wins for wins, _ in videos) / sizes.sum()
    effect = (likely * mean).sum() / sizes.sum()
    ratio = clustered_error(np.array([w for w, _ in videos]), sizes) ** 2
    ratio *= (1 - effect) / (best * (1 - best) * effect)
    degrees = freedom(sizes) * (1 if ratio > 1 else 4 * best * (1 - best))
    seen = degrees / (degrees + 15)
    items = sizes.sum() / (mean * (1 - seen + seen * ratio))
    logs = best * np.log(share) + (1 - best) * np.log(1 - share)
    weighed = (1 - seen) * weighed + seen * items * logs[:, None]
    weighed = np.exp(weighed - weighed.max(axis=0))
    sums = np.cumsum((weighed / weighed.sum(axis=0) * likely).sum(axis=1))
    low, high = np.sin(np.interp([0.025, 0.975], sums, angles + np.pi / 2400)) ** 2
    return float(low), float(high)


def interval(*videos: tuple[int, int]) -> tuple[float, float]:
    numbers = [number for number, (_, items) in enumerate(videos) for _ in range(items)]
    right = [place < wins for wins, items in videos for place in range(items)]
    (found,) = intervals([Cell(numbers, right)], len(videos))
    return found.interval


def test_one_large_video_widens_the_interval() -> None:
    """A share that rests on one video is as unsure as that video."""
    large = [(30, 40), (2, 5), (3, 5), (1, 5), (2, 5), (3, 5)]
    equal = [(7, 11), (7, 11), (7, 11), (6, 11), (7, 11), (7, 11)]
    assert interval(*large) == pytest.approx(by_brute_force(large), abs=3e-3)
    assert interval(*equal) == pytest.approx(by_brute_force(equal), abs=3e-3)
    widths = [high - low for low, high in (interval(*large), interval(*equal))]
    assert widths[0] > 1.5 * widths[1]


@pytest.mark.parametrize(("agreeing", "counts"), [(4, True), (3, False)])
def test_four_of_five_orders_are_steady(agreeing: int, counts: bool) -> None:
    turns: Any = [SimpleNamespace(answer=frozenset("A"))] * agreeing
    turns += [SimpleNamespace(answer=frozenset("B"))] * (5 - agreeing)
    outcome = ItemOutcome(frozenset("A"), tuple(turns), 0)
    assert METRICS["steady"].agreed == STEADY == 0.8
    assert (outcome.agreed(STEADY) is not None) is counts


def test_ten_videos_are_not_few() -> None:
    assert few_videos({"interval": [0, 1], "videos": 9}) == "9 videos"
    assert few_videos({"interval": [0, 1], "videos": 10}) == ""


@pytest.mark.parametrize(("failed", "none", "best"), [
    (0, "", ""), (14, "", "50.0%"), (16, "", "56.7%"), (29, "", "100.0%"),
    (30, "no score: 30 of 30 failed", ""),
])  # fmt: skip
def test_there_is_a_score_until_all_calls_failed(failed: int, none: str, best: str) -> None:
    row = {"items": 30, "failed": failed, "correct": 1}
    assert (no_score(row), best_case(row)) == (none, best)


def test_what_was_not_asked_has_no_score() -> None:
    assert no_score({"items": 0, "failed": 0}) == "no score: not asked"


class TestCoverage:
    def misleads(self, shares: tuple[float, float], items: int, other: float) -> bool:
        both = BothAnswered(items, other, (-0.5, 0.5))
        return CoverageGap(("a", "b"), shares, 0.25, both, 100).misleads

    def test_one_point_of_coverage_matters(self) -> None:
        assert self.misleads((0.75, 0.74), 70, 0.0)
        assert not self.misleads((0.75, 0.745), 70, 0.0)

    def test_half_of_the_items_are_enough(self) -> None:
        assert not self.misleads((0.75, 0.75), 50, 0.0)
        assert self.misleads((0.75, 0.75), 49, 0.0)

    def test_a_model_that_answered_nothing_has_no_standing_to_warn_of(self) -> None:
        assert self.misleads((0.01, 1.0), 1, 0.0)
        assert not self.misleads((0.0, 1.0), 0, 0.0)

    def test_one_point_of_difference_matters(self) -> None:
        assert self.misleads((0.75, 0.5), 49, 0.23)
        assert not self.misleads((0.75, 0.5), 49, 0.2425)


def test_differences_have_the_freedom_of_unequal_videos() -> None:
    """Twelve videos, one of which holds most items, are no twelve: t is that of fewer."""
    generator = np.random.default_rng(3)
    large = np.concatenate([np.zeros(49, np.intp), np.arange(1, 12)])
    table = (generator.random((2, 60)) < [[0.9], [0.6]]).astype(float)
    (pair,) = compare(["a", "b"], table, large, 0).pairs
    reach = (pair.interval[1] - pair.interval[0]) / 2 / pair.standard_error
    assert freedom(np.bincount(large).astype(float)) < 5
    assert reach == pytest.approx(stats.t.ppf(0.975, freedom(np.bincount(large).astype(float))))


def test_a_difference_is_never_said_to_need_fewer_than_six_videos() -> None:
    right = np.ones(60)
    table = np.stack([right, right - 1])
    table[0, 7] = 0.0  # some doubt
    (pair,) = compare(["a", "b"], table, np.repeat(np.arange(20), 3), 0).pairs
    assert pair.needed_videos == 6


def test_a_mean_of_columns_reaches_as_far_as_students_t() -> None:
    """Two columns of four videos each, none of them shared: errors add up as squares."""
    verdicts = [1, 1, 0, 1, 0, 0, 1, 0]
    cells = [Cell([0, 0, 1, 1, 2, 2, 3, 3], verdicts), Cell([4, 4, 5, 5, 6, 6, 7, 7], verdicts)]
    estimates = intervals(cells, 8)
    reach = stats.t.ppf(0.975, freedom(np.full(8, 2.0)))
    (low, high), error = estimates[0].interval, estimates[0].standard_error
    assert error is not None
    up = (high - 0.5) * reach * error / ((high - low) / 2)
    found = macro_estimate(cells, estimates)
    assert found.interval[1] - 0.5 == pytest.approx(up * np.sqrt(2) / 2, rel=1e-6)
