"""Search for candidates by keyword: over a catalogue, or on the web with yt-dlp.

A search on the web is a file ``NAME.yaml`` that ``--source`` names::

    searches: [ytsearch]   # yt-dlp's own names: ytsearch (YouTube), bilisearch (Bilibili), ...
    options:               # handed to yt-dlp as they are; may be left out
      cookiefile: cookies.txt

It needs yt-dlp, which Reelbench does not bring: ``pip install yt-dlp``.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import whole_data
from reelbench.base.text import words
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.data.fields import Rule, field_faults, is_text
from reelbench.make.pipeline.stage import Undecided
from reelbench.recipes.musebench.catalogue import VideoCandidate, candidate_fields, read_catalogue

_WEIGHTS = {"title": 3.0, "channel": 2.0, "description": 1.0}
# Words that say nothing about what a video is about, in our keywords and in titles.
_COMMON = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "by", "explained", "for", "from", "how", "in"),
        *("into", "is", "of", "on", "or", "s", "the", "to", "vs", "what", "why", "with"),
    }
)


class LocalSearch:
    """Ranks the videos of a catalogue by the words that they share with a keyword.

    A word counts by how rare it is among the videos, and by where it stands: the title most, then
    the channel, then the description. Videos that share no word are not found. Equals are ordered
    by views, then by id.
    """

    def __init__(
        self,
        candidates: Sequence[VideoCandidate],
        broken: Sequence[tuple[str, str]] = (),
        warnings: Sequence[str] = (),
    ) -> None:
        self.broken, self.warnings = broken, warnings
        order = sorted(candidates, key=lambda each: (-(each.view_count or 0), each.video_id))
        self._videos = [(each, _word_weights(each)) for each in order]
        self._having = Counter(word for _, weights in self._videos for word in weights)

    def search(self, keyword: str, category: str, most: int) -> list[VideoCandidate]:
        """Return the best candidates for a keyword that may belong to a category, best first."""
        wanted = set(_search_words(keyword))
        rarity = {w: math.log(1 + len(self._videos) / n) for w in wanted if (n := self._having[w])}
        found = [
            (sum(rarity[word] * weights[word] for word in sorted(rarity.keys() & weights)), each)
            for each, weights in self._videos
            if each.category in ("", category)
        ]
        ranked = sorted((pair for pair in found if pair[0]), key=lambda pair: -pair[0])
        return [each for _, each in ranked[:most]]

    def named(self, category: str) -> list[VideoCandidate]:
        """Return the candidates whose metadata name a category."""
        return [each for each, _ in self._videos if each.category == category]

    def considered(self, category: str) -> int:
        """Return how many candidates there are for a category."""
        return sum(each.category in ("", category) for each, _ in self._videos)


def _word_weights(candidate: VideoCandidate) -> dict[str, float]:
    """Return the weight of each word of a video's metadata: that of the best place it has."""
    weights: dict[str, float] = {}
    for name, weight in reversed(_WEIGHTS.items()):
        weights |= dict.fromkeys(_search_words(getattr(candidate, name)), weight)
    return weights


def _search_words(text: str) -> Iterator[str]:
    """Yield the words of a text that can be searched for, without accents and a plural's s."""
    for word in words(text):
        letters = unicodedata.normalize("NFKD", word)
        bare = "".join(each for each in letters if not unicodedata.combining(each))
        if len(bare) > 3 and bare.endswith("s") and not bare.endswith("ss"):
            bare = bare[:-1]
        if bare and bare not in _COMMON:
            yield bare


@dataclass(frozen=True, slots=True)
class WebSearch:
    """Searches the web with yt-dlp."""

    searches: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    broken: ClassVar[Sequence[tuple[str, str]]] = ()
    warnings: ClassVar[Sequence[str]] = ()

    def search(self, keyword: str, category: str, most: int) -> list[VideoCandidate]:  # noqa: ARG002
        """Return what each search finds first; raise ``Undecided`` where one fails."""
        quiet = {"quiet": True, "no_warnings": True, "noprogress": True, "ignoreerrors": True}
        found: dict[str, VideoCandidate] = {}
        with import_module("yt_dlp").YoutubeDL({**quiet, **self.options}) as client:
            for name in self.searches:
                reply = client.extract_info(f"{name}{most}:{keyword}", download=False)
                if not reply:
                    raise Undecided("error", f"{name} could not be searched for {keyword!r}")
                for info in reply.get("entries") or ():
                    candidate = web_candidate(info) if info else None
                    if candidate is not None:
                        found.setdefault(candidate.video_id, candidate)
        return list(found.values())

    def named(self, category: str) -> list[VideoCandidate]:  # noqa: ARG002
        """Return nothing: the metadata of the web know other categories than ours."""
        return []

    def considered(self, category: str) -> None:  # noqa: ARG002
        """Return None: nobody knows how many videos there are."""
        return


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


_SETTINGS: dict[str, Rule] = {
    "searches": (
        True,
        lambda value: isinstance(value, list) and bool(value) and all(map(_is_search, value)),
        "a list of yt-dlp's searches, such as [ytsearch]",
    ),
    "options": (False, lambda value: isinstance(value, dict), "a mapping of yt-dlp's options"),
}


def _is_search(value: Any) -> bool:
    return is_text(value) and value.isalnum() and "search" in value


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
            f"{path} searches the web with yt-dlp, which is not installed: run `pip install "
            "yt-dlp`, or name a folder or a catalogue in --source."
        )
    return WebSearch(tuple(record["searches"]), record.get("options") or {})


VideoSource = LocalSearch | WebSearch


def open_source(source: Path) -> VideoSource:
    """Return the source of candidates that a user names."""
    if source.suffix in (".yaml", ".yml"):
        return web_search(source)
    catalogue = read_catalogue(source)
    return LocalSearch(catalogue.candidates, catalogue.broken, catalogue.warnings)
