"""The words that answers are given in, and where they stand in a text.

Each language is a file of ``languages/``: lists of words in lower case by what they do.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import yaml

_T = TypeVar("_T")
_MANY = 128
# What a language may list.
FIELDS = {
    "answer": "the noun: the answer is B",
    "option": "the noun before a letter: option B",
    "right": "B is correct",
    "be": "between the noun and the letter",
    "deny": "the same, denied, where that is not a negation behind it",
    "choose": "I choose B",
    "fits": "B fits",
    "affirmative": "yes",
    "negative": "no",
    "negation": "before what is denied, or behind it",
    "negating": "the same, parts of words",
    "supposing": "a dog would bark: none is said to be there",
    "but": "after a negation: not A but B",
    "joint": "A and B",
    "either": "A or B",
    "all_of_them": "all options",
    "offered": "what all options are called: none of the options",
    "faulty": "a mistake in the options",
    "others": "the other options",
    "filler": "before a letter: it's B, probably B",
    "article": "before a noun",
    "ending": "after a letter: Bです",
    "so": "a conclusion follows",
    "why": "a reason follows",
    "retraction": "what was said is taken back",
    "refusal": "how a reply begins that does not answer",
}
# Vowel signs and the like, which belong to a word although ``\w`` does not match them.
JOINED_SIGNS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903"
    "\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)
IN_WORD = rf"[\w{JOINED_SIGNS}]"
# Scripts that put no spaces between words, or put endings right behind them.
UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
# A letter may stand right behind a word of an unspaced script, and the other way round.
_SPACED = rf"(?:(?![{UNSPACED}_]){IN_WORD})"
_FIELDS_NAMED = re.compile("‹(spaced )?([a-z_ ]+)›")


@cache
def languages() -> dict[str, dict[str, list[str]]]:
    """Return the words of every language by its code and what they do."""
    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader  # ten times as fast
    files = sorted((Path(__file__).parent / "languages").glob("*.yaml"))
    return {file.stem: yaml.load(file.read_text("utf-8"), loader) for file in files}  # noqa: S506


@cache
def words(*fields: str) -> tuple[str, ...]:
    """Return the words of fields in all languages, the longest first."""
    lists = [language.get(field, []) for language in languages().values() for field in fields]
    found = {unicodedata.normalize("NFKC", word) for words in lists for word in words}
    return tuple(sorted(found, key=lambda word: (-len(word), word)))


@cache
def alternation(*fields: str) -> str:
    """Return a pattern for the words of fields: whole words where the script has spaces."""
    return _alternation(words(*fields))


def _alternation(of_words: tuple[str, ...]) -> str:
    ends = re.compile(rf"(?={_SPACED}).*(?<={_SPACED})\Z")
    spaced = [word for word in of_words if ends.match(word)]
    others = [word for word in of_words if not ends.match(word)]
    whole = rf"(?<!{_SPACED})(?:{_either(spaced)})(?!{_SPACED})" if spaced else ""
    return "(?:" + "|".join(filter(None, [whole, _either(others)])) + ")"


def _either(alternatives: Iterable[str]) -> str:
    """A pattern for words, the longest first, that shares what they begin with."""
    tree: dict[str, Any] = {}
    for word in alternatives:
        branch = tree
        for sign in word:
            branch = branch.setdefault(sign, {})
        branch[""] = {}
    return _branches(tree)


def _branches(tree: dict[str, Any]) -> str:
    ends = "" in tree
    found = [
        (r"\s{1,3}" if sign == " " else re.escape(sign)) + _branches(rest)
        for sign, rest in tree.items()
        if sign
    ]
    if not found:
        return ""
    one = found[0] if len(found) == 1 and not ends else f"(?:{'|'.join(found)})"
    return f"{one}?" if ends else one


@cache
def _among_tokens(*fields: str) -> str:
    """A pattern for words between single spaces; unspaced scripts are taken sign by sign."""
    unspaced = re.compile(f"[{UNSPACED}]")
    apart = [" " + " ".join(w.replace(" ", "")) for w in words(*fields) if unspaced.match(w)]
    whole = [f" {re.escape(w)} " for w in words(*fields) if not unspaced.match(w)]
    return "(?:" + "|".join([*whole, *apart]) + ")"


def pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    """Return what ``re.compile`` returns, in effect; the work is done at the first use.

    ``‹so why›`` stands for the words of these fields, ``‹spaced so›`` for words among tokens. There
    are more than a hundred patterns, and plain replies need few.
    """
    return cast("re.Pattern[str]", _LazyPattern(expression, flags))


class _LazyPattern:
    def __init__(self, expression: str, flags: int) -> None:
        self.pattern, self._flags = expression, flags

    def __getattr__(self, name: str) -> Any:
        """Look a method up in the compiled pattern, once: then it is this object's own."""
        expression = _FIELDS_NAMED.sub(_words_of, self.pattern)
        method = getattr(re.compile(expression, self._flags), name)
        setattr(self, name, method)
        return method


def _words_of(named: re.Match[str]) -> str:
    return (_among_tokens if named[1] else alternation)(*named[2].split())


def lowered(text: str) -> str:
    """Return a text in lower case, of the same length, so that places in it are the same."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(sign if len(sign.lower()) > 1 else sign.lower() for sign in text)


_SPACED_CHARACTER = pattern(_SPACED)


def apart(low: str, start: int, end: int) -> bool:
    """Whether a word stands by itself in a lowered text, as far as its script has spaces."""
    first, last = _SPACED_CHARACTER.match(low, start), _SPACED_CHARACTER.match(low, end - 1)
    joined_before = first and start > 0 and _SPACED_CHARACTER.match(low, start - 1)
    joined_after = last and end < len(low) and _SPACED_CHARACTER.match(low, end)
    return not joined_before and not joined_after


def ends_of(found: list[_T]) -> list[_T]:
    """Return the first and the last of very many: a reply that counts on says nothing between."""
    return found if len(found) <= _MANY else [*found[: _MANY // 2], *found[-_MANY // 2 :]]


@cache
def _finder(of_words: tuple[str, ...], plain: bool) -> re.Pattern[str]:
    """Return what finds words; those of other scripts are not looked for in plain ASCII."""
    return re.compile(
        f"(?=({_alternation(tuple(w for w in of_words if w.isascii() or not plain))}))"
    )


def occurrences(low: str, found_in: tuple[str, ...], around: int = 0) -> Iterator[tuple[int, int]]:
    """Yield where words stand in a lowered text; of those that begin alike, the longest.

    With ``around``, a place whose surroundings, so many characters, were seen before is left out: a
    reply that loops says the same again and again, and is read once.
    """
    seen: set[tuple[int, str]] = set()
    for found in _finder(found_in, low.isascii()).finditer(low):
        start, end = found.span(1)
        before = min(start, around)
        context = before, low[start - before : end + around] if around else ""
        if context not in seen and apart(low, start, end):
            yield start, end
        if around:
            seen.add(context)
