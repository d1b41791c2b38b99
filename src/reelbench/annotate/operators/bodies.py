"""The body of each person who is tracked by the face."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common import coco
from reelbench.annotate.common.tracking import Box, Detection
from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator, Value
from reelbench.media.decode.stream import scan_frames

_SIZE = 640  # pixels of the longer side that is looked at; the detector sees less
_INSIDE = 0.7  # share of a face that its body's box must hold
_ABREAST = 0.25  # face widths: distances that differ by less are the same
_CLOSE = 0.02  # seconds between a look and the moment of a face that it is for


@dataclass(frozen=True)
class Bodies(Operator):
    """Detects bodies at a low rate, matches them with faces, and interpolates in between.

    Of the bodies that contain a face, the matching one is that whose centre is nearest to the
    face's from left to right and, of those equally near, the smaller; a body has one face. Between
    two detections a body moves along with its face. A person whose body is never detected has no
    boxes.
    """

    name = "bodies"
    needs: ClassVar[tuple[str, ...]] = ("tracks",)
    weights: ClassVar[tuple[str, ...]] = coco.WEIGHTS

    rate: float = 2.0  # looks in each second; a look takes about 0.1 s
    least_score: float = 0.3  # below it, a body is not believed

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the boxes of each person's body, at the times of the boxes of the face."""
        if not clip.info.has_video:
            raise NotApplicable("The clip has no video, so there are no bodies.")
        people = labels["tracks"]["people"]
        paths = [_FacePath(track["boxes"]) for person in people for track in person["tracks"]]
        if paths:
            self._detect(clip, paths)
        size = clip.info.width, clip.info.height
        filled = iter([path.filled(size) for path in paths])
        return {
            "people": [
                {
                    "id": person["id"],
                    "boxes": [box for _ in person["tracks"] for box in next(filled)],
                }
                for person in people
            ]
        }

    def _detect(self, clip: Clip, paths: Sequence["_FacePath"]) -> None:
        """Give all tracks the bodies that are found."""
        end = max(path.times[-1] for path in paths)
        for time, image in scan_frames(clip.path, self.rate, _SIZE):
            if time > end + _CLOSE:
                break
            here = [path for path in paths if path.is_there(time)]
            if not here:
                continue
            found = coco.detect(image, ("person",), self.least_score)
            scale = clip.info.width / image.shape[1], clip.info.height / image.shape[0]
            bodies = [_scaled(body, scale) for body in found]
            for face, body in matched([path.face(time) for path in here], bodies):
                here[face].found.append((time, bodies[body]))


def matched(faces: Sequence[Box], bodies: Sequence[Detection]) -> list[tuple[int, int]]:
    """Return pairs of faces and bodies that match best, as indices, each at most once."""
    ranked = sorted(
        (_distance(face, body.box), _area(body.box), f, b)
        for f, face in enumerate(faces)
        for b, body in enumerate(bodies)
        if _inside(face, body.box) >= _INSIDE
    )
    pairs: list[tuple[int, int]] = []
    for _, _, face, body in ranked:
        if all(face != f and body != b for f, b in pairs):
            pairs.append((face, body))
    return pairs


class _FacePath:
    """The way of one face, and the bodies that were found along it."""

    def __init__(self, boxes: Sequence[Value]) -> None:
        self.times = [box["time"] for box in boxes]
        self._faces = np.array([box["box"] for box in boxes], np.float64)
        self.found: list[tuple[float, Detection]] = []

    def is_there(self, time: float) -> bool:
        """Whether the face is on the screen."""
        return bool(self.times[0] - _CLOSE <= time <= self.times[-1] + _CLOSE)

    def face(self, time: float) -> Box:
        """Where it is."""
        left, top, right, bottom = _at(time, self.times, self._faces).tolist()
        return left, top, right, bottom

    def filled(self, size: tuple[int, int]) -> list[Value]:
        """The body at each moment of the face; nothing if it was never found."""
        if not self.found:
            return []
        times = [time for time, _ in self.found]
        offsets = np.array([body.box - _middle(self.face(time)) for time, body in self.found])
        rows = []
        for time in self.times:
            nearest = min(range(len(times)), key=lambda n: abs(times[n] - time))
            seen = self.found[nearest][1] if abs(times[nearest] - time) <= _CLOSE else None
            box = seen.box if seen else _at(time, times, offsets) + _middle(self.face(time))
            within = np.clip(box, 0, (*size, *size)).tolist()
            rows.append(
                {
                    "time": time,
                    "box": [round(side, 1) for side in within],
                    "score": round(seen.score, 4) if seen else None,
                }
            )
        return rows


def _at(time: float, times: Sequence[float], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers of some moments at another: on a line between, level before and after."""
    return np.array([np.interp(time, times, column) for column in rows.T])


def _middle(box: Box) -> NDArray[np.float64]:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return np.array([x, y, x, y])


def _distance(face: Box, body: Box) -> int:
    """How far the middles are apart from left to right, in steps of a part of the face's width."""
    apart = abs(face[0] + face[2] - body[0] - body[2]) / 2
    return int(apart / (_ABREAST * (face[2] - face[0])))


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _inside(face: Box, body: Box) -> float:
    """The share of a face that is inside a body's box."""
    shared = [max(0.0, min(face[n + 2], body[n + 2]) - max(face[n], body[n])) for n in (0, 1)]
    return shared[0] * shared[1] / max(_area(face), 1e-9)


def _scaled(body: Detection, scale: tuple[float, float]) -> Detection:
    left, top, right, bottom = body.box
    x, y = scale
    return Detection((left * x, top * y, right * x, bottom * y), body.score, body.name)
