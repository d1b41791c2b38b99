"""Key frames: the frames that tell most of what a clip shows, chosen by visual change.

1. Candidates are spread evenly over the clip: two a second, at most 256, and at least four for
   each frame that is wanted.
2. Each is shrunk to 32 x 18 pixels. Of equal ones, the first is kept.
3. The sequence is cut into as many stretches as frames are wanted, so that frames within a stretch
   differ least from their mean (an exact search over all cuts). Time counts too, as a tenth of the
   visual spread, so that frames of a slow shot are spread over it.
4. Of each stretch the frame nearest to the mean is taken: not one of a dissolve between two shots.

Nothing is drawn at random, and no model is asked.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from reelbench.data.items import Span
from reelbench.media.decode.decode import Image, iterate_frames
from reelbench.media.decode.sample import parse_sampling

_RATE = 2.0  # candidates a second
_FEWEST, _MOST = 4, 256  # candidates: for each frame that is wanted, and in all
_SIDES = (32, 18)
_OF_TIME = 0.1  # of the visual spread: how much the spread over time counts

Numbers = NDArray[np.float64]


def candidate_times(spans: Sequence[Span], count: int) -> list[float]:
    """Return the moments of a clip's parts from which so many frames are chosen."""
    seconds = sum(end - start for start, end in spans)
    most = max(_MOST, _FEWEST * count)
    wanted = min(max(math.ceil(_RATE * seconds), _FEWEST * count), most)
    return parse_sampling(f"uniform:{wanted}").times(spans)


def key_frame_times(
    path: Path, spans: Sequence[Span], count: int, skip_damage: bool = False
) -> list[float]:
    """Return the times of at most so many frames of a clip's parts, no two of which are equal."""
    times: list[float] = []
    small: list[Image] = []
    known: set[bytes] = set()
    for frame in iterate_frames(path, candidate_times(spans, count), skip_damage=skip_damage):
        shrunk = _shrunk(frame.image)
        if shrunk.tobytes() not in known:
            known.add(shrunk.tobytes())
            times.append(frame.time)
            small.append(shrunk)
    return [times[place] for place in chosen_places(small, times, count)]


def _shrunk(image: Image) -> Image:
    return np.asarray(Pillow.fromarray(image).resize(_SIDES, Pillow.Resampling.BOX))


def chosen_places(frames: Sequence[Image], times: Sequence[float], count: int) -> list[int]:
    """Return which of some small frames stand for all of them, in order."""
    if len(frames) <= count:
        return list(range(len(frames)))
    points = _points(frames, times)
    return [_nearest_to_mean(points, a, b) for a, b in _stretches(_costs(points), count)]


def _points(frames: Sequence[Image], times: Sequence[float]) -> Numbers:
    """Return each frame as a row of whole numbers: its pixels, and its time in their measure.

    Sums are exact or rounded once, so that every machine has the same.
    """
    pixels = np.stack([frame.ravel() for frame in frames]).astype(np.float64)
    clock = np.asarray(times, np.float64)
    squares, of_sums = float((pixels**2).sum()), float((pixels.sum(axis=0) ** 2).sum())
    spread = (len(pixels) * squares - of_sums) / len(pixels)
    middle = math.fsum(times) / len(times)
    over_time = math.fsum((time - middle) ** 2 for time in times)
    scale = math.sqrt(_OF_TIME * spread / over_time) if over_time else 0.0
    return np.column_stack([pixels, np.rint((clock - clock[0]) * scale)])


def _costs(points: Numbers) -> Numbers:
    """Return how far the frames from one place to before another are from their mean, in squares.

    Sums are of whole numbers and exact, so that no machine cuts elsewhere.
    """
    total = len(points)
    sums = np.vstack([np.zeros(points.shape[1]), points.cumsum(axis=0)])
    squares = np.concatenate([[0.0], (points**2).sum(axis=1).cumsum()])
    products = sums @ sums.T
    own = np.diag(products)
    of_sums = own[None, :] + own[:, None] - 2 * products
    start, end = np.indices((total + 1, total + 1))
    lengths = np.where(end > start, end - start, 1)
    costs = squares[None, :] - squares[:, None] - of_sums / lengths
    return np.where(end > start, costs, np.inf)


def _stretches(costs: Numbers, count: int) -> Iterable[tuple[int, int]]:
    """Return the stretches, from place to before place, that cost least together."""
    best = costs[0]
    steps = []
    for _ in range(count - 1):
        sums = best[:, None] + costs
        steps.append(sums.argmin(axis=0))
        best = sums.min(axis=0)
    ends = [len(costs) - 1]
    for step in reversed(steps):
        ends.append(int(step[ends[-1]]))
    edges = [0, *reversed(ends)]
    return pairwise(edges)


def _nearest_to_mean(points: Numbers, start: int, end: int) -> int:
    part = points[start:end]
    # Times the number of frames, so that all stays whole.
    apart = ((len(part) * part - part.sum(axis=0)) ** 2).sum(axis=1)
    return start + int(apart.argmin())
