"""Intervals of scores: as wide as they should be, the same anywhere, and fast."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.special import betaincinv

from reelbench.score.intervals import Cell, Interval, freedom, intervals, on_grid, wilson


def clustered(sizes: list[int], mean: float, repeats: int, seed: int) -> tuple[np.ndarray, ...]:
    """Verdicts on items of videos that are easy or hard as a whole."""
    generator = np.random.default_rng(seed)
    numbers = np.repeat(np.arange(len(sizes)), sizes)
    shares = generator.beta(5 * mean, 5 * (1 - mean), (repeats, len(sizes)))[:, numbers]
    return numbers, generator.random(shares.shape) < shares


def interval(*videos: tuple[int, int]) -> Interval:
    """The interval of videos with so many items right, of so many."""
    numbers = [number for number, (_, items) in enumerate(videos) for _ in range(items)]
    right = [place < wins for wins, items in videos for place in range(items)]
    (found,) = intervals([Cell(numbers, right)], len(videos))
    return found.interval


# Worked out apart, in one pass over a grid of 1,500 shares and 400 correlations.
@pytest.mark.parametrize(("videos", "ends"), [
    ([(6, 60), (7, 55), (5, 50), (5, 46), (4, 40)], (0.0711, 0.1740)),  # 1.2 to 54.4 % by video
    ([(20, 60), (3, 55), (2, 50), (1, 46), (1, 40)], (0.0481, 0.3598)),  # as many, in one of them
    ([(4, 5), (4, 5), (4, 5), (3, 4), (2, 4)], (0.5000, 0.8814)),
    ([(8, 8)] * 3, (0.5858, 1.0)),
    ([(50, 100)], (0.1169, 0.8831)),
])  # fmt: skip
def test_few_videos_tell_as_much_as_they_are_alike(
    videos: list[tuple[int, int]], ends: Interval
) -> None:
    assert interval(*videos) == pytest.approx(ends, abs=2e-3)


def test_it_stays_on_the_mean_of_the_items() -> None:
    """Where videos with many questions are easy, as one in ten is here."""
    generator = np.random.default_rng(4)
    truth = (0.9 * 2 * 0.5 + 0.1 * 20 * 0.9) / (0.9 * 2 + 0.1 * 20)
    covered = []
    for _ in range(80):
        large = generator.random(3000) < 0.1
        sizes, means = np.where(large, 20, 2), np.where(large, 0.9, 0.5)
        wins = generator.binomial(sizes, generator.beta(1.5 * means, 1.5 * (1 - means)))
        low, high = interval(*zip(wins.tolist(), sizes.tolist(), strict=True))
        covered.append(low <= truth <= high)
        assert (low + high) / 2 == pytest.approx(wins.sum() / sizes.sum(), abs=0.002)
        assert high - low < 0.045
    assert np.mean(covered) > 0.88


def test_one_question_a_video_has_the_interval_of_jeffreys() -> None:
    wins, losses = 8, 2
    ends = betaincinv(wins + 0.5, losses + 0.5, [0.025, 0.975])
    assert interval(*[(1, 1)] * wins, *[(0, 1)] * losses) == pytest.approx(ends, abs=2e-3)


CASES = [
    [(1, 2)], [(3, 3), (0, 4)], [(5, 6), (2, 9), (1, 1)], [(40, 40)] * 4, [(0, 7)] * 12,
    [(n % 5, 4 + n % 9) for n in range(30)], [(400, 900), (1, 3), (0, 2)], [(1, 1)] * 70 + [(0, 1)],
]  # fmt: skip


@pytest.mark.parametrize("videos", CASES)
def test_the_share_lies_inside_and_wrong_answers_mirror_right_ones(
    videos: list[tuple[int, int]],
) -> None:
    low, high = interval(*videos)
    wins, items = (sum(each) for each in zip(*videos, strict=True))
    assert 0 <= low <= wins / items <= high <= 1
    assert high - low > 0
    mirrored = interval(*[(items - wins, items) for wins, items in videos])
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


@pytest.mark.parametrize("wins", [0, 1, 2])
@pytest.mark.parametrize("videos", [1, 2, 3, 5, 8, 20])
def test_more_that_say_the_same_never_widen_it(videos: int, wins: int) -> None:
    def width(videos: int, times: int) -> float:
        low, high = interval(*[(wins * times, 3 * times)] * videos)
        return high - low

    assert width(videos, 1) >= width(videos, 2) - 1e-3 >= width(videos, 5) - 2e-3
    assert width(videos, 2) > width(videos + 1, 2) > width(2 * videos + 1, 2)


def test_weights_move_the_share_and_none_is_as_good_as_equal_ones() -> None:
    videos, right = [0, 0, 1, 1, 2, 2, 2], [1, 0, 1, 1, 0, 0, 1]
    plain, equal, none = intervals(
        [Cell(videos, right), Cell(videos, right, [4 / 3] * 7), Cell(videos, [0] * 7, [2, 1] + [1.5] * 5)],
        3,
    )  # fmt: skip
    assert equal.interval == pytest.approx(plain.interval, abs=1e-6)
    assert equal.standard_error == pytest.approx(plain.standard_error)
    nothing = intervals([Cell(videos, [0] * 7)], 3)[0].interval
    assert none.interval == pytest.approx(nothing, abs=0.02)
    assert none.interval[0] == 0


def test_grades_tell_more_than_right_and_wrong() -> None:
    generator = np.random.default_rng(3)
    numbers = np.repeat(np.arange(40), 5)
    levels = np.clip(0.6 + generator.normal(0, 0.05, (400, 40)), 0, 1)[:, numbers]
    graded = np.clip(np.rint(4 * (levels + generator.normal(0, 0.15, levels.shape))) / 4, 0, 1)
    found = [each.interval for each in intervals([Cell(numbers, r) for r in graded], 40)]
    truth = graded.mean()
    assert 0.93 < np.mean([low <= truth <= high for low, high in found]) < 0.985
    assert np.mean([high - low for low, high in found]) < 0.1  # 0.136 for right and wrong
    same = intervals([Cell([0, 0, 1, 1, 2, 2], [0.5] * 6)], 3)[0].interval
    assert same[1] - same[0] > 0.3  # no spread is not certainty


@pytest.mark.parametrize("kind", ["beta", "logistic normal"])
@pytest.mark.parametrize(("sizes", "mean", "spread"), [
    ([20] * 3, 0.7, 0.1), ([12, 40, 3, 3], 0.8, 0.3), ([30] * 5, 0.5, 0.0), ([8] * 5, 0.9, 0.2),
    ([20] * 8, 0.9, 0.4), ([60, 30, 12, 5, 2, 1] * 2, 0.6, 0.2), ([10] * 24, 0.97, 0.3),
])  # fmt: skip
def test_the_truth_is_covered_by_intervals_that_are_not_idle(
    sizes: list[int], mean: float, spread: float, kind: str
) -> None:
    generator = np.random.default_rng(11)
    shares = drawn(generator, kind, mean, spread, (250, len(sizes)))
    truth = drawn(generator, kind, mean, spread, (1, 200_000)).mean() if spread else mean
    wins = generator.binomial(sizes, shares)
    found = np.array([interval(*zip(row.tolist(), sizes, strict=True)) for row in wins])
    covered = np.mean((found[:, 0] <= truth) & (truth <= found[:, 1]))
    assert 0.92 <= covered <= 1
    width = (found[:, 1] - found[:, 0]).mean()
    if len(sizes) < 6 and spread <= 0.1:  # videos as single trials are far wider
        assert width < 0.8 * np.subtract(*wilson(mean, len(sizes))[::-1])


def drawn(
    generator: np.random.Generator, kind: str, mean: float, spread: float, shape: tuple[int, int]
) -> np.ndarray:
    """Shares of videos; the spread is the correlation of a beta, or near it."""
    if not spread:
        return np.full(shape, mean)
    if kind == "beta":
        return generator.beta(mean * (1 / spread - 1), (1 - mean) * (1 / spread - 1), shape)
    odds = np.log(mean / (1 - mean)) * (1 + spread) + 3 * np.sqrt(spread) * generator.normal(
        size=shape
    )
    return 1 / (1 + np.exp(-odds))


def test_the_standard_error_and_the_number_of_videos_stand_beside_the_interval() -> None:
    videos, right = [0, 0, 1, 1, 1, 4], [1, 0, 1, 1, 1, 0]
    some, alone = intervals([Cell(videos, right), Cell([2, 2], [1, 0])], 5)
    # Residuals of the videos' sums at a mean of 2/3, each over 1 - its share of the items.
    parts = [(1 / 3) ** 2 / (1 - 2 / 6), 1 / (1 - 3 / 6), (2 / 3) ** 2 / (1 - 1 / 6)]
    assert some.standard_error == pytest.approx(np.sqrt(sum(parts)) / 6)
    assert some.videos == 3
    assert (alone.standard_error, alone.videos) == (None, 1)


def test_sizes_that_differ_leave_less_freedom() -> None:
    assert freedom(np.full(10, 5.0)) == pytest.approx(9)
    assert freedom(np.array([1.0] * 9 + [20.0])) < 2


@pytest.mark.parametrize("graded", [False, True])
def test_no_thread_and_no_order_changes_a_digit(graded: bool) -> None:
    script = (
        "import numpy as np\n"
        "from reelbench.score.intervals import Cell, intervals\n"
        "generator = np.random.default_rng(0)\n"
        "numbers = generator.integers(400, size=3000)\n"
        f"top = {7 if graded else 1}\n"
        "right = generator.integers(0, top + 1, (8, 3000)) / top\n"
        "order = np.random.default_rng(SEED).permutation(3000)\n"
        "print(intervals([Cell(numbers[order], r[order]) for r in right], 400))\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script.replace("SEED", str(threads))],
            env={**os.environ, "OPENBLAS_NUM_THREADS": str(threads)},
            capture_output=True,
            check=True,
        ).stdout
        for threads in (1, 2, 5)
    }
    assert len(texts) == 1


def test_the_grid_is_finer_than_what_is_printed() -> None:
    shares = np.random.default_rng(0).random(1000)
    assert np.abs(on_grid(shares) - shares).max() < 1e-8
    assert list(on_grid(np.array([0.0, 0.5, 1.0]))) == [0.0, 0.5, 1.0]


def test_many_models_take_seconds() -> None:
    numbers = np.repeat(np.arange(3000), 5)
    right = np.random.default_rng(0).random((28, 15_000)) < 0.6
    began = time.process_time()
    intervals([Cell(numbers, row) for row in right], 3000)
    assert time.process_time() - began < 5
