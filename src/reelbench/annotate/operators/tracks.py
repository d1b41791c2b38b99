"""People tracked through shots by their faces, and recognised after a cut."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.crops import as_labelled
from reelbench.annotate.common.identity import (
    Embedding,
    aligned_face,
    embedding,
    frontality,
    grouped,
    sharpness,
    unit,
)
from reelbench.annotate.common.tracking import (
    Detection,
    Spot,
    Track,
    best_pairs,
    join,
    linked,
    overlaps,
    shot_at,
)
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.media.decode.decode import iterate_frames

_LATER = 1e-3  # seconds after the rounded time of a frame, when it is surely on the screen
_SHARPEST = 3  # faces of a track that are embedded


@dataclass(frozen=True)
class Tracks(Operator):
    """Joins faces into tracks within shots, then tracks into people by the similarity of faces.

    Only tracks that are not visible at the same time can be one person. Faces too small or never
    seen from the front are hard to recognise: such tracks remain separate people.
    """

    name = "tracks"
    needs: ClassVar[tuple[str, ...]] = ("faces", "shots")
    weights: ClassVar[tuple[str, ...]] = ("face_identity",)
    former_names: ClassVar[Mapping[str, str]] = {"faces_per_track": "looks"}

    overlap: float = 0.5  # a face joins a track that it overlaps with by more
    gap: int = 8  # looked-at frames for which a track may be lost
    least: int = 4  # looked-at frames with the face, in shots that have as many
    same: float = 0.4  # cosine above which two faces are one person
    again: float = 0.25  # the same for one that comes back soon, about where it was lost
    soon: float = 2.0  # seconds
    faces_per_track: int = 5  # faces of a track that are compared, at most
    smallest: float = 20.0  # pixels between the sides of a face that can be known again
    embeddings: bool = False  # whether the label holds the 128 numbers of each person

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the people of a clip and their tracks."""
        times = [frame["time"] for frame in labels["faces"]["frames"]]
        tracks = self._tracks(labels)
        known = self._embeddings(clip, tracks)
        people: list[Value] = []
        for number, person in enumerate(self._people(tracks, known), start=1):
            whole = linked([tracks[index] for index in person], times, self.gap)
            people.append({"id": f"p{number}", "tracks": [_plain(track) for track in whole]})
            if self.embeddings:
                people[-1]["embedding"] = _mean(person, known)
        return {"people": people}

    def _tracks(self, labels: Labels) -> list[Track]:
        """The tracks that are long enough, by their start."""
        frames, cuts = labels["faces"]["frames"], sorted(labels["shots"]["cuts"])
        sampled = [
            (frame["time"], [_detection(face) for face in frame["faces"]]) for frame in frames
        ]
        shots = [shot_at(time, cuts) for time, _ in sampled]
        tracks = join(sampled, self.overlap, self.gap, 1, cuts)
        return [one for one in tracks if len(one.found) >= min(self.least, shots.count(one.shot))]

    def _people(self, tracks: Sequence[Track], known: Mapping[int, Embedding]) -> list[list[int]]:
        """The tracks of each person, in the order of their first appearance."""
        alike = np.full((len(tracks), len(tracks)), -1.0)
        for one, first in known.items():
            for other, second in known.items():
                alike[one, other] = first @ second
        back = np.where(_comes_back(tracks, self.soon), alike, -1.0)
        runs = _chains(len(tracks), best_pairs(back, self.again))
        # Tracks are in the order of their start, and so are people by their first track.
        return sorted(grouped(runs, alike, _apart(tracks), self.same))

    def _embeddings(self, clip: Clip, tracks: Sequence[Track]) -> dict[int, Embedding]:
        """The mean face of each track that could be someone seen elsewhere too."""
        worth = np.full(len(tracks), True) if self.embeddings else _apart(tracks).any(axis=0)
        wanted: dict[float, list[tuple[int, Detection]]] = {}
        for number in np.nonzero(worth)[0].tolist():
            for spot in self._best(tracks[number]):
                assert spot.found
                wanted.setdefault(spot.time + _LATER, []).append((number, spot.found))
        faces: dict[int, list[tuple[float, NDArray[np.uint8]]]] = {}
        for frame in iterate_frames(clip.path, sorted(wanted), skip_damage=True):
            image = as_labelled(frame.image, clip)
            for number, face in wanted[frame.time]:
                straight = aligned_face(image, face)
                faces.setdefault(number, []).append((sharpness(straight), straight))
        return {number: _typical(found) for number, found in sorted(faces.items())}

    def _best(self, track: Track) -> list[Spot]:
        """Where a face is large and straight: the best spot of each part of the track."""
        spots = [spot for spot in track.spots if spot.found and _width(spot) >= self.smallest]
        parts = np.array_split(np.arange(len(spots)), self.faces_per_track)
        return [max((spots[index] for index in part), key=_quality) for part in parts if len(part)]


def _detection(face: Value) -> Detection:
    left, top, right, bottom = face["box"]
    points = tuple((x, y) for x, y in face["points"])
    return Detection((left, top, right, bottom), face["score"], points=points)


def _width(spot: Spot) -> float:
    return spot.box[2] - spot.box[0]


def _quality(spot: Spot) -> float:
    assert spot.found
    return _width(spot) * spot.found.score * (0.1 + frontality(spot.found.points))


def _typical(faces: list[tuple[float, NDArray[np.uint8]]]) -> Embedding:
    """The mean of the sharpest faces."""
    sharpest = sorted(faces, key=lambda face: -face[0])[:_SHARPEST]
    return unit(np.sum([embedding(straight) for _, straight in sharpest], axis=0))


def _apart(tracks: Sequence[Track]) -> NDArray[np.bool_]:
    """Which tracks are never seen at the same time."""
    times = sorted({spot.time for track in tracks for spot in track.spots})
    column = {time: number for number, time in enumerate(times)}
    seen = np.zeros((len(tracks), len(times)))
    for row, track in zip(seen, tracks, strict=True):
        row[[column[spot.time] for spot in track.spots if spot.found]] = 1
    apart: NDArray[np.bool_] = seen @ seen.T == 0
    return apart


def _comes_back(tracks: Sequence[Track], soon: float) -> NDArray[np.bool_]:
    """Which tracks (columns) begin soon after others (rows) end, in the same shot and place."""
    starts = np.array([track.start for track in tracks])
    ends = np.array([track.end for track in tracks])
    shots = np.array([track.shot for track in tracks])
    wait = starts - ends[:, None]
    touch = overlaps([one.spots[-1].box for one in tracks], [one.spots[0].box for one in tracks])
    back: NDArray[np.bool_] = (wait > 0) & (wait <= soon) & (shots == shots[:, None]) & (touch > 0)
    return back


def _chains(count: int, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Link numbers that follow each other; each has one before it and one after it at most."""
    after = dict(pairs)
    chains = [[number] for number in range(count) if number not in after.values()]
    for chain in chains:
        while chain[-1] in after:
            chain.append(after[chain[-1]])
    return chains


def _plain(track: Track) -> Value:
    return {
        "shot": track.shot,
        "start": track.start,
        "end": track.end,
        "boxes": [
            {
                "time": spot.time,
                "box": [round(side, 1) for side in spot.box],
                "score": spot.found.score if spot.found else None,
            }
            for spot in track.spots
        ],
    }


def _mean(person: Sequence[int], known: Mapping[int, Embedding]) -> list[float] | None:
    """The mean embedding of a person, or None for one whose face was never seen well."""
    faces = [known[track] for track in person if track in known]
    return [round(number, 4) for number in unit(np.sum(faces, axis=0)).tolist()] if faces else None
