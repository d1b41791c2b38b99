"""Runs a small network of a Keras hdf5 file with NumPy, without Keras or a conversion."""

from collections.abc import Callable, Mapping
from json import loads
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from reelbench.base.errors import ReelbenchError
from reelbench.weights import import_extra

Tensor = NDArray[np.float32]  # example, row, column, channel
_Weights = Mapping[str, Tensor]
_Settings = Mapping[str, Any]


def load_network(path: Path) -> Callable[[Tensor], Tensor]:
    """Return the network of a file, as a function of a batch of examples."""
    h5py = import_extra("h5py", "annotate")
    with h5py.File(path, "r") as file:
        config = loads(file.attrs["model_config"])
        layers = _layers(config)
        weights = {layer["name"]: _arrays(file["model_weights"][layer["name"]]) for layer in layers}
    unknown = sorted({layer["class_name"] for layer in layers} - set(_LAYERS) - {"InputLayer"})
    if unknown:
        raise ReelbenchError(
            f"{path} has layers that are not supported: {', '.join(unknown)}. Fetch the registered "
            "file again with: reelbench weights pull"
        )

    def run(batch: Tensor) -> Tensor:
        values: dict[str, Tensor] = {"": batch}
        for layer in layers:
            kind, sources = layer["class_name"], [values[each] for each in layer["sources"]]
            values[layer["name"]] = (
                _LAYERS[kind](sources, layer["config"], weights[layer["name"]])
                if kind in _LAYERS
                else batch
            )
        return values[layers[-1]["name"]]

    return run


def _layers(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the layers in an order in which each comes after its sources, "" being the input."""
    inside = config["config"]
    layers = inside if isinstance(inside, list) else inside["layers"]
    found, before = [], ""
    for layer in layers:
        name = layer.get("name") or layer["config"]["name"]
        nodes = layer.get("inbound_nodes")
        # A network without branches does not name its sources: each takes what the last one gives.
        sources = [before] if nodes is None else [node[0] for node in nodes[0]] if nodes else [""]
        found.append({**layer, "name": name, "sources": sources})
        before = name
    return found


def _arrays(group: Any) -> dict[str, Tensor]:
    """The arrays of one layer, by their own names, without the folders they lie in."""
    names = [name.decode() if isinstance(name, bytes) else name
             for name in group.attrs["weight_names"]]  # fmt: skip
    return {
        name.rpartition("/")[2].partition(":")[0]: np.asarray(group[name], np.float32)
        for name in names
    }


def _windows(x: Tensor, size: tuple[int, int], settings: _Settings, fill: float = 0.0) -> Tensor:
    """All squares that a layer looks at: picture, row, column, channel, then those of a square."""
    steps = settings["strides"]
    if settings["padding"] == "same":  # half of what is lacking goes before, the rest behind
        lacking = [
            max(0, (-(-side // step) - 1) * step + width - side)
            for side, step, width in zip(x.shape[1:3], steps, size, strict=True)
        ]
        edges = [(0, 0), *((each // 2, each - each // 2) for each in lacking), (0, 0)]
        x = np.pad(x, edges, constant_values=fill)
    squares: Tensor = sliding_window_view(x, size, (1, 2))[:, :: steps[0], :: steps[1]]
    return squares


def _convolution(sources: list[Tensor], settings: _Settings, weights: _Weights) -> Tensor:
    kernel = weights["kernel"]
    size = kernel.shape[0], kernel.shape[1]
    squares = _windows(sources[0], size, settings)
    # The columns of a square come in the order channel, row, column.
    flat = kernel.transpose(2, 0, 1, 3).reshape(-1, kernel.shape[3])
    out: Tensor = squares.reshape(*squares.shape[:3], -1) @ flat + weights.get("bias", 0)
    return out


def _separable(sources: list[Tensor], settings: _Settings, weights: _Weights) -> Tensor:
    kernel = weights["depthwise_kernel"]  # row, column, channel, and one
    squares = _windows(sources[0], (kernel.shape[0], kernel.shape[1]), settings)
    each = np.einsum("nxycij,ijc->nxyc", squares, kernel[:, :, :, 0])
    out: Tensor = each @ weights["pointwise_kernel"][0, 0]
    return out


def _dense(sources: list[Tensor], settings: _Settings, weights: _Weights) -> Tensor:
    out: Tensor = sources[0] @ weights["kernel"] + weights.get("bias", 0)
    return _activated([out], settings, {})


def _normalised(sources: list[Tensor], settings: _Settings, weights: _Weights) -> Tensor:
    scale = weights["gamma"] / np.sqrt(weights["moving_variance"] + settings["epsilon"])
    out: Tensor = (sources[0] - weights["moving_mean"]) * scale + weights["beta"]
    return out


def _pooled(sources: list[Tensor], settings: _Settings, _: _Weights) -> Tensor:
    size = settings["pool_size"][0], settings["pool_size"][1]
    out: Tensor = _windows(sources[0], size, settings, -np.inf).max((4, 5))
    return out


def _activated(sources: list[Tensor], settings: _Settings, _: _Weights) -> Tensor:
    x = sources[0]
    if settings["activation"] == "linear":
        return x
    if settings["activation"] == "relu":
        return np.maximum(x, 0)
    powers = np.exp(x - x.max(-1, keepdims=True))  # softmax, the only other one
    return np.asarray(powers / powers.sum(-1, keepdims=True), np.float32)


def _reshaped(sources: list[Tensor], settings: _Settings, _: _Weights) -> Tensor:
    return sources[0].reshape(len(sources[0]), *settings["target_shape"])


_LAYERS: dict[str, Callable[[list[Tensor], _Settings, _Weights], Tensor]] = {
    "Conv2D": _convolution,
    "SeparableConv2D": _separable,
    "Dense": _dense,
    "BatchNormalization": _normalised,
    "MaxPooling2D": _pooled,
    "Activation": _activated,
    "Reshape": _reshaped,
    "Flatten": lambda sources, _, __: sources[0].reshape(len(sources[0]), -1),
    "Dropout": lambda sources, _, __: sources[0],  # it is for training
    "Add": lambda sources, _, __: sources[0] + sources[1],
    "GlobalAveragePooling2D": lambda sources, _, __: sources[0].mean((1, 2)),
}
