"""Weights that a user brings: a file or a folder, identified by its content."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.media.digests import folder_digest, media_digest
from reelbench.weights.registry import is_registered, known_names

NAMES_ENDINGS = (".txt", ".names")  # of the file beside a model that lists its classes
_REPLACED: ContextVar[Mapping[str, str] | None] = ContextVar("replaced", default=None)


@contextmanager
def replacing(weights: Mapping[str, str]) -> Iterator[None]:
    """Let ``weights_file`` return others for some names: a name of the registry, or a path."""
    before = _REPLACED.set(weights)
    try:
        yield
    finally:
        _REPLACED.reset(before)


def replacement_of(name: str) -> str:
    """Return what stands in the place of weights now: a name of the registry, or a path."""
    return (_REPLACED.get() or {}).get(name, name)


def absolute_reference(text: str) -> str:
    """Return a name of the registry as it is and a path in full; raise if it is neither."""
    if is_registered(text):
        return text
    path = Path(text).expanduser()
    if not path.exists():
        raise ReelbenchError(
            f"{text} is neither a file or folder on this machine nor the name of weights; the "
            f"names: {known_names()}."
        )
    return str(path.absolute())


def own_path(text: str) -> Path:
    """Return the path of a user's weights; raise if nothing is there."""
    path = Path(text)
    if not path.exists():
        raise ReelbenchError(
            f"The weights {path} do not exist any more: put the file back, or change the --set "
            "that names it."
        )
    return path


def names_beside(path: Path) -> Path | None:
    """Return the file beside a model that lists the names of its classes, one a line."""
    beside = (path.with_suffix(ending) for ending in NAMES_ENDINGS)
    return next((file for file in beside if file.is_file()), None)


def content_digest(path: Path) -> str:
    """Return the hash of a file with its list of names, or of all files of a folder.

    Each file is read once while it is not modified.
    """
    if path.is_file():
        names = names_beside(path)
        own = media_digest(path)
        return own if names is None else digest_of([own, media_digest(names)])
    return folder_digest(path)
