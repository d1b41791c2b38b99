"""Where and when a part of the picture is worse for a while, by what some frames show alone.

The picture is a grid of nine times nine tiles. What moves changes tiles too, but seldom from one
frame to the next and back again; so a rise is held against how unsteady its tile is.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from reelbench.media.measure.metrics import Image
from reelbench.media.measure.quality import Damage, Region, part_of

TILES = 9  # in a row and in a column
NINTHS: Mapping[str, tuple[int, int]] = {  # rows and columns
    "upper left": (0, 0), "upper middle": (0, 1), "upper right": (0, 2),
    "middle left": (1, 0), "centre": (1, 1), "middle right": (1, 2),
    "lower left": (2, 0), "lower middle": (2, 1), "lower right": (2, 2),
}  # fmt: skip
Levels = NDArray[np.float64]  # of a damage: one row a tile, one column a frame
_LONGEST = 8  # frames that a rise lasts
_ENOUGH = 4  # frames, of which more make a rise no surer
_STEADY = 0.02  # level; no tile is steadier than that


def tiles(row: int, column: int, side: int = 1) -> Region:
    """The part of a picture that so many tiles make, from this one on to the right and down."""
    ends = (column, row, column + side, row + side)
    left, top, right, bottom = (end / TILES for end in ends)
    return left, top, right, bottom


def tile_levels(
    damage: Damage, images: Sequence[Image], numbers: Iterable[int] = range(TILES**2)
) -> Levels:
    """The level of a damage in each tile of each frame, or in those of these numbers."""
    places = [tiles(*divmod(number, TILES)) for number in numbers]
    return np.array(
        [[damage.seen_in([part_of(image, place)]) for image in images] for place in places]
    )


def tiles_in(region: Region) -> list[int]:
    """The numbers of the tiles that make a part of the picture."""
    left, top, right, bottom = (round(share * TILES) for share in region)
    return [TILES * row + column for row in range(top, bottom) for column in range(left, right)]


def rises(levels: Levels) -> NDArray[np.float64]:
    """How clearly each ninth is worse for a while, in each quarter of the time: 9 x 4 scores.

    A score is that of the ninth's clearest tile, for the frames around which it is clearest: by how
    much it is worse in these than in the others, against how much it differs within both.
    """
    found = np.full((TILES, 4), -np.inf)
    count = levels.shape[1]
    for first, last in product(range(1, count - 1), range(2, count)):
        if 0 < last - first <= _LONGEST:
            scores = _scores(levels, first, last).reshape(3, 3, 3, 3).max(axis=(1, 3)).ravel()
            quarter = 2 * (first + last) // count
            found[:, quarter] = np.maximum(found[:, quarter], scores)
    return found


def _scores(levels: Levels, first: int, last: int) -> NDArray[np.float64]:
    """How clearly each tile is worse from one frame to another than before and after."""
    inside, outside = levels[:, first:last], np.delete(levels, np.s_[first:last], axis=1)
    means = [part.mean(axis=1, keepdims=True) for part in (inside, outside)]
    squares = sum(
        ((part - mean) ** 2).sum(axis=1)
        for part, mean in zip((inside, outside), means, strict=True)
    )
    steady = np.sqrt(squares / levels.shape[1]) + _STEADY
    worse: NDArray[np.float64] = (means[0] - means[1])[:, 0]
    return np.asarray(worse * np.sqrt(min(last - first, _ENOUGH)) / steady)
