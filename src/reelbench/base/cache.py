"""Where things are kept that can be made again: decoded frames, hashes, later model weights."""

import os
from pathlib import Path

from reelbench.base.errors import ReelbenchError


def cache_path(name: str) -> Path:
    """Return where a folder of that name is, or would be, in the user's cache.

    ``REELBENCH_CACHE`` names another place than the system's own.
    """
    own = os.environ.get("REELBENCH_CACHE")
    system = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(own or os.path.join(system, "reelbench")) / name


def cache_folder(name: str) -> Path:
    """Return the same, and make sure that it is there."""
    folder = cache_path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReelbenchError(
            f"{folder} cannot be made ({error.strerror}): name a folder for caches in the "
            "environment variable REELBENCH_CACHE."
        ) from error
    return folder


def cache_limit() -> int:
    """Return how many bytes the frame store may hold: ``REELBENCH_CACHE_GB``, or 20."""
    text = os.environ.get("REELBENCH_CACHE_GB", "20")
    try:
        gigabytes = float(text)
    except ValueError:
        gigabytes = -1.0
    if not 0 <= gigabytes < 1e6:
        raise ReelbenchError(f"REELBENCH_CACHE_GB is {text!r}: write a number of gigabytes.")
    return int(gigabytes * 1e9)
