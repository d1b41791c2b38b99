"""Detects shots: cuts, dissolves and fades, by a network or by the detectors of PySceneDetect."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common import transnet
from reelbench.annotate.common.crops import opencv
from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator, Value
from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.decode import Image
from reelbench.media.decode.stream import scan_frames
from reelbench.weights import import_extra

# The class in scenedetect, what it calls its threshold, and the threshold it is known for.
_DETECTORS = {
    "content": ("ContentDetector", "threshold", 27.0),
    "adaptive": ("AdaptiveDetector", "adaptive_threshold", 3.0),
    "threshold": ("ThresholdDetector", "threshold", 12.0),
}
_NETWORK = "transnet"
_PROBABLE = 0.5  # the network's own threshold
_FASTEST = 32.0  # frames a second; of more, every second or third is looked at
_SUDDEN = 3  # frames; a transition of no more is a cut


@dataclass(frozen=True)
class Shots(Operator):
    """Splits a clip into shots.

    ``transnet`` is a network (TransNet V2) that finds cuts, dissolves and fades, and is not misled
    by a moving camera; the middle of a dissolve is its cut. The others are PySceneDetect's:
    ``content`` finds cuts by the change of colours from frame to frame; ``adaptive`` compares that
    change with those around it; ``threshold`` finds fades through black. Cuts closer to each other
    than ``least_frames`` are one: of a burst of very short shots, only its ends are found.
    """

    name = "shots"
    version: ClassVar[int] = 2
    weights: ClassVar[tuple[str, ...]] = (transnet.WEIGHTS,)

    detector: str = _NETWORK
    threshold: float | None = None  # None is the one that the detector is known for
    least_frames: int = 15
    longest: int = 256  # pixels of the longer side of the picture that PySceneDetect looks at

    def __post_init__(self) -> None:
        if self.detector not in (_NETWORK, *_DETECTORS):
            known = ", ".join((_NETWORK, *_DETECTORS))
            raise ReelbenchError(
                f"shots.detector cannot be {self.detector!r}: expected one of {known}."
            )

    @property
    def uses(self) -> tuple[str, ...]:
        """The weights of the network, where it is the detector."""
        return self.weights if self.detector == _NETWORK else ()

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the cuts, the shots between them and the transitions that take time.

        The shots cover the whole clip.
        """
        if not clip.info.has_video:
            raise NotApplicable("The clip has no video, so there are no shots.")
        find = self._by_network if self.detector == _NETWORK else self._by_changes
        times, transitions = find(clip)
        if not times:
            raise NotApplicable("No frame of the clip can be decoded.")
        spans = merged(transitions, self.least_frames)
        cuts = [times[(first + last) // 2 + 1] for first, last in spans]
        slow = [(first, last) for first, last in spans if last - first >= _SUDDEN]
        edges = [0.0, *cuts, round(max(clip.info.duration, times[-1]), 4)]
        return {
            "cuts": cuts,
            "shots": [list(span) for span in pairwise(edges)],
            "transitions": [[times[first], times[last]] for first, last in slow],
        }

    def _by_network(self, clip: Clip) -> tuple[list[float], list[tuple[int, int]]]:
        """The times of frames, and transitions as the numbers of their first and last frames."""
        times: list[float] = []
        found = transnet.transition_probabilities(_small_frames(clip, times))
        limit = _PROBABLE if self.threshold is None else self.threshold
        return times, transition_spans(found, limit)

    def _by_changes(self, clip: Clip) -> tuple[list[float], list[tuple[int, int]]]:
        rate = Fraction(clip.info.frame_rate or 25).limit_denominator(1001)
        return self._cuts(scan_frames(clip.path, longest=self.longest), rate)

    def _cuts(
        self, frames: Iterable[tuple[float, Image]], rate: Fraction
    ) -> tuple[list[float], list[tuple[int, int]]]:
        """The same by PySceneDetect, whose transitions are all sudden."""
        cv2, scenedetect = opencv(), import_extra("scenedetect", "annotate")
        detector = self._made(scenedetect)
        times: list[float] = []
        found: list[Any] = []
        for number, (time, image) in enumerate(frames):
            times.append(round(time, 4))
            bgr = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
            # It counts in frames; ours may come unevenly, so that only we know their times.
            place = scenedetect.FrameTimecode(number, rate)
            found += detector.process_frame(place, bgr)
        cuts = sorted({place.frame_num for place in found})
        return times, [(number - 1, number - 1) for number in cuts if 0 < number < len(times)]

    def _made(self, scenedetect: Any) -> Any:
        kind, word, known = _DETECTORS[self.detector]
        threshold = known if self.threshold is None else self.threshold
        return getattr(scenedetect, kind)(**{word: threshold, "min_scene_len": self.least_frames})


def transition_spans(probabilities: NDArray[np.float64], limit: float) -> list[tuple[int, int]]:
    """Return the first and last frame of each transition, before the frame that is a new shot.

    A transition is where the first probability of frames, that of its middle, passes the limit; it
    is as long as the second, that of any part of it, stays above.
    """
    middle, part = (probabilities >= limit).T
    inside = middle | part
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(int)))
    spans = [(int(first), int(after) - 1) for first, after in zip(edges[::2], edges[1::2])]  # noqa: B905 - they come in pairs
    last = len(middle) - 2  # a transition that the video ends in leads to no shot
    return [(a, b) for a, b in spans if middle[a : b + 1].any() and (a + b) // 2 <= last]


def merged(spans: list[tuple[int, int]], least: int) -> list[tuple[int, int]]:
    """Return transitions in order, without those that begin too soon after the one before."""
    kept: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if not kept or (first + last) // 2 - sum(kept[-1]) // 2 >= least:
            kept.append((first, last))
    return kept


def _small_frames(clip: Clip, times: list[float]) -> Iterator[Image]:
    """Yield frames as the network sees them, and note their times."""
    cv2 = opencv()
    fast = clip.info.frame_rate or 25.0
    rate = fast / np.ceil(fast / _FASTEST) if fast > _FASTEST else None
    for time, image in scan_frames(clip.path, rate, 4 * transnet.WIDTH):
        times.append(round(time, 4))
        size = transnet.WIDTH, transnet.HEIGHT
        yield cv2.resize(image, size, interpolation=cv2.INTER_AREA)
