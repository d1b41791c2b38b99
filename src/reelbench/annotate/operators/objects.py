"""Dogs, cars and other objects, detected at a low rate and tracked."""

from dataclasses import dataclass
from typing import ClassVar

from reelbench.annotate.common import coco
from reelbench.annotate.common.tracking import Detection, Track, join
from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator, Value
from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.stream import scan_frames

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
_SIZE = 960  # pixels of the longer side that is looked at; the detector sees less


@dataclass(frozen=True)
class Objects(Operator):
    """Detects objects by a COCO detector ``rate`` times a second, and tracks them in each shot.

    ``classes`` are COCO's; empty for all but small clutter. A track continues where a box overlaps
    by more than ``overlap`` with where it is expected, ends after over ``gap`` sampled frames
    without it, and must have ``least`` detections.
    """

    name: ClassVar[str] = "objects"
    may_use: ClassVar[tuple[str, ...]] = ("shots",)
    weights: ClassVar[tuple[str, ...]] = coco.WEIGHTS
    rate: float = 2.5
    classes: tuple[str, ...] = ()
    least_score: float = 0.5
    overlap: float = 0.3
    gap: int = 4
    least: int = 3
    reach: float = 0.6  # who walks leaves the place of his box between two looks

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the tracks of objects in a clip."""
        if not clip.info.has_video:
            raise NotApplicable("The clip has no video, so there are no objects.")
        classes = _wanted(self.classes)
        sampled: list[tuple[float, list[Detection]]] = []
        shape = (0, 0)
        for time, image in scan_frames(clip.path, self.rate, _SIZE):
            shape = image.shape[1], image.shape[0]
            sampled.append((time, coco.detect(image, classes, self.least_score)))
        if not sampled:
            raise NotApplicable("No frame of the clip can be decoded.")
        cuts = labels.get("shots", {}).get("cuts", [])
        least = min(self.least, len(sampled))
        tracks = join(sampled, self.overlap, self.gap, least, cuts, self.reach)
        scale = clip.info.width / shape[0], clip.info.height / shape[1]
        return {"rate": self.rate, "tracks": _numbered(tracks, scale)}


def _wanted(classes: tuple[str, ...]) -> frozenset[str]:
    known = coco.class_names()
    unknown = [name for name in classes if name not in known]
    if unknown:
        raise ReelbenchError(
            f"objects.classes: the detector has no class {', '.join(map(repr, unknown))};"
            f" write some of {', '.join(known)}."
        )
    return frozenset(classes) or frozenset(known) - CLUTTER


def _numbered(tracks: list[Track], scale: tuple[float, float]) -> list[Value]:
    """The tracks as plain data, with names such as dog-1, counted per class as they appear."""
    counts: dict[str, int] = {}
    rows: list[Value] = []
    for track in tracks:
        number = counts[track.name] = counts.get(track.name, 0) + 1
        boxes = [
            {
                "time": round(spot.time, 4),
                "box": [round(side * scale[at % 2], 1) for at, side in enumerate(spot.box)],
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
