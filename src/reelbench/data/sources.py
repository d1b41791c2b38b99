"""The input of a recipe."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Sources:
    """The rows that a recipe starts from, and the unusable inputs as pairs of name and reason."""

    rows: Sequence[Any]
    broken: Sequence[tuple[str, str]] = ()
    warnings: Sequence[str] = ()
