"""What rules of thumb pick that see the question and its options alone, and how often rightly."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.data.items import LETTERS, Item, Kind
from reelbench.lint.evenness import at_least

LENGTHS = {"longest": max, "shortest": min}
NUMBERS = ("least", "middle", "greatest")


@dataclass(frozen=True, slots=True)
class Guess:
    """What a rule picks of one item: an option, or several that are as good to it."""

    item: Item
    places: tuple[int, ...]
    lead: float = 0.0  # how far the pick stands out; rules have scales of their own

    @property
    def right(self) -> float:
        """The share of the picked options that are right."""
        return sum(LETTERS[place] in self.item.answer for place in self.places) / len(self.places)

    @property
    def chance(self) -> float:
        """The share of all options that are right."""
        return len(self.item.answer) / len(self.item.options)


def figure_of(guesses: Sequence[Guess]) -> dict[str, Any] | None:
    """Return how often guesses are right, beside chance; None where no option ever stands out.

    Shares are split where several options tie. How unlikely that is, is told by the items in which
    one option stands out alone.
    """
    clear = [guess for guess in guesses if len(guess.places) == 1]
    if not clear:
        return None
    return {
        "items": len(guesses),
        "accuracy": round(sum(guess.right for guess in guesses) / len(guesses), 4),
        "chance": round(sum(guess.chance for guess in guesses) / len(guesses), 4),
        "p": at_least(sum(guess.right == 1 for guess in clear), [guess.chance for guess in clear]),
    }


def by_length(items: Sequence[Item], word: str) -> list[Guess]:
    """Return what the rule picks that takes the longest option, or the shortest."""
    return [_of_length(item, word) for item in items if item.kind in ("single", "multi")]


def _of_length(item: Item, word: str) -> Guess:
    lengths = [len(option) for option in item.options]
    best = LENGTHS[word](lengths)
    places = tuple(place for place, length in enumerate(lengths) if length == best)
    first, second = sorted(lengths, reverse=word == "longest")[:2]
    return Guess(item, places, max(first, second) / max(1, min(first, second)))


def by_number(items: Sequence[Item], word: str) -> list[Guess]:
    """Return what the rule picks that takes the least, the middle or the greatest number."""
    return [
        Guess(item, (places[_rank(word, len(places))],)) for item, places in ranked_numbers(items)
    ]


def _rank(word: str, count: int) -> int:
    return {"least": 0, "middle": (count - 1) // 2, "greatest": count - 1}[word]


def ranked_numbers(items: Sequence[Item]) -> Iterator[tuple[Item, list[int]]]:
    """Yield the items whose options are different numbers, and their places from the least on."""
    for item in items:
        numbers = [number_in(option) for option in item.options]
        known = [number for number in numbers if number is not None]
        if item.kind == "single" and len(set(known)) == len(item.options):
            yield item, sorted(range(len(known)), key=known.__getitem__)


def number_in(option: str) -> float | None:
    """Return the number that an option gives, or the first of a span; None if it is no number."""
    found = re.fullmatch(r"\D*?(-?\d+(?:\.\d+)?)(?:\D+\d+(?:\.\d+)?)?[^\d]*", option)
    return float(found[1]) if found and len(option) <= 40 else None


def by_letter(items: Sequence[Item], kind: Kind = "single") -> list[Guess]:
    """Return what the rule picks that always takes the letter that is most often right."""
    asked = [item for item in items if item.kind == kind]
    counts = Counter(item.answer[0] for item in asked)
    if not counts:
        return []
    place = LETTERS.index(min(counts, key=lambda letter: (-counts[letter], letter)))
    return [Guess(item, (place,)) for item in asked if place < len(item.options)]
