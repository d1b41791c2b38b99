"""What a recipe begins with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Sources:
    """The rows that a recipe begins with, and what could not be taken up, by name and reason."""

    rows: Sequence[Any]
    broken: Sequence[tuple[str, str]] = ()
    warnings: Sequence[str] = ()
