"""Subtitles as JSON, which benchmarks of long videos have, as SRT on the clock of a clip.

An entry is ``{"timestamp": [12.5, 14.0], "text": "..."}``, or ``{"start": "00:00:12.500", "end":
"00:00:14.000", "line": "..."}``. The times are those of the video that a clip was cut from.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reelbench.base.limits import bounded_bytes, decode_json
from reelbench.interop.imports.items import ItemDraft
from reelbench.interop.imports.spans import read_seconds
from reelbench.interop.imports.values import text_of

ENDING = ".json"
_SHORTEST = 2.0  # seconds that a line without an end is shown


def subtitle_texts(drafts: Sequence[ItemDraft], places: Mapping[str, Path]) -> dict[str, str]:
    """Return the SRT texts of items whose subtitles are JSON, by their path in the benchmark.

    ``places`` are the files, by the names that items have for them.
    """
    texts: dict[str, str] = {}
    for draft in drafts:
        for medium, name in zip(draft.item.media, draft.subtitles, strict=False):
            path = os.path.splitext(medium.path)[0] + ".srt"
            if name in places and path not in texts:
                texts[path] = srt_of(places[name], draft.subtitles_start)
    return {path: text for path, text in texts.items() if text}


def srt_of(path: Path, start: float = 0.0) -> str:
    """Return the lines of a file from a second on, as SRT; "" where it has none."""
    try:
        content = decode_json(bounded_bytes(path))
    except (OSError, ValueError):
        return ""
    cues = sorted(_cues(content if isinstance(content, list) else [], start))
    return "\n".join(
        f"{number}\n{_clock(begin)} --> {_clock(end)}\n{text}\n"
        for number, (begin, end, text) in enumerate(cues, 1)
    )


def _cues(entries: Sequence[Any], start: float) -> Iterator[tuple[float, float, str]]:
    for entry in entries:
        if not isinstance(entry, Mapping):
            continue
        times = entry.get("timestamp")
        pair = times if isinstance(times, list) and len(times) == 2 else None
        text = " ".join(text_of(entry.get("text", entry.get("line"))).split())
        try:
            begin = read_seconds(pair[0] if pair else entry.get("start"))
            end = read_seconds(pair[1] if pair else entry.get("end"))
        except ValueError:
            continue
        if begin is None or not text:
            continue
        end = max(begin + _SHORTEST if end is None else end, begin) - start
        if end > 0:
            yield max(0.0, begin - start), end, text


def _clock(seconds: float) -> str:
    whole, milliseconds = divmod(round(seconds * 1000), 1000)
    minutes, second = divmod(whole, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02},{milliseconds:03}"
