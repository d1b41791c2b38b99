"""Loads weights once in a process, and again when another file stands in their place."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from reelbench.base.errors import ReelbenchError
from reelbench.media.digests import Identity, identity_of
from reelbench.weights.find import weights_file
from reelbench.weights.own import replacement_of
from reelbench.weights.registry import find

_Loaded = TypeVar("_Loaded")
_KEPT: dict[tuple[Any, ...], Any] = {}  # by the function that loads, and the file


def from_weights(name: str) -> Callable[[Callable[[Path], _Loaded]], Callable[[], _Loaded]]:
    """Return a decorator: a function of a path is then called with none, that of named weights."""

    def decorate(load: Callable[[Path], _Loaded]) -> Callable[[], _Loaded]:
        return lambda: loaded(name, load)

    return decorate


def loaded(
    name: str,
    load: Callable[[Path], _Loaded],
    check: Callable[[_Loaded], None] = lambda _: None,
) -> _Loaded:
    """Return ``load(path)`` for named weights, or for those that a user put in their place.

    It is kept while the file is not modified. A user's file that cannot be loaded, or that
    ``check`` raises an error for, is a sentence.
    """
    path = weights_file(name)
    key = (name, load.__module__, load.__qualname__, path, _identities(path))
    if key not in _KEPT:
        # Of one function and name, only the last is kept: models are large.
        for other in [each for each in _KEPT if each[:3] == key[:3]]:
            del _KEPT[other]
        _KEPT[key] = _load(name, path, load, check)
    kept: _Loaded = _KEPT[key]
    return kept


def _identities(path: Path) -> tuple[Identity, ...]:
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    return tuple(map(identity_of, files))


def _load(
    name: str, path: Path, load: Callable[[Path], _Loaded], check: Callable[[_Loaded], None]
) -> _Loaded:
    is_own = replacement_of(name) != name or not find(name).files
    try:
        found = load(path)
        check(found)
    except ReelbenchError as error:
        if is_own:
            raise ReelbenchError(f"{path} cannot take the place of {name}: {error}") from error
        raise
    except Exception as error:
        if not is_own:
            raise
        reason = " ".join(str(error).split())[:300]
        raise ReelbenchError(
            f"{path} cannot take the place of {name} ({find(name).need}): "
            f"{type(error).__name__}: {reason}"
        ) from error
    return found
