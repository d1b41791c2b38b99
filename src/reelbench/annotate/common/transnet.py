"""TransNet V2 in NumPy: how likely each frame of a video is the middle or part of a transition.

The network of Soucek and Lokoc (arXiv 2008.04838) looks at frames of 48 x 27 pixels. Convolutions
run over the picture, then over time at four distances; beside them, each frame is compared with
the fifty before and after it, by learnt features and by colours.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from reelbench.weights import from_weights
from reelbench.weights.checkpoint import read_checkpoint

WEIGHTS = "transitions"
HEIGHT, WIDTH = 27, 48
Tensor = NDArray[np.float32]
# Frames that it sees at once; those at each end only give context. It was trained on 100 at once;
# of 200, the cuts are the same and take two thirds of the time.
_WINDOW, _EDGE = 200, 25
_REACH = 50  # frames to each side that a frame is compared with
_DISTANCES = (1, 2, 4, 8)  # frames, of the convolutions over time
_AT_ONCE = 4  # frames whose neighbourhoods are held in memory


def transition_probabilities(frames: Iterable[NDArray[np.uint8]]) -> NDArray[np.float64]:
    """Return two probabilities for each frame: the middle of a transition, and a part of one.

    ``frames`` are all of a video in order, RGB of 27 rows and 48 columns; few are held at once.
    """
    step = _WINDOW - 2 * _EDGE
    held: list[NDArray[np.uint8]] = []
    parts: list[NDArray[np.float64]] = []
    count = 0
    for count, frame in enumerate(frames, 1):
        held += [frame] * (1 + _EDGE) if count == 1 else [frame]
        if len(held) == _WINDOW:
            parts.append(_forward(np.stack(held))[_EDGE:-_EDGE])
            held = held[step:]
    while step * len(parts) < count:  # the last frame stands for those that would come after it
        window = held[:_WINDOW] + held[-1:] * (_WINDOW - len(held))
        parts.append(_forward(np.stack(window))[_EDGE:-_EDGE])
        held = held[step:]
    return np.concatenate([*parts, np.empty((0, 2))])[:count]


def _forward(frames: NDArray[np.uint8]) -> NDArray[np.float64]:
    x: Tensor = (frames / 255).astype(np.float32)
    means = []
    for block in range(3):
        first = np.maximum(_convolved(x, f"SDDCNN.{block}.DDCNN.0"), 0)
        x = _halved(first + np.maximum(_convolved(first, f"SDDCNN.{block}.DDCNN.1"), 0))
        means.append(x.mean((1, 2)))
    features = _dense(np.concatenate(means, 1), "frame_sim_layer.projection")
    looks = [
        np.maximum(_dense(_compared(_colours(frames)), "color_hist_layer.fc"), 0),
        np.maximum(_dense(_compared(features), "frame_sim_layer.fc"), 0),
        x.reshape(len(x), -1),
    ]
    hidden = np.maximum(_dense(np.concatenate(looks, 1), "fc1"), 0)
    scores = [_dense(hidden, name)[:, 0] for name in ("cls_layer1", "cls_layer2")]
    return 1 / (1 + np.exp(-np.stack(scores, 1).astype(np.float64)))


def _convolved(x: Tensor, name: str) -> Tensor:
    """A convolution over the picture, then one over time at four distances, normalised."""
    space, time, shift = _kernels()[name]
    frames, height, width, _ = x.shape
    most = _DISTANCES[-1]
    out = np.zeros((frames + 2 * most, height * width, len(shift)), np.float32)
    many, few = space.shape[1] // len(_DISTANCES), len(shift) // len(_DISTANCES)
    for start, columns in _neighbourhoods(x):
        wide = columns @ space
        for number, distance in enumerate(_DISTANCES):
            three = wide[:, :, number * many : (number + 1) * many] @ time[number]
            for place, way in enumerate((distance, 0, -distance)):  # what a frame is to others
                first = start + most + way
                into = out[first : first + len(three), :, number * few : (number + 1) * few]
                into += three[:, :, place * few : (place + 1) * few]
    whole = out[most:-most]
    whole += shift
    return whole.reshape(frames, height, width, -1)


def _neighbourhoods(x: Tensor) -> Iterator[tuple[int, Tensor]]:
    """Yield the numbers around each pixel, a row a pixel, of a few frames at a time."""
    frames, height, width, channels = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    for start in range(0, frames, _AT_ONCE):
        squares = sliding_window_view(padded[start : start + _AT_ONCE], (3, 3), (1, 2))
        rows = squares.transpose(0, 1, 2, 4, 5, 3).reshape(-1, height * width, 9 * channels)
        yield start, rows


def _halved(x: Tensor) -> Tensor:
    """The means of squares of two pixels a side; what is left over at the edges is dropped."""
    frames, height, width, channels = x.shape
    even = x[:, : height // 2 * 2, : width // 2 * 2]
    parts = even.reshape(frames, height // 2, 2, width // 2, 2, channels)
    means: Tensor = parts.mean((2, 4))
    return means


def _colours(frames: NDArray[np.uint8]) -> Tensor:
    """A histogram of each frame's colours, eight levels of each."""
    levels = (frames >> 5).astype(np.int64).reshape(len(frames), -1, 3) @ (64, 8, 1)
    return np.stack([np.bincount(each, minlength=512) for each in levels]).astype(np.float32)


def _compared(features: Tensor) -> Tensor:
    """The cosine of each frame with those around it; 0 beyond the ends."""
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    unit = features / np.maximum(lengths, 1e-12)
    alike = np.pad(unit @ unit.T, ((0, 0), (_REACH, _REACH)))
    return np.stack([row[at : at + 2 * _REACH + 1] for at, row in enumerate(alike)])


def _dense(x: Tensor, name: str) -> Tensor:
    weights = _weights()
    out: Tensor = x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return out


@from_weights(WEIGHTS)
def _weights(path: Path) -> Mapping[str, Tensor]:
    return read_checkpoint(path)


@from_weights(WEIGHTS)
def _kernels(_: Path) -> Mapping[str, tuple[Tensor, list[Tensor], Tensor]]:
    """Of each convolution: over the picture, over time for each distance, and what is added.

    The normalisation after it is part of both.
    """
    weights = _weights()
    names = [f"SDDCNN.{block}.DDCNN.{layer}" for block in range(3) for layer in range(2)]
    return {name: _kernel(weights, name) for name in names}


def _kernel(weights: Mapping[str, Tensor], name: str) -> tuple[Tensor, list[Tensor], Tensor]:
    scale = weights[f"{name}.bn.weight"] / np.sqrt(weights[f"{name}.bn.running_var"] + 1e-3)
    shift = weights[f"{name}.bn.bias"] - weights[f"{name}.bn.running_mean"] * scale
    space, time = [], []
    for distance, factor in zip(_DISTANCES, np.split(scale, len(_DISTANCES)), strict=True):
        picture, frames = (weights[f"{name}.Conv3D_{distance}.layers.{n}.weight"] for n in (0, 1))
        space.append(picture[:, :, 0].transpose(2, 3, 1, 0).reshape(-1, len(picture)))
        kernel = frames[:, :, :, 0, 0] * factor[:, None, None]
        time.append(np.concatenate([kernel[:, :, n].T for n in range(3)], 1))
    return np.concatenate(space, 1), time, shift.astype(np.float32)
