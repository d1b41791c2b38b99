"""The amount of motion: the mean length of the optical flow between frames half a second apart.

The flow is Farneback's, as in Data-Juicer's motion score and with the same settings, but on frames
scaled down first. That takes a seventh of the time on small clips and far less on large ones, and
sees further: in half a second things move more pixels of a full-size frame than its windows reach.
So, in pixels of the full size, ours is 1.2 to 2.3 times the flow at full size (four clips of 360 to
640 pixels), in the same order. A limit for Data-Juicer's score, such as HumanVBench's 1.2, is a
lenient one for ``pixels``; doubled, it is about as strict.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import hypot
from typing import Any, ClassVar

import numpy as np

from reelbench.annotate.common.crops import opencv
from reelbench.annotate.operator import Clip, Labels, NotApplicable, PartOperator, Value
from reelbench.data.items import Span
from reelbench.media.decode.decode import Image
from reelbench.media.decode.stream import frame_before, scan_frames

# Data-Juicer's: the pyramid's step and levels, the window, rounds, and the polynomial's two.
_FARNEBACK = (0.5, 3, 15, 3, 5, 1.2, 0)
_CUT = 1e-4  # seconds that times of cuts are rounded to


@dataclass(frozen=True)
class Motion(PartOperator):
    """Scores the motion of objects and camera alike.

    ``score`` is in shares of the picture's diagonal, so that it does not depend on its size;
    ``pixels`` is the same in pixels of the full size. Two frames on both sides of a cut are not
    compared, where shots are known.
    """

    name = "motion"
    may_use: ClassVar[tuple[str, ...]] = ("shots",)

    rate: float = 2.0  # frames looked at in each second
    longest: int = 256  # pixels of the longer side of the picture that is looked at

    def part(self, clip: Clip, labels: Labels, span: Span) -> list[tuple[float, float]]:
        """Return the time and the score of each frame that was compared with the one before."""
        if not clip.info.has_video:
            raise NotApplicable("The clip has no video, so nothing moves.")
        cuts: list[float] = labels["shots"]["cuts"] if "shots" in labels else []
        cv2 = opencv()
        scores: list[tuple[float, float]] = []
        before: tuple[int, Image] | None = None  # the number of its shot, and the frame
        earlier = frame_before(clip.path, self.rate, self.longest, True, span[0])
        if earlier is not None:
            before = bisect_right(cuts, earlier[0] + _CUT), earlier[1]
        for time, image in scan_frames(clip.path, self.rate, self.longest, True, *span):
            shot = bisect_right(cuts, time + _CUT)
            if before is not None and before[0] == shot and before[1].shape == image.shape:
                scores.append((time, _movement(cv2, before[1], image)))
            before = shot, image
        return scores

    def merge(
        self, clip: Clip, labels: Labels, parts: Sequence[list[tuple[float, float]]]
    ) -> Value:
        """Return the mean, and the score at the time of each frame that was compared."""
        scores = list(chain(*parts))
        if not scores:
            raise NotApplicable("The clip has no two frames in one shot to compare.")
        mean = sum(score for _, score in scores) / len(scores)
        return {
            "score": round(mean, 6),
            "pixels": round(mean * hypot(clip.info.width, clip.info.height), 4),
            "at": [[round(time, 4), round(score, 6)] for time, score in scores],
        }


def _movement(cv2: Any, before: Image, after: Image) -> float:
    flow = cv2.calcOpticalFlowFarneback(before, after, None, *_FARNEBACK)
    return float(np.hypot(flow[..., 0], flow[..., 1]).mean()) / hypot(*after.shape[:2])
