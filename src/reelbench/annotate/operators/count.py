"""How many people there are, in all and at each moment."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reelbench.annotate.common.calibration import unless_unsure
from reelbench.annotate.common.counting import (
    CountOverTime,
    FaceAt,
    confidence_of,
    count_over_time,
)
from reelbench.annotate.common.found import people_looks
from reelbench.annotate.common.tracking import join
from reelbench.annotate.operator import Clip, Labels, Operator, Value

_OVERLAP, _GAP, _LEAST, _REACH = 0.3, 4, 3, 0.6  # how bodies are followed, as in ``objects``


@dataclass(frozen=True)
class Count(Operator):
    """Counts people by their faces and by the bodies in ``detections``.

    At each look, people whose face or body is there count, and bodies without a face. In all, there
    are as many as identities by face, or as are there together, whichever is more: who shows no
    face may be someone who shows it at another time.
    """

    name = "count"
    version: ClassVar[int] = 2
    needs: ClassVar[tuple[str, ...]] = ("tracks", "detections")
    may_use: ClassVar[tuple[str, ...]] = ("shots",)

    least_score: float = 0.5  # below it, a body does not count
    smallest: float = 0.12  # of a body without a face: its height, as a share of the picture's
    sure_identity: float = 0.7  # below it, a person in ``tracks`` may be another one again
    least_confidence: float = 0.8  # below it, ``people`` is null

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the number of people, in total and at each look."""
        people = labels["tracks"]["people"]
        found = self._over_time(clip, labels)
        identities = [person.get("confidence", 1.0) for person in people]
        sure = sum(each >= self.sure_identity for each in identities)
        guess = max(sure, found.most_at_once)
        confidence = confidence_of(found, guess, identities, self.sure_identity)
        return {
            "people": unless_unsure(guess, confidence, self.least_confidence),
            "guess": guess,
            "confidence": confidence,
            "most_at_once": found.most_at_once,
            "at": [list(pair) for pair in zip(found.times, found.numbers, strict=True)],
            "by_face": len(people),
            "by_body": max(found.faceless, default=0),
        }

    def _over_time(self, clip: Clip, labels: Labels) -> CountOverTime:
        looks = people_looks(labels, self.least_score)
        cuts = labels.get("shots", {}).get("cuts", [])
        least = min(_LEAST, len(looks))
        bodies = join(looks, _OVERLAP, _GAP, least, cuts, _REACH)
        times = [time for time, _ in looks]
        unsure = {
            person["id"]
            for person in labels["tracks"]["people"]
            if person.get("confidence", 1.0) < self.sure_identity
        }
        least_height = self.smallest * clip.info.height
        return count_over_time(times, _faces_at(labels, times), bodies, least_height, unsure)


def _faces_at(labels: Labels, times: list[float]) -> dict[float, list[FaceAt]]:
    """Who shows the face at each look, and where."""
    found: dict[float, list[FaceAt]] = {time: [] for time in times}
    for person in labels["tracks"]["people"]:
        for track in person["tracks"]:
            seen = np.array([box["time"] for box in track["boxes"]])
            boxes = np.array([box["box"] for box in track["boxes"]])
            for time in (each for each in times if seen[0] <= each <= seen[-1]):
                left, top, right, bottom = (float(np.interp(time, seen, b)) for b in boxes.T)
                found[time].append(FaceAt(person["id"], (left, top, right, bottom)))
    return found
