"""Detects shots with the detectors of PySceneDetect, on scaled-down frames.

The detectors and their thresholds are the package's own; frames are ours, decoded and scaled in one
step, which takes a fraction of the time and finds the same cuts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

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


@dataclass(frozen=True)
class Shots(Operator):
    """Splits a clip into shots.

    ``content`` finds cuts by the change of colours from frame to frame; ``adaptive`` compares that
    change with those around it, which tolerates a moving camera and finds more cuts in calm clips;
    ``threshold`` finds fades through black. Cuts closer to each other than ``least_frames`` are
    one: of a burst of very short shots, only its ends are found.
    """

    name = "shots"

    detector: str = "content"
    threshold: float | None = None  # None is the one that the detector is known for
    least_frames: int = 15
    longest: int = 256  # pixels of the longer side of the picture that is looked at

    def __post_init__(self) -> None:
        if self.detector not in _DETECTORS:
            known = ", ".join(_DETECTORS)
            raise ReelbenchError(
                f"shots.detector cannot be {self.detector!r}: expected one of {known}."
            )

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the times of the cuts, and the shots between them, which cover the whole clip."""
        if not clip.info.has_video:
            raise NotApplicable("The clip has no video, so there are no shots.")
        rate = Fraction(clip.info.frame_rate or 25).limit_denominator(1001)
        cuts, last = self._cuts(scan_frames(clip.path, longest=self.longest), rate)
        edges = [0.0, *cuts, round(max(clip.info.duration, last), 4)]
        return {"cuts": cuts, "shots": [list(span) for span in pairwise(edges)]}

    def _cuts(
        self, frames: Iterable[tuple[float, Image]], rate: Fraction
    ) -> tuple[list[float], float]:
        """Return the times of the first frames after cuts, and the time of the last frame."""
        cv2, scenedetect = import_extra("cv2", "annotate"), import_extra("scenedetect", "annotate")
        cv2.setNumThreads(1)
        detector = self._made(scenedetect)
        times: list[float] = []
        found: list[Any] = []
        for number, (time, image) in enumerate(frames):
            times.append(round(time, 4))
            bgr = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
            # It counts in frames; ours may come unevenly, so that only we know their times.
            place = scenedetect.FrameTimecode(number, rate)
            found += detector.process_frame(place, bgr)
        if not times:
            raise NotApplicable("No frame of the clip can be decoded.")
        cuts = sorted({place.frame_num for place in found})
        return [times[number] for number in cuts if 0 < number < len(times)], times[-1]

    def _made(self, scenedetect: Any) -> Any:
        kind, word, known = _DETECTORS[self.detector]
        threshold = known if self.threshold is None else self.threshold
        return getattr(scenedetect, kind)(**{word: threshold, "min_scene_len": self.least_frames})
