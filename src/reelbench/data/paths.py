"""The files that a benchmark names: all of them lie inside its folder, wherever links lead.

Media, subtitles, prompts, rubrics and contexts are sent to models. A benchmark comes from anyone,
so none of them may be a link to what is elsewhere on this machine. Links within it are fine.
"""

import os
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.data.item_rules import path_escapes

SUBTITLE_ENDINGS = (".srt", ".vtt")


class Folder:
    """A folder whose links are followed; each folder in it is looked up once."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self._real = os.path.realpath(root)
        self._folders: dict[str, str] = {}

    def outside(self, name: object) -> str | None:
        """Say why a name, as a file has it, does not lead to a place inside; None where it does."""
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
        inside = os.path.commonpath([self._real, target]) == self._real
        return None if inside else f"a link to {target}"


def inner_path(root: Path | str, name: object) -> Path:
    """Return the path of a file or folder that a benchmark names; refuse one that is outside."""
    reason = Folder(root).outside(name)
    if reason:
        raise ReelbenchError(
            f"{name!r} does not lie inside {root} ({reason}): copy it there, for nothing outside "
            "of a benchmark's folder is read."
        )
    return Path(root) / str(name)


def beside(media: str) -> tuple[str, ...]:
    """Return the names that the subtitles of a medium may have."""
    stem = os.path.splitext(media)[0]
    return tuple(stem + ending for ending in SUBTITLE_ENDINGS)
