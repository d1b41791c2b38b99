"""What is said in a video, as segments with ``start``, ``end`` and ``text``."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.data.items import Span

Segment = Mapping[str, Any]
_ENDS = re.compile(r"[.!?…。！？][\"'”’)\]»]*$")
_LONGEST = 15.0  # seconds: without a mark, as in many subtitles, a sentence must end somewhere
_PAUSE = 2.0  # seconds of silence that end one


def sentences(segments: Sequence[Segment]) -> list[dict[str, Any]]:
    """Return segments joined to sentences, as far as their marks and pauses tell.

    Speech models and subtitles end a segment where they pause, within a sentence too. One in which
    a sentence ends and another begins is not divided.
    """
    found: list[dict[str, Any]] = []
    for each in segments:
        start, end, text = each["start"], each["end"], " ".join(str(each["text"]).split())
        if not text:
            continue
        last = found[-1] if found else None
        if last is None or _is_over(last, start, end):
            found.append({"start": start, "end": end, "text": text})
        else:
            found[-1] = {
                "start": last["start"],
                "end": max(end, last["end"]),
                "text": f"{last['text']} {text}",
            }
    return found


def _is_over(last: Segment, start: float, end: float) -> bool:
    """Whether a sentence ends before a segment begins."""
    pauses, too_long = start - last["end"] >= _PAUSE, end - last["start"] > _LONGEST
    return bool(pauses or too_long or _ENDS.search(last["text"]))


def speech_within(segments: Sequence[Segment], span: Span) -> str:
    """Return what is said in a part of a video: all segments that overlap it, one a line."""
    start, end = span
    return "\n".join(
        str(each["text"]).strip()
        for each in segments
        if each["start"] < end and each["end"] > start and str(each["text"]).strip()
    )
