"""Dogs, cars and other objects, detected at a low rate and tracked."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from reelbench.annotate.common.found import looks_of
from reelbench.annotate.common.tracking import Track, join
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


@dataclass(frozen=True)
class Objects(Operator):
    """Tracks the things that ``detections`` has, in each shot.

    ``classes`` are the detector's; empty for all but small clutter. A track continues where a box
    overlaps by more than ``overlap`` with where it is expected, ends after over ``gap`` sampled
    frames without it, and must have ``least`` detections.
    """

    name: ClassVar[str] = "objects"
    version: ClassVar[int] = 2
    needs: ClassVar[tuple[str, ...]] = ("detections",)
    may_use: ClassVar[tuple[str, ...]] = ("shots",)
    classes: tuple[str, ...] = ()
    least_score: float = 0.5
    overlap: float = 0.3
    gap: int = 4
    least: int = 3
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
        return {"rate": labels["detections"]["rate"], "tracks": _numbered(tracks)}


def _wanted(classes: Sequence[str], known: Collection[str]) -> frozenset[str]:
    unknown = [name for name in classes if name not in known]
    if unknown:
        raise ReelbenchError(
            f"objects.classes: the detector has no class {', '.join(map(repr, unknown))};"
            f" write some of {', '.join(known)}."
        )
    return frozenset(classes) or frozenset(known) - CLUTTER


def _numbered(tracks: list[Track]) -> list[Value]:
    """The tracks as plain data, with names such as dog-1, counted per class as they appear."""
    counts: dict[str, int] = {}
    rows: list[Value] = []
    for track in tracks:
        number = counts[track.name] = counts.get(track.name, 0) + 1
        boxes = [
            {
                "time": round(spot.time, 4),
                "box": [round(side, 1) for side in spot.box],
                "score": round(spot.found.score, 4) if spot.found else None,
            }
            for spot in track.spots
        ]
        rows.append(
            {
                "id": f"{track.name.replace(' ', '-')}-{number}",
                "class": track.name,
                "start": round(track.start, 4),
                "end": round(track.end, 4),
                "boxes": boxes,
            }
        )
    return rows
