"""The shape of each mouth over time, by a mesh of 478 points on the face.

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
# Pairs of points of the mesh.
_LIPS = 13, 14  # the middle of the upper and the lower lip, inside
_CORNERS = 61, 291  # of the mouth
_OUTSIDE = 0, 17  # the middle of the upper and the lower lip, outside
_JAW = 1, 152  # the tip of the nose and the chin
_EYES = 33, 263  # the outer corners
_FOREHEAD = 10, 1  # its upper end, and the tip of the nose: what no mouth moves
_GAP = 0.6  # seconds between two looks, over which nobody knows where the face is
_DETAIL = 160.0  # pixels of a face's height, from which on more do not help


@dataclass(frozen=True)
class Mouth(PartOperator):
    """Measures how far each mouth is open, how wide and how high it is, and the drop of the jaw.

    The first three are relative to the distance of the outer corners of the eyes, the last to the
    height of the forehead and the nose. Lips that are closed are open by 0 to 0.02, those that
    speak go up and down to 0.2 or so, a yawn has 0.5.
    With the label ``sound``, only tracks during which someone speaks or sings are measured. Times
    at which the mesh finds no face, as behind a hand, are left out.
    """

    name = "mouth"
    version = 2
    needs: ClassVar[tuple[str, ...]] = ("faces", "tracks")
    may_use: ClassVar[tuple[str, ...]] = ("sound",)
    weights: ClassVar[tuple[str, ...]] = ("face_mesh",)

    rate: float = 25.0  # frames looked at in each second; lips lead their sound by about a tenth
    least_height: float = 24.0  # pixels of a face whose lips can be told apart

    def part(self, clip: Clip, labels: Labels, span: Span) -> list[tuple[str, list[float]]]:
        """Return the person of each mouth that is measured, with the time and its shape."""
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
            (person, [round(time, 4), *(round(measure, 4) for measure in shape)])
            for time, person, shape in self._measured(clip, paths, span)
        ]

    def merge(
        self, clip: Clip, labels: Labels, parts: Sequence[list[tuple[str, list[float]]]]
    ) -> Value:
        """Return the shape of each person's mouth over time."""
        at: dict[str, list[list[float]]] = {person["id"]: [] for person in people_in(labels)}
        for person, row in chain(*parts):
            at[person].append(row)
        return {"people": [{"id": person, "at": measured} for person, measured in at.items()]}

    def _measured(
        self, clip: Clip, paths: Sequence["_Path"], span: Span
    ) -> Iterator[tuple[float, str, "_Shape"]]:
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
                shape = None if place is None else _shape(image, place)
                if shape is not None:
                    yield time, path.person, shape


_Shape = tuple[float, float, float, float]


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


def _shape(image: Image, place: NDArray[np.float64]) -> _Shape | None:
    """The opening, width and height of a mouth, and the jaw; None where the mesh sees no face."""
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
    opening, width, height, jaw, eyes, still = (
        float(np.linalg.norm(mesh[a] - mesh[b]))
        for a, b in (_LIPS, _CORNERS, _OUTSIDE, _JAW, _EYES, _FOREHEAD)
    )
    if eyes <= 0 or still <= 0:
        return None
    return opening / eyes, width / eyes, height / eyes, jaw / still


@from_weights("face_mesh")
def _mesh(path: Path) -> Any:
    with ZipFile(path) as task:
        model = np.frombuffer(task.read("face_landmarks_detector.tflite"), np.uint8)
    return opencv().dnn.readNetFromTFLite(model)
