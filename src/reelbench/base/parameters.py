"""Type check for parameters that a user sets: the value must be of the default's type."""

import math
from typing import Any


def is_like(default: Any, value: Any) -> bool:
    """Return whether a value has the type of a default; an int is accepted for a float."""
    if isinstance(value, float) and not math.isfinite(value):
        return False
    if default is None:  # chosen by the code that reads it, unless it is set
        return isinstance(value, str | int | float | None)
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    if isinstance(default, tuple | list):
        return isinstance(value, tuple | list)
    return isinstance(value, type(default))
