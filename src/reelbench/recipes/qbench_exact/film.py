"""Damage a take until it shows as much of the damage as is wanted, and write it down.

How severe a damage must be depends on the picture: noise hides in leaves, and a dark scene cannot
get much darker. So the severity is searched for, by what is measured in the very frames that a
model will be shown, and what is written is measured again. It decodes where it is called.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from reelbench.media.decode import Image
from reelbench.media.degrade import degrade_images
from reelbench.media.frames import Wish, images_of
from reelbench.media.glance import glance
from reelbench.media.looks import CORNERS, DAMAGES, course, looks, part_of, still
from reelbench.media.write import even, written
from reelbench.recipes.qbench_exact.clips import Take

_CLEAN = 14  # x264's crf, at which nothing is seen of it
_SEARCH = 7  # halvings of the severity
_WRITES = 3  # times that a video is written anew, where writing changed what is measured
_FEW = 4  # frames that a search looks at, where each shows the damage


class UnfitError(Exception):
    """A take that cannot show what is wanted."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a take is to be damaged: by how much in what is measured, from when, and where."""

    damage: str = ""  # nothing for a video that stays as it is
    kind: str = ""
    least: float = 0.0  # extent, see ``looks.Damage``
    most: float = 0.0
    begin: float = 0.0  # share of the video at which it begins
    corner: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A video that was written: how severe its damage is, and what its frames show of quality."""

    severity: float
    before: dict[str, float]  # of the take
    after: dict[str, float]
    extent: float = 0.0  # of the damage, where and when it is wanted
    levels: tuple[float, ...] = ()  # of the damage in each corner, or before and after it begins


class Footage:
    """The frames of a take, and which of them a model is shown."""

    def __init__(self, path: Path, take: Take, longest: int, count: int) -> None:
        frames = list(glance(path, None, longest, start=take.start, end=take.end))
        if len(frames) < count:
            raise UnfitError(f"it has {len(frames)} frames, fewer than the {count} to be shown")
        self.images = [even(image) for _, image in frames]
        self.times = [time - take.start for time, _ in frames]
        self.seconds = take.end - take.start
        self.rate = len(frames) / self.seconds
        lasts = self.times[-1] + 1 / self.rate  # as the file will say that it does
        moments = [(number + 0.5) * lasts / count for number in range(count)]
        self.shown = [int(np.searchsorted(self.times, time + 1e-6)) - 1 for time in moments]
        self.count = count

    def first(self, wanted: Wanted) -> int:
        """The first frame that is damaged."""
        return int(np.searchsorted(self.times, wanted.begin * self.seconds))

    def damaged(self, wanted: Wanted, severity: float, seed: int) -> list[Image]:
        """All frames, those from the wanted moment on damaged."""
        first = self.first(wanted)
        region = None if wanted.corner is None else CORNERS[wanted.corner]
        return [
            *self.images[:first],
            *degrade_images(self.images[first:], wanted.kind, severity, seed, region),
        ]


def film(
    footage: Footage, wanted: Wanted, out: Path, seed: int, sampling: str, shared_by: int
) -> Shown:
    """Write a take as it is wanted; raise ``UnfitError`` where it cannot be."""
    before = looks([footage.images[number] for number in footage.shown])
    wish = Wish(sampling, shared_by=shared_by)
    if not wanted.damage:
        _write(footage, footage.images, out)
        return Shown(0.0, before, looks(images_of(out, wish)))
    probe = cache(_probe(footage, wanted, seed))
    middle = aim = (wanted.least + min(wanted.most, probe(1.0))) / 2
    if middle < wanted.least:
        raise UnfitError(f"the worst {wanted.damage} is {probe(1.0):.2f}, not {wanted.least:.2f}")
    extent = 0.0
    for _ in range(_WRITES):
        severity = _search(probe, aim)
        _write(footage, footage.damaged(wanted, severity, seed), out)
        shown = images_of(out, wish)
        extent = _extent(footage, wanted, shown)
        if wanted.least <= extent <= wanted.most:
            levels = _levels(footage, wanted, shown)
            return Shown(severity, before, looks(shown), extent, levels)
        aim += middle - extent  # writing costs some of it
    raise UnfitError(
        f"{wanted.damage} came to {extent:.2f}, not {wanted.least:.2f} to {wanted.most:.2f}"
    )


def _write(footage: Footage, images: Sequence[Image], out: Path) -> None:
    with written(out, footage.rate, _CLEAN) as writer:
        for image, time in zip(images, footage.times, strict=True):
            writer.show(image, time)


def _search(extent: Callable[[float], float], aim: float) -> float:
    """Halve the severities between which the extent is as wanted."""
    low, high = 0.0, 1.0
    for _ in range(_SEARCH):
        middle = (low + high) / 2
        low, high = (middle, high) if extent(middle) < aim else (low, middle)
    return round(high, 4)


def _probe(footage: Footage, wanted: Wanted, seed: int) -> Callable[[float], float]:
    """Measure what a severity does, without writing it; in a few frames where they suffice."""
    damage = DAMAGES[wanted.damage]
    first = footage.first(wanted)
    shown = [number for number in footage.shown if number >= first]
    region = None if wanted.corner is None else CORNERS[wanted.corner]
    few = shown if damage.in_time else shown[:: max(1, len(shown) // _FEW)]
    if not few:
        raise UnfitError("no frame is shown after the damage begins")
    clean = [footage.images[number] for number in few]
    before = _quality(damage.quality, clean, wanted.corner)

    def extent(severity: float) -> float:
        if damage.in_time:
            every = footage.damaged(wanted, severity, seed)
            damaged = [every[number] for number in few]
        else:
            damaged = degrade_images(clean, wanted.kind, severity, seed, region)
        after = _quality(damage.quality, damaged, wanted.corner)
        return damage.extent({damage.quality: before}, {damage.quality: after})

    return extent


def _extent(footage: Footage, wanted: Wanted, shown: Sequence[Image]) -> float:
    """How far the frames that are shown are damaged, where and when they should be."""
    damage = DAMAGES[wanted.damage]
    first = footage.first(wanted)
    places = [place for place, number in enumerate(footage.shown) if number >= first]
    clean = [footage.images[footage.shown[place]] for place in places]
    before = _quality(damage.quality, clean, wanted.corner)
    after = _quality(damage.quality, [shown[place] for place in places], wanted.corner)
    return damage.extent({damage.quality: before}, {damage.quality: after})


def _levels(footage: Footage, wanted: Wanted, shown: Sequence[Image]) -> tuple[float, ...]:
    """The damage in each corner, or before and after it begins, for who sees this video alone."""
    damage = DAMAGES[wanted.damage]
    if wanted.corner is not None:
        values = [_quality(damage.quality, shown, corner) for corner in CORNERS]
    elif wanted.begin and not damage.in_time:
        late = sum(number >= footage.first(wanted) for number in footage.shown)
        parts = (shown[: len(shown) - late], shown[len(shown) - late :])
        values = [_quality(damage.quality, part, None) for part in parts if part]
    else:
        values = []
    return tuple(damage.level({damage.quality: value}) for value in values)


def _quality(name: str, images: Sequence[Image], corner: str | None) -> float:
    if name in ("shake", "flicker", "repeats"):
        return course(images)[name]
    return float(np.mean([still(part_of(image, corner))[name] for image in images]))
