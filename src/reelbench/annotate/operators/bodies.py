"""The body of each person who is tracked by the face."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.found import people_looks
from reelbench.annotate.common.matching import RULES, fit_of, matched
from reelbench.annotate.common.tracking import Box, Detection
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.base.errors import ReelbenchError

_CLOSE = 0.02  # seconds between a look and the moment of a face that it is for
_ODD = 1.8  # times: a body whose width is so far from the usual one is somebody else's
_GOOD_FIT = 0.35  # a fit from which on a body is as sure as it gets


@dataclass(frozen=True)
class Bodies(Operator):
    """Matches the bodies in ``detections`` with faces, and interpolates in between.

    By the rule ``place``, a body's box holds the face, in its upper part and near its middle, and
    is as large as a body is with such a face; of all ways to give bodies to faces the most
    plausible is taken. ``paper`` takes the body whose middle is the nearest from left to right and,
    of those equally near, the smaller. Between two looks a body moves along with its face.
    """

    name = "bodies"
    version: ClassVar[int] = 2
    needs: ClassVar[tuple[str, ...]] = ("tracks", "detections")

    rule: str = "place"
    least_score: float = 0.3  # below it, a body is not believed
    least_confidence: float = 0.5  # below it, a person has no boxes, and those are a guess

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ReelbenchError(
                f"bodies.rule cannot be {self.rule!r}: expected one of {', '.join(RULES)}."
            )

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the boxes of each person's body, at the times of the boxes of the face."""
        people = labels["tracks"]["people"]
        paths = [_FacePath(track["boxes"]) for person in people for track in person["tracks"]]
        for time, bodies in people_looks(labels, self.least_score):
            here = [path for path in paths if path.is_there(time)]
            faces = [path.face(time) for path in here]
            fits = fit_of(faces, bodies)
            for path in here:
                path.looks += 1
            for face, body in matched(faces, bodies, self.rule):
                here[face].found.append((time, bodies[body]))
                here[face].sureness.append(_sureness(fits, face, body))
        size = clip.info.width, clip.info.height
        rest = iter(paths)
        return {
            "people": [
                self._person(person["id"], [next(rest) for _ in person["tracks"]], size)
                for person in people
            ]
        }

    def _person(self, name: str, paths: Sequence["_FacePath"], size: tuple[int, int]) -> Value:
        for path in paths:
            path.drop_odd()
        boxes = [box for path in paths for box in path.filled(size)]
        sure = [each for path in paths for each in path.sureness]
        looks = sum(path.looks for path in paths)
        confidence = float(np.mean(sure)) * (len(sure) / looks) ** 0.25 if sure else 0.0
        row: Value = {"id": name, "boxes": boxes, "confidence": round(confidence, 3)}
        if confidence < self.least_confidence:
            row |= {"boxes": [], "guess": boxes}
        return row


def _sureness(fits: NDArray[np.float64], face: int, body: int) -> float:
    """How likely a body is that of the face: how well it fits, and better than any other."""
    fit = fits[face, body]
    others = np.concatenate([np.delete(fits[face], body), np.delete(fits[:, body], face)])
    rival = float(others.max(initial=0.0))
    return min(1.0, fit / _GOOD_FIT) ** 0.5 * fit / (fit + 0.5 * rival) if fit else 0.0


class _FacePath:
    """The way of one face, and the bodies that were found along it."""

    def __init__(self, boxes: Sequence[Value]) -> None:
        self.times = [box["time"] for box in boxes]
        self._faces = np.array([box["box"] for box in boxes], np.float64)
        self.looks = 0  # at which the face was there
        self.found: list[tuple[float, Detection]] = []
        self.sureness: list[float] = []  # of each that was found

    def is_there(self, time: float) -> bool:
        """Whether the face is on the screen."""
        return bool(self.times[0] - _CLOSE <= time <= self.times[-1] + _CLOSE)

    def face(self, time: float) -> Box:
        """Where it is."""
        left, top, right, bottom = _at(time, self.times, self._faces).tolist()
        return left, top, right, bottom

    def drop_odd(self) -> None:
        """Leave out bodies whose width, held against the face, is far from the usual one."""
        if len(self.found) < 3:
            return
        widths = [_width(body.box) / _width(self.face(time)) for time, body in self.found]
        usual = float(np.median(widths))
        kept = [n for n, width in enumerate(widths) if 1 / _ODD <= width / usual <= _ODD]
        self.found = [self.found[n] for n in kept]
        self.sureness = [self.sureness[n] for n in kept]

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


def _width(box: Box) -> float:
    return max(box[2] - box[0], 1e-9)
