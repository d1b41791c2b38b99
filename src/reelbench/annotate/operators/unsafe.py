"""The probability that frames are not safe for work: Yahoo's open_nsfw, one frame in two seconds.

The network was trained on photographs that were stretched to a square, and detects pornography
alone: not violence, not gore. From 0.8 on a frame is most likely unsafe, below 0.2 most likely not.
It is wrong on single frames, above all on cartoons and close-ups of skin (a grey cartoon rabbit got
0.9): filter clips by the mean, and check those by eye of which only the maximum is high.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import numpy as np
from PIL import Image as Pillow

from reelbench.annotate.common.sessions import one_thread_session
from reelbench.annotate.operator import Clip, Labels, NotApplicable, PartOperator, Value
from reelbench.data.items import Span
from reelbench.media.decode.decode import Image
from reelbench.media.decode.stream import scan_frames

_WHOLE, _MIDDLE = 256, 224  # pixels that a frame is stretched to, and those that are looked at
_MEAN = np.array([104, 117, 123], np.float32)  # blue, green, red


@dataclass(frozen=True)
class Unsafe(PartOperator):
    """Computes the probability for each sampled frame, the highest, and the mean."""

    name = "unsafe"
    weights: ClassVar[tuple[str, ...]] = ("unsafe",)

    rate: float = 0.5  # frames looked at in each second

    def part(self, clip: Clip, labels: Labels, span: Span) -> list[list[float]]:
        """Return the time and the probability of each sampled frame."""
        if not clip.info.has_video:
            raise NotApplicable("The clip has no video that could be unsafe.")
        return [
            [round(time, 4), round(_probability(image), 4)]
            for time, image in scan_frames(clip.path, self.rate, 2 * _WHOLE, False, *span)
        ]

    def merge(self, clip: Clip, labels: Labels, parts: Sequence[list[list[float]]]) -> Value:
        """Return the probabilities of a clip."""
        at = list(chain(*parts))
        if not at:
            raise NotApplicable("No frame of the clip can be decoded.")
        values = [value for _, value in at]
        return {"most": max(values), "mean": round(sum(values) / len(values), 4), "at": at}


def _probability(image: Image) -> float:
    square = Pillow.fromarray(image).resize((_WHOLE, _WHOLE), Pillow.Resampling.BILINEAR)
    edge = (_WHOLE - _MIDDLE) // 2
    middle = np.asarray(square, np.float32)[edge:-edge, edge:-edge, ::-1] - _MEAN
    session = one_thread_session("unsafe")
    name = session.get_inputs()[0].name
    (scores,) = session.run(None, {name: np.ascontiguousarray(middle[None])})
    return float(scores[0][1])  # the first is "safe"
