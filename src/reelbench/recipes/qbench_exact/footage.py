"""The frames of a segment, what a damage does to them, and the video that is written of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from reelbench.interop.qbench_video.taxonomy import PROTOCOL
from reelbench.media.decode.decode import Image
from reelbench.media.decode.frames import FrameSpec, decoded_frames
from reelbench.media.decode.probe import probe
from reelbench.media.decode.sample import parse_sampling
from reelbench.media.decode.stream import scan_frames
from reelbench.media.edit.degrade import degrade_images
from reelbench.media.edit.write import FAST, even, video_writer
from reelbench.media.measure.local import Levels, tile_levels
from reelbench.media.measure.quality import (
    CORNERS,
    QUALITIES,
    Damage,
    Region,
    all_qualities,
    quality,
)
from reelbench.media.measure.visibility import visibility
from reelbench.recipes.qbench_exact.clips import Segment

ANY = 9.0  # beyond all levels
_ROUNDING = 1e-6  # seconds
# A little better than ``degrade`` writes: facts are measured behind it. As near to what was given
# as crf 14 of the slower encoder.
_QUALITY = 15


class UnfitError(Exception):
    """A segment cannot show the damage that is wanted."""


@dataclass(frozen=True, slots=True)
class DamageTarget:
    """How a segment is to be damaged: the level to reach, and the part that the damage adds."""

    damage: str
    kind: str
    low: float = -ANY  # level, see ``Damage`` in media/measure/quality.py
    high: float = ANY
    least: float = -0.05  # extent; writing alone may cost or give a little
    most: float = ANY
    begin: float = 0.0  # share of the video at which it begins
    corner: str | None = None
    end: float = 1.0  # share of the video at which it ends
    region: Region | None = None  # a part of the picture that is no corner
    jnds: tuple[float, float] | None = None  # how visible it is to be, in place of a level

    @property
    def part(self) -> Region | None:
        """The part of the picture that is damaged; None for all of it."""
        return self.region if self.corner is None else CORNERS[self.corner]


class SegmentFrames:
    """The frames of a segment, and which of them a model is shown."""

    def __init__(
        self, path: Path, segment: Segment, longest: int, videos: int, copies: bool = False
    ) -> None:
        decoded = _decoded(path, segment, longest, copies)
        self.images, self.times = decoded.images, decoded.times
        self.smaller = decoded.smaller
        self._qualities, self._levels = decoded.qualities, decoded.levels
        self.spec = FrameSpec(PROTOCOL.sampling, shared_by=videos)
        self.rate = len(self.images) / (segment.end - segment.start)
        # Those of its own file: at the ends of a segment frames may be missing.
        self.seconds = self.times[-1] + 1 / self.rate
        self.shown = self._as_planned(videos)

    def _as_planned(self, videos: int) -> list[int]:
        """Return the frames that will be shown, if the file's times are as planned."""
        count = parse_sampling(self.spec.sampling).shared_by(videos).count
        assert count is not None, "the protocol has so many frames"
        if len(self.images) < count:
            raise UnfitError(f"it has {len(self.images)} frames, fewer than the {count} shown")
        moments = [(number + 0.5) * self.seconds / count for number in range(count)]
        # A frame is shown from its own time on, which is often one of the moments.
        places = np.searchsorted(self.times, np.add(moments, _ROUNDING), side="right") - 1
        return [max(0, int(place)) for place in places]

    def span(self, target: DamageTarget) -> tuple[int, int]:
        """The first frame that is damaged, and the one after the last."""
        first, last = (
            int(np.searchsorted(self.times, share * self.seconds))
            for share in (target.begin, target.end)
        )
        return first, len(self.times) if target.end >= 1 else last

    def damaged(
        self,
        target: DamageTarget,
        severity: float,
        seed: int,
        images: Sequence[Image],
        needed: Iterable[int] | None = None,
    ) -> Sequence[Image]:
        """Return frames, damaged where and when it is wanted, or at least those that are needed."""
        if not severity:
            return images
        (first, last), region = self.span(target), target.part
        numbers = None if needed is None else {number - first for number in needed}
        part = images[first:last]
        damaged = degrade_images(part, target.kind, severity, seed, region, numbers)
        return [*images[:first], *damaged, *images[last:]]

    def own(self, target: DamageTarget) -> list[int]:
        """Of the frames that are shown, those that are damaged."""
        first, last = self.span(target)
        return [number for number in self.shown if first <= number < last]

    def jnds(self, target: DamageTarget, changed: Sequence[Image]) -> float:
        """How visible a damage is in its own of the frames that are shown."""
        moments = [
            (self.images[number], image, self.images[max(0, number - 1)])
            for number, image in zip(self.own(target), changed, strict=True)
        ]
        return visibility(moments, self.seconds / len(self.shown), target.part)

    @property
    def clean(self) -> list[Image]:
        """The frames that are shown, undamaged."""
        return [self.images[number] for number in self.shown]

    def qualities(self) -> dict[str, float]:
        """All qualities of the frames that are shown, undamaged."""
        known = self._qualities.setdefault(tuple(self.shown), {})
        if len(known) < len(QUALITIES):
            known.update(all_qualities(self.clean))
        return {name: known[name] for name in QUALITIES}

    def level(self, damage: Damage) -> float:
        """The level of a damage in the frames that are shown, undamaged."""
        return damage.level({damage.quality: self._quality(damage.quality)})

    def _quality(self, name: str) -> float:
        known = self._qualities.setdefault(tuple(self.shown), {})
        if name not in known:
            known[name] = quality(name, self.clean)
        return known[name]

    def tile_levels(self, damage: Damage) -> Levels:
        """The levels of a damage in all tiles of the frames that are shown, undamaged."""
        known = self._levels.setdefault(tuple(self.shown), {})
        if damage not in known:
            known[damage] = tile_levels(damage, self.clean)
            known[damage].flags.writeable = False  # it is shared
        return known[damage]

    def write(self, images: Sequence[Image], out: Path) -> list[Image]:
        """Write the frames; return those of the file that the protocol shows."""
        with video_writer(out, self.rate, _QUALITY, encoder=FAST) as writer:
            for image, time in zip(images, self.times, strict=True):
                writer.show(image, time)
        frames = decoded_frames(out, self.spec)
        # Containers round times: what is shown is what is measured, not what was planned.
        self.shown = [int(np.argmin(np.abs(np.subtract(self.times, f.shown_at)))) for f in frames]
        return [frame.image for frame in frames]


@dataclass(frozen=True, slots=True)
class _Decoded:
    """The frames of a segment, their times as a file of their own has them, and what they show."""

    images: tuple[Image, ...]
    times: tuple[float, ...]
    smaller: bool  # than the clip
    # Of the frames that are shown, as far as they were measured.
    qualities: dict[tuple[int, ...], dict[str, float]] = field(default_factory=dict)
    levels: dict[tuple[int, ...], dict[Damage, Levels]] = field(default_factory=dict)


# Questions about a segment follow each other, some show it twice, and a clip has its turn with
# three segments, one after the other.
@lru_cache(maxsize=3)
def _decoded(path: Path, segment: Segment, longest: int, copies: bool) -> _Decoded:
    info = probe(path, counting=False)
    own = max(info.width, info.height)
    size = min(longest or own, own) // 2 if copies else longest or None
    frames = list(scan_frames(path, None, size, start=segment.start, end=segment.end))
    if len({image.shape for _, image in frames}) != 1:
        raise UnfitError("its pictures change their size" if frames else "it has no frames")
    images = tuple(_four(image) if copies else even(image) for _, image in frames)
    for image in images:
        image.flags.writeable = False  # it is shared
    times = tuple(time - frames[0][0] for time, _ in frames)
    return _Decoded(images, times, smaller=0 < longest < own)


def _four(image: Image) -> Image:
    """Four copies of a picture, side by side, each on the grid of its blocks."""
    height, width = (max(2, side - side % 8) if side >= 8 else side for side in image.shape[:2])
    return np.tile(image[:height, :width], (2, 2, 1))
