"""Where weights are on this machine: in the user's cache, or in an installed package."""

from functools import cache
from importlib import metadata
from pathlib import Path

from reelbench.base.cache import cache_path
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of_file
from reelbench.weights.own import own_path, replacement_of
from reelbench.weights.registry import NpmFile, WeightFile, Weights, WheelFile, find, is_registered


def weights_file(name: str) -> Path:
    """Return the path of weights: a file, or a folder where they are several files.

    Where a user put others in their place, it is the path of those. Nothing is downloaded: missing
    weights raise an error that gives the command to fetch them.
    """
    return path_of(replacement_of(name))


def path_of(reference: str) -> Path:
    """Return the path of weights by their name in the registry, or by their own path."""
    if not is_registered(reference) and Path(reference).is_absolute():
        return own_path(reference)
    weights = find(reference)
    path = path_here(weights)
    if path is None:
        raise ReelbenchError(not_here(weights))
    return path


def path_here(weights: Weights) -> Path | None:
    """Return the path of weights; None where they are not on this machine."""
    if not weights.files:
        placed = kept_in(weights)
        return placed if placed.is_dir() and any(placed.iterdir()) else None
    if is_kept(weights):
        return kept_path(weights)
    return None if weights.is_folder else installed_file(weights.files[0])


def not_here(weights: Weights) -> str:
    """Return the message that says that weights are missing and how to get them."""
    if not weights.files:
        return (
            f"The weights {weights.name} are not on this machine and cannot be downloaded "
            f"automatically: put their files into {kept_in(weights)} ({weights.note})."
        )
    return (
        f"The weights {weights.name} are not on this machine; fetch them with: "
        f"reelbench weights pull {weights.name}"
    )


def kept_in(weights: Weights) -> Path:
    """Return the folder of weights in the user's cache, whether it exists or not."""
    return cache_path("weights") / weights.folder_name


def kept_path(weights: Weights) -> Path:
    """Return the path of weights in the user's cache: their folder, or its only file."""
    folder = kept_in(weights)
    return folder if weights.is_folder else folder / weights.files[0].name


def is_kept(weights: Weights) -> bool:
    """Return whether the cache holds weights, judged by the sizes of the files.

    A folder gets its name only after its files were verified, so sizes are enough here; ``pull``
    verifies every byte again.
    """
    folder = kept_in(weights)
    return all(_size(folder / file.name) == file.size for file in weights.files)


def installed_file(file: WeightFile) -> Path | None:
    """Return the path of a file in an installed package, if its hash is the registered one."""
    if len(file.pieces) > 1:
        return None
    path = installed_piece(file.pieces[0])
    if path is None or _size(path) != file.size:
        return None
    return path if _digest(path, path.stat().st_mtime_ns) == file.sha256 else None


def installed_piece(piece: WheelFile | NpmFile) -> Path | None:
    """Return the path of a file in an installed Python package, whatever its content."""
    if isinstance(piece, NpmFile):
        return None
    try:
        package = metadata.distribution(piece.package)
    except metadata.PackageNotFoundError:
        return None
    path = Path(str(package.locate_file(piece.file)))
    return path if path.is_file() else None


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1


@cache
def _digest(path: Path, _written: int) -> str:
    """Read a file once in a process; again if it was written anew."""
    return digest_of_file(path)
