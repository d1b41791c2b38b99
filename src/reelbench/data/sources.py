"""The input of a recipe."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Sources:
    """The rows that a recipe starts from, and what cannot be used, as pairs of name and reason.

    ``broken`` would have been rows; ``without`` are parts of rows, which are made without them.
    """

    rows: Sequence[Any]
    broken: Sequence[tuple[str, str]] = ()
    warnings: Sequence[str] = ()
    without: Sequence[tuple[str, str]] = ()
