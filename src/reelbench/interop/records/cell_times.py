"""Times of a spreadsheet as their cells show them."""

import datetime
import re
from collections.abc import Sequence
from functools import lru_cache

_PARTS = re.compile(  # of a format: a part of a time, what is written as it is, and the rest
    r"(?P<time>\[(?:h+|m+|s+)\]|h+|m+|s+(?:\.0+)?|AM/PM|A/P)"
    r"|\"(?P<quoted>[^\"]*)\"|\\(?P<escaped>.)|\[[^\]]*\]|_.|\*.|@|(?P<sign>.)",
    re.I,
)
_SIGNS = ":., "  # that stand between the parts of a time without quotes
_FIRST = datetime.datetime(1899, 12, 31)  # Excel's day 0
_MARCH = datetime.datetime(1900, 3, 1)  # to Excel, the day before was a leap day
_NO_TIME = datetime.timedelta()
_DAY = datetime.timedelta(days=1)
_LONGEST = datetime.timedelta(hours=10_000)  # what is typed as a time is shorter


class SheetTime(str):
    """A time as its cell shows it: 0:05, which to the spreadsheet is five minutes of an hour.

    Who types the time of a video so may mean five seconds.
    """

    seconds: float
    has_hours: bool  # whether hours are shown
    has_seconds: bool  # whether seconds are shown


@lru_cache(maxsize=4096)  # a sheet has the same times again and again
def time_as_shown(cell: datetime.time | datetime.timedelta | datetime.date, code: str) -> SheetTime:
    """Return a time by the format of its cell; with hours, minutes and seconds without one.

    25:30 in a cell for the time of day is half past one of the next day: its format shows 1:30.
    """
    if isinstance(cell, datetime.date):
        cell = _since_first(cell)
    if isinstance(cell, datetime.time):
        cell = datetime.timedelta(
            hours=cell.hour, minutes=cell.minute, seconds=cell.second, microseconds=cell.microsecond
        )
        usual = "hh:mm:ss"
    else:
        usual = "[h]:mm:ss"
    seconds = round(cell.total_seconds(), 3)  # Excel keeps fractions of a day
    parts = _parts(code) or _parts(usual if seconds.is_integer() else f"{usual}.000")
    made = SheetTime(_written(seconds, parts))
    made.seconds = int(seconds) if seconds.is_integer() else seconds
    made.has_hours = any("h" in part for part, is_time in parts if is_time)
    made.has_seconds = any("s" in part for part, is_time in parts if is_time)
    return made


def _since_first(day: datetime.date) -> datetime.timedelta:
    """The time that Excel keeps as a day; that of a date, which its format hides, is its hours."""
    has_hours = isinstance(day, datetime.datetime)
    moment = day if has_hours else datetime.datetime(day.year, day.month, day.day)
    time = moment - _FIRST + _DAY * (moment >= _MARCH)
    return time if _NO_TIME <= time < _LONGEST else time % _DAY


def is_time_format(code: str) -> bool:
    """Whether a format shows a time of day, or one that has passed, and no date."""
    return bool(_parts(code))


Parts = Sequence[tuple[str, bool]]  # of a format; whether each is a part of a time, or a text


@lru_cache(maxsize=256)
def _parts(code: str) -> Parts:
    """The parts of a format in lower case; none where it shows anything but a time."""
    parts: list[tuple[str, bool]] = []
    for found in _PARTS.finditer(code.partition(";")[0]):
        if found["sign"] and found["sign"] not in _SIGNS:
            return ()
        text = found["quoted"] or found["escaped"] or found["sign"]
        parts += [(found["time"].lower(), True)] if found["time"] else []
        parts += [(text, False)] if text else []
    times = [part for part, is_time in parts if is_time]
    return parts if times and not any(map(_is_month, times, ["", *times], [*times[1:], ""])) else ()


def _is_month(part: str, before: str, after: str) -> bool:
    """Whether an m, between two other parts, is that of a month."""
    return part.startswith("m") and "h" not in before and not after.startswith("s")


def _written(seconds: float, parts: Parts) -> str:
    """A time by a format: seconds are rounded as they are shown, and minutes are cut."""
    places = max((len(p.partition(".")[2]) for p, is_time in parts if is_time), default=0)
    if any("s" in part for part, is_time in parts if is_time):
        seconds = round(seconds, places)
    by_halves = any("/p" in part for part, is_time in parts if is_time)
    written = (_one(part, seconds, by_halves) if is_time else part for part, is_time in parts)
    return "".join(written).strip()


def _one(part: str, seconds: float, by_halves: bool) -> str:
    hours, minutes = int(seconds // 3600), int(seconds // 60)
    if "/" in part:
        return ("AM", "PM")[hours % 24 >= 12] if part == "am/pm" else "AP"[hours % 24 >= 12]
    width = part.count(part.strip("[]")[0])
    if part.startswith("["):
        elapsed = {"h": hours, "m": minutes, "s": int(seconds)}
        return f"{elapsed[part[1]]:0{width}}"
    if part.startswith("s"):
        places = len(part.partition(".")[2])
        return f"{seconds % 60:0{width + places + bool(places)}.{places}f}"
    number = minutes % 60 if part.startswith("m") else hours % 24
    if by_halves and part.startswith("h"):
        number = number % 12 or 12
    return f"{number:0{width}}"
