"""Intervals of scores: as wide as they should be, the same anywhere, and fast."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from reelbench.score import intervals as module
from reelbench.score.intervals import Cell, freedom, intervals, on_grid, wilson


def clustered(sizes: list[int], mean: float, repeats: int, seed: int) -> tuple[np.ndarray, ...]:
    """Verdicts on items of videos that are easy or hard as a whole."""
    generator = np.random.default_rng(seed)
    numbers = np.repeat(np.arange(len(sizes)), sizes)
    shares = generator.beta(5 * mean, 5 * (1 - mean), (repeats, len(sizes)))[:, numbers]
    return numbers, generator.random(shares.shape) < shares


@pytest.mark.parametrize(("sizes", "mean"), [
    ([6] * 20, 0.5),
    ([6] * 20, 0.9),
    ([1, 2, 3, 5, 9] * 6, 0.6),
    ([4] * 60, 0.8),
    ([2, 8] * 50, 0.7),
])  # fmt: skip
def test_nineteen_of_twenty_hold_the_truth(sizes: list[int], mean: float) -> None:
    numbers, verdicts = clustered(sizes, mean, 1500, seed=1)
    found = intervals([Cell(numbers, row) for row in verdicts], len(sizes), seed=0)
    covered = np.mean([low <= mean <= high for low, high in (each.interval for each in found)])
    assert 0.935 < covered < 0.97  # 0.94 to 0.96, give or take what chance does to 1,500


def test_the_standard_error_and_the_number_of_videos_stand_beside_the_interval() -> None:
    videos, right = [0, 0, 1, 1, 1, 4], [1, 0, 1, 1, 1, 0]
    some, alone = intervals([Cell(videos, right), Cell([2, 2], [1, 0])], 5, seed=0)
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
        "right = generator.integers(0, top + 1, (40, 3000)) / top\n"
        "order = np.random.default_rng(SEED).permutation(3000)\n"
        "print(intervals([Cell(numbers[order], r[order]) for r in right], 400, 3))\n"
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


def test_blocks_and_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, verdicts = clustered([3, 4] * 20, 0.6, 30, seed=2)
    cells = [Cell(numbers, row) for row in verdicts]
    before = intervals(cells, 40, seed=0)
    monkeypatch.setattr(module, "_BLOCK", 80_000)
    monkeypatch.setattr(module, "_CHUNK", 1000)
    monkeypatch.setattr(module, "_CACHED", 100)
    assert intervals(cells, 40, seed=0) == before
    assert intervals(cells[7:8], 40, seed=0) == before[7:8]


def test_large_counts_are_summed_exactly() -> None:
    tables = np.array([[2.0**22, 1.0, 3.0, 5.0, 7.0, 11.0]])
    drawn = module.resampled(tables, 0)
    assert drawn.dtype == np.float64
    assert module.resampled(tables[:, 1:], 0).dtype == np.float32
    assert np.array_equal(drawn, np.rint(drawn))


def test_the_grid_is_finer_than_what_is_printed() -> None:
    shares = np.random.default_rng(0).random(1000)
    assert np.abs(on_grid(shares) - shares).max() < 1e-8
    assert list(on_grid(np.array([0.0, 0.5, 1.0]))) == [0.0, 0.5, 1.0]


def test_one_question_a_video_needs_no_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "resampled", None)
    right = [number % 3 > 0 for number in range(900)]
    (found,) = intervals([Cell(range(900), right)], 900, seed=0)
    assert found.interval == wilson(600 / 900, 900)


def test_many_models_take_seconds() -> None:
    numbers = np.repeat(np.arange(3000), 5)
    right = np.random.default_rng(0).random((28, 15_000)) < 0.6
    began = time.process_time()
    intervals([Cell(numbers, row) for row in right], 3000, seed=0)
    assert time.process_time() - began < 5
