"""``calls.jsonl``: facts about each call, for people who look at single items.

A line has the ``id``, ``model``, ``condition``, ``order`` and ``round`` of a prediction, and what
is known of its call: ``seconds``, the ``seed`` that was sent, if one was, ``input_tokens``,
``output_tokens``, ``cached_tokens`` (of the input, where its server says so), the kinds of media
that were ``given``, the times of the ``frames`` of each video, and the ``method`` by which the
parser read the reply. Seconds differ from run to run: what decides scores is in
``predictions.jsonl`` alone.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reelbench.base.files import json_line
from reelbench.base.limits import bounded_lines, decode_json
from reelbench.client.media_input import MediaInput
from reelbench.evaluate.ask import Ask
from reelbench.evaluate.judge import Key, Reply
from reelbench.models.base import Response

CALLS_FILE = "calls.jsonl"
_NUMBERS = ("seconds", "seed", "input_tokens", "output_tokens", "cached_tokens")


def call_line(
    ask: Ask,
    reply: Reply,
    response: Response,
    taken: Mapping[str, float | None] | None,
    frames: list[list[float]] | None,
) -> str:
    """Return the line of a question with a reply or a failure.

    ``taken`` and ``frames`` are what the journal has of the reply.
    """
    row: dict[str, Any] = {**reply.place, "given": _given(ask.media)}
    if not response.replied:
        return json_line(row)
    # A baseline's seconds would make two runs of the same differ, and tell nothing.
    if taken and ask.model.card.backend != "baseline":
        row |= {name: taken[name] for name in _NUMBERS if taken.get(name) is not None}
    if frames is not None:
        row["frames"] = frames
    if ask.item.kind != "open" and (method := reply.parsed().method):
        row["method"] = method
    return json_line(row)


def _given(media: MediaInput) -> list[str]:
    kinds = {
        "frames": media.frames,
        "timestamps": media.frames and media.timestamps,
        "video": bool(media.video),
        "sound": bool(media.audio) or media.video.endswith("sound"),
        "subtitles": media.subtitles == "always",
    }
    return [kind for kind, shown in kinds.items() if shown]


def read_calls(out: Path) -> dict[Key, dict[str, Any]]:
    """Return what is known of the calls of a run; empty for a run that has not noted it."""
    found: dict[Key, dict[str, Any]] = {}
    try:
        with (out / CALLS_FILE).open("rb") as file:
            for line in bounded_lines(file):
                if facts := _facts(line):
                    found[facts[0]] = facts[1]
    except FileNotFoundError:
        return {}  # of an earlier version
    return found


def _facts(line: bytes) -> tuple[Key, dict[str, Any]] | None:
    """Return the facts of a line, without what is not as we write it; None where it is no line."""
    try:
        row = decode_json(line)
        key: Key = (row["id"], row["model"], row["condition"], row["order"], row["round"])
        hash(key)
    except (ValueError, KeyError, TypeError):
        return None
    facts = {name: row[name] for name in _NUMBERS if _is_number(row.get(name))}
    frames, given = row.get("frames"), row.get("given")
    if isinstance(frames, list) and all(
        isinstance(each, list) and all(map(_is_number, each)) for each in frames
    ):
        facts["frames"] = frames
    if isinstance(given, list) and all(isinstance(each, str) for each in given):
        facts["given"] = given
    if isinstance(row.get("method"), str):
        facts["method"] = row["method"]
    return key, facts


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value >= 0
