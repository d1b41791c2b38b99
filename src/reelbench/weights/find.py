"""Where weights are on this machine: in the user's cache, or in a package that is installed."""

from functools import cache
from importlib import metadata
from pathlib import Path

from reelbench.base.cache import cache_path
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of_file
from reelbench.weights.registry import WeightFile, Weights, WheelFile, find


def weights_file(name: str) -> Path:
    """Return the file of these weights, or the folder where they are several files.

    Nothing is downloaded: what is not here is a sentence with the command that fetches it.
    """
    weights = find(name)
    path = path_here(weights)
    if path is None:
        raise ReelbenchError(not_here(weights))
    return path


def path_here(weights: Weights) -> Path | None:
    """Return where weights are, if they are here."""
    if not weights.files:
        placed = kept_in(weights)
        return placed if placed.is_dir() and any(placed.iterdir()) else None
    if is_kept(weights):
        return kept_path(weights)
    return None if weights.is_folder else installed_file(weights.files[0])


def not_here(weights: Weights) -> str:
    """Say that weights are not here, and how to get them."""
    if not weights.files:
        return (
            f"The weights {weights.name} are not here, and no package holds them: put them into "
            f"{kept_in(weights)} ({weights.note})."
        )
    return f"The weights {weights.name} are not here: reelbench weights pull {weights.name}"


def kept_in(weights: Weights) -> Path:
    """Return the folder of weights in the user's cache, there or not."""
    return cache_path("weights") / weights.folder_name


def kept_path(weights: Weights) -> Path:
    """Return what is handed out of that folder: all of it, or its only file."""
    folder = kept_in(weights)
    return folder if weights.is_folder else folder / weights.files[0].name


def is_kept(weights: Weights) -> bool:
    """Say whether the cache holds weights.

    A folder gets its name only after all in it was checked, so sizes are enough here; ``pull``
    reads every byte again.
    """
    folder = kept_in(weights)
    return all(_size(folder / file.name) == file.size for file in weights.files)


def installed_file(file: WeightFile) -> Path | None:
    """Return the same file in an installed package, if it has the right bytes."""
    if len(file.pieces) > 1:
        return None
    path = installed_piece(file.pieces[0])
    if path is None or _size(path) != file.size:
        return None
    return path if _digest(path, path.stat().st_mtime_ns) == file.sha256 else None


def installed_piece(piece: WheelFile) -> Path | None:
    """Return a file of an installed package, whatever its bytes."""
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
