"""Transcription (C.2): one JSON record for each essay, which the later stages read.

The speech comes from subtitles beside the video or from Whisper, as the label ``transcript`` has
it. A record has only what is said in the part that is used.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from reelbench.annotate.operator import Value
from reelbench.base.files import pretty_json, write_atomically
from reelbench.make.parts.narrator import NO_NARRATOR
from reelbench.make.parts.speech import sentences
from reelbench.make.parts.wording import other_language
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, RowStage, Undecided
from reelbench.media.decode.isolated import probe_isolated
from reelbench.recipes.musebench.fetch import essay_file
from reelbench.recipes.musebench.rows import Essay

RECORDS = "records"  # the folder of records, in the folder that is made
LANGUAGE_UNKNOWN = "language unknown"  # a flag
_ENGLISH = "en"


def record(languages: Sequence[str] = (_ENGLISH,)) -> RowStage:
    """Return the stage that writes the transcription record of each essay.

    An essay without speech, or in another language than ``languages`` (all, where that is empty),
    is rejected. Reads the labels ``transcript``, and ``narrator`` and ``language`` where they are.
    """
    return RowStage(
        name="record",
        input=Essay,
        output=Essay,
        work=_recorded,
        parameters={"languages": list(languages)},
        labels=("transcript", "narrator", "language"),
        writes=True,
        outputs_exist=lambda essay, ctx: (ctx.out / RECORDS / f"{essay.id}.json").is_file(),
        estimate=_estimate,
    )


def transcription_record(essay: Essay, ctx: StageContext) -> Mapping[str, Any]:
    """Return the record of an essay; in a forecast before it was made, one without speech."""
    if not essay.record:
        return {"transcription": {"text": "", "segments": []}}
    found: Mapping[str, Any] = json.loads(ctx.kept(essay.record))
    return found


async def _recorded(essay: Essay, ctx: StageContext, *, languages: Sequence[str]) -> list[Essay]:
    made, text = _made(essay, ctx, languages)
    path = ctx.out / RECORDS / f"{essay.id}.json"
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, text)
    return [made]


def _estimate(essay: Essay, ctx: StageContext) -> list[Essay]:
    assert ctx.at_work is not None
    try:
        return [_made(essay, ctx, ctx.at_work.parameters["languages"])[0]]
    except Undecided:  # it is not labelled yet
        return [essay]


def _made(essay: Essay, ctx: StageContext, languages: Sequence[str]) -> tuple[Essay, str]:
    """Return an essay with its record, and the text of that."""
    labels = ctx.labels(essay)
    try:
        transcript = labels["transcript"]
    except KeyError:  # it has no value
        raise Rejected("no speech", f"{essay.file} has no transcript") from None
    others = {name: labels[name] for name in labels}  # those that are there
    segments = _segments(transcript, essay.seconds)
    text = " ".join(each["text"] for each in segments)
    if not any(letter.isalnum() for letter in text):
        raise Rejected("no speech", f"nothing is said in {essay.seconds:g} s of {essay.file}")
    language = _language(transcript, others.get("language"), text)
    _check_language(language, languages, text)
    narrator = dict(others.get("narrator") or {})
    flags = [NO_NARRATOR] if narrator.get("speaker") is None else []
    flags += [LANGUAGE_UNKNOWN] if language is None else []
    kept = pretty_json(
        {
            "video_id": essay.id,
            "category": essay.category,
            "source": {
                "title": essay.title,
                "channel": essay.channel,
                "url": essay.url,
                "file": essay.file,
                "sha256": essay.sha256,
            },
            "transcription": {
                "source": transcript["source"],
                "language": language,
                "text": text,
                "segments": segments,
            },
            "metadata": _metadata(essay, ctx),
        }
    )
    return structs.replace(
        essay,
        record=ctx.store.keep(kept),
        narrator=narrator,
        flags=(*essay.flags, *flags),
    ), kept


def _segments(transcript: Value, seconds: float) -> list[dict[str, Any]]:
    return sentences([each for each in transcript["segments"] if each["start"] < seconds])


def _language(transcript: Value, identified: Value | None, text: str) -> str | None:
    """Return the language that is spoken: of subtitles, the one that they are written in."""
    known = transcript["language"] or (identified or {}).get("spoken")
    if known:
        return str(known).lower().partition("-")[0]
    return None if other_language(text) else _ENGLISH


def _check_language(language: str | None, languages: Sequence[str], text: str) -> None:
    """Reject another language, and what is surely not English where only that is allowed."""
    unknown_fits = language is None and list(languages) != [_ENGLISH]
    if not languages or language in languages or unknown_fits:
        return
    found = language or other_language(text)
    raise Rejected(
        "narrator speaks another language",
        f"{found}; allowed: {', '.join(languages)} (record.languages)",
        facts={"language": language},
    )


def _metadata(essay: Essay, ctx: StageContext) -> dict[str, Any]:
    info = probe_isolated(essay_file(essay, ctx))
    sound = info.audio[0] if info.audio else None
    return {
        "duration": round(info.duration, 3),
        "width": info.width,
        "height": info.height,
        "frame_rate": round(info.frame_rate, 3),
        "channels": sound.channels if sound else 0,
        "sample_rate": sound.sample_rate if sound else 0,
    }
