"""What a reply answers, what may be read in it, and what several readings come to."""

from collections import Counter
from collections.abc import Sequence
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


_SPELLED = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
_FIGURES = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th")
ORDINALS = {word: place for names in (_SPELLED, _FIGURES) for place, word in enumerate(names)}
WORDS = "|".join(ORDINALS)
CALLED = r"(?:option|choice|answer|statement|description|caption)"
_OPENS = pattern(
    rf"\W{{0,4}}(?:the\s)?({WORDS})\s(?:one|{CALLED})"
    r"\s{0,2}(?=$|[.,;:!)(\n]|(?:because|since|as|here)\b)"
)


# "First answer: A. Final answer: B" opens so, too.
_ALONE = pattern(
    rf"\W{{0,4}}(?:the\s)?({WORDS})\s(?:one|{CALLED})"
    r"(?:[.!)\s]{0,4}|,?\s(?:because|since|as)\s[^.!?\n]*[.!]?\s*)$"
)


def opening_ordinal(low: str, alone: bool = False) -> str:
    """Return the word by which a lowered text that opens so, or is no more, counts an option."""
    found = (_ALONE if alone else _OPENS).match(low)
    return found[1] if found else ""


_BETWEEN = pattern(r"(?:[\s,;&/+、.$-]|‹joint›)*")
_GAP = 20  # characters between two marks of one list


@dataclass(frozen=True, slots=True)
class Reading:
    """The places that a piece of a reply names, or why none."""

    places: Places = ()
    failure: Failure = ""


NOTHING = Reading()
SEVERAL = Reading(failure="several answers")


@dataclass(frozen=True, slots=True)
class LocatedReading:
    """A reading and where in the text it stands; in quotes it may be an echoed format."""

    start: int
    end: int
    reading: Reading
    quoted: bool = False


def agreed(found: Sequence[LocatedReading], text: str, kind: Kind) -> Places:
    """Return what all readings say; unclear if they differ, nothing if none says anything.

    What stands in quotes counts only where nothing else is said, and a letter without an option,
    such as the X of a format, only where no other letter is.
    """
    readings = [each for each in found if each.reading != NOTHING]
    readings = [each for each in readings if not each.quoted] or readings
    known = [each for each in readings if each.reading.failure != "no such option"]
    if not known:
        if readings:
            raise UnclearError("no such option")
        return ()
    for each in known:
        if each.reading.failure:
            raise UnclearError(each.reading.failure)
    places = [each.reading.places for each in known]
    answers = set(_lists(known, text) if kind == "multi" else places)
    if len(answers) > 1:
        raise UnclearError("several answers")
    return answers.pop()


def _lists(found: Sequence[LocatedReading], text: str) -> list[Places]:
    """Take readings that stand side by side as one: ``\\boxed{A}, \\boxed{C}``."""
    lists: list[set[int]] = []
    end = -1
    for each in sorted(found, key=lambda one: one.start):
        between = text[end : each.start]
        if lists and len(between) <= _GAP and _BETWEEN.fullmatch(between):
            lists[-1] |= set(each.reading.places)
        else:
            lists.append(set(each.reading.places))
        end = each.end
    return [tuple(sorted(places)) for places in lists]
