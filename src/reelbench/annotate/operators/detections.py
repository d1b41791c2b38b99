"""People and things in sampled frames, detected once for all labels that build on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from reelbench.annotate.common import coco
from reelbench.annotate.common.tracking import Detection
from reelbench.annotate.operator import Clip, Labels, NotApplicable, PartOperator, Value
from reelbench.data.items import Span
from reelbench.media.decode.stream import scan_frames

_SIZE = 640  # pixels of the longer side that is looked at; the detector sees less


@dataclass(frozen=True)
class Detections(PartOperator):
    """Detects people and things by a COCO detector ``rate`` times a second.

    ``bodies``, ``count`` and ``objects`` read them. Every sampled frame is listed.
    """

    name: ClassVar[str] = "detections"
    weights: ClassVar[tuple[str, ...]] = coco.WEIGHTS

    rate: float = 2.5  # looks in each second; a look takes about 0.1 s
    least_score: float = 0.3  # below it, nothing is believed

    def part(self, clip: Clip, labels: Labels, span: Span) -> list[Value]:
        """Return what is found in each sampled frame, in pixels of the full size."""
        if not clip.info.has_video:
            raise NotApplicable("The clip has no video, so there is nothing to detect.")
        frames = []
        for time, image in scan_frames(clip.path, self.rate, _SIZE, False, *span):
            scale = clip.info.width / image.shape[1], clip.info.height / image.shape[0]
            found = coco.detect(image, least_score=self.least_score)
            frames.append({"time": round(time, 4), "found": [_plain(x, scale) for x in found]})
        return frames

    def merge(self, clip: Clip, labels: Labels, parts: Sequence[list[Value]]) -> Value:
        """Return what is found in all frames."""
        frames = list(chain(*parts))
        if not frames:
            raise NotApplicable("No frame of the clip can be decoded.")
        return {"rate": self.rate, "classes": list(coco.class_names()), "frames": frames}


def _plain(found: Detection, scale: tuple[float, float]) -> Value:
    return {
        "class": found.name,
        "box": [round(side * scale[at % 2], 1) for at, side in enumerate(found.box)],
        "score": round(found.score, 4),
    }
