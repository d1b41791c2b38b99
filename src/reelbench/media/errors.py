"""The error of a missing, damaged or unsupported media file."""

from pathlib import Path

from reelbench.base.errors import ReelbenchError


class MediaError(ReelbenchError):
    """A media file that cannot be used; the message names the file and the reason."""

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = Path(path)
        self.reason = reason

    def __reduce__(self) -> tuple[type["MediaError"], tuple[Path, str]]:
        return MediaError, (self.path, self.reason)


def refuse_no_file(path: Path, *, may_be_empty: bool = False) -> None:
    """Raise ``MediaError`` for what is no regular file, or an empty one."""
    if not path.is_file():
        raise MediaError(path, "not a file" if path.exists() else "no such file")
    if not may_be_empty and not path.stat().st_size:
        raise MediaError(path, "the file is empty (0 bytes): fetch it again")
