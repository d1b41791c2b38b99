"""Measures the quality of a few frames of a video, and relates damages to these measures.

A model is shown some frames and not the video: what is measured here is measured in those alone.
``DAMAGES`` puts all qualities on one scale, on which 1 is what the worst damage does to an ordinary
clip, so that "how much worse" means the same for blur and for shake.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PIL import Image as Pillow

from reelbench.media.measure import metrics as measures
from reelbench.media.measure.metrics import Grey, Image

_SMALL = 256  # pixels of the longer side of what is compared from frame to frame
_REPEATED = 2.5  # levels; a repeated frame, encoded anew, changes by less
_SAME_SCENE = 0.3  # correlation; frames further apart than this show something else
_GRID = 8  # pixels of a block, on which a part of the picture must begin to be measured
CORNERS: Mapping[str, tuple[float, float, float, float]] = {  # left, top, right, bottom
    "top left": (0.0, 0.0, 0.5, 0.5),
    "top right": (0.5, 0.0, 1.0, 0.5),
    "bottom left": (0.0, 0.5, 0.5, 1.0),
    "bottom right": (0.5, 0.5, 1.0, 1.0),
}

Qualities = Mapping[str, float]


def _of_grey(measure: Callable[[Grey], float]) -> Callable[[Image], float]:
    return lambda image: measure(measures.luma(image))


STILL: Mapping[str, Callable[[Image], float]] = {
    "sharpness": _of_grey(measures.sharpness),
    "noise": _of_grey(measures.noise),
    "blockiness": _of_grey(measures.blockiness),
    "brightness": _of_grey(measures.brightness),
    "contrast": _of_grey(measures.contrast),
    "colourfulness": measures.colourfulness,
    "cast": measures.cast,
}
COURSE = ("shake", "flicker", "repeats")  # which only several frames have


def quality(name: str, images: Sequence[Image]) -> float:
    """Return one quality of frames in the order of time: of what each frame has, the mean."""
    if name in COURSE:
        return course(images)[name]
    return float(np.mean([STILL[name](image) for image in images]))


def course(images: Sequence[Image]) -> dict[str, float]:
    """Return the qualities that only several frames have."""
    greys = [_small(image) for image in images]
    repeated = [measures.change(a, b) < _REPEATED for a, b in pairwise(greys)]
    lights = np.array([float(grey.mean(dtype=np.float64)) for grey in greys])
    flicker = measures.jumps(lights) / (lights[1:-1] + 1) * 100
    return {
        "shake": _shake(greys),
        "flicker": float(np.mean(flicker)) if len(flicker) else 0.0,
        "repeats": float(np.mean(repeated)) if repeated else 0.0,
    }


def part_of(image: Image, corner: str | None) -> Image:
    """One quarter of a picture, cut on the grid of its blocks; all of it for None."""
    if corner is None:
        return image
    left, top, right, bottom = CORNERS[corner]
    height, width = image.shape[:2]
    return image[_cut(top, bottom, height), _cut(left, right, width)]


def _cut(begin: float, end: float, length: int) -> slice:
    first, last = round(begin * length), max(1, round(end * length))
    on_grid = -(-first // _GRID) * _GRID
    return slice(on_grid if on_grid + _GRID <= last else min(first, last - 1), last)


def all_qualities(images: Sequence[Image]) -> dict[str, float]:
    """Return all qualities of frames in the order of time."""
    return {name: quality(name, images) for name in STILL} | course(images)


def _small(image: Image) -> Grey:
    scale = min(1.0, _SMALL / max(image.shape[:2]))
    size = (max(2, round(image.shape[1] * scale)), max(2, round(image.shape[0] * scale)))
    grey = Pillow.fromarray(image).convert("L").resize(size, Pillow.Resampling.BOX)
    return np.asarray(grey, np.float32)


def _shake(greys: Sequence[Grey]) -> float:
    """How far frames are from halfway between their neighbours, in thousandths of the height."""
    moves = [
        measures.shift(a, b) if measures.likeness(a, b) > _SAME_SCENE else (0.0, 0.0)
        for a, b in pairwise(greys)
    ]
    path = np.cumsum([(0.0, 0.0), *moves], axis=0)
    far = np.hypot(measures.jumps(path[:, 0]), measures.jumps(path[:, 1]))
    return float(np.median(far)) * 1000 if len(far) else 0.0


@dataclass(frozen=True, slots=True)
class Damage:
    """A kind of damage: the degradations that cause it, and the quality measure that shows it.

    ``full`` is how far the quality goes with the worst of it, ``usual`` what an ordinary clip has:
    medians over twelve real clips of all sizes, rounded.
    """

    kinds: tuple[str, ...]  # of ``reelbench.media.edit.degrade``
    quality: str
    worse: int  # 1 where more of the quality is worse, -1 where less is
    full: float
    usual: float

    def extent(self, before: Qualities, after: Qualities) -> float:
        """How much worse it got: 0 for not at all, 1 for as much as can be."""
        return self.worse * (after[self.quality] - before[self.quality]) / self.full

    def level(self, qualities: Qualities) -> float:
        """How much worse than an ordinary clip it is, where the undamaged clip is not known."""
        return self.worse * (qualities[self.quality] - self.usual) / self.full

    def seen_in(self, images: Sequence[Image]) -> float:
        """The level of this damage in frames."""
        return self.level({self.quality: quality(self.quality, images)})

    @property
    def in_time(self) -> bool:
        """Whether only several frames show it."""
        return self.quality in COURSE


DAMAGES: dict[str, Damage] = {
    "blur": Damage(("gaussian blur", "defocus", "motion blur"), "sharpness", -1, 0.4, 0.68),
    "noise": Damage(("noise",), "noise", 1, 25.0, 0.3),
    "compression": Damage(("compression",), "blockiness", 1, 0.5, 0.1),
    "over-exposure": Damage(("over-exposure",), "brightness", 1, 0.33, 0.46),
    "under-exposure": Damage(("under-exposure",), "brightness", -1, 0.4, 0.46),
    "low contrast": Damage(("low contrast",), "contrast", -1, 0.36, 0.41),
    "colour cast": Damage(("colour cast",), "cast", 1, 85.0, 25.0),
    "oversaturation": Damage(("oversaturation",), "colourfulness", 1, 70.0, 44.0),
    "shake": Damage(("shake",), "shake", 1, 28.0, 2.0),
    "flicker": Damage(("flicker",), "flicker", 1, 32.0, 0.45),
    "stutter": Damage(("freeze", "stutter"), "repeats", 1, 0.6, 0.0),
}

# The words for how strong a damage is, by how far it goes, and for how much stronger than another.
# Few and far apart: nobody who sees one video alone can tell slight from moderate.
STRENGTHS: Mapping[str, float] = {"none": 0.0, "slight": 0.3, "severe": 0.9}
SLIGHTLY, MUCH = 0.25, 0.8
PRESENT = 0.35  # what is there shows by more than this, what is not by less
