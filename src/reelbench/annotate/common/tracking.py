"""Boxes found one frame at a time, joined into tracks: faces, people, dogs, cars.

A box joins a track where it overlaps with it by more than a half, first where the track is expected
to have moved to, which tells apart two that cross, then where it was last seen. A track may be
lost for a few frames, which are filled in on a straight line, and never goes on past a cut.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Box = tuple[float, float, float, float]  # left, top, right, bottom, in pixels
Point = tuple[float, float]
_EARLY = 1e-3  # seconds by which a time may lie before the cut it means, as clocks round
_ALIKE = 0.7  # of the larger height: less, and two boxes are of different things
_RECENT = 4  # detections that tell how a track moves


@dataclass(frozen=True, slots=True)
class Detection:
    """An object that was detected in one frame."""

    box: Box
    score: float
    name: str = ""  # of its class; only the same join
    points: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True)
class Spot:
    """The box of a track at one time; without a detection where it was interpolated."""

    time: float
    box: Box
    found: Detection | None = None


@dataclass(frozen=True, slots=True)
class Track:
    """One object tracked through the sampled frames of one shot, without gaps."""

    shot: int
    spots: tuple[Spot, ...]  # the first and the last were found

    @property
    def start(self) -> float:
        """The time of its first detection."""
        return self.spots[0].time

    @property
    def end(self) -> float:
        """The time of its last detection."""
        return self.spots[-1].time

    @property
    def found(self) -> tuple[Detection, ...]:
        """Its detections, without what was interpolated."""
        return tuple(spot.found for spot in self.spots if spot.found)

    @property
    def name(self) -> str:
        """The class of the object."""
        return self.found[0].name


def join(
    sampled: Sequence[tuple[float, Sequence[Detection]]],
    overlap: float = 0.5,
    gap: int = 8,
    least: int = 3,
    cuts: Sequence[float] = (),
    reach: float = 0.0,
) -> list[Track]:
    """Return tracks of the detections, ordered by their start, then left to right.

    ``sampled`` must list every sampled frame once with its detections, also without any. A track
    ends after more than ``gap`` frames without it and at cuts, and is kept if it has ``least``
    detections. The order in which detections, frames or cuts are listed does not matter.

    ``reach`` is for objects that are narrow and fast for the sampling rate, such as people who
    walk: a detection that overlaps with nothing joins a track of about its size whose centre is
    expected at most ``reach`` times its height away.
    """
    in_time = sorted(sampled, key=lambda sample: sample[0])
    times = [time for time, _ in in_time]
    borders = sorted(cuts)
    tracks: list[Track] = []
    for name in {detection.name for _, found in sampled for detection in found}:
        of_name = [[each for each in found if each.name == name] for _, found in in_time]
        rows = _rows(times, of_name, borders, (overlap, reach), gap)
        tracks += [_filled(row, times) for row in rows if len(row.found) >= least]
    return sorted(tracks, key=lambda track: (track.start, *_place(track.found[0])))


def linked(tracks: Sequence[Track], times: Sequence[float], gap: int = 8) -> list[Track]:
    """Join tracks that belong to one object, where they are no more than ``gap`` frames apart.

    ``times`` are those of all sampled frames, ascending. No two of the tracks may have a detection
    at the same time.
    """
    index = {time: number for number, time in enumerate(times)}
    rows: list[_Row] = []
    seen = [(index[spot.time], one.shot, spot.found) for one in tracks for spot in one.spots]
    for number, shot, found in sorted(seen, key=lambda each: each[:2]):
        if found is None:
            continue
        if rows and rows[-1].shot == shot and number - rows[-1].at[-1] <= gap + 1:
            rows[-1].at.append(number)
            rows[-1].found.append(found)
        else:
            rows.append(_Row(shot, [number], [found]))
    return [_filled(row, times) for row in rows]


def shot_at(time: float, cuts: Sequence[float]) -> int:
    """Return the index of the shot at a time, given ascending cuts."""
    return bisect_right(cuts, time + _EARLY)


def overlaps(some: Sequence[Box], others: Sequence[Box]) -> NDArray[np.float64]:
    """Return the intersection over union of each box with each other one."""
    a = np.asarray(some, np.float64).reshape(-1, 1, 4)
    b = np.asarray(others, np.float64).reshape(1, -1, 4)
    sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    shared = np.prod(np.maximum(sides, 0), axis=-1)
    whole = np.prod(a[..., 2:] - a[..., :2], -1) + np.prod(b[..., 2:] - b[..., :2], -1) - shared
    shares: NDArray[np.float64] = shared / np.where(whole > 0, whole, 1)
    return shares


def best_pairs(values: NDArray[np.float64], above: float) -> list[tuple[int, int]]:
    """Pair rows with columns, each at most once, the highest values first, while over a limit."""
    pairs: list[tuple[int, int]] = []
    rows, columns = np.nonzero(values > above)
    # A stable sort: of equal values the upper row and the column further left come first.
    for place in np.argsort(-values[rows, columns], kind="stable"):
        row, column = int(rows[place]), int(columns[place])
        if all(row != r and column != c for r, c in pairs):
            pairs.append((row, column))
    return pairs


def between(time: float, before: Spot, after: Spot) -> Box:
    """Return a box interpolated linearly between two times."""
    share = (time - before.time) / (after.time - before.time)
    a, b = np.asarray(before.box), np.asarray(after.box)
    left, top, right, bottom = (a + share * (b - a)).tolist()
    return left, top, right, bottom


@dataclass(slots=True, eq=False)
class _Row:
    """A track in progress: the indices of the frames with a detection, and the detections."""

    shot: int
    at: list[int]
    found: list[Detection]

    def expected(self, index: int, times: Sequence[float]) -> Box:
        """Where it is if it moves on as it did of late."""
        left, top, right, bottom = self.found[-1].box
        first = max(0, len(self.at) - _RECENT)
        seconds = times[self.at[-1]] - times[self.at[first]]
        if seconds <= 0:
            return self.found[-1].box
        ahead = (times[index] - times[self.at[-1]]) / seconds
        x = (left + right - self.found[first].box[0] - self.found[first].box[2]) / 2 * ahead
        y = (top + bottom - self.found[first].box[1] - self.found[first].box[3]) / 2 * ahead
        return left + x, top + y, right + x, bottom + y


def _filled(row: _Row, times: Sequence[float]) -> Track:
    """The finished track, with what is missing put on a line between what was found."""
    spots: list[Spot] = []
    for number, (index, detection) in enumerate(zip(row.at, row.found, strict=True)):
        this = Spot(times[index], detection.box, detection)
        if spots:
            before, missing = spots[-1], times[row.at[number - 1] + 1 : index]
            spots += [Spot(time, between(time, before, this)) for time in missing]
        spots.append(this)
    return Track(row.shot, tuple(spots))


def _rows(
    times: Sequence[float],
    sampled: Sequence[Sequence[Detection]],
    cuts: Sequence[float],
    limits: tuple[float, float],
    gap: int,
) -> Iterator[_Row]:
    """Yield tracks as they end."""
    going: list[_Row] = []
    for index, found in enumerate(sampled):
        shot = shot_at(times[index], cuts)
        ended = [row for row in going if row.shot != shot or index - row.at[-1] > gap + 1]
        yield from ended
        going = [row for row in going if row not in ended]
        left = _extend(going, sorted(found, key=_place), index, times, limits)
        going += [_Row(shot, [index], [detection]) for detection in left]
    yield from going


def _extend(
    rows: Sequence[_Row],
    found: Sequence[Detection],
    index: int,
    times: Sequence[float],
    limits: tuple[float, float],
) -> list[Detection]:
    """Give tracks the detections that continue them; return those that continue none.

    Tracks that were seen a moment ago choose first: one long lost may be anywhere.
    """
    free = list(found)
    for last in sorted({row.at[-1] for row in rows}, reverse=True):
        for way in ("expected", "last", "near"):
            waiting = [row for row in rows if row.at[-1] == last]
            boxes = [
                row.found[-1].box if way == "last" else row.expected(index, times)
                for row in waiting
            ]
            pairs = _fitting(boxes, [each.box for each in free], way == "near", *limits)
            for row, column in pairs:
                waiting[row].at.append(index)
                waiting[row].found.append(free[column])
            taken = {column for _, column in pairs}
            free = [each for column, each in enumerate(free) if column not in taken]
    return free


def _fitting(
    some: Sequence[Box], others: Sequence[Box], near: bool, overlap: float, reach: float
) -> list[tuple[int, int]]:
    """Pair boxes that overlap, or that are merely near each other and about as large."""
    if not near:
        return best_pairs(overlaps(some, others), overlap)
    if not reach or not some or not others:
        return []
    a, b = np.asarray(some)[:, None], np.asarray(others)[None]
    heights = a[..., 3] - a[..., 1], b[..., 3] - b[..., 1]
    tall = np.maximum(*heights)
    way = np.hypot(*np.moveaxis(a[..., :2] + a[..., 2:] - b[..., :2] - b[..., 2:], -1, 0)) / 2
    nearness = 1 - way / np.where(tall > 0, reach * tall, 1)
    return best_pairs(np.where(np.minimum(*heights) > _ALIKE * tall, nearness, -1.0), 0.0)


def _place(detection: Detection) -> tuple[Any, ...]:
    """What detections of one moment are ordered by: left to right."""
    return (*detection.box, -detection.score, detection.name, detection.points)
