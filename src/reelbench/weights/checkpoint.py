"""Tensors of a PyTorch checkpoint as NumPy arrays, without PyTorch.

A checkpoint is a zip file: a pickle that names tensors, and the raw numbers of each. Only what is
needed to name tensors may be unpickled; a file that asks for anything else is refused.
"""

import io
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

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
        TypeError,
        ValueError,
    ) as error:
        raise ReelbenchError(
            f"{path} is not a PyTorch checkpoint of plain tensors ({error}): fetch it again with "
            "reelbench weights pull."
        ) from error
    return {name: value for name, value in loaded.items() if isinstance(value, np.ndarray)}


class _TensorUnpickler(pickle.Unpickler):
    """Unpickles dictionaries of tensors, and refuses everything else."""

    def __init__(self, archive: zipfile.ZipFile, pickled: str) -> None:
        super().__init__(io.BytesIO(archive.read(pickled)))
        self._archive, self._folder = archive, pickled.removesuffix("data.pkl")

    def find_class(self, module: str, name: str) -> Any:
        known: dict[tuple[str, str], Any] = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): _tensor,
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
