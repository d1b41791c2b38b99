"""Spleeter in NumPy: how much of each tone of a sound is voice, and how much is the rest.

Hennequin et al., "Spleeter: a fast and efficient music source separation tool", 2020. Two U-Nets
look at 512 spectra of 4,096 samples at 44.1 kHz, up to 11 kHz: one estimates voices, the other
everything else. At another rate, a spectrum is taken over the same time: no sound is resampled.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from reelbench.annotate.common.audio import Mono
from reelbench.media.edit.write import Samples
from reelbench.weights import from_weights
from reelbench.weights.checkpoint import read_checkpoint

WEIGHTS = "vocals"
FRAMES, TONES = 512, 1024  # that the networks see at once
Tensor = NDArray[np.float32]
_TRAINED_RATE, _TRAINED_WIDTH = 44_100, 4096
_OVERLAP = 4  # spectra that each sample is part of
_ROWS = 32  # of a convolution's result that are computed at once, to spare memory
_LAYERS = range(1, 7)
_LEAK = np.float32(0.2)
# Above 11 kHz nothing was learnt. There, voices are hisses: what is true of the highest tones that
# are known, and of no vowel.
_HIGHEST = 256  # tones


def hop_at(rate: int) -> int:
    """Return the samples between two spectra."""
    return max(1, round(_TRAINED_WIDTH / _OVERLAP * rate / _TRAINED_RATE))


def voice_shares(spectra: NDArray[np.complex64]) -> Tensor:
    """Return what share of each tone is voice, of spectra by channel, time and tone.

    There are 512 spectra of one or two channels, as ``spectra_of`` returns them.
    """
    channels, _, tones = spectra.shape
    known = min(tones, TONES)
    # The networks know the scale of windows of 4,096 samples.
    sizes = np.abs(spectra[:, :, :known]) * (_TRAINED_WIDTH / _OVERLAP / ((tones - 1) // 2))
    sounds = np.zeros((FRAMES, TONES, 2), np.float32)
    sounds[:, :known] = np.moveaxis(sizes, 0, 2)  # a single channel is heard from both sides
    voice, rest = (_estimated(sounds, part) ** 2 for part in ("vocals", "rest"))
    share: Tensor = (voice + np.float32(0.5e-10)) / (voice + rest + np.float32(1e-10))
    whole = np.empty((FRAMES, tones, 2), np.float32)
    whole[:, :known] = share[:, :known]
    whole[:, known:] = share[:, known - _HIGHEST : known].mean(1, keepdims=True)
    return np.moveaxis(whole, 2, 0)[:channels] if channels == 2 else whole.mean(2)[None]


def spectra_of(samples: Samples, hop: int) -> NDArray[np.complex64]:
    """Return the spectra of sound by channel, time and tone: one every ``hop`` samples."""
    width = _OVERLAP * hop
    padded = np.pad(samples, ((0, 0), (width // 2, width // 2)))
    frames = sliding_window_view(padded, width, axis=1)[:, : samples.shape[1] : hop]
    return np.fft.rfft(frames * _window(width), axis=2).astype(np.complex64)


def sound_of_spectra(spectra: NDArray[np.complex64], hop: int) -> Samples:
    """Return the sound of spectra; it is whole from two hops after its start until its end."""
    width = _OVERLAP * hop
    frames = np.fft.irfft(spectra, width, axis=2).astype(np.float32) * _window(width)
    channels, count, _ = frames.shape
    whole = np.zeros((channels, count + _OVERLAP - 1, hop), np.float32)
    for quarter in range(_OVERLAP):
        whole[:, quarter : quarter + count] += frames[:, :, quarter * hop : (quarter + 1) * hop]
    # The squares of four overlapping windows add up to 1.5.
    sound = np.asarray(whole.reshape(channels, -1) / 1.5, np.float32)
    return sound[:, width // 2 : width // 2 + count * hop]


def _window(width: int) -> Mono:
    phases = np.arange(width) * (2 * np.pi / width)
    return np.asarray(0.5 - 0.5 * np.cos(phases), np.float32)


def _estimated(sounds: Tensor, part: str) -> Tensor:
    """Return the part of sounds that one network estimates, by time, tone and channel."""
    layers = _networks()[part]
    x, kept = sounds, []
    for number in _LAYERS:
        x = _halved(x, layers[f"down{number}"])
        kept.append(x)
        scale, shift = layers[f"down{number}_act"]
        x = x * scale + shift
        x = np.maximum(x, _LEAK * x)
    x = kept.pop()
    for number in _LAYERS:
        x = _doubled(x, layers[f"up{number}"])
        scale, shift = layers[f"up{number}_act"]
        x = np.maximum(x, 0) * scale + shift
        if kept:
            x = np.concatenate([kept.pop(), x], axis=2)
    score = _spread(x[:, :, 0], layers["up7"])
    estimated: Tensor = sounds * (np.tanh(score / 2) + 1) / 2  # the logistic function
    return estimated


def _halved(x: Tensor, layer: tuple[Tensor, Tensor]) -> Tensor:
    """A convolution of five by five at every second place."""
    weight, bias = layer
    padded = np.pad(x, ((1, 2), (1, 2), (0, 0)))
    squares = sliding_window_view(padded, (5, 5), (0, 1))[::2, ::2]  # rows, columns, channel, 5, 5
    height, width = squares.shape[:2]
    out = np.empty((height, width, len(bias)), np.float32)
    for begin in range(0, height, _ROWS):
        rows = squares[begin : begin + _ROWS].transpose(0, 1, 3, 4, 2)
        out[begin : begin + _ROWS] = rows.reshape(len(rows), width, -1) @ weight
    out += bias
    return out


def _doubled(x: Tensor, layer: tuple[Tensor, Tensor]) -> Tensor:
    """The reverse of such a convolution: every place adds to the five by five around it."""
    weight, bias = layer
    height, width, _ = x.shape
    out = np.zeros((2 * height + 3, 2 * width + 3, len(bias)), np.float32)
    for begin in range(0, height, _ROWS):
        rows = x[begin : begin + _ROWS]
        squares = (rows @ weight).reshape(len(rows), width, 5, 5, len(bias))
        for down in range(5):
            first = 2 * begin + down
            for across in range(5):
                into = out[first : first + 2 * len(rows) : 2, across : across + 2 * width : 2]
                into += squares[:, :, down, across]
    return out[1:-2, 1:-2] + bias


def _spread(x: Tensor, layer: tuple[Tensor, Tensor]) -> Tensor:
    """A convolution of four by four, whose places are two apart, from one channel to two."""
    weight, bias = layer
    padded = np.pad(x, 3)
    out = np.empty((*x.shape, 2), np.float32)
    for channel in range(2):
        total = np.full(x.shape, bias[channel], np.float32)
        for down in range(4):
            for across in range(4):
                piece = padded[2 * down :, 2 * across :][: x.shape[0], : x.shape[1]]
                total += weight[channel, down, across] * piece
        out[:, :, channel] = total
    return out


@from_weights(WEIGHTS)
def _networks(folder: Path) -> Mapping[str, Mapping[str, tuple[Tensor, Tensor]]]:
    """Of each network, by layer: what numbers are multiplied by, and what is added."""
    return {part: _layers(read_checkpoint(folder / f"{part}.ckpt")) for part in ("vocals", "rest")}


def _layers(weights: Mapping[str, Tensor]) -> dict[str, tuple[Tensor, Tensor]]:
    found: dict[str, tuple[Tensor, Tensor]] = {}
    for number in _LAYERS:
        down, up = f"down{number}_conv.1", f"up{number}.0"
        kernel = weights[f"{down}.weight"].transpose(2, 3, 1, 0)  # to down, across, in, out
        found[f"down{number}"] = kernel.reshape(-1, kernel.shape[3]), weights[f"{down}.bias"]
        kernel = weights[f"{up}.weight"].transpose(0, 2, 3, 1)  # to in, down, across, out
        found[f"up{number}"] = kernel.reshape(len(kernel), -1), weights[f"{up}.bias"]
        found[f"down{number}_act"] = _normalising(weights, f"down{number}_act.0")
        found[f"up{number}_act"] = _normalising(weights, f"up{number}.3")
    found["up7"] = weights["up7.0.weight"][:, 0], weights["up7.0.bias"]
    return found


def _normalising(weights: Mapping[str, Tensor], name: str) -> tuple[Tensor, Tensor]:
    scale = weights[f"{name}.weight"] / np.sqrt(weights[f"{name}.running_var"] + 1e-3)
    return scale, weights[f"{name}.bias"] - weights[f"{name}.running_mean"] * scale
