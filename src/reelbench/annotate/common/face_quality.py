"""How well a face can be seen: size, sharpness, direction and light, each from 0 to 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2, log10
from typing import Self

import numpy as np

from reelbench.annotate.common.crops import FaceView, aligned, opencv
from reelbench.annotate.common.identity import frontality
from reelbench.media.decode.decode import Image

_SIDE = 64  # pixels of the square that is looked at
_LAYOUT = np.array(
    # Eyes, tip of the nose and corners of the mouth: a square that ends at brow and chin.
    [[0.305, 0.301], [0.681, 0.301], [0.493, 0.511], [0.324, 0.7], [0.661, 0.7]]
)
_INNER = slice(12, 52)  # of the square: skin, without hair and background
_DARK = 60.0  # of 255, below which a pixel shows little
_SMALL, _LARGE = 24.0, 192.0  # pixels of height between which more of them help
_BLURRED, _SHARP = 10.0, 1000.0  # variance of the Laplacian, likewise


@dataclass(frozen=True, slots=True)
class FaceQuality:
    """What can be told of a face before asking whose it is."""

    size: float
    sharpness: float
    frontality: float
    light: float  # 1: no dark pixels; 0: all dark

    @classmethod
    def of(cls, image: Image, view: FaceView) -> Self:
        """Measure one face in its frame."""
        face = aligned(image, view.points, _LAYOUT, _SIDE)
        sharp = log10(max(_edges(face), _BLURRED) / _BLURRED) / log10(_SHARP / _BLURRED)
        size = log2(max(view.height, _SMALL) / _SMALL) / log2(_LARGE / _SMALL)
        grey = face[_INNER, _INNER].mean(2)
        points = [(float(x), float(y)) for x, y in view.points]
        return cls(
            min(1.0, size), min(1.0, sharp), frontality(points), float((grey >= _DARK).mean())
        )


def median_quality(faces: Sequence[FaceQuality]) -> FaceQuality:
    """Return the quality of several faces of one person: the median of each measure."""
    rows = np.array([[f.size, f.sharpness, f.frontality, f.light] for f in faces])
    size, sharp, front, light = (float(each) for each in np.median(rows, axis=0))
    return FaceQuality(size, sharp, front, light)


def _edges(face: Image) -> float:
    """Return how sharp a face is: the variance of the Laplacian."""
    cv2 = opencv()
    grey = cv2.cvtColor(np.ascontiguousarray(face), cv2.COLOR_RGB2GRAY)
    return float(cv2.Laplacian(grey, cv2.CV_64F).var())
