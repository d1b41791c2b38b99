"""Which tracks of faces are one person, over the whole clip, and how sure that is.

Tracks are compared by their faces, whichever shot they are in. Two that are on the screen together
are two people; only as one picture dissolves into the next may a face be seen twice for a moment.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.identity import Embedding, grouped, unit
from reelbench.annotate.common.tracking import Track, best_pairs, overlaps

Matrix = NDArray[np.float64]
_UNLIKE = 0.25  # below the limit of sameness: two such tracks are never one person, if good
_GOOD = 0.5  # quality of faces from which on one track alone can keep people apart
_SAME_PLACE = 0.2  # overlap of the last box of a track with the first of the next
_LENIENT = 0.3  # cosine that faces may lack at the same place, if they tell nothing
_BRIEF = 1.0  # seconds; a shorter track does not make a person unsure
_GHOST = 1.0  # seconds for which one may be seen twice while a picture dissolves
_SPREAD = 0.06  # cosine that makes the difference between sure and unsure, of good faces
_BY_PLACE = -0.03  # what stands for the likeness of faces that cannot be compared
_UNKNOWN_APART = 0.6  # how likely two people are two, if their faces cannot be compared
_TURNING = 0.2  # cosine that a face may lose within a track as it turns


@dataclass(frozen=True, slots=True)
class TrackFaces:
    """The faces of a track that were embedded, in the order of time, and how good they are."""

    embeddings: tuple[Embedding, ...]
    quality: float  # 1 for large ones from the front, 0 for those that cannot be known again

    @property
    def mean(self) -> Embedding:
        """The typical face of the track."""
        return unit(np.sum(self.embeddings, axis=0))

    @property
    def steadiness(self) -> float:
        """The likeness of the two parts of the track that are least alike; 1 for one face."""
        parts = [
            unit(np.sum(self.embeddings[:split], axis=0))
            @ unit(np.sum(self.embeddings[split:], axis=0))
            for split in range(1, len(self.embeddings))
        ]
        return float(min(parts, default=1.0))


@dataclass(frozen=True, slots=True)
class MergeLimits:
    """When tracks are one person."""

    same: float  # cosine above which two faces are one person
    again: float  # the same for one that comes back soon, about where it was lost
    soon: float  # seconds


def merge_tracks(
    tracks: Sequence[Track],
    faces: Sequence[TrackFaces | None],
    limits: MergeLimits,
    blends: Sequence[tuple[float, float]] = (),
) -> list[tuple[list[int], float]]:
    """Return the tracks of each person and the confidence, in the order of first appearance.

    ``faces`` has None for tracks whose faces are too small to be known again; ``blends`` are times
    of dissolves, in which a face that is there twice may be one.
    """
    alike = _likeness(faces)
    apart = may_be_one(tracks, blends)
    runs = _chains(len(tracks), _continued(tracks, faces, apart, limits))
    # Tracks that cannot be compared are as unlike as possible, and join by their place alone.
    compared = np.nan_to_num(alike, nan=-1.0)
    weights = _weights(faces)
    poor = np.minimum.outer(weights, weights) < _GOOD**2
    allowed = apart & (poor | (compared > limits.same - _UNLIKE))
    groups = sorted(grouped(runs, compared, allowed, limits.same, weights))
    evidence = _Evidence(tracks, faces, alike - limits.same, apart, limits.same)
    return [(group, evidence.confidence(group, groups)) for group in groups]


def may_be_one(
    tracks: Sequence[Track], blends: Sequence[tuple[float, float]] = ()
) -> NDArray[np.bool_]:
    """Return which tracks can be one person, as they are not on the screen together.

    One that ends within a second after the other began, no more, may be the same face before and
    after a dissolve that nobody noticed.
    """
    times = sorted({spot.time for track in tracks for spot in track.spots})
    column = {time: number for number, time in enumerate(times)}
    seen = np.zeros((len(tracks), len(times)))
    for row, track in zip(seen, tracks, strict=True):
        clear = [spot.time for spot in track.spots if spot.found and not _within(spot.time, blends)]
        row[[column[time] for time in clear]] = 1
    apart: NDArray[np.bool_] = seen @ seen.T == 0
    starts = np.array([track.start for track in tracks])
    ends = np.array([track.end for track in tracks])
    shared = np.minimum.outer(ends, ends) - np.maximum.outer(starts, starts)
    brief = np.minimum.outer(ends - starts, ends - starts) > 2 * _GHOST
    handed = (starts[:, None] < starts) & (ends[:, None] < ends) & (shared <= _GHOST) & brief
    apart |= handed | handed.T
    return apart


def _within(time: float, spans: Sequence[tuple[float, float]]) -> bool:
    return any(start <= time <= end for start, end in spans)


def _weights(faces: Sequence[TrackFaces | None]) -> Matrix:
    """What each track counts for when groups are compared: poor faces are like nobody."""
    return np.array([max(0.05, each.quality) ** 2 if each else 1e-6 for each in faces])


def _likeness(faces: Sequence[TrackFaces | None]) -> Matrix:
    """The cosine of each two tracks; not a number where one cannot be compared."""
    alike = np.full((len(faces), len(faces)), np.nan)
    known = [number for number, each in enumerate(faces) if each]
    means = [each.mean for each in faces if each]
    if known:
        alike[np.ix_(known, known)] = np.stack(means) @ np.stack(means).T
    return alike


def _continued(
    tracks: Sequence[Track],
    faces: Sequence[TrackFaces | None],
    apart: NDArray[np.bool_],
    limits: MergeLimits,
) -> list[tuple[int, int]]:
    """Pairs of tracks of which the second begins soon after the first ends, at its place."""
    alike = _likeness(faces)
    starts = np.array([track.start for track in tracks])
    ends = np.array([track.end for track in tracks])
    shots = np.array([track.shot for track in tracks])
    last = [track.spots[-1].box for track in tracks]
    first = [track.spots[0].box for track in tracks]
    wait = starts - ends[:, None]
    touch = overlaps(last, first)
    back = apart & (wait > 0) & (wait <= limits.soon) & (shots == shots[:, None]) & (touch > 0)
    # The less faces tell, the less alike they have to be, if place and size are the same.
    quality = np.array([each.quality if each else 0.0 for each in faces])
    leave = np.where(touch > _SAME_PLACE, _LENIENT * (1 - np.minimum.outer(quality, quality)), 0)
    likely = np.where(np.isnan(alike), np.where(touch > _SAME_PLACE, 0.0, -1.0), alike) + leave
    return best_pairs(np.where(back, likely, -1.0), limits.again)


def _chains(count: int, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Link numbers that follow each other; each has one before it and one after it at most."""
    after = dict(pairs)
    chains = [[number] for number in range(count) if number not in after.values()]
    for chain in chains:
        while chain[-1] in after:
            chain.append(after[chain[-1]])
    return chains


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What speaks for people as they were merged."""

    tracks: Sequence[Track]
    faces: Sequence[TrackFaces | None]
    margins: Matrix  # by how much two tracks are more alike than the limit
    apart: NDArray[np.bool_]
    same: float

    def confidence(self, group: Sequence[int], groups: Sequence[Sequence[int]]) -> float:
        """How likely someone is one person, and all of that person.

        Who is one person is like oneself in each track, and unlike all others who it could be.
        """
        qualities = [each.quality for number in group if (each := self.faces[number])]
        spread = _SPREAD * (2 - max(qualities, default=0.0))
        lengths = {number: self.tracks[number].end - self.tracks[number].start for number in group}
        telling = min(_BRIEF, max(lengths.values()))
        inner = [self._inner(number, group) for number in group if lengths[number] >= telling]
        one = _sigmoid((min(inner) + 2 * _SPREAD) / spread)
        could_be = [
            other
            for other in groups
            if other is not group and self.apart[np.ix_(group, other)].all()
        ]
        whole = min((self._separate(group, other, spread) for other in could_be), default=1.0)
        return round(one * whole, 3)

    def _inner(self, number: int, group: Sequence[int]) -> float:
        """By how much a track is more like itself, and like the rest, than it has to be."""
        own = self.faces[number]
        steady = own.steadiness - self.same + _TURNING if own else 1.0
        rest = [other for other in group if other != number]
        if not rest:
            return steady
        with_rest = self._mean([number], rest, _BY_PLACE)
        if own is None or own.quality < _GOOD:  # it was joined by its place, not by its face
            return max(with_rest, _BY_PLACE)
        return min(steady, with_rest)

    def _separate(self, group: Sequence[int], other: Sequence[int], spread: float) -> float:
        """How likely two people are two."""
        between = self._mean(group, other, np.nan)
        return _UNKNOWN_APART if np.isnan(between) else _sigmoid(-(between + _SPREAD) / spread)

    def _mean(self, group: Sequence[int], other: Sequence[int], otherwise: float) -> float:
        """The mean margin of two groups, of the pairs that can be compared."""
        weights = _weights(self.faces)
        pairs = np.outer(weights[list(group)], weights[list(other)])
        values = self.margins[np.ix_(group, other)]
        known = ~np.isnan(values)
        return float(np.average(values[known], weights=pairs[known])) if known.any() else otherwise


def _sigmoid(value: float) -> float:
    return float(1 / (1 + np.exp(-value)))
