"""Find the words of the languages in a text.

Words are looked up one by one with ``str.find``, so that no text, however often it repeats them,
takes more than linear time.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TypeVar

from reelbench.evaluate.parse.languages import LANGUAGES
from reelbench.evaluate.parse.pattern import pattern

_T = TypeVar("_T")
_MANY = 128
# Vowel signs and the like, which belong to a word although ``\w`` does not match them.
JOINED_SIGNS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903"
    "\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)
IN_WORD = rf"[\w{JOINED_SIGNS}]"
# Scripts that put no spaces between words, or put endings right behind them.
UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
# A letter may stand right behind a word of an unspaced script, and the other way round.
_SPACED = rf"(?:(?![{UNSPACED}_]){IN_WORD})"
_SPACED_CHARACTER = pattern(_SPACED)
_SPACED_ENDS = pattern(rf"(?={_SPACED}).*(?<={_SPACED})\Z")


@cache
def words(*fields: str) -> tuple[str, ...]:
    """Return the words of fields in all languages, the longest first."""
    texts = [getattr(language, field) for language in LANGUAGES.values() for field in fields]
    found = {unicodedata.normalize("NFKC", word) for text in texts for word in text.split("|")}
    return tuple(sorted(found - {""}, key=lambda word: (-len(word), word)))


@cache
def alternation(*fields: str) -> str:
    """Return a pattern for the words of fields: whole words where the script has spaces."""
    spaced = [word for word in words(*fields) if _SPACED_ENDS.match(word)]
    others = [word for word in words(*fields) if word not in spaced]
    whole = rf"(?<!{_SPACED})(?:{_either(spaced)})(?!{_SPACED})" if spaced else ""
    return "(?:" + "|".join(filter(None, [whole, _either(others)])) + ")"


def _either(alternatives: Iterable[str]) -> str:
    return "|".join(re.escape(word).replace(r"\ ", r"\s{1,3}") for word in alternatives)


def lowered(text: str) -> str:
    """Return a text in lower case, of the same length, so that places in it are the same."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(sign if len(sign.lower()) > 1 else sign.lower() for sign in text)


def apart(low: str, start: int, end: int) -> bool:
    """Whether a word stands by itself in a lowered text, as far as its script has spaces."""
    first, last = _SPACED_CHARACTER.match(low, start), _SPACED_CHARACTER.match(low, end - 1)
    joined_before = first and start > 0 and _SPACED_CHARACTER.match(low, start - 1)
    joined_after = last and end < len(low) and _SPACED_CHARACTER.match(low, end)
    return not joined_before and not joined_after


def ends_of(found: list[_T]) -> list[_T]:
    """Return the first and the last of very many: a reply that counts on says nothing between."""
    return found if len(found) <= _MANY else [*found[: _MANY // 2], *found[-_MANY // 2 :]]


def occurrences(low: str, found_in: Iterable[str], around: int = 0) -> Iterator[tuple[int, int]]:
    """Yield where words stand in a lowered text, word by word.

    With ``around``, a place whose surroundings, so many characters, were seen before is left out: a
    reply that loops says the same again and again, and is read once.
    """
    for word in found_in:
        spaced = bool(_SPACED_CHARACTER.match(word[0]) or _SPACED_CHARACTER.match(word[-1]))
        seen: set[tuple[int, str]] = set()
        start = low.find(word)
        while start >= 0:
            end = start + len(word)
            before = min(start, around)
            context = before, low[start - before : end + around] if around else ""
            if context not in seen and (not spaced or apart(low, start, end)):
                yield start, end
            if around:
                seen.add(context)
            start = low.find(word, end)
