"""The user's cache folder, for what can be made again: decoded frames, hashes, model weights."""

import os
from pathlib import Path

from reelbench.base.errors import ReelbenchError


def cache_path(name: str) -> Path:
    """Return the path of a folder in the user's cache, whether it exists or not.

    ``REELBENCH_CACHE`` overrides the system's cache folder.
    """
    own = os.environ.get("REELBENCH_CACHE")
    system = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(own or os.path.join(system, "reelbench")) / name


def cache_folder(name: str) -> Path:
    """Return the path of a folder in the user's cache, created if need be."""
    folder = cache_path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReelbenchError(
            f"{folder} cannot be created ({error.strerror}): set the environment variable "
            "REELBENCH_CACHE to a folder that can be written."
        ) from error
    return folder


def cache_limit() -> int:
    """Return the size limit of the frame store in bytes: ``REELBENCH_CACHE_GB``, or 20 GB."""
    text = os.environ.get("REELBENCH_CACHE_GB", "20")
    try:
        gigabytes = float(text)
    except ValueError:
        gigabytes = -1.0
    if not 0 <= gigabytes < 1e6:
        raise ReelbenchError(
            f"The environment variable REELBENCH_CACHE_GB is {text!r}: set it to a number of "
            "gigabytes, such as 20."
        )
    return int(gigabytes * 1e9)
