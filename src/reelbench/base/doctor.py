"""What of Reelbench's requirements this machine has, what is missing, and how to get it."""

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

from reelbench.base.cache import cache_folder, cache_limit
from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command

_CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ENOUGH_DISK = 2e9  # bytes; the demo and its report need a hundredth of it

# What each extra is for; its packages are read from the installed metadata.
EXTRAS = {
    "annotate": "label clips: faces, shots, speech, text on screen",
    "embed": "find questions that are paraphrases of each other",
    "figures": "write figures as SVG, PDF and PNG",
    "hf": "run local transformers models",
    "hub": "import a benchmark by its name on the Hugging Face hub",
    "local": "run GGUF models without a GPU",
    "parquet": "read and write Parquet files",
    "ray": "run work on a Ray cluster",
    "web": "review pages and the leaderboard",
    "train": "train a judge of your own",
    "inspect": "ask models through Inspect's providers",
}


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """The result of one check: whether something was found, what, and how to get it."""

    name: str
    present: bool
    found: str
    remedy: str = ""  # how to get it; shown where it is absent
    needed: bool = False

    @property
    def word(self) -> str:
        """The verdict: ``ok``, ``MISSING`` (needed) or ``absent`` (optional)."""
        return "ok" if self.present else "MISSING" if self.needed else "absent"

    def to_record(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return asdict(self) | {"verdict": self.word, "remedy": self.advice}

    @property
    def advice(self) -> str:
        """How to get what is missing; empty where it is present."""
        return "" if self.present else self.remedy


def examine() -> list[DoctorCheck]:
    """Return all checks: Python, packages, codecs, extras, then the machine."""
    return [*_python(), *_core(), *_codecs(), *_extras(), *_machine()]


def _python() -> Iterator[DoctorCheck]:
    version = platform.python_version()
    yield DoctorCheck("python", sys.version_info >= (3, 11), version, "use Python >= 3.11", True)
    own = metadata.version("reelbench")
    yield DoctorCheck("reelbench", True, own, needed=True)


def _core() -> Iterator[DoctorCheck]:
    for name in _packages(extra=None):
        yield _package(name, "pip install reelbench", needed=True)


def _package(name: str, remedy: str, needed: bool) -> DoctorCheck:
    try:
        return DoctorCheck(name, True, metadata.version(name), needed=needed)
    except metadata.PackageNotFoundError:
        return DoctorCheck(name, False, "not installed", remedy, needed)


def _packages(extra: str | None) -> list[str]:
    """The packages that the core, or one extra, asks for."""
    names = []
    for requirement in metadata.requires("reelbench") or []:
        wanted = re.search(r"extra == ['\"]([^'\"]+)['\"]", requirement)
        if (wanted[1] if wanted else None) == extra:
            names.append(re.match(r"[A-Za-z0-9._-]+", requirement)[0])  # type: ignore[index]
    return names


def _codecs() -> Iterator[DoctorCheck]:
    try:
        import av
    except ImportError as error:
        yield DoctorCheck(
            "video", False, str(error), "pip install --force-reinstall av", needed=True
        )
        return
    for codec, purpose in (("libx264", "H.264"), ("aac", "AAC")):
        present = codec in av.codecs_available
        remedy = "install av from a wheel: pip install --only-binary av av"
        yield DoctorCheck(
            f"encode {purpose}", present, codec if present else "no encoder", remedy, True
        )


def _extras() -> Iterator[DoctorCheck]:
    for extra, purpose in EXTRAS.items():
        checks = [_package(name, "", needed=False) for name in _packages(extra)]
        lacking = [check.name for check in checks if not check.present]
        found = purpose
        yield DoctorCheck(f"[{extra}]", not lacking, found, install_command(extra))


def _machine() -> Iterator[DoctorCheck]:
    browser = next((path for name in _CHROMIUMS if (path := shutil.which(name))), None)
    yield DoctorCheck(
        "chromium",
        browser is not None,
        browser or "not found: only Reelbench's own tests need it",
        "apt-get install chromium",
    )
    yield _cache()
    free = shutil.disk_usage(os.getcwd()).free
    yield DoctorCheck(
        "disk", free >= _ENOUGH_DISK, f"{free / 1e9:.1f} GB free here", "free some space"
    )


def _cache() -> DoctorCheck:
    """Where decoded frames are stored, and how much of the size limit is used."""
    remedy = "set REELBENCH_CACHE to a folder that can be written"
    try:
        folder, limit = cache_folder("frames"), cache_limit()
    except ReelbenchError as error:
        return DoctorCheck("cache", False, str(error), remedy)
    used = sum(path.stat().st_size for path in folder.glob("??/*") if path.is_file())
    found = f"{folder}: {used / 1e9:.1f} of {limit / 1e9:g} GB of frames"
    return DoctorCheck("cache", os.access(folder, os.W_OK), found, remedy)
