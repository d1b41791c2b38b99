"""The share of sampled frames that contain a face."""

from dataclasses import dataclass
from typing import ClassVar

from reelbench.annotate.operator import Clip, Labels, Operator, Value


@dataclass(frozen=True)
class FaceRatio(Operator):
    """Computes the share of frames with a face; videos of people should have 0.65 or more."""

    name = "face_ratio"
    needs: ClassVar[tuple[str, ...]] = ("faces",)

    least_size: float = 0.0  # of a face that counts: its height, as a share of the picture's

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the share of frames with a face."""
        frames = labels["faces"]["frames"]
        least = self.least_size * labels["faces"]["height"]
        seen = sum(
            any(face["box"][3] - face["box"][1] >= least for face in frame["faces"])
            for frame in frames
        )
        return {"share": round(seen / len(frames), 4), "frames": len(frames)}
