"""The opening of each mouth over time, by a mesh of 478 points on the face.

The mesh is MediaPipe's face landmarker; OpenCV runs its network, without MediaPipe.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.crops import FaceView, cut, face_views, opencv, people_in
from reelbench.annotate.operator import Clip, Labels, PartOperator, Value
from reelbench.data.items import Span
from reelbench.media.decode.decode import Image
from reelbench.media.decode.stream import scan_frames
from reelbench.weights import from_weights

_SIDE = 256  # pixels of the square that the network takes
_AROUND = 1.4  # sides of the square, in heights of the face
_LIPS = 13, 14  # points of the mesh: the middle of the upper and the lower lip, inside
_EYES = 33, 263  # the outer corners
_GAP = 0.6  # seconds between two looks, over which nobody knows where the face is
_DETAIL = 160.0  # pixels of a face's height, from which on more do not help


@dataclass(frozen=True)
class Mouth(PartOperator):
    """Measures the distance between the lips, relative to that of the outer corners of the eyes.

    A closed mouth has 0 to 0.02, a speaking one goes up and down to 0.2 or so, a yawn has 0.5.
    With the label ``sound``, only tracks during which someone speaks or sings are measured. Times
    at which the mesh finds no face, as behind a hand, are left out.
    """

    name = "mouth"
    needs: ClassVar[tuple[str, ...]] = ("faces", "tracks")
    may_use: ClassVar[tuple[str, ...]] = ("sound",)
    weights: ClassVar[tuple[str, ...]] = ("face_mesh",)

    rate: float = 12.5  # frames looked at in each second; syllables come at 4 to 7
    least_height: float = 24.0  # pixels of a face whose lips can be told apart

    def part(self, clip: Clip, labels: Labels, span: Span) -> list[tuple[str, float, float]]:
        """Return the person, the time and the opening of each mouth that is measured."""
        people_in(labels)  # there are some
        paths = [
            _Path(track)
            for tracks in face_views(labels)
            for track in tracks
            if track
            and np.median([view.height for view in track]) >= self.least_height
            and _has_voice(track[0].time, track[-1].time, labels)
        ]
        return [
            (person, round(time, 4), round(opening, 4))
            for time, person, opening in self._measured(clip, paths, span)
        ]

    def merge(
        self, clip: Clip, labels: Labels, parts: Sequence[list[tuple[str, float, float]]]
    ) -> Value:
        """Return the opening of each person's mouth over time."""
        at: dict[str, list[list[float]]] = {person["id"]: [] for person in people_in(labels)}
        for person, time, opening in chain(*parts):
            at[person].append([time, opening])
        return {"people": [{"id": person, "at": measured} for person, measured in at.items()]}

    def _measured(
        self, clip: Clip, paths: Sequence["_Path"], span: Span
    ) -> Iterator[tuple[float, str, float]]:
        if not paths:
            return
        end = max(path.times[-1] for path in paths)
        smallest = min(path.height for path in paths)
        longest = max(clip.info.width, clip.info.height) * min(1.0, _DETAIL / smallest)
        for time, image in scan_frames(clip.path, self.rate, round(longest), False, *span):
            if time > end + 1e-3:
                return
            for path in paths:
                place = path.at(time, image.shape[1] / clip.info.width)
                opening = None if place is None else _opening(image, place)
                if opening is not None:
                    yield time, path.person, opening


class _Path:
    """Where one face is at any moment of its track."""

    def __init__(self, views: Sequence[FaceView]) -> None:
        self.person = views[0].person
        self.times = [view.time for view in views]
        self.height = min(view.height for view in views)
        self._rows = np.array([_place(view) for view in views])

    def at(self, time: float, scale: float) -> NDArray[np.float64] | None:
        """Middle, side and turn of the square around it, in pixels of a picture of that scale."""
        after = int(np.searchsorted(self.times, time - 1e-3))
        if after == len(self.times) or (after == 0 and time < self.times[0] - 1e-3):
            return None
        if after and self.times[after] - self.times[after - 1] > _GAP:
            return None
        columns = [np.interp(time, self.times, column) for column in self._rows.T]
        return np.array(columns) * (scale, scale, scale, 1.0)


def _place(view: FaceView) -> tuple[float, float, float, float]:
    left, top, right, bottom = view.box
    across, down = view.points[1] - view.points[0]
    side = _AROUND * max(right - left, bottom - top)
    return (left + right) / 2, (top + bottom) / 2, side, float(np.arctan2(down, across))


def _has_voice(start: float, end: float, labels: Labels) -> bool:
    """Whether someone may be heard while a track lasts."""
    return "sound" not in labels or any(
        span["kind"] in ("speech", "singing") and span["start"] < end and span["end"] > start
        for span in labels["sound"]["spans"]
    )


def _opening(image: Image, place: NDArray[np.float64]) -> float | None:
    """How wide a mouth is open, or None where the mesh sees no face."""
    x, y, side, turn = place.tolist()
    # Eyes on a level line, the face in the middle of the square.
    factor = _SIDE / max(side, 1.0)
    cosine, sine = factor * np.cos(turn), factor * np.sin(turn)
    turned = np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0]])
    turned[:, 2] = _SIDE / 2 - turned[:, :2] @ (x, y)
    face = cut(image, turned, _SIDE, max(1, round(1 / factor)))
    net = _mesh()
    net.setInput(np.ascontiguousarray(face.transpose(2, 0, 1)[None], np.float32) / 255)
    points, presence = net.forward(["Identity", "Identity_1"])
    if float(presence.ravel()[0]) < 0:  # a logit: less likely a face than not
        return None
    mesh = points.reshape(-1, 3)  # in depth too, so that a turned head has the same mouth
    lips, eyes = (float(np.linalg.norm(mesh[a] - mesh[b])) for a, b in (_LIPS, _EYES))
    return lips / eyes if eyes > 0 else None


@from_weights("face_mesh")
def _mesh(path: Path) -> Any:
    with ZipFile(path) as task:
        model = np.frombuffer(task.read("face_landmarks_detector.tflite"), np.uint8)
    return opencv().dnn.readNetFromTFLite(model)
