"""The files that a benchmark names: all of them must lie inside its folder, links resolved.

Media, subtitles, prompts, rubrics and contexts are sent to models. A benchmark may come from
anyone, so none of them may be a link to a file elsewhere on this machine. Links within the folder
are allowed.
"""

import os
import re
from functools import lru_cache
from pathlib import Path

from reelbench.base.errors import ReelbenchError

VIDEO_ENDINGS = (
    ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".flv", ".wmv",
    ".3gp", ".ogv", ".gif",
)  # fmt: skip
SOUND_ENDINGS = (".wav", ".mp3", ".m4a", ".aac", ".flac", ".ogg", ".opus")
IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp")
SUBTITLE_ENDINGS = (".srt", ".vtt")
SHEET_ENDINGS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
TABLE_ENDINGS = (".csv", ".tsv", ".tab", ".parquet", ".arrow", *SHEET_ENDINGS)


@lru_cache(maxsize=65536)
def path_escapes(path: str) -> str | None:
    """Return why a path is not a plain relative one inside the folder; None where it is."""
    if not path.isprintable():
        return "a control character"
    if "\\" in path:
        return "a backslash: write / between folders"
    if path.startswith(("/", "~")) or re.match(r"[A-Za-z]:", path):
        return "an absolute path"
    if "://" in path:
        return "a URL: download the file first"
    parts = path.split("/")
    if ".." in parts:
        return "it leaves the folder"
    return "an empty part" if "" in parts or "." in parts else None


def link_outside(root: Path | str, path: Path | str) -> str:
    """Return the resolved path if it is outside of a folder; empty where it is inside."""
    target = os.path.realpath(path)
    return "" if _is_inside(os.path.realpath(root), target) else target


def _is_inside(folder: str, target: str) -> bool:
    """Whether one real path lies in another, or is the same."""
    return os.path.commonpath([folder, target]) == folder


class Folder:
    """Resolves links inside a folder, with a cache of its subfolders."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self._real = os.path.realpath(root)
        self._folders: dict[str, str] = {}

    def outside(self, name: object) -> str | None:
        """Return why a path is not inside the folder, links resolved; None where it is."""
        if not isinstance(name, str):
            return "which is not text"
        reason = path_escapes(name)
        if reason:
            return reason
        folder, last = os.path.split(name)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(os.path.join(self._real, folder))
        target = os.path.join(self._folders[folder], last)
        if os.path.islink(target):
            target = os.path.realpath(target)
        return None if _is_inside(self._real, target) else f"a link to {target}"


def inner_path(root: Path | str, name: object) -> Path:
    """Return the path of a file that a benchmark names; raise if it is outside of its folder."""
    reason = Folder(root).outside(name)
    if reason:
        raise ReelbenchError(
            f"{name!r} is not inside {root} ({reason}): copy it there, since nothing outside of a "
            "benchmark's folder is read."
        )
    return Path(root) / str(name)


def beside(media: str) -> tuple[str, ...]:
    """Return the names that the subtitles of a medium may have."""
    stem = os.path.splitext(media)[0]
    return tuple(stem + ending for ending in SUBTITLE_ENDINGS)
