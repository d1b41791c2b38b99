"""Resamples are the same whatever is held in memory at a time, and their sums are exact."""

import numpy as np
import pytest

from reelbench.score import resampling
from reelbench.score.resampling import resampled


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = np.random.default_rng(2).integers(0, 9, (30, 40)).astype(float)
    before = resampled(tables, seed=0)
    monkeypatch.setattr(resampling, "_CHUNK", 1000)
    monkeypatch.setattr(resampling, "_CACHED", 100)
    assert np.array_equal(resampled(tables, seed=0), before)
    assert np.array_equal(resampled(tables[7:8], seed=0), before[7:8])


def test_large_counts_are_summed_exactly() -> None:
    tables = np.array([[2.0**22, 1.0, 3.0, 5.0, 7.0, 11.0]])
    drawn = resampled(tables, 0)
    assert drawn.dtype == np.float64
    assert resampled(tables[:, 1:], 0).dtype == np.float32
    assert np.array_equal(drawn, np.rint(drawn))
