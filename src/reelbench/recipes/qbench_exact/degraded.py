"""Damage a segment until its frames show the wanted amount of the damage, and write the video.

How severe a damage must be depends on the picture: noise hides in leaves, and a dark scene cannot
get much darker. So the severity is searched for, by what is measured in the very frames that a
model will be shown, and what is written is measured again. It decodes where it is called.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reelbench.media.decode.decode import Image
from reelbench.media.edit.degrade import degrade_images
from reelbench.media.measure.local import rises, tile_levels, tiles_in
from reelbench.media.measure.quality import (
    CORNERS,
    DAMAGES,
    NOT_THERE,
    Damage,
    all_qualities,
    part_of,
)
from reelbench.recipes.qbench_exact.footage import DamageTarget, SegmentFrames, UnfitError
from reelbench.recipes.qbench_exact.severities import SeveritySearch

_WRITES = 3  # times that a video is written, where writing changes what is measured
# Beyond what is not there: more than writing took away of any clip that was measured.
_PLAINLY = {"brightness": 0.03, "contrast": 0.03, "cast": 0.03, "colourfulness": 0.03,
            "sharpness": 0.05, "noise": 0.05, "flicker": 0.05, "repeats": 0.05,
            "blockiness": 0.15, "shake": 0.35}  # fmt: skip
_FEW = 4  # frames that a search looks at, where each shows the damage
# The share of an extent that writing usually takes away: where it takes more, or less, the video
# is written again.
_USUALLY_LOST = {"blur": 0.18, "noise": 0.08}
Check = Callable[[float, NDArray[np.float64]], None]  # of an extent and of rises; raises UnfitError


@dataclass(frozen=True, slots=True)
class SeenLayer:
    """One of several damages of a video, as it is measured in the frames that are shown."""

    target: DamageTarget
    severity: float
    extent: float
    level: float  # the mean of its own frames
    levels: tuple[float, ...]  # of its damage in all frames that are shown, in its corner
    frames: tuple[int, int]  # those of them that are its own: the first, and the one after the last
    jnd: float = 0.0  # how visible it is, where that was wanted

    @property
    def reached(self) -> float:
        """What its target wants so much of."""
        return self.extent if self.target.jnds is None else self.jnd


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
    layers: tuple[SeenLayer, ...] = ()  # all damages, where there are several or one that ends
    elsewhere: float = 0.0  # the highest level of the first one in the corners without any
    size: tuple[int, int] = (0, 0)  # width and height
    smaller: bool = False  # than the clip, or for four copies than half of it
    # How clearly each ninth is worse for a while in each quarter, where a spot is damaged.
    rises: tuple[tuple[float, ...], ...] = ()


def write_degraded(
    footage: SegmentFrames,
    targets: Sequence[DamageTarget],
    out: Path,
    seed: int,
    check: Check | None = None,
) -> WrittenVideo:
    """Write a segment with the wanted damages; raise ``UnfitError`` where it cannot show them.

    A spot is checked before it is written: most are refused.
    """
    _refuse_elsewhere(footage, targets)
    wanted = _Wanted(footage, targets, seed)
    tried: list[list[float]] = []
    for _ in range(_WRITES):
        severities = wanted.severities()
        if severities in tried:
            break  # the same would come of it
        tried.append(severities)
        images: Sequence[Image] = footage.images
        for target, severity in zip(targets, severities, strict=True):
            images = footage.damaged(target, severity, seed, images)
        if check:
            check(*_unwritten(footage, targets[0], images, wanted.own[0]))
        shown = footage.write(images, out)
        if footage.shown != wanted.shown:  # other frames than was thought
            wanted = _Wanted(footage, targets, seed)
        layers = [
            _seen(footage, target, shown, severity, level)
            for target, severity, level in zip(targets, severities, wanted.own, strict=True)
        ]
        wrong = wanted.corrected(layers)
        if not wrong:
            return _measured(footage, shown, layers)
    layer, (least, most) = wrong[0]
    raise UnfitError(
        f"{layer.target.damage} reached {layer.reached:.2f}, not {least:.2f} to {most:.2f}"
    )


def _refuse_elsewhere(footage: SegmentFrames, targets: Sequence[DamageTarget]) -> None:
    """Refuse a segment that has a damage itself, plainly, where or when none is wanted.

    That is measured again in what is written; here it spares the search and the writing. A spot is
    compared with what is around it, and may be in what is bad itself.
    """
    for name in dict.fromkeys(target.damage for target in targets if not target.jnds):
        damage, own = DAMAGES[name], [target for target in targets if target.damage == name]
        corners = {target.corner for target in own}
        if damage.in_time:
            continue
        if None not in corners:
            others = [[part_of(i, c) for i in footage.clean] for c in CORNERS if c not in corners]
        else:
            spans = [footage.span(target) for target in own]
            numbers = [n for n in footage.shown if not any(a <= n < b for a, b in spans)]
            others = [[footage.images[n]] for n in numbers]
        if any(damage.seen_in(images) > _plainly(damage) for images in others):
            raise UnfitError(f"{name} is visible elsewhere, undamaged")


def refuse_undamaged(footage: SegmentFrames, damage: str) -> None:
    """Refuse a segment that has a damage itself, plainly, that its video is not to have."""
    level = footage.level(DAMAGES[damage])
    if level > _plainly(DAMAGES[damage]):
        raise UnfitError(f"{damage} is at {level:.2f}, undamaged, though it should be absent")


def _plainly(damage: Damage) -> float:
    return NOT_THERE + _PLAINLY[damage.quality]


class _Wanted:
    """The extents that are wanted in the frames that are shown, and the search for severities."""

    def __init__(self, footage: SegmentFrames, targets: Sequence[DamageTarget], seed: int) -> None:
        self.shown = footage.shown
        self.own = [_own(footage, target) for target in targets]  # levels of the segment itself
        self._windows = [
            target.jnds or _window(target, level)
            for target, level in zip(targets, self.own, strict=True)
        ]
        self._aims = [
            _first_aim(target, *window)
            for target, window in zip(targets, self._windows, strict=True)
        ]
        self._searches = [SeveritySearch(_probe(footage, target, seed)) for target in targets]

    def severities(self) -> list[float]:
        """Return the severities to be tried next."""
        pairs = zip(self._searches, self._aims, strict=True)
        return [search.find(*aim) for search, aim in pairs]

    def corrected(self, layers: Sequence[SeenLayer]) -> list[tuple[SeenLayer, tuple[float, float]]]:
        """Return the layers that came out wrong, with what was wanted; aim elsewhere next time."""
        wrong = []
        for n, (layer, (least, most)) in enumerate(zip(layers, self._windows, strict=True)):
            if not least <= layer.reached <= most:
                lost = self._searches[n].extent(layer.severity) - layer.reached
                self._aims[n] = (least + lost, (least + most) / 2 + lost, most + lost)
                wrong.append((layer, (least, most)))
        return wrong


def _window(target: DamageTarget, own: float) -> tuple[float, float]:
    """The extents that give the wanted levels, as the segment has some of the damage itself."""
    least, most = max(target.least, target.low - own), min(target.most, target.high - own)
    if least > most:
        raise UnfitError(f"it already has {own:.2f} of {target.damage}")
    return least, most


def _own(footage: SegmentFrames, target: DamageTarget) -> float:
    """The level of the damage in the segment itself, where and when it is to be damaged."""
    damage = DAMAGES[target.damage]
    if target.part is None and footage.span(target) == (0, len(footage.images)):
        return footage.level(damage)
    return damage.seen_in(_affected(footage, target, footage.clean))


def _affected(footage: SegmentFrames, target: DamageTarget, shown: Sequence[Image]) -> list[Image]:
    """Of the frames that are shown, those that are damaged, and of each the part that is."""
    own = footage.own(target)
    pairs = zip(footage.shown, shown, strict=True)
    images = [part_of(image, target.part) for number, image in pairs if number in own]
    if not images:
        raise UnfitError("no frame is shown after the damage begins and before it ends")
    return images


def _first_aim(target: DamageTarget, least: float, most: float) -> tuple[float, float, float]:
    """The least extent, the one to aim at, and the most, as far as can be known before writing."""
    middle = (least + most) / 2
    lost = 0.0 if target.jnds else _USUALLY_LOST.get(target.damage, 0.0) * max(0.0, middle)
    return least, middle + lost, most + lost


def _probe(footage: SegmentFrames, target: DamageTarget, seed: int) -> Callable[[float], float]:
    """Measure what a severity does, without writing it; in a few frames where they suffice."""
    damage = DAMAGES[target.damage]
    region, places = target.part, footage.own(target)
    if not (damage.in_time or target.jnds):
        places = places[:: max(1, len(places) // _FEW)]
    clean = [footage.images[number] for number in places]
    if not clean:
        raise UnfitError("no frame is shown after the damage begins and before it ends")
    before = 0.0 if target.jnds else damage.seen_in([part_of(image, region) for image in clean])

    def extent(severity: float) -> float:
        if damage.in_time:  # a frame rests on those before it
            every = footage.damaged(target, severity, seed, footage.images, places)
            damaged = [every[number] for number in places]
        else:
            damaged = degrade_images(clean, target.kind, severity, seed, region)
        if target.jnds:
            return footage.jnds(target, damaged)
        return damage.seen_in([part_of(image, region) for image in damaged]) - before

    return extent


def _seen(
    footage: SegmentFrames,
    target: DamageTarget,
    shown: Sequence[Image],
    severity: float,
    own: float,
) -> SeenLayer:
    """Measure a damage in the frames that are shown, where and when it should be."""
    damage, (first, last) = DAMAGES[target.damage], footage.span(target)
    level = damage.seen_in(_affected(footage, target, shown))
    levels: list[float] = []
    if not damage.in_time and (first, last) != (0, len(footage.images)):
        levels = [damage.seen_in([part_of(image, target.part)]) for image in shown]
    frames = _shown_of(footage, target)
    return SeenLayer(
        target,
        severity,
        round(level - own, 4),
        round(level, 4),
        tuple(round(each, 4) for each in levels),
        frames,
        round(footage.jnds(target, shown[slice(*frames)]), 3) if target.jnds else 0.0,
    )


def _measured(
    footage: SegmentFrames, shown: Sequence[Image], layers: Sequence[SeenLayer]
) -> WrittenVideo:
    first, several = layers[0], len(layers) > 1 or layers[0].target.end < 1
    damage = DAMAGES[first.target.damage]
    levels, elsewhere = first.levels, 0.0
    if first.target.corner is not None:
        corners = {c: damage.seen_in([part_of(i, c) for i in shown]) for c in CORNERS}
        own = {layer.target.corner for layer in layers}
        levels = tuple(round(level, 4) for level in corners.values())
        elsewhere = max((v for c, v in corners.items() if c not in own), default=0.0)
    return WrittenVideo(
        before=footage.qualities(),
        after=all_qualities(shown),
        severity=first.severity,
        extent=first.extent,
        level=first.level,
        levels=levels,
        begin=first.frames[0],
        layers=tuple(layers) if several else (),
        elsewhere=round(elsewhere, 4) if several else 0.0,
        size=(shown[0].shape[1], shown[0].shape[0]),
        smaller=footage.smaller,
        rises=_rises(damage, shown) if first.target.jnds else (),
    )


def _unwritten(
    footage: SegmentFrames, target: DamageTarget, images: Sequence[Image], own: float
) -> tuple[float, NDArray[np.float64]]:
    """Return the extent of a spot, and what rises, as they are before it is written."""
    damage, shown = DAMAGES[target.damage], [images[number] for number in footage.shown]
    extent = damage.seen_in(_affected(footage, target, shown)) - own
    levels = footage.tile_levels(damage).copy()
    first, last = _shown_of(footage, target)
    assert target.region is not None, "a spot is a part of the picture"
    numbers = tiles_in(target.region)
    levels[numbers, first:last] = tile_levels(damage, shown[first:last], numbers)
    return extent, rises(levels)


def _shown_of(footage: SegmentFrames, target: DamageTarget) -> tuple[int, int]:
    """Of the frames that are shown, the first that is damaged, and the one after the last."""
    first, last = footage.span(target)
    return sum(n < first for n in footage.shown), sum(n < last for n in footage.shown)


def _rises(damage: Damage, shown: Sequence[Image]) -> tuple[tuple[float, ...], ...]:
    found = rises(tile_levels(damage, shown))
    return tuple(tuple(round(float(score), 3) for score in row) for row in found)
