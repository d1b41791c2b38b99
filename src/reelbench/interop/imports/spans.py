"""Times of anyone's file: seconds, mm:ss, h:mm:ss.f, and spans of them."""

import re
from typing import Any

from reelbench.base.times import seconds_of
from reelbench.data.item_rules import LATEST_SECOND
from reelbench.data.items import Seconds, Span, shown
from reelbench.interop.imports.values import is_blank, literal_of, text_of
from reelbench.interop.records import SheetTime

_NUMBER = re.compile(r"(\d{1,12})(?:[.,](\d{1,12}))?\s*(?:s|sec|secs|seconds?)?", re.I)
_UNITS = re.compile(
    r"(?=\d)(?:(\d{1,4})\s*(?:h|hrs?|hours?)\s*)?(?:(\d{1,5})\s*(?:m|min|mins|minutes?)\s*)?"
    r"(?:(\d{1,5}(?:\.\d+)?)\s*(?:s|secs?|seconds?))?",
    re.I,
)
_NO_TIME = frozenset({"-", "–", "—", "n/a", "na", "none", "null"})
# What stands between two times; a comma may be that of a fraction, and comes last.
_BETWEEN = tuple(
    re.compile(rf"(?<!\s)\s*+(?:{marks})\s*+", re.I)
    for marks in (r"-->|->|→|–|—|~|～|\bto\b|\band\b|至|-", r"[,;/]")
)


def read_seconds(value: Any) -> Seconds | None:
    """Return the seconds that a cell means; None where it is blank, an error where it is no time.

    A number below zero stands for no time, as many files have it.
    """
    if is_blank(value) or text_of(value).casefold() in _NO_TIME:
        return None
    if isinstance(value, SheetTime):
        value = value.seconds
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{shown(text_of(value))} is no time")
    seconds = _from_text(value.strip()) if isinstance(value, str) else value
    if seconds is None or not abs(seconds) <= LATEST_SECOND:  # nor is it without end
        raise ValueError(f"{shown(text_of(value))} is no time, such as 83.5 or 1:23.5")
    if seconds < 0:
        return None
    return int(seconds) if float(seconds).is_integer() else round(float(seconds), 6)


def _from_text(text: str) -> Seconds | None:
    if re.fullmatch(r"-\d+(?:\.\d+)?", text):
        return -1
    if found := _NUMBER.fullmatch(text):
        return float(f"{found[1]}.{found[2] or 0}")
    clock = seconds_of(text)
    if clock is None and (found := _UNITS.fullmatch(text)) and any(found.groups()):
        hours, minutes, seconds = (float(part or 0) for part in found.groups())
        return 3600 * hours + 60 * minutes + seconds
    return clock


def read_spans(value: Any) -> tuple[Span, ...]:
    """Return the spans in a cell: ``[a, b]``, a list of such, or a text such as "0:10-0:20"."""
    if is_blank(value):
        return ()
    if isinstance(value, str):
        literal = literal_of(value)
        if literal is None:
            return _in_text(value)
        value = literal
    if isinstance(value, dict):
        value = [value.get("start"), value.get("end")]
    if not isinstance(value, list | tuple):
        raise ValueError(f"{shown(text_of(value))} is no span of time, such as 0:10-0:20")
    if len(value) == 2 and not any(isinstance(part, list | tuple | dict) for part in value):
        if any(isinstance(part, str) and _BETWEEN[0].search(part.strip()) for part in value):
            return tuple(span for part in value for span in read_spans(part))
        return _pair(value[0], value[1])
    return tuple(span for part in value for span in read_spans(part))


def _in_text(text: str) -> tuple[Span, ...]:
    whole = text.strip().strip("[]()")
    for between in _BETWEEN:
        parts = between.split(whole)
        if len(parts) == 2 and not (between is _BETWEEN[1] and _BETWEEN[0].search(whole)):
            return _pair(*parts)
    pieces = [piece for piece in re.split(r"[,;\n|]", whole) if piece.strip()]
    if len(pieces) < 2 or any(len(_BETWEEN[0].split(p.strip("[]() "))) != 2 for p in pieces):
        raise ValueError(f"{shown(text)} is no span of time, such as 0:10-0:20")
    return tuple(span for piece in pieces for span in _in_text(piece))


def _pair(one: Any, other: Any) -> tuple[Span, ...]:
    start, end = read_seconds(one), read_seconds(other)
    if end is None:
        return ()
    start = start or 0
    if start >= end:
        raise ValueError(f"the span ends at {end} s, but begins at {start} s")
    return ((start, end),)
