"""Search for candidates by keyword: over a catalogue here, on the web in ``web.py``."""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from reelbench.base.text import without_accents, words
from reelbench.make.candidates.catalogue import CategoryNamed, VideoCandidate, read_catalogue
from reelbench.make.candidates.web import WebSearch, is_search, web_search

_WEIGHTS = {"title": 3.0, "channel": 2.0, "description": 1.0}
# Words that say nothing about what a video is about, in keywords and in titles.
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
        self._videos = sorted(candidates, key=lambda c: (-(c.view_count or 0), c.video_id))
        # Where each word stands: places of videos, with the weight that it has there.
        self._index: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for place, video in enumerate(self._videos):
            for word, weight in _word_weights(video).items():
                self._index[word].append((place, weight))

    def search(self, keyword: str, category: str, most: int) -> list[VideoCandidate]:
        """Return the best candidates for a keyword that may belong to a category, best first."""
        scores: dict[int, float] = defaultdict(float)
        for word in sorted(set(_search_words(keyword)) & self._index.keys()):
            rarity = math.log(1 + len(self._videos) / len(self._index[word]))
            for place, weight in self._index[word]:
                scores[place] += rarity * weight
        able = [place for place in scores if self._videos[place].category in ("", category)]
        best = heapq.nsmallest(most, able, key=lambda place: (-scores[place], place))
        return [self._videos[place] for place in best]

    def named(self, category: str) -> list[VideoCandidate]:
        """Return the candidates whose metadata name a category."""
        return [each for each in self._videos if each.category == category]

    def considered(self, category: str) -> int:
        """Return how many candidates there are for a category."""
        return sum(each.category in ("", category) for each in self._videos)


def _word_weights(candidate: VideoCandidate) -> dict[str, float]:
    """Return the weight of each word of a video's metadata: that of the best place it has."""
    weights: dict[str, float] = {}
    for name, weight in reversed(_WEIGHTS.items()):
        weights |= dict.fromkeys(_search_words(getattr(candidate, name)), weight)
    return weights


def _search_words(text: str) -> Iterator[str]:
    """Yield the words of a text that can be searched for, without accents and a plural's s."""
    for word in words(text):
        bare = without_accents(word)
        if len(bare) > 3 and bare.endswith("s") and not bare.endswith("ss"):
            bare = bare[:-1]
        if bare and bare not in _COMMON:
            yield bare


VideoSource = LocalSearch | WebSearch


def open_source(source: Path, categories: Sequence[str], named: CategoryNamed) -> VideoSource:
    """Return the source of candidates that a user names; see ``read_catalogue``."""
    if is_search(source):
        return web_search(source)
    catalogue = read_catalogue(source, categories, named)
    return LocalSearch(catalogue.candidates, catalogue.broken, catalogue.warnings)
