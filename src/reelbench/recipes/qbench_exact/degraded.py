"""Damage a segment until its frames show the wanted amount of the damage, and write the video.

How severe a damage must be depends on the picture: noise hides in leaves, and a dark scene cannot
get much darker. So the severity is searched for, by what is measured in the very frames that a
model will be shown, and what is written is measured again. It decodes where it is called.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from reelbench.interop.qbench_video.taxonomy import PROTOCOL
from reelbench.media.decode.decode import Image
from reelbench.media.decode.frames import FrameSpec, decoded_frames
from reelbench.media.decode.sample import parse_sampling
from reelbench.media.decode.stream import scan_frames
from reelbench.media.edit.degrade import degrade_images
from reelbench.media.edit.write import even, video_writer
from reelbench.media.measure.quality import CORNERS, DAMAGES, all_qualities, part_of
from reelbench.recipes.qbench_exact.clips import Segment

ANY = 9.0  # beyond all levels
_CLEAN = 14  # x264's crf, a little better than ``degrade`` has it: facts are measured behind it
_SEARCH = 7  # halvings of the severity
_WRITES = 3  # times that a video is written, where writing changes what is measured
_FEW = 4  # frames that a search looks at, where each shows the damage


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


@dataclass(frozen=True, slots=True)
class WrittenVideo:
    """A written video: the severity of its damage, and the qualities measured in its frames."""

    before: dict[str, float]  # of the segment
    after: dict[str, float]
    severity: float = 0.0
    extent: float = 0.0  # of the damage, where and when it is wanted
    level: float = 0.0
    # Of the damage, in each corner or in each frame, where it is in one part alone.
    levels: tuple[float, ...] = ()
    begin: int = 0  # the first of the frames shown that is damaged


class SegmentFrames:
    """The frames of a segment, and which of them a model is shown."""

    def __init__(self, path: Path, segment: Segment, longest: int, videos: int) -> None:
        frames = list(scan_frames(path, None, longest, start=segment.start, end=segment.end))
        self.spec = FrameSpec(PROTOCOL.sampling, shared_by=videos)
        self.images = [even(image) for _, image in frames]
        self.times = [time - frames[0][0] for time, _ in frames]  # as the file's clock will have it
        self.seconds = segment.end - segment.start
        self.rate = len(frames) / self.seconds
        self.shown = self._as_planned(videos)

    def _as_planned(self, videos: int) -> list[int]:
        """Return the frames that will be shown, if the file's times are as planned."""
        count = parse_sampling(self.spec.sampling).shared_by(videos).count
        assert count is not None, "the protocol has so many frames"
        if len(self.images) < count:
            raise UnfitError(f"it has {len(self.images)} frames, fewer than the {count} shown")
        lasts = self.times[-1] + 1 / self.rate
        moments = [(number + 0.5) * lasts / count for number in range(count)]
        return [max(0, int(np.searchsorted(self.times, moment)) - 1) for moment in moments]

    def first(self, target: DamageTarget) -> int:
        """The first frame that is damaged."""
        return int(np.searchsorted(self.times, target.begin * self.seconds))

    def damaged(self, target: DamageTarget, severity: float, seed: int) -> list[Image]:
        """Return all frames, those from the wanted moment on damaged."""
        if not severity:
            return self.images
        first, region = self.first(target), CORNERS.get(target.corner or "")
        damaged = degrade_images(self.images[first:], target.kind, severity, seed, region)
        return [*self.images[:first], *damaged]

    def write(self, images: Sequence[Image], out: Path) -> list[Image]:
        """Write the frames; return those of the file that the protocol shows."""
        with video_writer(out, self.rate, _CLEAN) as writer:
            for image, time in zip(images, self.times, strict=True):
                writer.show(image, time)
        frames = decoded_frames(out, self.spec)
        # Containers round times: what is shown is what is measured, not what was planned.
        self.shown = [int(np.argmin(np.abs(np.subtract(self.times, f.shown_at)))) for f in frames]
        return [frame.image for frame in frames]


def write_degraded(
    footage: SegmentFrames, target: DamageTarget, out: Path, seed: int
) -> WrittenVideo:
    """Write a segment with the wanted damage; raise ``UnfitError`` where it cannot show it."""
    least, most = _window(footage, target)
    aim = (least + most) / 2
    extent = math.nan
    for _ in range(_WRITES):
        planned = list(footage.shown)
        severity = _search(cache(_probe(footage, target, seed)), aim, least, most)
        shown = footage.write(footage.damaged(target, severity, seed), out)
        extent = _extent(footage, target, shown)
        if footage.shown != planned:
            least, most = _window(footage, target)  # of other frames than was thought
        if least <= extent <= most:
            return _measured(footage, target, shown, severity, extent)
        aim += (least + most) / 2 - extent  # writing costs some of it
    raise UnfitError(f"{target.damage} reached {extent:.2f}, not {least:.2f} to {most:.2f}")


def _clean(footage: SegmentFrames) -> list[Image]:
    return [footage.images[number] for number in footage.shown]


def _window(footage: SegmentFrames, target: DamageTarget) -> tuple[float, float]:
    """The extents that give the wanted levels, as the segment has some of the damage itself."""
    own = DAMAGES[target.damage].seen_in(_affected(footage, target, _clean(footage)))
    least, most = max(target.least, target.low - own), min(target.most, target.high - own)
    if least > most:
        raise UnfitError(f"it already has {own:.2f} of {target.damage}")
    return least, most


def _affected(footage: SegmentFrames, target: DamageTarget, shown: Sequence[Image]) -> list[Image]:
    """Of the frames that are shown, those that are damaged, and of each the part that is."""
    first = footage.first(target)
    pairs = zip(footage.shown, shown, strict=True)
    images = [part_of(image, target.corner) for number, image in pairs if number >= first]
    if not images:
        raise UnfitError("no frame is shown after the damage begins")
    return images


def _search(extent: Callable[[float], float], aim: float, least: float, most: float) -> float:
    """Halve the severities between which the extent is as wanted; 0 where nothing need be done."""
    if least <= 0 <= most:
        return 0.0
    worst = extent(1.0)
    if worst < least:
        raise UnfitError(f"the highest severity reaches {worst:.2f}, not {least:.2f}")
    aim = min(aim, (least + worst) / 2)
    low, high = 0.0, 1.0
    for _ in range(_SEARCH):
        middle = (low + high) / 2
        low, high = (middle, high) if extent(middle) < aim else (low, middle)
    return round(high, 4)


def _probe(footage: SegmentFrames, target: DamageTarget, seed: int) -> Callable[[float], float]:
    """Measure what a severity does, without writing it; in a few frames where they suffice."""
    damage = DAMAGES[target.damage]
    first, region = footage.first(target), CORNERS.get(target.corner or "")
    places = [number for number in footage.shown if number >= first]
    places = places if damage.in_time else places[:: max(1, len(places) // _FEW)]
    clean = [footage.images[number] for number in places]
    before = damage.seen_in([part_of(image, target.corner) for image in clean])

    def extent(severity: float) -> float:
        if damage.in_time:  # a frame rests on those before it
            every = footage.damaged(target, severity, seed)
            damaged = [every[number] for number in places]
        else:
            damaged = degrade_images(clean, target.kind, severity, seed, region)
        return damage.seen_in([part_of(image, target.corner) for image in damaged]) - before

    return extent


def _extent(footage: SegmentFrames, target: DamageTarget, shown: Sequence[Image]) -> float:
    """How far the frames that are shown are damaged, where and when they should be."""
    damage = DAMAGES[target.damage]
    before, after = (
        damage.seen_in(_affected(footage, target, images)) for images in (_clean(footage), shown)
    )
    return round(after - before, 4)


def _measured(
    footage: SegmentFrames,
    target: DamageTarget,
    shown: Sequence[Image],
    severity: float,
    extent: float,
) -> WrittenVideo:
    damage, first = DAMAGES[target.damage], footage.first(target)
    levels: list[float] = []
    if target.corner is not None:
        levels = [damage.seen_in([part_of(i, corner) for i in shown]) for corner in CORNERS]
    elif target.begin and not damage.in_time:
        levels = [damage.seen_in([image]) for image in shown]
    return WrittenVideo(
        before=all_qualities(_clean(footage)),
        after=all_qualities(shown),
        severity=severity,
        extent=extent,
        level=round(damage.seen_in(_affected(footage, target, shown)), 4),
        levels=tuple(round(level, 4) for level in levels),
        begin=sum(number < first for number in footage.shown),
    )
