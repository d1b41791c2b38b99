"""Videos of the web: searched for and downloaded with yt-dlp, where it is installed.

A search is a file ``NAME.yaml`` that ``--source`` names::

    searches: [ytsearch]   # yt-dlp's own names: ytsearch (YouTube), bilisearch (Bilibili), ...
    options:               # how yt-dlp reaches a site, in searches and downloads; may be left out
      cookiefile: cookies.txt  # from the folder of this file

Only options about the connection are taken (``REACHING``): others of yt-dlp run commands or write
files, and a search may come from somebody else. It needs yt-dlp, which Reelbench does not bring:
``pip install yt-dlp``. An address that ends as a video file does, such as
``https://example.org/essay.mp4``, is downloaded without it.
"""

import http.client
import shutil
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import whole_data
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.data.fields import Rule, field_faults, is_text
from reelbench.data.paths import SUBTITLE_ENDINGS, VIDEO_ENDINGS
from reelbench.make.candidates.catalogue import VideoCandidate, candidate_fields
from reelbench.make.pipeline.stage import Undecided
from reelbench.media.errors import MediaError

REACHING = (
    *("cookiefile", "extractor_args", "geo_verification_proxy", "http_headers", "proxy"),
    *("retries", "sleep_interval_requests", "socket_timeout", "source_address"),
)
_TIMEOUT = 60  # seconds without a byte
_INSTALL = "run `pip install yt-dlp`"


@dataclass(frozen=True, slots=True)
class WebSearch:
    """Searches the web with yt-dlp."""

    searches: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)  # as its file has them
    root: Path = Path()  # the folder of that file

    broken: ClassVar[Sequence[tuple[str, str]]] = ()
    warnings: ClassVar[Sequence[str]] = ()

    @property
    def reaching(self) -> dict[str, Any]:
        """The options for yt-dlp, with the path of its cookies from here."""
        paths = {name: str(self.root / self.options[name]) for name in _PATHS & self.options.keys()}
        return {**self.options, **paths}

    def search(self, keyword: str, category: str, most: int) -> list[VideoCandidate]:  # noqa: ARG002
        """Return what each search finds first; raise ``Undecided`` where one fails.

        A video that cannot be read, such as a private one, is left out.
        """
        found: dict[str, VideoCandidate] = {}
        for name in self.searches:
            reply, errors = _asked(f"{name}{most}:{keyword}", self.reaching)
            entries = [info for info in (reply or {}).get("entries") or () if info]
            if not entries and (errors or reply is None):
                why = errors[0] if errors else "no reply"
                raise Undecided("error", f"yt-dlp cannot search {name} for {keyword!r}: {why}")
            for candidate in filter(None, map(web_candidate, entries)):
                found.setdefault(candidate.video_id, candidate)
        return list(found.values())

    def named(self, category: str) -> list[VideoCandidate]:  # noqa: ARG002
        """Return nothing: the metadata of the web know other categories than ours."""
        return []

    def considered(self, category: str) -> None:  # noqa: ARG002
        """Return None: nobody knows how many videos there are."""
        return


def is_search(source: Path) -> bool:
    """Whether a source is a search of the web."""
    return source.suffix in (".yaml", ".yml")


def web_search(path: Path) -> WebSearch:
    """Return the search that a file describes; raise an error where yt-dlp is not installed."""
    try:
        record, _ = read_yaml(path)
    except YamlError as error:
        raise ReelbenchError(f"{path} cannot be read: {error}.") from None
    if not isinstance(record, dict):
        raise ReelbenchError(f"{path} must have searches: write `searches: [ytsearch]`.")
    faults = [
        f"{path}: {name}: found {found}, expected {expected}."
        for _, name, found, expected in field_faults(record, _SETTINGS, closed=True)
    ]
    if faults:
        raise ReelbenchError("\n".join(faults))
    if find_spec("yt_dlp") is None:
        raise ReelbenchError(
            f"{path} searches the web with yt-dlp, which is not installed: {_INSTALL}, or name a "
            "folder or a catalogue in --source."
        )
    return WebSearch(tuple(record["searches"]), record.get("options") or {}, path.parent)


def web_candidate(info: Mapping[str, Any]) -> VideoCandidate | None:
    """Return the candidate that yt-dlp describes; None where it has no id, title or address."""
    fields = candidate_fields(info)
    views = fields.pop("view_count", None)
    texts = {
        name: str(fields[name]).strip()
        for name in ("video_id", "title", "channel", "description", "url")
        if name in fields
    }
    if not all(texts.get(name) for name in ("video_id", "title", "url")):
        return None
    known = views if type(views) is int and views >= 0 else None
    return VideoCandidate(view_count=known, **whole_data(texts))


def download_video(url: str, folder: Path, name: str, source: Path | None = None) -> Path:
    """Download a video into a folder, under a name; return its file.

    Subtitles that its author wrote in English lie beside it. A link that is dead raises
    ``MediaError`` with the reason. Where the source is a search, its options are used.
    """
    ending = Path(urlsplit(url).path).suffix.lower()
    if ending in VIDEO_ENDINGS:
        return _downloaded_file(url, folder / f"{name}{ending}")
    if find_spec("yt_dlp") is None:
        raise MediaError(url, f"cannot be downloaded, as yt-dlp is not installed: {_INSTALL}")
    # The best file with picture and sound; two files can be joined only where there is FFmpeg.
    joined = "bv*[height<=1080]+ba/" if shutil.which("ffmpeg") else ""
    options = {
        **(web_search(source).reaching if source and is_search(source) else {}),
        "format": f"{joined}b[height<=1080]/b",
        "outtmpl": f"{str(folder).replace('%', '%%')}/{name}.%(ext)s",
        "writesubtitles": True,
        "subtitleslangs": ["en.*"],
        "noplaylist": True,
    }
    _, errors = _asked(url, options, download=True)
    files = sorted(folder.iterdir())
    videos = [path for path in files if path.suffix.lower() in VIDEO_ENDINGS]
    if not videos:
        raise MediaError(url, f"cannot be downloaded: {errors[0] if errors else 'no video there'}")
    for path in files:
        if path.suffix in SUBTITLE_ENDINGS:  # "name.en.vtt"
            path.replace(folder / f"{name}{path.suffix}")
    return videos[0]


def _downloaded_file(url: str, path: Path) -> Path:
    if urlsplit(url).scheme not in ("http", "https"):
        raise MediaError(url, "cannot be downloaded: give an address with http:// or https://")
    try:
        with (
            urllib.request.urlopen(url, timeout=_TIMEOUT) as reply,  # noqa: S310 - see above
            path.open("wb") as file,
        ):
            shutil.copyfileobj(reply, file)
            expected = reply.headers.get("Content-Length", "")
    except urllib.error.URLError as error:
        why = f"{error.code} {error.reason}" if isinstance(error, urllib.error.HTTPError) else ""
        raise MediaError(url, f"cannot be downloaded: {why or error.reason}") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise MediaError(url, f"cannot be downloaded: {error}") from None
    if expected.isdecimal() and path.stat().st_size != int(expected):
        raise MediaError(url, f"cannot be downloaded: it ended before its {expected} bytes")
    return path


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


def _asked(
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


_SETTINGS: dict[str, Rule] = {
    "searches": (
        True,
        lambda value: isinstance(value, list) and bool(value) and all(map(_is_search, value)),
        "a list of yt-dlp's searches, such as [ytsearch]",
    ),
    "options": (
        False,
        lambda value: isinstance(value, dict) and value.keys() <= set(REACHING),
        f"a mapping with some of {', '.join(REACHING)}",
    ),
}
_PATHS = {"cookiefile"}


def _is_search(value: Any) -> bool:
    return is_text(value) and value.isalnum() and "search" in value
