"""Parameters that a user sets: a value is read and checked by the default that it replaces."""

import math
from typing import Any


def read_like(default: Any, value: Any) -> Any:
    """Return a value as its default is written: for a list, ``dog,car`` and a single word too.

    What does not fit is returned as it is, for ``is_like`` to refuse.
    """
    if not isinstance(default, tuple | list):
        return value
    if isinstance(value, str):
        value = [_like_one_of(default, part.strip()) for part in value.split(",") if part.strip()]
    elif value is None:  # nothing is written behind the equals sign
        value = []
    elif isinstance(value, int | float):
        value = [value]
    return type(default)(value) if isinstance(value, tuple | list) else value


def _like_one_of(default: Any, word: str) -> Any:
    """Return a word as a number where the entries of a list are numbers by default."""
    if not default or not all(type(each) in (int, float) for each in default):
        return word
    try:
        return int(word) if all(isinstance(each, int) for each in default) else float(word)
    except ValueError:
        return word


def is_like(default: Any, value: Any) -> bool:
    """Return whether a value has the type of a default; an int is accepted for a float.

    The entries of a list are like one of the default's or, where that has none, text or numbers.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return False
    if default is None:  # chosen by the code that reads it, unless it is set
        return isinstance(value, str | int | float | None)
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    if isinstance(default, tuple | list):
        if not isinstance(value, tuple | list):
            return False
        known = default or (None,)
        return all(any(is_like(one, each) for one in known) for each in value)
    return isinstance(value, type(default))
