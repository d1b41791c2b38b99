"""People tracked through shots by their faces, and recognised after a cut."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reelbench.annotate.common.crops import as_labelled
from reelbench.annotate.common.identity import (
    Embedding,
    aligned_face,
    embedding,
    frontality,
    unit,
)
from reelbench.annotate.common.people import MergeLimits, TrackFaces, merge_tracks
from reelbench.annotate.common.tracking import (
    Detection,
    Spot,
    Track,
    join,
    linked,
    shot_at,
)
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.media.decode.decode import iterate_frames

_LATER = 1e-3  # seconds after the rounded time of a frame, when it is surely on the screen
_LARGE = 60.0  # pixels of a face's width; more does not make it better known
_FRONTAL = 0.6  # of ``frontality``, the same
_MANY = 8  # looks at a face, the same


@dataclass(frozen=True)
class Tracks(Operator):
    """Joins faces into tracks within shots, then tracks into people by the similarity of faces.

    People are those of the whole clip, whichever shots they are in. Tracks that are visible at the
    same time are of different people. Faces too small or never seen from the front are hard to
    recognise: such tracks join one that was lost just before at the same place, or remain separate
    people, with a low confidence.
    """

    name = "tracks"
    version: ClassVar[int] = 2
    needs: ClassVar[tuple[str, ...]] = ("faces", "shots")
    weights: ClassVar[tuple[str, ...]] = ("face_identity",)
    former_names: ClassVar[Mapping[str, str]] = {"faces_per_track": "looks"}

    overlap: float = 0.5  # a face joins a track that it overlaps with by more
    gap: int = 8  # looked-at frames for which a track may be lost
    least: int = 4  # looked-at frames with the face, in shots that have as many
    same: float = 0.4  # cosine above which two faces are one person
    again: float = 0.25  # the same for one that comes back soon, about where it was lost
    soon: float = 2.0  # seconds
    faces_per_track: int = 6  # faces of a track that are compared, at most
    smallest: float = 20.0  # pixels between the sides of a face that can be known again
    embeddings: bool = False  # whether the label holds the 128 numbers of each person

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the people of a clip and their tracks."""
        times = [frame["time"] for frame in labels["faces"]["frames"]]
        tracks = self._tracks(labels)
        faces = self._faces(clip, tracks)
        blends = [(start, end) for start, end in labels["shots"].get("transitions", [])]
        limits = MergeLimits(self.same, self.again, self.soon)
        people: list[Value] = []
        for number, (person, confidence) in enumerate(
            merge_tracks(tracks, faces, limits, blends), start=1
        ):
            whole = linked(_once_at_a_time([tracks[index] for index in person]), times, self.gap)
            people.append(
                {
                    "id": f"p{number}",
                    "confidence": confidence,
                    "tracks": [_plain(track) for track in whole],
                }
            )
            if self.embeddings:
                people[-1]["embedding"] = _mean([faces[index] for index in person])
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

    def _faces(self, clip: Clip, tracks: Sequence[Track]) -> list[TrackFaces | None]:
        """The faces of each track; None for those that are too small to be known again."""
        wanted: dict[float, list[tuple[int, Spot]]] = {}
        for number, track in enumerate(tracks):
            for spot in self._best(track):
                wanted.setdefault(spot.time + _LATER, []).append((number, spot))
        found: list[list[tuple[float, Embedding]]] = [[] for _ in tracks]
        for frame in iterate_frames(clip.path, sorted(wanted), skip_damage=True):
            image = as_labelled(frame.image, clip)
            for number, spot in wanted[frame.time]:
                assert spot.found
                known = embedding(aligned_face(image, spot.found))
                found[number].append((_goodness(spot), known))
        return [
            _of_track(each, len(track.found)) if each else None
            for track, each in zip(tracks, found, strict=True)
        ]

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


def _goodness(spot: Spot) -> float:
    """How well a face can be known again: large, from the front, and surely a face."""
    assert spot.found
    front = min(1.0, frontality(spot.found.points) / _FRONTAL)
    return min(1.0, _width(spot) / _LARGE) * front * spot.found.score


def _of_track(found: Sequence[tuple[float, Embedding]], looks: int) -> TrackFaces:
    """The better half of a track's faces, in the order of time: one turned away tells little.

    Those of a track of few looks are alike in what is wrong with them, so they tell less.
    """
    limit = float(np.median([goodness for goodness, _ in found]))
    good = [(goodness, known) for goodness, known in found if goodness >= limit]
    quality = float(np.mean([goodness for goodness, _ in good])) * min(1.0, looks / _MANY)
    return TrackFaces(tuple(known for _, known in good), quality)


def _once_at_a_time(tracks: Sequence[Track]) -> list[Track]:
    """The tracks of one person, who is at one place at a time: where there are two, the surer."""
    best: dict[float, Detection] = {}
    for found, time in ((spot.found, spot.time) for one in tracks for spot in one.spots):
        if found and (time not in best or found.score > best[time].score):
            best[time] = found
    return [
        Track(track.shot, kept)
        for track in tracks
        if (kept := tuple(spot for spot in track.spots if best.get(spot.time) is spot.found))
    ]


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


def _mean(faces: Sequence[TrackFaces | None]) -> list[float] | None:
    """The mean embedding of a person, or None for one whose face was never seen well."""
    known = [each for one in faces if one for each in one.embeddings]
    return [round(number, 4) for number in unit(np.sum(known, axis=0)).tolist()] if known else None
