"""Recipes that start from raw videos: those of a folder, each once."""

from pathlib import Path

import msgspec

from reelbench.annotate.annotate import clips_in
from reelbench.data.sources import Sources
from reelbench.make.pipeline.context import StageContext


class SourceVideo(msgspec.Struct, frozen=True):
    """A file of the source."""

    id: str  # its path in the source
    sha256: str
    seconds: float
    has_video: bool

    @property
    def clip(self) -> str:
        """The path that its labels belong to."""
        return self.id


def videos_in(source: Path) -> Sources:
    """Return the videos of a folder, or the one video that is named; copies are left out."""
    clips, broken = clips_in(source)
    first: dict[str, str] = {}
    rows = []
    for name, clip in sorted(clips.items()):
        if first.setdefault(clip.digest, name) == name:
            rows.append(SourceVideo(name, clip.digest, clip.info.duration, clip.info.has_video))
        else:
            broken = {**broken, name: f"It is a copy of {first[clip.digest]}."}
    return Sources(rows, sorted(broken.items()))


def source_root(ctx: StageContext) -> Path:
    """Return the folder that the names of source videos are relative to."""
    return ctx.source if ctx.source.is_dir() else ctx.source.parent
