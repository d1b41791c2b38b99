"""Small ONNX models, written byte by byte: the package onnx is not needed to run models."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Node = tuple[str, Sequence[str], str, Mapping[str, int | Sequence[int]]]  # kind, inputs, output
_FLOAT = 1


def write_onnx(
    path: Path,
    takes: Mapping[str, Sequence[int]],
    nodes: Sequence[Node],
    constants: Mapping[str, Array],
    gives: Mapping[str, Sequence[int]],
) -> Path:
    """Write a model: inputs and outputs by name with their shapes (0 is any), nodes in order."""
    graph = b"".join(
        [
            *(_field(1, _node(*node)) for node in nodes),
            _field(2, b"test"),
            *(_field(5, _tensor(name, array)) for name, array in constants.items()),
            *(_field(11, _value(name, shape)) for name, shape in takes.items()),
            *(_field(12, _value(name, shape)) for name, shape in gives.items()),
        ]
    )
    path.write_bytes(_number(1, 8) + _field(7, graph) + _field(8, _number(2, 13)))
    return path


def write_yolo(path: Path, rows: Array, side: int = 64) -> Path:
    """Write a detector that finds the same in every picture: rows of [4 + classes, boxes]."""
    return _constant(path, rows[None], side)


def write_ssd(path: Path, rows: Array, side: int = 64) -> Path:
    """Write a detector of the other form: rows of [boxes, 7]."""
    return _constant(path, rows[None, None], side)


def _constant(path: Path, output: Array, side: int) -> Path:
    nodes: list[Node] = [
        ("ReduceMean", ["images"], "mean", {"keepdims": 0}),
        ("Mul", ["mean", "zero"], "nothing", {}),
        ("Add", ["rows", "nothing"], "output0", {}),
    ]
    constants = {"zero": np.zeros((), np.float32), "rows": output.astype(np.float32)}
    return write_onnx(
        path, {"images": (1, 3, side, side)}, nodes, constants, {"output0": output.shape}
    )


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _tensor(name: str, array: Array) -> bytes:
    dims = b"".join(_number(1, side) for side in array.shape)
    return dims + _number(2, _FLOAT) + _field(8, name.encode()) + _field(9, array.tobytes())


def _value(name: str, shape: Sequence[int]) -> bytes:
    dims = b"".join(_field(1, _number(1, side) if side else _field(2, b"n")) for side in shape)
    kind = _field(1, _number(1, _FLOAT) + _field(2, dims))
    return _field(1, name.encode()) + _field(2, kind)


def _node(
    kind: str, inputs: Sequence[str], output: str, attributes: Mapping[str, int | Sequence[int]]
) -> bytes:
    named = b"".join(_field(1, each.encode()) for each in inputs) + _field(2, output.encode())
    return (
        named
        + _field(4, kind.encode())
        + b"".join(_field(5, _attribute(*each)) for each in attributes.items())
    )


def _attribute(name: str, value: int | Sequence[int]) -> bytes:
    if isinstance(value, int):
        return _field(1, name.encode()) + _number(3, value) + _number(20, 2)
    whole = b"".join(_number(8, each) for each in value)
    return _field(1, name.encode()) + whole + _number(20, 7)
