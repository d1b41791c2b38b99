"""Classical vision: what colour thresholds, blobs and templates see in a few frames.

It looks for patches of strong colour on a greyish ground, names the colour and the outline of
each, and follows them from frame to frame. Tuned to synthesized scenes: it knows which colours
and outlines there are, but of a video it gets the pixels and their times alone.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from reelbench.models.base import ImagePart
from reelbench.world.scene import COLOURS, SHAPES
from reelbench.world.shapes import shape_mask

Mask = NDArray[np.bool_]
_STRONG = 60  # difference of the largest and the smallest channel in a coloured patch
_SMALLEST = 250  # pixels; less is an edge or an artefact
_TEMPLATE = 32  # blobs are compared with templates at this size
_REACH = 4  # pixels between two patches that count as touching
_CUT = 18.0  # change of the mean grey of the ground between two frames


@dataclass(frozen=True, slots=True)
class Blob:
    """One patch of colour in one frame."""

    time: float
    colour: str
    shape: str
    likeness: float
    area: int
    mask: Mask
    box: tuple[slice, slice]


@dataclass
class SeenShape:
    """What was seen of one shape over the whole video."""

    shape: str
    times: list[float] = field(default_factory=list)
    colours: list[str] = field(default_factory=list)  # one per time
    areas: list[int] = field(default_factory=list)  # one per time


@dataclass
class Observation:
    """All that was seen: shapes by name, when the ground changed, and who touched whom."""

    sights: dict[str, SeenShape]
    cuts: list[float]
    touches: dict[frozenset[str], float]
    times: list[float]


def observe(pictures: Sequence[ImagePart]) -> Observation:
    """Look at all pictures of a request."""
    images = [np.asarray(Image.open(BytesIO(p.data)).convert("RGB")) for p in pictures]
    times = [picture.time for picture in pictures]
    frames = [_blobs(image, time) for image, time in zip(images, times, strict=True)]
    names = _shape_of_each_colour(frames)
    sights: dict[str, SeenShape] = {}
    for blob in (blob for frame in frames for blob in frame if blob.colour in names):
        sight = sights.setdefault(names[blob.colour], SeenShape(names[blob.colour]))
        sight.times.append(blob.time)
        sight.colours.append(blob.colour)
        sight.areas.append(blob.area)
    grounds = [_ground(image) for image in images]
    cuts = [t for (a, b), t in zip(pairwise(grounds), times[1:], strict=True) if abs(a - b) > _CUT]
    return Observation(sights, cuts, _touches(frames, names), times)


def _blobs(image: NDArray[np.uint8], time: float) -> list[Blob]:
    """Find the largest patch of each colour."""
    red, green, blue = np.ascontiguousarray(np.moveaxis(image, 2, 0))
    brightest = np.maximum(np.maximum(red, green), blue)
    strong = brightest - np.minimum(np.minimum(red, green), blue) > _STRONG
    nearest = np.full(strong.shape, -1, np.int8)
    nearest[strong] = _nearest_colour(red[strong], green[strong], blue[strong])
    blobs = []
    for number, colour in enumerate(COLOURS):
        coloured = nearest == number
        around = _bounds(coloured)
        labels, count = ndimage.label(coloured[around])
        sizes = np.bincount(labels.ravel(), minlength=2)[1:]
        if count and sizes.max() >= _SMALLEST:
            largest = labels == sizes.argmax() + 1
            box = _bounds(largest)
            shape, likeness = _name_shape(largest[box])
            mask = np.zeros_like(coloured)
            mask[around] = largest
            placed = (_shifted(box[0], around[0].start), _shifted(box[1], around[1].start))
            blobs.append(Blob(time, colour, shape, likeness, int(sizes.max()), mask, placed))
    return blobs


def _bounds(mask: Mask) -> tuple[slice, slice]:
    """The rows and the columns in which a mask is true somewhere."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not rows.size:
        return slice(0, 0), slice(0, 0)
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)


def _shifted(span: slice, by: int) -> slice:
    return slice(span.start + by, span.stop + by)


def _nearest_colour(*channels: NDArray[np.uint8]) -> NDArray[np.int8]:
    """The number of the nearest colour, for each pixel; the first of those equally near."""
    red, green, blue = (channel.astype(np.int32) for channel in channels)
    least, nearest = np.full(red.shape, 2**31 - 1, np.int32), np.zeros(red.shape, np.int8)
    for number, (r, g, b) in enumerate(COLOURS.values()):
        apart = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2
        nearest[apart < least] = number
        np.minimum(least, apart, out=least)
    return nearest


def _name_shape(mask: Mask) -> tuple[str, float]:
    """Compare a patch with the outlines one knows, at the same size."""
    seen = _normalised(mask)
    likeness = {
        shape: (seen & template).sum() / (seen | template).sum()
        for shape, template in _templates().items()
    }
    best = max(likeness, key=lambda shape: likeness[shape])
    return best, float(likeness[best])


@lru_cache(maxsize=1)
def _templates() -> dict[str, Mask]:
    masks = {shape: shape_mask(shape, 48) > 0.5 for shape in SHAPES}
    boxes = {shape: ndimage.find_objects(mask.astype(np.uint8))[0] for shape, mask in masks.items()}
    return {shape: _normalised(mask[boxes[shape]]) for shape, mask in masks.items()}


def _normalised(mask: Mask) -> Mask:
    """Scale a patch, cut out at its rims, to the size of the templates."""
    scaled = Image.fromarray(mask.astype(np.uint8) * 255).resize((_TEMPLATE, _TEMPLATE))
    return np.asarray(scaled) > 127


def _shape_of_each_colour(frames: Sequence[Sequence[Blob]]) -> dict[str, str]:
    """Name the outline of each colour by its clear views: a half-covered shape looks odd."""
    votes: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for blob in (blob for frame in frames for blob in frame):
        votes[blob.colour][blob.shape] += blob.likeness**4
    return {colour: max(found, key=lambda s: found[s]) for colour, found in votes.items()}


def _ground(image: NDArray[np.uint8]) -> float:
    """The grey of the frame's upper rim, where nothing moves."""
    return float(image[:12].mean())


def _touches(
    frames: Sequence[Sequence[Blob]], names: dict[str, str]
) -> dict[frozenset[str], float]:
    """When two patches first lie against each other."""
    touches: dict[frozenset[str], float] = {}
    for frame in frames:
        for blob, other in combinations(frame, 2):
            pair = frozenset((names[blob.colour], names[other.colour]))
            if pair not in touches and _adjacent(blob, other):
                touches[pair] = blob.time
    return touches


def _adjacent(one: Blob, other: Blob) -> bool:
    """Whether two patches come within a few pixels; boxes far apart settle most cases."""
    rows = slice(max(one.box[0].start, other.box[0].start) - _REACH,
                 min(one.box[0].stop, other.box[0].stop) + _REACH)  # fmt: skip
    columns = slice(max(one.box[1].start, other.box[1].start) - _REACH,
                    min(one.box[1].stop, other.box[1].stop) + _REACH)  # fmt: skip
    if rows.start >= rows.stop or columns.start >= columns.stop:
        return False
    place = (slice(max(rows.start, 0), rows.stop), slice(max(columns.start, 0), columns.stop))
    wider = ndimage.binary_dilation(one.mask[place], iterations=_REACH)
    return bool((wider & other.mask[place]).any())
