"""How many people there are, in all and at each moment."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reelbench.annotate.common.tracking import Box, Detection
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.annotate.operators.bodies import matched

_ONLY_FACES = "Only faces were counted: add the label objects to count people by their bodies too."


@dataclass(frozen=True)
class Count(Operator):
    """Counts the people who are tracked by their faces and, with ``objects``, by their bodies.

    Without the label ``objects``, people who never show their face are not counted, and ``note``
    says so. With it, everyone tracked as a person without a face of their own counts too. Bodies
    are not recognised after a cut or a long absence, so such people may be counted twice.
    """

    name = "count"
    needs: ClassVar[tuple[str, ...]] = ("faces", "tracks")
    may_use: ClassVar[tuple[str, ...]] = ("objects",)

    shortest: float = 1.0  # seconds for which a body without a face must be seen

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the number of people, in total and at each sampled frame."""
        people = labels["tracks"]["people"]
        faces = [_Path(track) for person in people for track in person["tracks"]]
        bodies = [
            path
            for track in labels.get("objects", {}).get("tracks", [])
            if track["class"] == "person" and (path := _Path(track)).seconds >= self.shortest
        ]
        with_face: set[int] = set()
        at: list[tuple[float, int]] = []
        for frame in labels["faces"]["frames"]:
            time = frame["time"]
            shown = [path.at(time) for path in faces if path.is_there(time)]
            here = [number for number, path in enumerate(bodies) if path.is_there(time)]
            boxes = [Detection(bodies[number].at(time), 1.0) for number in here]
            pairs = matched(shown, boxes)
            with_face |= {here[body] for _, body in pairs}
            at.append((time, len(shown) + len(here) - len(pairs)))
        return {
            "people": len(people) + len(bodies) - len(with_face),
            "most_at_once": max((number for _, number in at), default=0),
            "at": [[time, number] for time, number in at],
            "by_face": len(people),
            "by_body": len(bodies) - len(with_face),
            "note": "" if "objects" in labels else _ONLY_FACES,
        }


class _Path:
    """Where a face or a body is from its first to its last moment."""

    def __init__(self, track: Value) -> None:
        self._times = np.array([box["time"] for box in track["boxes"]])
        self._boxes = np.array([box["box"] for box in track["boxes"]])

    @property
    def seconds(self) -> float:
        """How long it is there."""
        return float(self._times[-1] - self._times[0])

    def is_there(self, time: float) -> bool:
        """Whether it is there at a moment."""
        return bool(self._times[0] <= time <= self._times[-1])

    def at(self, time: float) -> Box:
        """Where it is at a moment."""
        left, top, right, bottom = (
            float(np.interp(time, self._times, side)) for side in self._boxes.T
        )
        return left, top, right, bottom
