"""Intervals and standard errors as they are written beside a number."""

from collections.abc import Mapping
from typing import Any

from reelbench.base.progress import counted
from reelbench.score.intervals import Estimate
from reelbench.score.rounding import rounded

FEW_VIDEOS = 10  # with fewer, a reader is told beside the interval


def few_videos(cell: Mapping[str, Any]) -> str:
    """Return on how many videos an interval rests, where they are few; else empty."""
    videos = cell["videos"]
    return counted(videos, "video") if cell["interval"] and videos < FEW_VIDEOS else ""


def scaled_record(estimate: Estimate, low: float, high: float) -> dict[str, Any]:
    """Return the record of an estimate of shares between two ends; none of its ends is over 1."""
    found = estimate_record(estimate, low, high)
    return found | {"interval": [min(1.0, end) for end in found["interval"]]}


def estimate_record(
    estimate: Estimate | None, worst: float = 0.0, best: float = 1.0
) -> dict[str, Any]:
    """Return interval, standard error and number of videos, on a scale from worst to best."""
    if estimate is None:
        return {"interval": None, "standard_error": None, "videos": 0}
    error = estimate.standard_error
    return {
        "interval": [rounded(worst + end * (best - worst)) for end in estimate.interval],
        "standard_error": None if error is None else rounded(error * (best - worst)),
        "videos": estimate.videos,
    }
