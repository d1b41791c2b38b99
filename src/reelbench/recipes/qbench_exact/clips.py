"""What exact questions are made from: clean clips, cut into segments of a few seconds."""

import msgspec

from reelbench.make.parts.source_videos import SourceVideo
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected


class Segment(msgspec.Struct, frozen=True):
    """Some seconds of a clip."""

    id: str
    path: str
    sha256: str
    start: float
    end: float
    scene: str = ""  # the name of its clip, or of the first of those that show the same

    @property
    def clip(self) -> str:
        """The path that its labels belong to."""
        return self.path

    @property
    def source(self) -> str:
        """The clip that counts as its own where clips are drawn, split and counted."""
        return self.scene or self.path


async def cut(clip: SourceVideo, _ctx: StageContext, *, seconds: float) -> list[Segment]:
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
