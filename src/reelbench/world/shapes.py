"""The outlines of the shapes that a synthesized world is made of."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

Point = tuple[float, float]
_FINE = 8  # draw this many times larger and average: smooth edges without a library's own ideas

# Corners within the unit square from -1 to 1, y downwards.
_STAR = [
    (math.sin(turn) * size, -math.cos(turn) * size)
    for corner in range(10)
    for turn, size in [(corner * math.pi / 5, 1.0 if corner % 2 == 0 else 0.42)]
]
_ARM = 0.36
_CROSS = [
    (-_ARM, -1), (_ARM, -1), (_ARM, -_ARM), (1, -_ARM), (1, _ARM), (_ARM, _ARM),
    (_ARM, 1), (-_ARM, 1), (-_ARM, _ARM), (-1, _ARM), (-1, -_ARM), (-_ARM, -_ARM),
]  # fmt: skip
_HEART = [
    (
        math.sin(turn) ** 3,
        -(13 * math.cos(turn) - 5 * math.cos(2 * turn) - 2 * math.cos(3 * turn)
          - math.cos(4 * turn)) / 15.5,
    )
    for turn in (index * math.pi / 40 for index in range(80))
]  # fmt: skip
OUTLINES: dict[str, list[Point]] = {
    "square": [(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)],
    "diamond": [(0, -1), (1, 0), (0, 1), (-1, 0)],
    "triangle": [(0, -1), (1, 0.85), (-1, 0.85)],
    "star": _STAR,
    "cross": _CROSS,
    "heart": _HEART,
}
_RING_HOLE = 0.55


@lru_cache(maxsize=256)
def shape_mask(shape: str, radius: int) -> NDArray[np.float32]:
    """Return how much of each pixel a shape covers, from 0 to 1, in a square of 2r+1 pixels."""
    side = 2 * radius + 1
    fine = Image.new("L", (side * _FINE, side * _FINE), 0)
    draw, middle, reach = ImageDraw.Draw(fine), side * _FINE / 2, radius * _FINE
    if shape in OUTLINES:
        corners = [(middle + x * reach, middle + y * reach) for x, y in OUTLINES[shape]]
        draw.polygon(corners, fill=1)
    else:
        draw.ellipse((middle - reach, middle - reach, middle + reach, middle + reach), fill=1)
        if shape == "ring":
            hole = reach * _RING_HOLE
            draw.ellipse((middle - hole, middle - hole, middle + hole, middle + hole), fill=0)
    blocks = np.asarray(fine, np.float32).reshape(side, _FINE, side, _FINE)
    return np.asarray(blocks.mean(axis=(1, 3)), np.float32)
