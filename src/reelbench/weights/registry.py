"""The registry of weights: ``registry.yaml`` as objects."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
import yaml

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of

Shape = tuple[int | None, ...]  # None where any size will do


class WheelFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file inside the wheel of a package."""

    package: str
    version: str
    file: str

    @property
    def requirement(self) -> str:
        """The requirement to give to pip, such as ``name==1.0``."""
        return f"{self.package}=={self.version}"


class NpmFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file inside a package of npm."""

    npm: str  # NAME@VERSION
    file: str

    @property
    def requirement(self) -> str:
        """What to give to npm."""
        return self.npm


class WeightFile(msgspec.Struct, frozen=True):
    """A file of weights: one file of a package, or several pieces concatenated."""

    name: str
    sha256: str
    size: int
    pieces: tuple[WheelFile | NpmFile, ...]


class Weights(msgspec.Struct, frozen=True):
    """Weights under one name: a file, a folder of files, or (no files) what the user puts there."""

    name: str
    need: str
    licence: str
    note: str
    files: tuple[WeightFile, ...]
    is_folder: bool
    part_of: str = ""  # the weights that these only describe
    takes: Mapping[str, Shape] = {}  # the inputs of an ONNX model, by name
    gives: tuple[Shape, ...] = ()  # its outputs

    @property
    def size(self) -> int:
        """The total size in bytes."""
        return sum(file.size for file in self.files)

    @property
    def requirements(self) -> tuple[str, ...]:
        """The packages that hold the files, as requirements for pip or npm."""
        pieces = [piece for file in self.files for piece in file.pieces]
        return tuple(dict.fromkeys(piece.requirement for piece in pieces))

    @property
    def folder_name(self) -> str:
        """The name of the folder in the cache; it changes with the hashes of the files."""
        if not self.files:
            return self.name
        return f"{self.name}-{digest_of([[file.name, file.sha256] for file in self.files])[:12]}"


@cache
def registry() -> dict[str, Weights]:
    """Return all weights by name."""
    text = files("reelbench.weights").joinpath("registry.yaml").read_text(encoding="utf-8")
    return read_registry(text)


def read_registry(text: str) -> dict[str, Weights]:
    """Return the weights of a registry in YAML, by name."""
    return {name: _weights(name, dict(record)) for name, record in yaml.safe_load(text).items()}


def known_names() -> str:
    """Return the names of all weights, for an error."""
    return ", ".join(registry())


def is_registered(name: str) -> bool:
    """Return whether a text is the name of weights."""
    return name in registry()


def find(name: str) -> Weights:
    """Return the weights of a name; raise an error that lists the names for an unknown one."""
    if name not in registry():
        raise ReelbenchError(f"Unknown weights {name!r}; the known ones: {known_names()}.")
    return registry()[name]


def _weights(name: str, record: dict[str, Any]) -> Weights:
    facts = {field: record.pop(field) for field in ("need", "licence", "note")}
    facts["part_of"] = record.pop("part_of", "")
    facts["takes"] = msgspec.convert(record.pop("takes", {}), dict[str, Shape])
    facts["gives"] = msgspec.convert(record.pop("gives", []), tuple[Shape, ...])
    if record.get("package") == "none":
        return Weights(name, **facts, files=(), is_folder=True)
    if "folder" in record:
        kept = [_file(inside, dict(fields)) for inside, fields in record["folder"].items()]
        return Weights(name, **facts, files=tuple(kept), is_folder=True)
    only = _file(record["file"].rpartition("/")[2], record)
    return Weights(name, **facts, files=(only,), is_folder=False)


def _file(name: str, record: dict[str, Any]) -> WeightFile:
    sha256, size = record.pop("sha256"), record.pop("size")
    records = record.pop("joined", None) or [record]
    return WeightFile(name, sha256, size, tuple(map(_piece, records)))


def _piece(record: dict[str, Any]) -> WheelFile | NpmFile:
    if "npm" in record:
        return msgspec.convert(record, NpmFile)
    return msgspec.convert(record, WheelFile)
