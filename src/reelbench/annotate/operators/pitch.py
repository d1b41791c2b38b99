"""The pitch of voices, by YIN (de Cheveigne and Kawahara, 2002), where there is speech."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from reelbench.annotate.common.audio import Mono, mono_sound, turns_of, within
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.annotate.operators.sound import speech_in
from reelbench.data.items import Span
from reelbench.media.edit.audio import SPEECH_RATE

_HOP = 160  # samples: a hundred looks a second
_BATCH = 2000  # frames
_MEDIAN = 10  # looks for each value of the label
_QUIET = 1e-3  # of full scale: noise has a pitch by chance
_FEWEST = 3  # looks of a stretch that must have a pitch


@dataclass(frozen=True)
class Pitch(Operator):
    """Measures the pitch of speech, ten values a second, and the median of all and per speaker.

    Speakers are distinguished with the label ``turns``. On speech over music, pitch is found at few
    times, and the median is less reliable.
    """

    name: ClassVar[str] = "pitch"
    may_use: ClassVar[tuple[str, ...]] = ("sound", "turns")
    lowest: float = 60.0  # Hz
    highest: float = 500.0
    periodic: float = 0.15  # YIN's threshold; what is less regular has no pitch

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the pitch of the voices in a clip."""
        samples = mono_sound(clip)
        moments = _moments(samples)
        heard = within(moments, speech_in(clip, labels))
        pitches = np.full(len(moments), np.nan)
        frames = np.flatnonzero(heard)
        pitches[heard] = yin(samples, frames, self.lowest, self.highest, self.periodic)
        at = _summed_up(moments, pitches)
        turns = turns_of(labels["turns"]) if "turns" in labels else {}
        medians = {speaker: median_within(at, spans) for speaker, spans in turns.items()}
        return {
            "median": median_within(at, [(0.0, float("inf"))]),
            "at": [[round(time, 4), hertz] for time, hertz in at],
            "speakers": [{"id": speaker, "median": median} for speaker, median in medians.items()],
        }


def median_within(at: Sequence[Sequence[float]], spans: Sequence[Span]) -> float | None:
    """Return the median of the values whose times lie in some spans; None where there are none."""
    inside = within(np.array([time for time, _ in at]), spans)
    chosen = [hertz for (_, hertz), counts in zip(at, inside, strict=True) if counts]
    return round(float(np.median(chosen)), 1) if chosen else None


def _moments(samples: Mono) -> NDArray[np.float64]:
    return (np.arange(len(samples) // _HOP) + 0.5) * _HOP / SPEECH_RATE


def _summed_up(
    moments: NDArray[np.float64], pitches: NDArray[np.float64]
) -> list[tuple[float, float]]:
    """Return one value for ten frames, where some of them have a pitch."""
    found: list[tuple[float, float]] = []
    for begin in range(0, len(moments), _MEDIAN):
        values = pitches[begin : begin + _MEDIAN]
        voiced = values[~np.isnan(values)]
        if len(voiced) >= _FEWEST:
            middle = float(moments[begin : begin + _MEDIAN].mean())
            found.append((middle, round(float(np.median(voiced)), 1)))
    return found


def yin(
    samples: Mono, frames: NDArray[np.intp], lowest: float, highest: float, threshold: float
) -> NDArray[np.float64]:
    """Return the pitch at the centre of each of the frames in Hz, NaN where there is none."""
    longest, shortest = int(SPEECH_RATE / lowest) + 1, int(SPEECH_RATE / highest)
    size = 2 * longest  # two periods of the lowest voice, and one more to shift them by
    half = (size + longest) // 2
    around = sliding_window_view(np.pad(samples, (half, half + _HOP)), size + longest)
    batches = [
        _yin(around[frames[i : i + _BATCH] * _HOP + _HOP // 2], size, shortest, threshold)
        for i in range(0, len(frames), _BATCH)
    ]
    return np.concatenate([np.empty(0), *batches])


def _yin(
    windows: NDArray[np.float32], size: int, shortest: int, threshold: float
) -> NDArray[np.float64]:
    wide = windows.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    unlike = _unlikeness(centred, size)
    below = unlike[:, shortest:] < threshold
    pitches = np.full(len(windows), np.nan)
    loud = np.sqrt(np.mean(centred**2, axis=1)) > _QUIET
    for row in np.flatnonzero(below.any(axis=1) & loud):
        lag = shortest + int(below[row].argmax())
        while lag + 1 < unlike.shape[1] and unlike[row, lag + 1] < unlike[row, lag]:
            lag += 1
        if lag + 1 < unlike.shape[1]:  # else it is still falling: lower than the lowest
            pitches[row] = SPEECH_RATE / (lag + _vertex(*unlike[row, lag - 1 : lag + 2]))
    return pitches


def _unlikeness(windows: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """How much a window differs from itself some samples later, to the mean of smaller shifts."""
    length = windows.shape[1]
    spectrum = np.fft.rfft(windows, 2 * length)
    first = np.fft.rfft(windows[:, :size], 2 * length)
    lags = length - size
    product = np.fft.irfft(spectrum * first.conj(), 2 * length)[:, :lags]
    energy = np.cumsum(np.pad(windows**2, ((0, 0), (1, 0))), axis=1)
    moved = energy[:, size : size + lags] - energy[:, :lags]
    difference = np.maximum(moved[:, :1] + moved - 2 * product, 0)
    mean = np.cumsum(difference[:, 1:], axis=1) / np.arange(1, lags)
    return np.concatenate(
        [np.ones((len(windows), 1)), difference[:, 1:] / np.maximum(mean, 1e-12)], axis=1
    )


def _vertex(left: float, middle: float, right: float) -> float:
    """Where, between two samples, a parabola through three values is lowest."""
    bend = left - 2 * middle + right
    return float(np.clip((left - right) / (2 * bend), -0.5, 0.5)) if bend > 0 else 0.0
