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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import whole_data
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.data.fields import Rule, field_faults, is_text
from reelbench.data.paths import VIDEO_ENDINGS
from reelbench.interop.imports.http_files import FetchRules, fetch_file, partial_name
from reelbench.interop.imports.web_pages import (
    INSTALL_YT_DLP,
    ask_yt_dlp,
    download_from_page,
    has_yt_dlp,
)
from reelbench.make.candidates.catalogue import VideoCandidate, candidate_fields
from reelbench.make.pipeline.stage import Undecided

REACHING = (
    *("cookiefile", "extractor_args", "geo_verification_proxy", "http_headers", "proxy"),
    *("retries", "sleep_interval_requests", "socket_timeout", "source_address"),
)
_ONCE = FetchRules(tries=1, media_only=False)  # a stage is tried again, and measures what came


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
            reply, errors = ask_yt_dlp(f"{name}{most}:{keyword}", self.reaching)
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
    if not has_yt_dlp():
        raise ReelbenchError(
            f"{path} searches the web with yt-dlp, which is not installed: {INSTALL_YT_DLP}, or "
            "name a folder or a catalogue in --source."
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
        path = folder / f"{name}{ending}"
        fetch_file(url, path, folder / partial_name(url), _ONCE)
        return path
    reaching = web_search(source).reaching if source and is_search(source) else {}
    return download_from_page(url, folder, name, reaching)


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
