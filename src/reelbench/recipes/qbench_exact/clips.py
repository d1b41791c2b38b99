"""What exact questions are made from: clean clips, cut into segments of a few seconds."""

from pathlib import Path

import msgspec

from reelbench.annotate.annotate import clips_in
from reelbench.data.sources import Sources
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected


class SourceClip(msgspec.Struct, frozen=True):
    """A file of the source."""

    id: str  # its path in the source
    sha256: str
    seconds: float
    has_video: bool


class Segment(msgspec.Struct, frozen=True):
    """Some seconds of a clip."""

    id: str
    path: str
    sha256: str
    start: float
    end: float


def clean_clips(source: Path) -> Sources:
    """Return the clips of a folder, or the one clip that is named."""
    clips, broken = clips_in(source)
    rows = [
        SourceClip(name, clip.digest, clip.info.duration, clip.info.has_video)
        for name, clip in sorted(clips.items())
    ]
    return Sources(rows, sorted(broken.items()))


async def cut(clip: SourceClip, _ctx: StageContext, *, seconds: float) -> list[Segment]:
    """Cut a clip into segments of equal length, none of which share a frame."""
    if not clip.has_video:
        raise Rejected("no picture", "It has no video stream.")
    count = int(clip.seconds / seconds + 1e-6)
    if not count:
        raise Rejected(
            "too short", f"It lasts {clip.seconds:.1f} s, less than a segment of {seconds:g} s."
        )
    return [
        Segment(
            f"{clip.id}#{number:04d}",
            clip.id,
            clip.sha256,
            round(number * seconds, 3),
            round((number + 1) * seconds, 3),
        )
        for number in range(count)
    ]
