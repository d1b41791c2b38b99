"""Videos of web pages, downloaded with yt-dlp, where it is installed."""

import shutil
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.data.paths import SUBTITLE_ENDINGS, VIDEO_ENDINGS
from reelbench.media.errors import MediaError

INSTALL_YT_DLP = "run `pip install yt-dlp`"


def has_yt_dlp() -> bool:
    """Whether yt-dlp is installed."""
    return find_spec("yt_dlp") is not None


def download_from_page(url: str, folder: Path, name: str, options: Mapping[str, Any]) -> Path:
    """Download the video of a web page into a folder, under a name; return its file.

    Subtitles that its author wrote in English lie beside it. ``options`` are yt-dlp's. A link that
    is dead raises ``MediaError`` with the reason.
    """
    if not has_yt_dlp():
        why = f"cannot be downloaded, as yt-dlp is not installed: {INSTALL_YT_DLP}"
        raise MediaError(url, why)
    # The best file with picture and sound; two files can be joined only where there is FFmpeg.
    joined = "bv*[height<=1080]+ba/" if shutil.which("ffmpeg") else ""
    settings = {
        **options,
        "format": f"{joined}b[height<=1080]/b",
        "outtmpl": f"{str(folder).replace('%', '%%')}/{name.replace('%', '%%')}.%(ext)s",
        "writesubtitles": True,
        "subtitleslangs": ["en.*"],
        "noplaylist": True,
    }
    _, errors = ask_yt_dlp(url, settings, download=True)
    files = sorted(folder.iterdir())
    videos = [path for path in files if path.suffix.lower() in VIDEO_ENDINGS]
    if not videos:
        raise MediaError(url, f"cannot be downloaded: {errors[0] if errors else 'no video there'}")
    for path in files:
        if path.suffix in SUBTITLE_ENDINGS:  # "name.en.vtt"
            path.replace(folder / f"{name}{path.suffix}")
    return videos[0]


def ask_yt_dlp(
    url: str, options: Mapping[str, Any], download: bool = False
) -> tuple[Mapping[str, Any] | None, list[str]]:
    """Return what yt-dlp says of an address or a search, and the errors on the way."""
    log = _Log()
    ours = {"quiet": True, "noprogress": True, "color": "no_color", "ignoreerrors": True}
    library = import_module("yt_dlp")
    try:
        with library.YoutubeDL({**ours, **options, "logger": log}) as client:
            return client.extract_info(url, download=download), log.errors
    except library.utils.YoutubeDLError as error:
        return None, [*log.errors, str(error)]
    except (SyntaxError, ValueError, TypeError, OSError) as error:
        raise ReelbenchError(f"yt-dlp fails ({error}): check the options for it.") from error


class _Log:
    """Takes what yt-dlp would print."""

    def __init__(self) -> None:
        self.errors: list[str] = []

    def debug(self, _text: str) -> None:
        """Drop a note."""

    info = warning = debug

    def error(self, text: str) -> None:
        """Keep an error."""
        self.errors.append(text.removeprefix("ERROR: "))
