"""Durations of videos, cached: measuring thousands of them takes a minute."""

from pathlib import Path

from reelbench.media.decode.isolated import run_isolated
from reelbench.media.decode.probe import probe
from reelbench.media.digests import remembered
from reelbench.media.errors import MediaError


def duration_of(path: Path) -> float | None:
    """Return the duration of a file in seconds; None where it cannot be opened."""
    try:
        return float(remembered("seconds", path, _measured))
    except (MediaError, OSError):
        return None


def _measured(path: Path) -> str:
    return repr(run_isolated(probe, path, False).duration)
