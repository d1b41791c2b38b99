"""What a user may set a parameter to: something of the kind that it usually is."""

import math
from typing import Any


def is_like(usual: Any, value: Any) -> bool:
    """Whether a value is of the kind that is usual; a whole number may stand for a share."""
    if isinstance(value, float) and not math.isfinite(value):
        return False
    if usual is None:  # chosen by who reads it, unless it is said
        return isinstance(value, str | int | float | None)
    if isinstance(usual, bool) or isinstance(value, bool):
        return isinstance(usual, bool) and isinstance(value, bool)
    if isinstance(usual, float):
        return isinstance(value, int | float)
    if isinstance(usual, tuple | list):
        return isinstance(value, tuple | list)
    return isinstance(value, type(usual))
