"""The real clips that labels are held against: which they are, and what one sees and hears in them.

The clips themselves are not in this project: clips.yaml says in which package each lies.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

LIST = Path(__file__).with_name("clips.yaml")
SPLITS = ("tune", "held")


@dataclass(frozen=True)
class Entry:
    """One clip: the file in a package that it is cut from, and the truth."""

    name: str
    registry: str  # pypi or npm
    package: str
    version: str
    archive: str  # the file of the package
    file: str  # in the archive
    sha256: str  # of that file
    cut: tuple[float, float] | None
    truth: dict[str, Any]

    @property
    def split(self) -> str:
        """Tune or held: one package is in one of them whole, and its name alone decides."""
        return SPLITS[int(hashlib.sha256(self.package.encode()).hexdigest(), 16) % 2 == 0]

    def path(self, folder: Path) -> Path:
        """Where it lies in a folder of clips."""
        suffix = ".mp4" if self.cut else Path(self.file).suffix.lower()
        return folder / self.split / f"{self.name}{suffix}"


@cache
def entries() -> tuple[Entry, ...]:
    """Return all clips of the list, in its order."""
    found = []
    for source in yaml.safe_load(LIST.read_text("utf-8"))["sources"]:
        clips = source.pop("clips")
        for name, clip in clips.items():
            cut = clip.pop("cut", None)
            found.append(Entry(name=name, **source, cut=tuple(cut) if cut else None, truth=clip))
    return tuple(found)


def present(folder: Path, split: str) -> list[Entry]:
    """Return the clips of a split that a folder has."""
    return [each for each in entries() if each.split == split and each.path(folder).exists()]
