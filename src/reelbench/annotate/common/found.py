"""The label ``detections`` as objects, for the labels that build on it."""

from collections.abc import Callable

from reelbench.annotate.common.tracking import Detection
from reelbench.annotate.operator import Labels

Looks = list[tuple[float, list[Detection]]]  # every sampled frame, with what was found in it


def looks_of(labels: Labels, keep: Callable[[str, float], bool]) -> Looks:
    """Return every sampled frame with the detections whose class and score are to be kept."""
    return [
        (
            frame["time"],
            [
                Detection(tuple(each["box"]), each["score"], each["class"])
                for each in frame["found"]
                if keep(each["class"], each["score"])
            ],
        )
        for frame in labels["detections"]["frames"]
    ]


def people_looks(labels: Labels, least_score: float) -> Looks:
    """Return every sampled frame with the bodies found in it."""
    return looks_of(labels, lambda name, score: name == "person" and score >= least_score)
