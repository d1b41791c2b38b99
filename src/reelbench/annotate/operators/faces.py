"""Detects faces, with five points each: YuNet, through OpenCV."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from reelbench.annotate.common.crops import opencv
from reelbench.annotate.operator import Clip, Labels, NotApplicable, PartOperator, Value
from reelbench.data.items import Span
from reelbench.media.decode.decode import Image
from reelbench.media.decode.stream import scan_frames
from reelbench.weights import from_weights

_NEAR = 0.3  # overlap from which two boxes are one face


@dataclass(frozen=True)
class Faces(PartOperator):
    """Detects faces in scaled-down frames, a few each second.

    Every sampled frame is listed. The five points are the eye on the left, the eye on the right,
    the tip of the nose, and the corners of the mouth, on the left and on the right, as seen in the
    picture.
    """

    name = "faces"
    weights: ClassVar[tuple[str, ...]] = ("face",)

    rate: float = 8.0  # frames looked at in each second
    longest: int = 512  # pixels of the longer side of the picture that is looked at
    least_score: float = 0.7  # below it, a face is not believed

    def part(self, clip: Clip, labels: Labels, span: Span) -> list[Value]:
        """Return the faces of each sampled frame."""
        if not clip.info.has_video:
            raise NotApplicable("The clip has no video, so there are no faces.")
        size = clip.info.width, clip.info.height
        return [
            {"time": round(time, 4), "faces": self._faces(image, size)}
            for time, image in scan_frames(clip.path, self.rate, self.longest, False, *span)
        ]

    def merge(self, clip: Clip, labels: Labels, parts: Sequence[list[Value]]) -> Value:
        """Return the faces of all frames."""
        frames = list(chain(*parts))
        if not frames:
            raise NotApplicable("No frame of the clip can be decoded.")
        size = {"width": clip.info.width, "height": clip.info.height}
        return {**size, "rate": self.rate, "frames": frames}

    def _faces(self, image: Image, size: tuple[int, int]) -> list[Value]:
        """The faces in one picture, left to right, in pixels of the full size."""
        detector = _detector()
        height, width = image.shape[:2]
        detector.setInputSize((width, height))
        detector.setScoreThreshold(self.least_score)
        found = detector.detect(image[:, :, ::-1].copy())[1]  # it was trained on BGR
        scale = size[0] / width, size[1] / height
        faces = [_face(row, scale, size) for row in ([] if found is None else found.tolist())]
        inside = [face for face in faces if _has_area(face["box"])]
        return sorted(inside, key=lambda face: (*face["box"], -face["score"]))


@from_weights("face")
def _detector(path: Path) -> Any:
    cv2 = opencv()
    detector = cv2.FaceDetectorYN.create(str(path), "", (320, 320), 0.9, _NEAR)
    detector.detect(np.zeros((320, 320, 3), np.uint8))  # another kind of model fails here
    return detector


def _face(row: list[float], scale: tuple[float, float], size: tuple[int, int]) -> Value:
    """A row is left, top, width, height, five points, score."""
    left, top, width, height, *points, score = row
    corners = left, top, left + width, top + height
    return {
        "box": [
            round(min(max(corner * scale[axis % 2], 0.0), size[axis % 2]), 1)
            for axis, corner in enumerate(corners)
        ],
        "score": round(score, 4),
        "points": [
            [round(x * scale[0], 1), round(y * scale[1], 1)]
            for x, y in zip(points[::2], points[1::2], strict=True)
        ],
    }


def _has_area(box: list[float]) -> bool:
    return box[0] < box[2] and box[1] < box[3]
