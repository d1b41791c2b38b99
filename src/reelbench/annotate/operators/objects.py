"""Dogs, cars and other objects, detected at a low rate and tracked."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import ClassVar

from reelbench.annotate.common.calibration import unless_unsure
from reelbench.annotate.common.found import looks_of
from reelbench.annotate.common.tracking import Spot, Track, join
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.base.errors import ReelbenchError

# Small things that lie about, which the detector often sees where there are none.
CLUTTER = frozenset(
    {
        "tie",
        "frisbee",
        "sports ball",
        "baseball bat",
        "baseball glove",
        "tennis racket",
        "bottle",
        "wine glass",
        "cup",
        "fork",
        "knife",
        "spoon",
        "bowl",
        "banana",
        "apple",
        "sandwich",
        "orange",
        "broccoli",
        "carrot",
        "hot dog",
        "pizza",
        "donut",
        "cake",
        "mouse",
        "remote",
        "keyboard",
        "cell phone",
        "toaster",
        "sink",
        "book",
        "clock",
        "vase",
        "scissors",
        "hair drier",
        "toothbrush",
        "backpack",
        "handbag",
        "kite",
    }
)
# What the detector was seen to call other things, at scores up to .94 (a clock was a toilet), or
# what is rare and looks like much: believed only if it is seen again and again, and never fully.
CONFUSED = frozenset(
    {
        "airplane",
        "bear",
        "bed",
        "fire hydrant",
        "hair drier",
        "kite",
        "microwave",
        "oven",
        "parking meter",
        "refrigerator",
        "sink",
        "snowboard",
        "stop sign",
        "surfboard",
        "toaster",
        "toilet",
        "toothbrush",
        "train",
    }
)
_LONG = 10  # looks
_LOST = 0.4  # what a look counts at which a followed thing was not found
_MOST, _MOST_OF_CONFUSED = 0.97, 0.75
# Of the logistic curve: the constant, the weight of the mean score and that of the number of looks.
_CURVE = -2.2, 2.0, 1.4
_SMALL = 0.003  # of the picture's area: below, it is not known what a thing is


@dataclass(frozen=True)
class Objects(Operator):
    """Tracks the things that ``detections`` has, in each shot.

    ``classes`` are the detector's; empty for all but small clutter. A track continues where a box
    overlaps by more than ``overlap`` with where it is expected, ends after over ``gap`` sampled
    frames without it, and must have ``least`` detections. Where ``confidence`` is below
    ``least_confidence`` the class is null, and what it would be is the ``guess``.
    """

    name: ClassVar[str] = "objects"
    version: ClassVar[int] = 3
    needs: ClassVar[tuple[str, ...]] = ("detections",)
    may_use: ClassVar[tuple[str, ...]] = ("shots",)
    classes: tuple[str, ...] = ()
    least_score: float = 0.5
    overlap: float = 0.3
    gap: int = 4
    least: int = 3
    least_confidence: float = 0.6
    reach: float = 0.6  # who walks leaves the place of his box between two looks

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the tracks of objects in a clip."""
        classes = _wanted(self.classes, labels["detections"]["classes"])
        sampled = looks_of(
            labels, lambda name, score: name in classes and score >= self.least_score
        )
        cuts = labels.get("shots", {}).get("cuts", [])
        least = min(self.least, len(sampled))
        tracks = join(sampled, self.overlap, self.gap, least, cuts, self.reach)
        return {"rate": labels["detections"]["rate"], "tracks": self._numbered(tracks, clip)}

    def _numbered(self, tracks: Sequence[Track], clip: Clip) -> list[Value]:
        """The tracks as plain data, with names such as dog-1, counted per class as they appear."""
        counts: dict[str, int] = {}
        rows: list[Value] = []
        for track in tracks:
            number = counts[track.name] = counts.get(track.name, 0) + 1
            confidence = round(confidence_of(track, clip.info.width * clip.info.height), 4)
            rows.append(
                {
                    "id": f"{track.name.replace(' ', '-')}-{number}",
                    "class": unless_unsure(track.name, confidence, self.least_confidence),
                    "guess": track.name,
                    "confidence": confidence,
                    "start": round(track.start, 4),
                    "end": round(track.end, 4),
                    "boxes": [_plain(spot) for spot in track.spots],
                }
            )
        return rows


def confidence_of(track: Track, area: float) -> float:
    """Return how likely the class of a track is right: by scores, looks, size and kind of thing.

    ``area`` is that of the picture. A look at which the thing was lost counts as a low score.
    """
    looks = len(track.spots)
    mean = sum(spot.found.score if spot.found else _LOST for spot in track.spots) / looks
    mean = min(max(mean, 0.01), 0.99)
    constant, by_score, by_looks = _CURVE
    height = constant + by_score * log(mean / (1 - mean)) + by_looks * log(len(track.found))
    confidence = min(_MOST, 1 / (1 + exp(-height)))
    boxes = [spot.box for spot in track.spots]
    share = sum((box[2] - box[0]) * (box[3] - box[1]) for box in boxes) / looks / max(area, 1.0)
    if share < _SMALL:
        confidence *= share / _SMALL
    if track.name in CONFUSED:
        confidence = min(confidence, _MOST_OF_CONFUSED if len(track.found) >= _LONG else 0.5)
    return confidence


def _plain(spot: Spot) -> Value:
    return {
        "time": round(spot.time, 4),
        "box": [round(side, 1) for side in spot.box],
        "score": round(spot.found.score, 4) if spot.found else None,
    }


def _wanted(classes: Sequence[str], known: Collection[str]) -> frozenset[str]:
    unknown = [name for name in classes if name not in known]
    if unknown:
        raise ReelbenchError(
            f"objects.classes: the detector has no class {', '.join(map(repr, unknown))};"
            f" write some of {', '.join(known)}."
        )
    return frozenset(classes) or frozenset(known) - CLUTTER
