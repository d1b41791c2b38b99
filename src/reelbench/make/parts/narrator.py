"""Videos without their narrator, for evaluation: the narrator removed, and what is left measured.

Rows have the fields of a video essay: ``file`` is the video as it was, ``narrator`` the facts of
the label of that name, ``clips`` the spans that questions may be about.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msgspec import structs

from reelbench.annotate.common.audio import turns_of
from reelbench.annotate.common.narrator_left import seconds_in
from reelbench.annotate.common.silenced_video import write_without_speaker
from reelbench.annotate.common.voice_removal import VoiceRemoval, removal_spans
from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Span
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, RowStage
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.digests import media_digest
from reelbench.weights import provide

NO_NARRATOR = "no clear narrator"
REMOVAL = "removal"  # what was done and measured, among the facts about the narrator
_MEDIA = "media"
_UNCLEAR = ("reject", "keep")
_LEAST_LIMIT, _PACE = 300.0, 4.0  # seconds that the work may take, and for each second of a video


def silence(
    rows: type,
    method: str = "separate",
    margin: float = VoiceRemoval.margin,
    fade: float = VoiceRemoval.fade,
    depth: float = VoiceRemoval.depth,
    unclear: str = "reject",
    *,
    name: str = "silence",
    **more: Any,
) -> RowStage:
    """Return the stage that writes media/ID.mp4: a video without the narrator's voice.

    Frames are copied and end with the last clip; subtitles, data and titles are left behind.
    ``method``, ``margin``, ``fade`` and ``depth`` are those of ``VoiceRemoval``. A row whose
    narrator is not clear is rejected, or with ``unclear="keep"`` flagged, its sound untouched.
    """

    async def work(row: Any, ctx: StageContext, *, unclear: str, **settings: Any) -> list[Any]:
        facts = row.narrator
        is_clear = facts.get("speaker") is not None
        if not is_clear and unclear == "reject":
            raise Rejected(NO_NARRATOR, facts.get("reason") or "no voice was found to narrate")
        removal = VoiceRemoval(**settings)
        end = row.clips[-1][1] if row.clips else row.seconds
        others = _others(facts, ctx.labels(row).get("turns")) if is_clear else []
        turns = [(start, over) for start, over in facts["turns"]] if is_clear else []
        spans = removal_spans(turns, others, removal.margin, end)
        path = ctx.out / _MEDIA / f"{row.id}.mp4"
        copied = await _written(ctx.out / row.file, path, spans, removal, end)
        done = {
            **asdict(removal),
            "spans": [[round(start, 4), round(over, 4)] for start, over in spans],
            "seconds": round(sum(over - start for start, over in spans), 2),
            "others": seconds_in(spans, others),  # in which another's voice was changed, too
            "frames": "copied" if copied else "encoded anew",
        }
        flags = row.flags if is_clear or NO_NARRATOR in row.flags else (*row.flags, NO_NARRATOR)
        made = structs.replace(
            row,
            clip=f"{_MEDIA}/{row.id}.mp4",
            sha256=media_digest(path),
            narrator={**facts, REMOVAL: done},
            flags=flags,
        )
        return [made]

    return RowStage(
        name=name,
        input=rows,
        output=rows,
        work=work,
        parameters={
            "method": method,
            "margin": margin,
            "fade": fade,
            "depth": depth,
            "unclear": unclear,
        },
        labels=("turns",),
        writes=True,
        outputs_exist=_is_there,
        validate=_fault,
        **more,
    )


def _fault(parameters: Mapping[str, Any]) -> str:
    if parameters["unclear"] not in _UNCLEAR:
        return f"unclear is {parameters['unclear']!r}: write {' or '.join(_UNCLEAR)}"
    try:
        VoiceRemoval(**{name: value for name, value in parameters.items() if name != "unclear"})
    except ReelbenchError as error:
        return f"method: {error}".rstrip(".")
    return ""


def _is_there(row: Any, ctx: StageContext) -> bool:
    path = ctx.out / row.clip
    return path.is_file() and media_digest(path) == str(row.sha256)


def _others(facts: Mapping[str, Any], turns: Any) -> list[Span]:
    """Return when others speak than the narrator.

    A speaker most of whose turns are the narrator's is the narrator, taken for two.
    """
    own = [(start, end) for start, end in facts["turns"]]
    found: list[Span] = []
    for speaker, spans in (turns_of(turns) if turns else {}).items():
        total = sum(end - start for start, end in spans)
        if speaker != facts["speaker"] and 2 * seconds_in(spans, own) < total:
            found += spans
    return sorted(found)


async def _written(
    source: Path, out: Path, spans: Sequence[Span], removal: VoiceRemoval, end: float
) -> bool:
    """Write a video in another process; return whether its frames were copied."""
    if spans and removal.method == "separate":
        await asyncio.to_thread(provide, ["vocals"])
    out.parent.mkdir(parents=True, exist_ok=True)

    def isolated() -> bool:
        limit = max(_LEAST_LIMIT, _PACE * end)
        return run_isolated(write_without_speaker, source, out, spans, removal, end, limit=limit)

    return await asyncio.to_thread(isolated)
