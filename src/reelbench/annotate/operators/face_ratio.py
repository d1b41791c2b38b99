"""The share of looked-at frames in which there is a face."""

from dataclasses import dataclass
from typing import ClassVar

from reelbench.annotate.operator import Clip, Labels, Operator, Value


@dataclass(frozen=True)
class FaceRatio(Operator):
    """Say how much of a clip shows a face; collecting videos of people asks for 0.65 or more."""

    name = "face_ratio"
    needs: ClassVar[tuple[str, ...]] = ("faces",)

    least_size: float = 0.0  # of a face that counts: its height, as a share of the picture's

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Count the frames with a face."""
        frames = labels["faces"]["frames"]
        least = self.least_size * labels["faces"]["height"]
        seen = sum(
            any(face["box"][3] - face["box"][1] >= least for face in frame["faces"])
            for frame in frames
        )
        return {"share": round(seen / len(frames), 4), "frames": len(frames)}
