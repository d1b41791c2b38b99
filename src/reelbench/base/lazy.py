"""Public names of a package that are imported when they are first used."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package whose names are imported on demand.

    ``homes`` maps each name to the module of the package that defines it; a module of another
    package is written with a dot before it, as in a relative import.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{homes[name]}", package), name)

    def names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return get, names
