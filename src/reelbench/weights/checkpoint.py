"""Tensors of a PyTorch checkpoint as NumPy arrays, without PyTorch.

A checkpoint is a zip file: a pickle that names tensors, and the raw numbers of each; or a pickle of
NumPy arrays. Only what is needed for these may be unpickled; a file that asks for anything else is
refused.
"""

import io
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import ReelbenchError

Tensors = dict[str, NDArray[Any]]
_STORAGES = {"FloatStorage": np.float32, "LongStorage": np.int64, "DoubleStorage": np.float64}


def read_checkpoint(path: Path) -> Tensors:
    """Return the tensors of a checkpoint by name."""
    try:
        with zipfile.ZipFile(path) as archive:
            pickled = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
            loaded = _TensorUnpickler(archive, pickled).load()
            if not isinstance(loaded, dict):
                raise pickle.UnpicklingError("it holds no tensors by name")
    except (
        zipfile.BadZipFile,
        pickle.UnpicklingError,
        StopIteration,
        LookupError,
        EOFError,
        AttributeError,
        TypeError,
        ValueError,
    ) as error:
        raise ReelbenchError(
            f"{path} is not a PyTorch checkpoint of plain tensors ({error}): fetch it again with "
            "reelbench weights pull."
        ) from error
    arrays = {
        name: value.numbers if isinstance(value, _PickledArray) else value
        for name, value in loaded.items()
    }
    return {name: value for name, value in arrays.items() if isinstance(value, np.ndarray)}


class _TensorUnpickler(pickle.Unpickler):
    """Unpickles dictionaries of tensors, and refuses everything else."""

    def __init__(self, archive: zipfile.ZipFile, pickled: str) -> None:
        super().__init__(io.BytesIO(archive.read(pickled)))
        self._archive, self._folder = archive, pickled.removesuffix("data.pkl")

    def find_class(self, module: str, name: str) -> Any:
        known: dict[tuple[str, str], Any] = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): _tensor,
            ("numpy.core.multiarray", "_reconstruct"): _PickledArray,
            ("numpy._core.multiarray", "_reconstruct"): _PickledArray,
            ("numpy", "ndarray"): None,  # the class is known
            ("numpy", "dtype"): _PickledType,
            ("_codecs", "encode"): _encoded,
        }
        if module == "torch" and name in _STORAGES:
            return _STORAGES[name]
        if (module, name) not in known:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return known[module, name]

    def persistent_load(self, pid: Any) -> NDArray[Any]:
        _, kind, key, _, size = pid
        return np.frombuffer(self._archive.read(f"{self._folder}data/{key}"), kind, size)


def _tensor(
    storage: NDArray[Any], offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: Any
) -> NDArray[Any]:
    steps = [step * storage.itemsize for step in strides]
    # The constructor, unlike as_strided, checks that the view stays within the storage.
    return np.ndarray(shape, storage.dtype, storage, offset * storage.itemsize, steps).copy()


class _PickledType:
    """The type of the numbers of a pickled array: one of plain numbers, in this machine's order."""

    def __init__(self, kind: str, *_: Any) -> None:
        if kind not in ("f4", "f8", "i8"):
            raise pickle.UnpicklingError(f"it has numbers of the type {kind!r}")
        self.kind = np.dtype(kind)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.kind = self.kind.newbyteorder(state[1])


class _PickledArray:
    """A pickled NumPy array; NumPy itself would unpickle objects, too."""

    def __init__(self, *_: Any) -> None:
        self.numbers: NDArray[Any] = np.empty(0, np.float32)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, by_columns, raw = state
        order: Literal["F", "C"] = "F" if by_columns else "C"
        self.numbers = np.frombuffer(raw, kind.kind).reshape(shape, order=order).copy()


def _encoded(text: str, encoding: str) -> bytes:
    """Return bytes that a pickle has as text; of the codecs, only this one is harmless for all."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it asks for the encoding {encoding!r}")
    return text.encode("latin1")
