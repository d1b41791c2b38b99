"""The gender and the age group of voices, where a network and the pitch agree on them.

The network is that of inaSpeechSegmenter (Doukhan et al., "An open-source speaker gender detection
framework for monitoring gender equality", 2018). It hears mel spectra of two thirds of a second.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from reelbench.annotate.common.audio import Mono, mono_sound, parts, turns_of, without
from reelbench.annotate.common.calibration import unless_unsure
from reelbench.annotate.common.keras_file import Tensor, load_network
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.annotate.operators.pitch import median_within
from reelbench.data.items import Span
from reelbench.media.edit.audio import SPEECH_RATE
from reelbench.weights import from_weights

# As the network was trained: the logarithm of 24 mel bands from 100 to 8000 Hz, 25 ms every 10 ms.
_WIDTH, _HOP, _FFT, _BANDS, _LOWEST, _HIGHEST = 400, 160, 512, 24, 100.0, 8000.0
_FRAMES = 68  # of a window
_STRIDE = 20  # frames between two windows
_MOST = 48  # windows of a voice, evenly spread; more change nothing
_BETWEEN, _SLOPE = 165.0, 15.0  # Hz: half of the voices there are female; how soon they all are
_CHILD, _CHILD_SLOPE = 270.0, 15.0  # Hz: half of the voices there are children's
_AGAINST = 0.65  # of the pitch for the other gender: they disagree. Men were heard at 172 Hz
_DISPUTED = 0.6  # the most that is believed where the two disagree
_SUREST = 0.98  # the most that is believed at all: few voices were measured
_OPEN = 0.02  # the network is never believed more than this far from 0 and 1


@dataclass(frozen=True)
class VoiceDemographics(Operator):
    """Says the gender of each voice, and whether it is a child's, where there is little doubt.

    The probability of a gender is that of the network and that of the pitch, multiplied as of two
    witnesses; where the two point to different genders, it is left open. Men were measured at 160
    to 172 Hz and many women speak at 180, so that pitch alone tells few. A child's gender is left
    open too, for neither of the two hears it.
    """

    name: ClassVar[str] = "voice_demographics"
    version: ClassVar[int] = 2
    needs: ClassVar[tuple[str, ...]] = ("turns", "pitch")
    weights: ClassVar[tuple[str, ...]] = ("voice_gender",)
    least_confidence: float = 0.9  # below it, gender or age group is null
    least_seconds: float = 1.0  # of a voice, which must be heard alone

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return gender and age group of each speaker."""
        turns = turns_of(labels["turns"])
        samples = mono_sound(clip) if turns else np.empty(0, np.float32)
        at = labels["pitch"]["at"]
        return {
            "speakers": [
                self._voice_label(speaker, alone(samples, speaker, turns), median_within(at, spans))
                for speaker, spans in turns.items()
            ]
        }

    def _voice_label(self, speaker: str, heard: Mono, pitch: float | None) -> Value:
        seconds = len(heard) / SPEECH_RATE
        female = female_share(heard) if seconds >= self.least_seconds else None
        gender, sure = judge_gender(female, pitch)
        age, age_sure = judge_age(female, pitch)
        return {
            "id": speaker,
            "pitch": pitch,
            "female": None if female is None else round(female, 4),
            "seconds": round(seconds, 4),
            "gender": unless_unsure(gender, sure, self.least_confidence),
            "age_group": unless_unsure(age, age_sure, self.least_confidence),
            "guess": {"gender": gender, "age_group": age},
            "confidence": {"gender": round(sure, 4), "age_group": round(age_sure, 4)},
        }


def judge_gender(female: float | None, pitch: float | None) -> tuple[str | None, float]:
    """Return the likely gender and the confidence in it, by what the network and the pitch say.

    Where one of them is missing, or they point to different genders, the confidence is low.
    """
    if female is None or pitch is None:
        return None, 0.0
    network = float(np.clip(female, _OPEN, 1 - _OPEN))
    by_pitch = _sigmoid((pitch - _BETWEEN) / _SLOPE)
    both = _sigmoid(_logit(network) + _logit(by_pitch))
    gender, sure = ("female", both) if both >= 0.5 else ("male", 1 - both)
    # Half of all children are boys: as far as it may be a child, nothing is known.
    sure = 0.5 + (sure - 0.5) * (1 - _child(pitch))
    against = by_pitch if gender == "male" else 1 - by_pitch
    if (network >= 0.5) != (gender == "female") or against > _AGAINST:
        sure = min(sure, _DISPUTED)
    return gender, min(sure, _SUREST)


def judge_age(female: float | None, pitch: float | None) -> tuple[str | None, float]:
    """Return whether a voice is a child's or an adult's, and the confidence in it.

    A voice that is low is an adult's; one that is very high is most often a child's. Teenagers and
    old voices are not told from adults.
    """
    if pitch is None:
        return None, 0.0
    child = _child(pitch)
    if female is not None:  # a man's voice is that of an adult
        child *= 0.5 + female / 2
    group, sure = ("child", child) if child >= 0.5 else ("adult", 1 - child)
    return group, min(sure, _SUREST)


def _child(pitch: float) -> float:
    return _sigmoid((pitch - _CHILD) / _CHILD_SLOPE)


def _sigmoid(x: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(x, -30, 30))))


def _logit(share: float) -> float:
    return float(np.log(max(share, 1e-9) / max(1 - share, 1e-9)))


def alone(samples: Mono, speaker: str, turns: dict[str, list[Span]]) -> Mono:
    """Return what a speaker says while no one else speaks."""
    others = [span for other, spans in turns.items() if other != speaker for span in spans]
    return parts(samples, without(turns[speaker], others))


def female_share(samples: Mono) -> float:
    """Return how much a voice sounds like a woman's to the network, from 0 to 1."""
    bands = _mel_spectrum(np.pad(samples, (0, max(0, _FRAMES * _HOP + _WIDTH - len(samples)))))
    windows = sliding_window_view(bands, _FRAMES, axis=0)[::_STRIDE].transpose(0, 2, 1)
    if len(windows) > _MOST:
        windows = windows[np.linspace(0, len(windows) - 1, _MOST).round().astype(int)]
    deviation = np.maximum(windows.std((1, 2), keepdims=True), 1e-6)
    level = (windows - windows.mean((1, 2), keepdims=True)) / deviation
    return float(_network()(level.astype(np.float32))[:, 0].mean())


def _mel_spectrum(samples: Mono) -> NDArray[np.float64]:
    frames = sliding_window_view(samples, _WIDTH)[::_HOP].astype(np.float64)
    # High tones are lifted, each frame by itself.
    lifted = frames - 0.97 * np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    power = np.abs(np.fft.rfft(lifted * np.hanning(_WIDTH), _FFT)) ** 2
    return np.asarray(np.log(power @ _mel_bands().T + 1e-12))


@cache
def _mel_bands() -> NDArray[np.float64]:
    """Triangles of equal area on the mel scale of HTK."""
    low, high = (2595 * np.log10(1 + hertz / 700) for hertz in (_LOWEST, _HIGHEST))
    edges = 700 * (10 ** (np.linspace(low, high, _BANDS + 2) / 2595) - 1)
    tones = np.linspace(0, SPEECH_RATE / 2, _FFT // 2 + 1)
    left, middle, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (tones - left) / (middle - left), (right - tones) / (right - middle)
    return np.asarray(np.maximum(0, np.minimum(rising, falling)) * 2 / (right - left))


@from_weights("voice_gender")
def _network(path: Path) -> Callable[[Tensor], Tensor]:
    return load_network(path)
