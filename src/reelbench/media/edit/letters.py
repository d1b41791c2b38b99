"""Places for letters on people: beside the face that each names, over no face, in the picture."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import ReelbenchError
from reelbench.media.edit.clip import Box

LINGER = 0.15  # seconds that a box stays before its first and after its last sampled time
_STEP = 0.02  # seconds between the moments at which places are checked
_OF_FACE = 0.45  # height of a letter, as a share of the face's
_MOST, _LEAST = 0.08, 0.02  # the same, as shares of the picture's longer side
_SMALLEST = 12  # pixels
_SMALLER = 0.85  # of its size, where it has no room
_WIDE, _HIGH = 0.9, 1.1  # the ground of a letter, as shares of its size
# What belongs to a face beyond its box, as shares of its height and width: forehead and hair, ears.
_ABOVE, _BESIDE = 0.25, 0.05

Boxes = NDArray[np.float64]  # moment by moment: left, top, right, bottom; NaN where it is not seen


class NoRoomError(ReelbenchError):
    """A letter that would cover a face, or another letter, wherever it is put."""


@dataclass(frozen=True, slots=True)
class LetterPlace:
    """Where a letter stands by its box: shares of the box from its left top corner, then pixels."""

    size: int = 24
    across: float = 0.0
    down: float = 0.0
    right: float = 0.0
    below: float = 0.0

    def of(self, boxes: Boxes) -> Boxes:
        """Return the ground of the letter beside each box."""
        left, top, right, bottom = np.moveaxis(boxes, -1, 0)
        x = left + self.across * (right - left) + self.right
        y = top + self.down * (bottom - top) + self.below
        return np.stack([x, y, x + _WIDE * self.size, y + _HIGH * self.size], axis=-1)


@dataclass(frozen=True, slots=True)
class BoxTrack:
    """A box that moves, and the letter that stands by it; between its times it is interpolated."""

    times: tuple[float, ...]
    boxes: tuple[Box, ...]
    letter: str = ""
    place: LetterPlace = LetterPlace()

    def at(self, times: NDArray[np.float64]) -> Boxes:
        """Return the box at each time; NaN where it is not seen."""
        sides = np.asarray(self.boxes, np.float64).T
        found = np.stack([np.interp(times, self.times, side) for side in sides], axis=-1)
        found[(times < self.times[0] - LINGER) | (times > self.times[-1] + LINGER)] = np.nan
        return found


def place_letters(
    tracks: Sequence[BoxTrack],
    faces: Sequence[BoxTrack],
    size: tuple[int, int],
    *,
    inside: bool = False,
) -> list[BoxTrack]:
    """Return tracks with their letters at places in which they cover nothing at any time.

    A letter is about half as high as its face, and smaller where it has no room otherwise. It
    covers none of ``faces`` and no other letter. With ``inside``, it may stand in a corner of its
    own box: things that were found are no faces.
    """
    placed: list[BoxTrack] = []
    for track in tracks:
        if not track.letter:
            placed.append(track)
            continue
        begin, end = track.times[0] - LINGER, track.times[-1] + LINGER
        steps = np.arange(begin, end, _STEP)  # by rounding, the last may lie past the end
        moments = np.union1d(np.minimum(steps, end), track.times)
        own = track.at(moments)
        taken = [each.place.of(each.at(moments)) for each in placed if each.letter]
        taken += [
            face.at(moments) if inside else _with_hair(face.at(moments))
            for face in faces
            if not (inside and face.boxes == track.boxes)
        ]
        places = _places(own, size, inside)
        place = next((each for each in places if _fits(each.of(own), size, taken)), None)
        if place is None:
            raise NoRoomError(f"The letter {track.letter} would cover a face wherever it is put.")
        placed.append(replace(track, place=place))
    return placed


def _places(own: Boxes, size: tuple[int, int], inside: bool) -> Iterator[LetterPlace]:
    """Yield places from the largest to the smallest, above the box first."""
    sides = own[:, 2:] - own[:, :2]
    high = float(np.median(sides[:, 1]))
    aside, up = (1 + sides.max(axis=0) * (0 if inside else (_BESIDE, _ABOVE))).tolist()
    least = max(_SMALLEST, round(_LEAST * max(size)))
    letter = min(max(least, round(_OF_FACE * high)), max(least, round(_MOST * max(size))))
    while letter >= least:
        w, h = _WIDE * letter, _HIGH * letter
        along = ((0.0, 0.0), (0.5, -0.5), (1.0, -1.0))  # shares of the box, and of the letter
        spots = [
            *((x, 0.0, of * w, -h - up) for x, of in along),
            *((1.0, y, aside, of * h) for y, of in along),
            *((0.0, y, -w - aside, of * h) for y, of in along),
            *((x, 1.0, of * w, aside) for x, of in along),
        ]
        if inside:
            spots += [(x, y, of * w, by * h) for y, by in along for x, of in along]
        yield from (LetterPlace(letter, *spot) for spot in spots)
        letter = int(letter * _SMALLER)


def _with_hair(boxes: Boxes) -> Boxes:
    left, top, right, bottom = np.moveaxis(boxes, -1, 0)
    aside, up = _BESIDE * (right - left), _ABOVE * (bottom - top)
    return np.stack([left - aside, top - up, right + aside, bottom], axis=-1)


def _fits(letter: Boxes, size: tuple[int, int], taken: Sequence[Boxes]) -> bool:
    """Whether a letter is in the picture and overlaps nothing that is taken, at any time."""
    first, last = letter[:, :2], letter[:, 2:]
    return bool((first >= 0).all() and (last <= np.array(size) - 1).all()) and not any(
        (np.maximum(first, each[:, :2]) < np.minimum(last, each[:, 2:])).all(axis=1).any()
        for each in taken
    )
