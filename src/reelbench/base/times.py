"""Times as people write them: minutes and seconds, with hours in front if there are any."""

import re
from decimal import Decimal
from typing import Any

_CLOCK = re.compile(r"(?:(\d{1,5}):)?(\d{1,5}):(\d{2})(?:[.,](\d{1,9}))?", re.ASCII)


def seconds_of(text: str) -> int | float | None:
    """Return the seconds that "1:23.5" or "1:02:03" means; None where it is no such time."""
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.groups()[:3])
    if seconds > 59 or (found[1] and minutes > 59):
        return None
    whole = 3600 * hours + 60 * minutes + seconds
    fraction = (found[4] or "").rstrip("0")
    return float(Decimal(f"{whole}.{fraction}")) if fraction else whole


def with_seconds(value: Any) -> Any:
    """Return a value, or lists of values, with seconds for each text that is a time."""
    if isinstance(value, list):
        return [with_seconds(part) for part in value]
    seconds = seconds_of(value) if isinstance(value, str) else None
    return value if seconds is None else seconds
