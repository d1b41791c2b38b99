"""Runs work on media files in worker processes: a decoder that hangs or crashes fails one file."""

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from reelbench.base.errors import DEFECTS, ReelbenchError
from reelbench.base.workers import WorkerError, WorkerPool
from reelbench.media.decode.probe import MediaInfo, probe
from reelbench.media.errors import MediaError

Result = TypeVar("Result")
LIMIT = 300.0  # seconds that one piece of work on one file may take


def run_isolated(
    work: Callable[..., Result], path: Path, *args: object, limit: float = LIMIT
) -> Result:
    """Return ``work(path, *args)``, run in a worker process; raise ``MediaError`` if it fails.

    A defect of Reelbench is raised as it is, since it would affect every other file too.
    """
    try:
        return _pool(os.getpid()).call(work, path, *args, limit=limit)
    except ReelbenchError:
        raise
    except WorkerError as error:
        raise MediaError(path, f"decoding it {error}") from None
    except DEFECTS:
        raise
    except Exception as error:  # of whatever library, on whatever the file holds
        reason = " ".join([f"{type(error).__name__}: {error}.", *getattr(error, "__notes__", ())])
        raise MediaError(path, f"an internal error in decoding it ({reason})") from error


def probe_isolated(path: Path) -> MediaInfo:
    """Return the properties of an untrusted file, probed in a worker process."""
    return run_isolated(probe, path)


def close() -> None:
    """End the workers; the next call starts new ones."""
    _pool(os.getpid()).close()
    _pool.cache_clear()


@functools.cache
def _pool(_process: int) -> WorkerPool:
    """The workers of one process: a fork of it must not talk to them."""
    return WorkerPool()
