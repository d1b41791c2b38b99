"""How visible a change of some pictures is, in just-noticeable differences (JND).

At each pixel the change is held against the threshold at which it is just noticed, and the ratios
are pooled over space and time. The forms and constants are published ones, and were not fitted on
people who look at these videos:

- luminance adaptation (Chou and Li, 1995): least at middle grey, higher in the dark and the bright;
- texture masking (the same): it grows with the steepest slope around, in four directions;
- both together less than their sum (Yang, Ling, Lu, Ong and Yao, 2005);
- motion masking: the change from the picture before is a masker, with whose strength the threshold
  grows as with a masker's contrast (Legge and Foley, 1980: by the power 0.6);
- pooling by the fourth power (Quick, 1974; Watson, 1979), in the unit of a spot of one degree, seen
  from four heights of the picture, for a quarter of a second: one that is at the threshold all over
  is one JND. Larger and longer is more.
"""

from collections.abc import Iterable

import numpy as np
from scipy import ndimage

from reelbench.media.measure.metrics import Grey, Image, luma
from reelbench.media.measure.quality import Region, part_of

Moment = tuple[Image, Image, Image]  # a picture, the same as changed, and the one before it
_OVERLAP = 0.3  # of the two thresholds, by which the lower counts less
_MASKING = 0.6  # exponent with which thresholds grow with what masks them
_POOLING = 4.0
_DEGREE, _WHILE = 1 / 14, 0.25  # share of the height; seconds
_AROUND = 5  # pixels of what is around one
BANDS = {"up to 2": 2.0, "2 to 4": 4.0, "4 to 8": 8.0, "over 8": np.inf}  # of JNDs
_GROUND = np.array(
    [[1, 1, 1, 1, 1], [1, 2, 2, 2, 1], [1, 2, 0, 2, 1], [1, 2, 2, 2, 1], [1, 1, 1, 1, 1]],
    np.float32,
) / np.float32(32)
_LEVEL = np.array(
    [[0, 0, 0, 0, 0], [1, 3, 8, 3, 1], [0, 0, 0, 0, 0], [-1, -3, -8, -3, -1], [0, 0, 0, 0, 0]],
    np.float32,
) / np.float32(16)
_SLOPED = np.array(
    [[0, 0, 1, 0, 0], [0, 8, 3, 0, 0], [1, 3, 0, -3, -1], [0, 0, -3, -8, 0], [0, 0, -1, 0, 0]],
    np.float32,
) / np.float32(16)
_SLOPES = (_LEVEL, _LEVEL.T, _SLOPED, _SLOPED[:, ::-1])


def visibility(
    moments: Iterable[Moment], seconds: float, region: str | Region | None = None
) -> float:
    """Return the JNDs of a change of some pictures, in one part of them or in all of it.

    Each picture lasts for ``seconds``.
    """
    total = 0.0
    for moment in moments:
        clean, changed, before = (luma(part_of(image, region)) for image in moment)
        apart = (np.abs(changed - clean) / threshold(clean, before)).astype(np.float64)
        unit = (moment[0].shape[0] * _DEGREE) ** 2 * _WHILE
        total += float((apart**_POOLING).sum()) * seconds / unit
    return float(total ** (1 / _POOLING))


def band(jnds: float) -> str:
    """The name of the band that so many JNDs are in."""
    return next(name for name, most in BANDS.items() if jnds <= most)


def threshold(grey: Grey, before: Grey | None = None) -> Grey:
    """Return by how many levels each pixel must change to be noticed."""
    ground = ndimage.correlate(grey, _GROUND, mode="nearest")
    light, texture = _adapted(ground), _masked(grey, ground)
    still = light + texture - _OVERLAP * np.minimum(light, texture)
    if before is None:
        return np.asarray(still, np.float32)
    moved = ndimage.uniform_filter(np.abs(grey - before), _AROUND, mode="nearest")
    return np.asarray(still * np.maximum(1, moved / still) ** _MASKING, np.float32)


def _adapted(ground: Grey) -> Grey:
    """What the light around asks of a change."""
    dark = 17 * (1 - np.sqrt(np.clip(ground, 0, 127) / 127)) + 3
    bright = 3 / 128 * (ground - 127) + 3
    return np.asarray(np.where(ground <= 127, dark, bright), np.float32)


def _masked(grey: Grey, ground: Grey) -> Grey:
    """What the texture around asks of a change."""
    slopes = [np.abs(ndimage.correlate(grey, slope, mode="nearest")) for slope in _SLOPES]
    steepest = np.maximum.reduce(slopes)
    by_ground = steepest * (ground * 0.0001 + 0.115) + 0.5 - ground * 0.01
    return np.asarray(np.maximum(0, by_ground), np.float32)
