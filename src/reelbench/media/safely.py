"""Work on foreign files in processes of its own: a decoder that hangs or dies costs one file."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from reelbench.media.errors import MediaError
from reelbench.media.probe import MediaInfo, probe
from reelbench.workers import WorkerError, WorkerPool

Result = TypeVar("Result")
LIMIT = 300.0  # seconds that one piece of work on one file may take


def safely(work: Callable[..., Result], path: Path, *args: object) -> Result:
    """Do ``work(path, *args)`` in a worker; whatever goes wrong is a ``MediaError`` on the file."""
    try:
        return _pool().call(work, path, *args, limit=LIMIT)
    except WorkerError as error:
        raise MediaError(path, f"decoding it {error}") from None


def probe_safely(path: Path) -> MediaInfo:
    """Probe a file that may be anything."""
    return safely(probe, path)


def close() -> None:
    """End the workers; the next piece of work starts new ones."""
    _pool().close()
    _pool.cache_clear()


@functools.cache
def _pool() -> WorkerPool:
    return WorkerPool()
