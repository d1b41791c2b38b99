"""Phase A (C.3): an essay as clips of ten seconds, whose places are their stable numbers."""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from reelbench.data.items import Span
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, RowStage
from reelbench.recipes.musebench.rows import Essay


def segment(seconds: float = 10.0, least: float = 1.0) -> RowStage:
    """Return the stage that cuts essays into clips of ``seconds`` that do not overlap.

    What is over the longest duration was left out when the essay was fetched (``fetch.longest``).
    A rest of less than ``least`` seconds at the end is no clip: hardly a frame would be of it.
    """
    return RowStage(
        name="segment",
        input=Essay,
        output=Essay,
        work=_segmented,
        parameters={"seconds": seconds, "least": least},
        validate=_fault,
    )


def _fault(values: Mapping[str, Any]) -> str:
    if not 0 < values["least"] <= values["seconds"]:
        return "least must be more than 0, and seconds not less than that"
    return ""


async def _segmented(
    essay: Essay, _ctx: StageContext, *, seconds: float, least: float
) -> list[Essay]:
    clips = clips_of(essay.seconds, seconds, least)
    if not clips:
        raise Rejected("too short", f"{essay.seconds:g} s, and a clip has {least:g} s or more")
    return [structs.replace(essay, clips=clips)]


def clips_of(duration: float, seconds: float, least: float) -> tuple[Span, ...]:
    """Return clips of so many seconds, the last one with what is left, if that is enough."""
    count = int(duration // seconds)
    clips = [
        (round(seconds * number, 3), round(seconds * (number + 1), 3)) for number in range(count)
    ]
    start = round(seconds * count, 3)
    if duration - start >= least:
        clips.append((start, round(duration, 3)))
    return tuple(clips)
