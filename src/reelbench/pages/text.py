"""Numbers and counts as people write them, and texts cut to a length."""

import math
import re
from typing import Any

from markupsafe import Markup, escape

from reelbench.base.progress import counted


def number(value: Any) -> str:
    """Write a number as people do; a year is not parted by a comma."""
    if not is_number(value):
        return str(value)
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}" if abs(value) >= 10_000 else str(int(value))
    if abs(value) >= 1e15 or abs(value) < 0.001:
        return f"{value:.3g}"
    digits = 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}" if abs(value) >= 10_000 else f"{value:.{digits}f}"


def table_cell(value: Any) -> str:
    """Write a cell of a table; shares, 0.0 and 1.0 too, have three digits, as those below them."""
    return f"{value:.3f}" if isinstance(value, float) and 0 <= value <= 1 else number(value)


def plural(unit: str) -> str:
    """Return the plural of the name of a kind of row."""
    if unit.endswith("y") and unit[-2:-1] not in "aeiou":
        return f"{unit[:-1]}ies"
    return f"{unit}es" if unit.endswith(("s", "x", "ch", "sh")) else f"{unit}s"


def units(count: int, unit: str) -> str:
    """Write how many rows of a kind there are."""
    return counted(count, unit, plural(unit))


def shortened(text: str, limit: int) -> str:
    """Cut a text that is longer than this."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def breakable(text: str) -> Markup:
    """Return a name as HTML that may be broken behind ``:``, ``/`` and ``_``, and not in a word.

    Where to break behind a hyphen, browsers know.
    """
    return Markup(_PART.sub(r"\1<wbr>", str(escape(text))))  # noqa: S704 - it is escaped


_PART = re.compile(r"([:/_])(?=[^\s:/_])")


def is_number(value: Any) -> bool:
    """Whether a value is a number that can be drawn."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
