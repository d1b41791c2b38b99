"""Reads and writes subtitles: SubRip and WebVTT files."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

from reelbench.data.items import Span
from reelbench.media.errors import MediaError, refuse_no_file

_CLOCK = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMES = re.compile(rf"^\s*{_CLOCK}\s*-->\s*{_CLOCK}(?:\s.*)?$")
# Tags, the moments of words, and the styles that some files carry.
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|<\d[\d:.]*>|\{\\[^{}]*\}")
_MOST_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class Cue:
    """A subtitle: its text, and the time in seconds from and until which it is shown."""

    start: float
    end: float
    text: str


def read_subtitles(path: Path) -> list[Cue]:
    """Return the subtitles of a file in the order of time; raise ``MediaError`` if invalid."""
    refuse_no_file(path, may_be_empty=True)  # nothing is said
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise MediaError(path, error.strerror or str(error)) from error
    if len(raw) > _MOST_BYTES:
        raise MediaError(path, f"is larger than {_MOST_BYTES >> 20} MiB, too large for subtitles")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MediaError(
            path, f"is not UTF-8 ({error.reason} at byte {error.start}): convert it to UTF-8"
        ) from error
    cues = sorted(_cues(text.splitlines()), key=lambda cue: (cue.start, cue.end))
    if not cues and text.strip() and not text.startswith("WEBVTT"):
        raise MediaError(path, "has no line of the form 00:00:01,000 --> 00:00:02,000")
    return cues


def _cues(lines: Sequence[str]) -> Iterator[Cue]:
    starts = [number for number, line in enumerate(lines) if _TIMES.match(line)]
    for number, following in zip(starts, [*starts[1:], len(lines) + 1], strict=False):
        match = _TIMES.match(lines[number])
        assert match is not None
        # The line before the next one's times may be its number, where no line is left blank.
        words: list[str] = []
        for place in range(number + 1, min(following, len(lines))):
            line = lines[place].strip()
            if not line or (place == following - 1 and line.isdecimal()):
                break
            words.append(unescape(_MARKUP.sub("", line)).strip())
        text = " ".join(" ".join(words).split())
        start, end = _seconds(match.groups()[:4]), _seconds(match.groups()[4:])
        if text and end >= start:
            yield Cue(start, end, text)


def _seconds(clock: Sequence[str | None]) -> float:
    hours, minutes, seconds, part = clock
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return whole + int((part or "0").ljust(3, "0")) / 1000


def subtitles_file(cues: Sequence[Cue]) -> str:
    """Return the text of a SubRip file with these cues."""
    return "".join(
        f"{number}\n{_clock(cue.start)} --> {_clock(cue.end)}\n{cue.text}\n\n"
        for number, cue in enumerate(cues, 1)
    )


def webvtt_file(cues: Sequence[Cue]) -> str:
    """Return the text of a WebVTT file with these cues."""
    shown = (
        f"{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{escape(cue.text, quote=False)}\n"
        for cue in cues
    )
    return "\n".join(["WEBVTT\n", *shown])


def _clock(seconds: float, point: str = ",") -> str:
    whole, part = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{point}{part:03d}"


def within(cues: Sequence[Cue], spans: Sequence[Span]) -> list[Cue]:
    """Return the cues that are shown at some moment of the spans."""
    return [cue for cue in cues if any(cue.start < end and cue.end > start for start, end in spans)]
