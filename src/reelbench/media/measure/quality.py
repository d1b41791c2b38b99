"""Measures the quality of a few frames of a video, and relates damages to these measures.

A model is shown some frames and not the video: what is measured here is measured in those alone.
``DAMAGES`` puts all qualities on one scale, on which 1 is what the worst damage does to an ordinary
clip, so that "how much worse" means the same for blur and for shake.
"""

import math
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
Region = tuple[float, float, float, float]  # left, top, right, bottom as shares of the picture
CORNERS: Mapping[str, Region] = {
    "top left": (0.0, 0.0, 0.5, 0.5),
    "top right": (0.5, 0.0, 1.0, 0.5),
    "bottom left": (0.0, 0.5, 0.5, 1.0),
    "bottom right": (0.5, 0.5, 1.0, 1.0),
}

Qualities = Mapping[str, float]


_OF_GREY: Mapping[str, Callable[[Grey], float]] = {
    "sharpness": measures.sharpness,
    "noise": measures.noise,
    "blockiness": measures.blockiness,
    "brightness": measures.brightness,
    "contrast": measures.contrast,
}
_OF_COLOUR: Mapping[str, Callable[[Image], float]] = {
    "colourfulness": measures.colourfulness,
    "cast": measures.cast,
}
STILL = (*_OF_GREY, *_OF_COLOUR)  # which every frame has
COURSE = ("shake", "flicker", "repeats")  # which only several frames have
QUALITIES = (*STILL, *COURSE)


def quality(name: str, images: Sequence[Image]) -> float:
    """Return one quality of frames in the order of time: of what each frame has, the mean."""
    if name in COURSE:
        return _COURSE[name]([_small(image) for image in images])
    if name in _OF_COLOUR:
        return float(np.mean([_OF_COLOUR[name](image) for image in images]))
    return _mean_of_grey(name, [measures.luma(image) for image in images])


def _mean_of_grey(name: str, greys: Sequence[Grey]) -> float:
    return float(np.mean([_OF_GREY[name](grey) for grey in greys]))


def course(images: Sequence[Image]) -> dict[str, float]:
    """Return the qualities that only several frames have."""
    greys = [_small(image) for image in images]
    return {name: _COURSE[name](greys) for name in COURSE}


def part_of(image: Image, place: str | Region | None) -> Image:
    """A corner or another part of a picture, cut on its blocks' grid; all of it for None."""
    if place is None:
        return image
    left, top, right, bottom = CORNERS[place] if isinstance(place, str) else place
    height, width = image.shape[:2]
    return image[_cut(top, bottom, height), _cut(left, right, width)]


def _cut(begin: float, end: float, length: int) -> slice:
    first, last = round(begin * length), max(1, round(end * length))
    on_grid = -(-first // _GRID) * _GRID
    return slice(on_grid if on_grid + _GRID <= last else min(first, last - 1), last)


def all_qualities(images: Sequence[Image]) -> dict[str, float]:
    """Return all qualities of frames in the order of time."""
    greys = [measures.luma(image) for image in images]
    return (
        {name: _mean_of_grey(name, greys) for name in _OF_GREY}
        | {name: quality(name, images) for name in _OF_COLOUR}
        | course(images)
    )


def _small(image: Image) -> Grey:
    scale = min(1.0, _SMALL / max(image.shape[:2]))
    size = (max(2, round(image.shape[1] * scale)), max(2, round(image.shape[0] * scale)))
    grey = Pillow.fromarray(image).convert("L").resize(size, Pillow.Resampling.BOX)
    return np.asarray(grey, np.float32)


def _shake(greys: Sequence[Grey]) -> float:
    """How far frames are from halfway between their neighbours, in thousandths of the height."""
    spectra = [measures.spectrum(grey) for grey in greys]
    moves = [
        measures.shift_of_spectra(*both, greys[0].shape)
        if measures.likeness(before, after) > _SAME_SCENE
        else (0.0, 0.0)
        for (before, after), both in zip(pairwise(greys), pairwise(spectra), strict=True)
    ]
    path = np.cumsum([(0.0, 0.0), *moves], axis=0)
    far = np.hypot(measures.jumps(path[:, 0]), measures.jumps(path[:, 1]))
    return float(np.median(far)) * 1000 if len(far) else 0.0


def _flicker(greys: Sequence[Grey]) -> float:
    """By how much lights differ from halfway between their neighbours, in hundredths."""
    lights = np.array([float(grey.mean(dtype=np.float64)) for grey in greys])
    apart = measures.jumps(lights) / (lights[1:-1] + 1) * 100
    return float(np.mean(apart)) if len(apart) else 0.0


def _repeats(greys: Sequence[Grey]) -> float:
    """Which share of the frames shows nothing new."""
    repeated = [measures.change(a, b) < _REPEATED for a, b in pairwise(greys)]
    return float(np.mean(repeated)) if repeated else 0.0


_COURSE = {"shake": _shake, "flicker": _flicker, "repeats": _repeats}


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

# One scale of levels for all damages and all questions: of what is not there, there is none; what
# is there is slight or severe. From ``NOT_THERE`` to ``PRESENT`` one eye sees what another does
# not, and nothing is said. Few words, far apart: who sees one video alone cannot tell more.
NOT_THERE, PRESENT, SEVERE = 0.2, 0.35, 0.65
STRENGTHS: Mapping[str, tuple[float, float]] = {
    "none": (-math.inf, NOT_THERE),
    "slight": (PRESENT, SEVERE),
    "severe": (SEVERE, math.inf),
}
SLIGHTLY, MUCH = 0.25, 0.8  # how much stronger than another
