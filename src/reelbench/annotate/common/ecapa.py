"""ECAPA-TDNN in NumPy: an embedding of a voice, by which speakers are told apart.

The network of Desplanques, Thienpondt and Demuynck (arXiv 2005.07143) as SpeechBrain trained it on
VoxCeleb: convolutions over time, channels weighed by what is heard in all, and a mean and a
deviation over the moments that the network attends to.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from reelbench.annotate.common.audio import Mono
from reelbench.base.errors import ReelbenchError
from reelbench.media.edit.audio import SPEECH_RATE
from reelbench.weights import from_weights
from reelbench.weights.checkpoint import read_checkpoint

WEIGHTS = "voice_ecapa"
SIZE = 192  # numbers of an embedding
_NONE = np.zeros(0, np.float32)
Tensor = NDArray[np.float32]
# As it was trained: the logarithm of 80 mel bands, 25 ms every 10 ms, at most 80 dB below the
# loudest, less their mean over time.
_WIDTH, _HOP, _BANDS, _RANGE_DB = 400, 160, 80, 80.0
_BLOCKS, _PARTS = 3, 8
_SHORTEST = 0.5  # seconds; what is shorter is repeated, for the network looks at half a second


def voice_embedding(samples: Mono) -> Tensor:
    """Return the embedding of one voice at 16 kHz, of length 1; two are compared by cosine."""
    least = round(_SHORTEST * SPEECH_RATE)
    if len(samples) < least:
        samples = np.resize(samples, least) if len(samples) else np.zeros(least, np.float32)
    found = _forward(mel_features(samples))
    return np.asarray(found / (np.linalg.norm(found) + 1e-12), np.float32)


def mel_features(samples: Mono) -> Tensor:
    """Return the mel bands of sound in dB, a row for each hundredth of a second, centred."""
    padded = np.pad(samples, _WIDTH // 2)
    frames = sliding_window_view(padded, _WIDTH)[::_HOP]
    window = 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(_WIDTH) / _WIDTH)
    spectrum = np.fft.rfft(frames * window)
    power = (spectrum.real**2 + spectrum.imag**2) @ _mel_bands()
    decibel = 10 * np.log10(np.maximum(power, 1e-10))
    decibel = np.maximum(decibel, decibel.max() - _RANGE_DB)
    return np.asarray(decibel - decibel.mean(axis=0), np.float32)


@cache
def _mel_bands() -> NDArray[np.float64]:
    """Triangles that fall on both sides as they rise on the left, as SpeechBrain has them."""
    mels = np.linspace(0, 2595 * np.log10(1 + SPEECH_RATE / 2 / 700), _BANDS + 2)
    edges = 700 * (10 ** (mels / 2595) - 1)
    tones = np.linspace(0, SPEECH_RATE / 2, _WIDTH // 2 + 1)
    away = (tones[:, None] - edges[1:-1]) / np.diff(edges)[:-1]
    return np.asarray(np.maximum(0, 1 - np.abs(away)))


def _forward(features: Tensor) -> Tensor:
    x = _layer(features, "blocks.0")
    outs = []
    for block in range(1, _BLOCKS + 1):
        x = _residual(x, f"blocks.{block}", distance=block + 1)
        outs.append(x)
    pooled = _pooled(_layer(np.concatenate(outs, 1), "mfa"))
    scale, shift = _normalisation("asp_bn")
    return _dense(pooled * scale + shift, "fc")


def _residual(x: Tensor, name: str, distance: int) -> Tensor:
    """Return a block: eight parts, each of which hears the one before, then channels weighed."""
    first = _layer(x, f"{name}.tdnn1")
    parts = np.split(first, _PARTS, axis=1)
    outs = [parts[0]]
    for number, part in enumerate(parts[1:]):
        heard = part if number == 0 else part + outs[-1]
        outs.append(_layer(heard, f"{name}.res2net_block.blocks.{number}", distance))
    last = _layer(np.concatenate(outs, 1), f"{name}.tdnn2")
    hidden = np.maximum(_dense(last.mean(axis=0), f"{name}.se_block.conv1"), 0)
    weights = 1 / (1 + np.exp(-_dense(hidden, f"{name}.se_block.conv2")))
    return np.asarray(last * weights + x, np.float32)


def _pooled(x: Tensor) -> Tensor:
    """Return the mean and deviation of each channel over the moments that are attended to."""
    even = np.full((len(x), 1), 1 / len(x), np.float32)
    whole = np.broadcast_to(np.concatenate(_statistics(x, even)), (len(x), 2 * x.shape[1]))
    hidden = np.tanh(_layer(np.concatenate([x, whole], 1), "asp.tdnn"))
    scores = _dense(hidden, "asp.conv")
    weights = np.exp(scores - scores.max(axis=0))
    return np.concatenate(_statistics(x, weights / weights.sum(axis=0)))


def _statistics(x: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    mean: Tensor = (weights * x).sum(axis=0)
    spread = (weights * (x - mean) ** 2).sum(axis=0)
    return mean, np.sqrt(np.maximum(spread, 1e-12))


def _layer(x: Tensor, name: str, distance: int = 1) -> Tensor:
    """Return a convolution over time, then what is above 0, normalised."""
    weights = _weights()
    kernel = weights[f"{name}.conv.conv.weight"]  # out, in, width
    width = kernel.shape[2]
    reach = distance * (width - 1) // 2
    # The network heard sound mirrored at its ends.
    padded = np.pad(x, ((reach, reach), (0, 0)), mode="reflect") if reach else x
    out = np.zeros((len(x), len(kernel)), np.float32)
    for place in range(width):
        out += padded[place * distance : place * distance + len(x)] @ kernel[:, :, place].T
    scale, shift = _normalisation(f"{name}.norm")
    normal: Tensor = np.maximum(out + weights[f"{name}.conv.conv.bias"], 0) * scale + shift
    return normal


def _normalisation(name: str) -> tuple[Tensor, Tensor]:
    weights = _weights()
    spread = np.sqrt(weights[f"{name}.norm.running_var"] + 1e-5)
    scale = weights[f"{name}.norm.weight"] / spread
    return scale, weights[f"{name}.norm.bias"] - weights[f"{name}.norm.running_mean"] * scale


def _dense(x: Tensor, name: str) -> Tensor:
    weights = _weights()
    out: Tensor = x @ weights[f"{name}.conv.weight"][:, :, 0].T + weights[f"{name}.conv.bias"]
    return out


@from_weights(WEIGHTS)
def _weights(path: Path) -> Mapping[str, Tensor]:
    found = read_checkpoint(path)
    if "mfa.conv.conv.weight" not in found or found.get("fc.conv.weight", _NONE).shape[0] != SIZE:
        raise ReelbenchError(
            f"{path} has no tensors of an ECAPA-TDNN as SpeechBrain names them, with {SIZE} "
            "numbers at its end."
        )
    return found
