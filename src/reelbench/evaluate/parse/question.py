"""What a reply answers, and what may come of reading it."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from reelbench.client.reply_text import plain
from reelbench.data.items import LETTERS, Kind
from reelbench.evaluate.parse.vocabulary import pattern, words

Failure = Literal[
    "", "empty reply", "unfinished reasoning", "refusal", "several answers", "no such option",
    "letter and text differ", "no answer",
]  # fmt: skip
Options = tuple[str, ...]
Places = tuple[int, ...]
_NAME = pattern(r"(?:^|(?<=[a-z,]\s))([B-HJ-Z])(?=\s[a-z]|'s)")
_OWN_LABEL = pattern(r"\s*[(\[]?([A-Z])\s?[.):\]]\s*(?=\S)")
_WITHIN = pattern(r"[,;、，](?=\s|$)|(?<=\s)[–—-](?=\s)")
_MORE = 20  # characters that punctuation may add to an option
_YES_NO_UNSURE = 3  # the most options that yes and no may be among


@dataclass(frozen=True, slots=True)
class Parsed:
    """The places of the chosen options and how they were read, or why nothing was."""

    places: Places | None
    method: str = ""
    failure: Failure = ""


class UnclearError(Exception):
    """Something is said, but not one thing."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure


@dataclass(frozen=True)
class ClosedQuestion:
    """A closed question: its kind, and its options in the order in which they were shown."""

    kind: Kind
    options: Options

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The options as they are compared."""
        return tuple(map(plain, self.options))

    @cached_property
    def _of_text(self) -> dict[str, Places]:
        return {text: places_of(self.texts, text) for text in self.texts}

    @cached_property
    def _of_unpunctuated(self) -> dict[str, Places]:
        texts = tuple(map(_unpunctuated, self.texts))
        return {text: places_of(texts, text) for text in texts if text}

    def places_of_text(self, text: str) -> Places:
        """Return the options whose text this is, and is whole."""
        return self._of_text.get(plain(text), ())

    def places_of_words(self, text: str) -> Places:
        """Return the options whose text this is, were it punctuated as they are."""
        compared = plain(text)
        if places := self._of_text.get(compared):
            return places
        if len(compared) > self.longest + _MORE:
            return ()
        return self._of_unpunctuated.get(_unpunctuated(compared), ())

    def place(self, letter: str) -> int | None:
        """Return the place that a letter names, if there is such an option."""
        place = LETTERS.find(letter.upper())
        return place if 0 <= place < len(self.options) else None

    @cached_property
    def yes_and_no(self) -> tuple[int, int] | None:
        """The places of yes and no, where the options are such, in whatever language."""
        yes = [place for place, text in enumerate(self.texts) if text in words("affirmative")]
        no = [place for place, text in enumerate(self.texts) if text in words("negative")]
        few = len(self.options) <= _YES_NO_UNSURE
        return (yes[0], no[0]) if few and len(yes) == len(no) == 1 and yes != no else None

    @cached_property
    def names(self) -> frozenset[str]:
        """Letters that the options use as names: "C is washing dishes"."""
        found = Counter(letter for option in self.options for letter in set(_NAME.findall(option)))
        return frozenset(name for name, count in found.items() if count * 2 >= len(self.options))

    @cached_property
    def longest(self) -> int:
        """The number of characters of the longest option."""
        return max(map(len, self.options), default=0)


def without_labels(options: Options) -> Options:
    """Return options without the labels that they carry themselves, where all do, in order."""
    labels = [_OWN_LABEL.match(option) for option in options]
    carried = all(
        label and label[1] == letter for label, letter in zip(labels, LETTERS, strict=False)
    )
    if not carried or not options:
        return options
    return tuple(
        option[label.end() :] for option, label in zip(options, labels, strict=True) if label
    )


def _unpunctuated(text: str) -> str:
    """A text as it is compared where it may be punctuated otherwise: ``blocking & blur``."""
    return " ".join(_WITHIN.sub(" ", text.replace("&", " and ")).split())


def places_of(texts: tuple[str, ...], text: str) -> Places:
    """Return every place where a text stands."""
    return tuple(place for place, each in enumerate(texts) if each == text)
