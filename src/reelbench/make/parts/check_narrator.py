"""The check of videos whose narrator was removed: every clip is measured, and bad ones flagged.

It also writes the transcript for evaluation: what is heard once the narrator is gone.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

from reelbench.annotate.common.audio import turns_of
from reelbench.annotate.common.narrator_left import (
    SoundChange,
    TimedWord,
    seconds_in,
    sound_changes,
    spoken_words,
    timed_words,
    words_left,
)
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of, digest_of_file, write_atomically
from reelbench.data.items import Span
from reelbench.make.parts.narrator import REMOVAL
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import RowStage
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.subtitles import Cue, webvtt_file

INTELLIGIBLE = "narrator still intelligible"
BURNED_IN = "subtitles in the picture repeat the narration"
_LABELS = ("transcript", "turns", "voices", "narrator", "narration_text")
_LEAST_LIMIT, _PACE = 300.0, 1.0  # seconds that measuring may take, and for each second of a video


def check_narrator(
    rows: type,
    most_left: float = 0.15,
    most_words: int = 1,
    *,
    name: str = "check-narrator",
    **more: Any,
) -> RowStage:
    """Return the stage that measures what is left of the narrator, and writes media/ID.vtt.

    It reads the labels of the video without the narrator, ``transcript`` made with
    ``subtitles=False``. A clip is flagged if more than ``most_words`` of the narrator's words in
    it, and more than the share ``most_left``, are still recognised; so is one with subtitles in the
    picture that repeat the narration, where the label ``narration_text`` was made. The measures
    are in ``narrator["removal"]``.
    """

    async def work(row: Any, ctx: StageContext, *, most_left: float, most_words: int) -> list[Any]:
        now, was = ctx.labels(row), ctx.labels(structs.replace(row, clip=row.file))
        transcript = now.get("transcript")
        _refuse_subtitles(row, transcript)
        path = (ctx.out / row.clip).with_suffix(".vtt")
        write_atomically(path, webvtt_file(_cues(transcript)))
        done = {**row.narrator.get(REMOVAL, {}), "transcript_sha256": digest_of_file(path)}
        flagged = {place: list(reasons) for place, reasons in row.flagged.items()}
        if row.narrator.get("speaker") is not None:
            spans = [(start, end) for start, end in done.get("spans", row.narrator["turns"])]
            changes = await _changes(ctx.out / row.file, ctx.out / row.clip, spans, row.clips)
            before = _narrated(row.narrator, was)
            after = timed_words(transcript) if transcript else []
            clips = _measured(row.clips, spans, before, after, changes)
            for place, clip in enumerate(clips, 1):
                if clip["left"] > max(most_words, most_left * clip["words"]):
                    flagged.setdefault(place, []).append(INTELLIGIBLE)
            done |= _whole(clips, spans) | {"voice": _likeness(row.narrator, was, now, spans)}
        shown = [span for labels in (was, now) for span in _burned_in(labels)]
        for place, clip in enumerate(row.clips, 1):
            if seconds_in([clip], shown):
                flagged.setdefault(place, []).append(BURNED_IN)
        ordered = {place: tuple(dict.fromkeys(flagged[place])) for place in sorted(flagged)}
        return [structs.replace(row, narrator={**row.narrator, REMOVAL: done}, flagged=ordered)]

    return RowStage(
        name=name,
        input=rows,
        output=rows,
        work=work,
        parameters={"most_left": most_left, "most_words": most_words},
        labels=_LABELS,
        reads=_of_source,
        writes=True,
        outputs_exist=_is_there,
        **more,
    )


def _of_source(row: Any, ctx: StageContext) -> str:
    """Return the hash of the labels of the video as it was: those of the new one count anyway."""
    labels = ctx.clip_labels.get(row.file, {})
    return digest_of({name: labels[name] for name in _LABELS if name in labels})


def _is_there(row: Any, ctx: StageContext) -> bool:
    path = (ctx.out / row.clip).with_suffix(".vtt")
    wanted = str(row.narrator[REMOVAL]["transcript_sha256"])
    return path.is_file() and digest_of_file(path) == wanted


def _refuse_subtitles(row: Any, transcript: Any) -> None:
    """Raise an error for a transcript that was not made from the sound without the narrator."""
    if row.clip == row.file:
        raise ReelbenchError(
            f"{row.id} has no video without its narrator: put the stage silence before this one."
        )
    if transcript and transcript["source"] == "subtitles":
        raise ReelbenchError(
            f"The transcript of {row.clip} was read from subtitles, which may be the narrator's: "
            'label it with set={"transcript": {"subtitles": False}}.'
        )


def _cues(transcript: Any) -> list[Cue]:
    segments = transcript["segments"] if transcript else []
    return [Cue(each["start"], each["end"], each["text"]) for each in segments if each["text"]]


async def _changes(
    source: Path, made: Path, spans: Sequence[Span], clips: Sequence[Span]
) -> list[SoundChange]:
    limit = max(_LEAST_LIMIT, _PACE * max((end for _, end in clips), default=0.0))

    def isolated() -> list[SoundChange]:
        return run_isolated(sound_changes, source, made, spans, tuple(clips), limit=limit)

    return await asyncio.to_thread(isolated)


def _narrated(facts: Mapping[str, Any], was: Mapping[str, Any]) -> list[TimedWord]:
    """Return what the narrator said: the words of its label, or those heard in its turns."""
    given = facts.get("words") or was.get("narrator", {}).get("words")
    if given:
        return spoken_words(given)
    transcript = was.get("transcript")
    heard = timed_words(transcript) if transcript else []
    return [word for word in heard if any(s <= word.time <= e for s, e in facts["turns"])]


def _measured(
    clips: Sequence[Span],
    spans: Sequence[Span],
    before: Sequence[TimedWord],
    after: Sequence[TimedWord],
    changes: Sequence[SoundChange],
) -> list[dict[str, Any]]:
    """Return the measures of each clip.

    ``words`` the narrator spoke, ``left`` are still recognised; ``heard`` are all that are
    recognised within the turns: others', made up, or left.
    """
    inside = [word for word in after if any(s - 0.3 <= word.time <= e + 0.3 for s, e in spans)]
    found = []
    for place, (clip, change) in enumerate(zip(clips, changes, strict=True), 1):
        left = words_left(before, inside, clip)
        found.append(
            {
                "clip": place,
                "narrated": seconds_in([clip], spans),
                "words": len(left),
                "left": sum(left),
                "heard": sum(clip[0] <= word.time < clip[1] for word in inside),
                "inside_db": change.inside,
                "outside_db": change.outside,
                "outside_error_db": change.error,
            }
        )
    return found


def _whole(clips: Sequence[Mapping[str, Any]], spans: Sequence[Span]) -> dict[str, Any]:
    """Return the measures of the whole video."""
    words, left = sum(clip["words"] for clip in clips), sum(clip["left"] for clip in clips)
    levels = {
        each: [clip[each] for clip in clips if clip[each] is not None]
        for each in ("inside_db", "outside_db", "outside_error_db")
    }
    return {
        "clips": list(clips),
        "turns": len(spans),
        "words": words,
        "left": left,
        "share": round(left / words, 4) if words else 0.0,
        **{
            each: round(float(np.median(many)), 1) if many else None
            for each, many in levels.items()
        },
    }


def _likeness(
    facts: Mapping[str, Any],
    was: Mapping[str, Any],
    now: Mapping[str, Any],
    spans: Sequence[Span],
) -> float | None:
    """Return the cosine of the narrator's voice with the likest that is left within its turns."""
    voices = {each["id"]: each["embedding"] for each in was.get("voices", {}).get("speakers", ())}
    narrator = voices.get(facts["speaker"])
    turns = turns_of(now["turns"]) if "turns" in now else {}
    left = [
        float(np.dot(each["embedding"], narrator))
        for each in now.get("voices", {}).get("speakers", ())
        if narrator is not None and seconds_in(turns.get(each["id"], []), spans) > 1.0
    ]
    return round(max(left), 4) if left else None


def _burned_in(labels: Mapping[str, Any]) -> list[Span]:
    return [(start, end) for start, end in labels.get("narration_text", {}).get("spans", ())]
