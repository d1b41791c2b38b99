"""Heads of real people, cut out of clips, whose mouths can be opened."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from reelbench.annotate.operators.faces import Faces
from reelbench.media.decode.decode import Image, every_frame

Floats = NDArray[np.float64]
# File, second, which face from the left, and how the person looks.
KNOWN = (
    ("carphone_pristine.mp4", 0.4, 0, "male"),
    ("expressions.mp4", 10.0, 0, "female"),
    ("face_then_none.mov", 0.3, 0, "male"),
    ("speech_two_faces.mp4", 4.4, 0, "male"),
    ("speech_two_faces.mp4", 4.4, 1, "male"),
    ("video3.mp4", 45.0, 0, "female"),
    ("video3.mp4", 45.0, 1, "female"),
    ("video5.mp4", 6.0, 0, "female"),
)
_SIDES = (0.7, 0.6, 0.7, 0.9)  # left, above, right and below a face, in its widths and heights
_SOFT = 10  # pixels over which a head fades into the background
_DARK = np.array([45, 15, 18], np.float64)  # the inside of a mouth


@dataclass(frozen=True)
class Head:
    """A head at the size of a scene, and where its mouth is."""

    name: str
    looks: str
    pixels: Floats
    alpha: Floats
    face: tuple[float, float, float, float]  # the box within the pixels
    mouth: tuple[float, float, float]  # left, right and height of the line between the lips

    def with_mouth(self, opening: float) -> Floats:
        """Return the head with its lips so far apart, as a share of the height of the face."""
        gap = opening * (self.face[3] - self.face[1])
        if gap < 0.5:
            return self.pixels
        left, right, line = self.mouth
        high, wide = self.pixels.shape[:2]
        top, bottom = max(0, int(line)), min(high - 1, int(self.face[3] + gap) + 1)
        first, last = max(0, int(left)), min(wide, int(right) + 1)
        rows, columns = np.mgrid[top:bottom, first:last].astype(np.float64)
        middle, half = (left + right) / 2, (right - left) / 2
        apart = gap * np.clip(1 - ((columns - middle) / half) ** 2, 0, 1)
        chin = self.face[3]
        fall = np.clip((chin - (rows - apart)) / max(chin - line, 1.0), 0, 1)
        source = np.where(rows > line, rows - apart * fall, rows)
        upper = np.clip(np.floor(source).astype(int), 0, high - 2)
        part = np.clip(source - upper, 0, 1)[..., None]
        at = columns.astype(int)
        moved = self.pixels[upper, at] * (1 - part) + self.pixels[upper + 1, at] * part
        inside = (rows > line) & (rows < line + apart)
        opened = self.pixels.copy()
        opened[top:bottom, first:last] = np.where(inside[..., None], _DARK, moved)
        return opened


def load_heads(clips: Path, height: float) -> list[Head]:
    """Cut out all known heads, their faces so high in pixels."""
    return [_head(clips / name, time, which, looks, height) for name, time, which, looks in KNOWN]


def _head(path: Path, time: float, which: int, looks: str, height: float) -> Head:
    image = next(picture for _, picture in every_frame(path, time, time + 1.0))
    faces = Faces(least_score=0.6)._faces(image, (image.shape[1], image.shape[0]))
    face = faces[which]
    left, top, right, bottom = face["box"]
    scale = height / (bottom - top)
    crop = (
        round(left - _SIDES[0] * (right - left)),
        round(top - _SIDES[1] * (bottom - top)),
        round(right + _SIDES[2] * (right - left)),
        round(bottom + _SIDES[3] * (bottom - top)),
    )
    size = round((crop[2] - crop[0]) * scale), round((crop[3] - crop[1]) * scale)
    picture = Pillow.fromarray(image).crop(crop).resize(size, Pillow.Resampling.BICUBIC)
    points = [((x - crop[0]) * scale, (y - crop[1]) * scale) for x, y in face["points"]]
    box = tuple(
        (edge - crop[axis % 2]) * scale for axis, edge in enumerate((left, top, right, bottom))
    )
    corner, other = points[3], points[4]
    mouth = corner[0], other[0], (corner[1] + other[1]) / 2
    pixels = np.asarray(picture, np.float64)
    alpha = _faded(image, crop, size)
    return Head(
        f"{path.stem}-{which}", looks, pixels, alpha, (box[0], box[1], box[2], box[3]), mouth
    )


def _faded(image: Image, crop: tuple[int, int, int, int], size: tuple[int, int]) -> Floats:
    """Return how much of a head is seen at each pixel: nothing beyond the picture it is from."""
    wide, high = size
    scale = wide / (crop[2] - crop[0])
    left, top = max(0, -crop[0]) * scale, max(0, -crop[1]) * scale
    right = wide - max(0, crop[2] - image.shape[1]) * scale
    bottom = high - max(0, crop[3] - image.shape[0]) * scale
    rows, columns = np.mgrid[0:high, 0:wide].astype(np.float64)
    inside = np.minimum.reduce([columns - left, right - 1 - columns, rows - top, bottom - 1 - rows])
    faded: Floats = np.clip(inside / _SOFT, 0, 1)
    return faded
