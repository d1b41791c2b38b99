"""Make torchvision importable where its compiled part is built for another PyTorch.

Builds for CUDA are the only ones on some machines. What processors use of torchvision is written in
Python and works with any PyTorch, once the names that its compiled part defines are known. Only
this process finds it, not those that it starts, in which it would break what imports it.
"""

import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, DistributionFinder, MetadataPathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import torch

_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_FOLDER = str(Path(sys.prefix, "torchvision"))  # where `make test-models` puts it


class Finder(DistributionFinder):
    """Finds torchvision in its folder."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where the package is; its parts are found by its own path."""
        return PathFinder.find_spec(name, [_FOLDER]) if name == "torchvision" else None

    def find_distributions(
        self,
        context: DistributionFinder.Context = DistributionFinder.Context(),  # noqa: B008
    ) -> Iterable[Distribution]:
        """Return its metadata."""
        if context.name != "torchvision":
            return ()
        inside = DistributionFinder.Context(name=context.name, path=[_FOLDER])
        return MetadataPathFinder.find_distributions(inside)


if find_spec("torchvision") is None:
    sys.meta_path.append(Finder())
found = find_spec("torchvision")
for folder in (found.submodule_search_locations or [])[:1] if found else []:
    try:
        for library in Path(folder).glob("_C*.so"):
            torch.ops.load_library(str(library))
    except OSError:
        for name in ("nms", "qnms"):
            torch.library.define(f"torchvision::{name}", _SCHEMA)
