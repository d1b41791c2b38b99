"""What a broken, missing or foreign media file raises."""

from pathlib import Path

from reelbench.errors import ReelbenchError


class MediaError(ReelbenchError):
    """A media file that cannot be used; the message names the file and the reason."""

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = Path(path)
        self.reason = reason

    def __reduce__(self) -> tuple[type["MediaError"], tuple[Path, str]]:
        return MediaError, (self.path, self.reason)
