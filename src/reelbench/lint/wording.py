"""A blind baseline that learns from one half of a benchmark how keys are worded in the other.

It reads what questions and options say, how long options are and how their numbers rank. Each sign
of an option counts by how much more often right options have it than wrong ones (naive Bayes). All
items on a video, or on what was made from one clip, are in the same half, so that nothing is learnt
but what goes for any video.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log
from typing import Any

from reelbench.base.seeds import seed_for
from reelbench.base.text import words
from reelbench.data.clusters import cluster_leaders
from reelbench.data.items import LETTERS, Item
from reelbench.lint.guesses import LENGTHS, Guess, by_length, figure_of, ranked_numbers
from reelbench.models.baselines.prior import leaks

ENOUGH = 20  # items in a half: from fewer, there is nothing to learn
MOST = 4_000  # items that are looked at: of more, so many are drawn
SEEN = 5  # times that a sign must occur to count
STRENGTH = 10.0  # occurrences as chance has them, which are counted beside those of a sign

# What is noted of an option beside its words: how it compares with the other options.
MOST_OF = {"echo": "repeats the question", "central": "is like the others"}


@dataclass(frozen=True, slots=True)
class WordingBaseline:
    """How much more often right options have a sign than wrong ones, as a logarithm."""

    weights: Mapping[str, float]

    @classmethod
    def trained(cls, items: Sequence[Item]) -> "WordingBaseline":
        """Return the baseline that these items teach."""
        seen, right = Counter[str](), Counter[str]()
        for item in items:
            for letter, found in zip(LETTERS, signs(item), strict=False):
                seen.update(found)
                right.update(found if letter in item.answer else ())
        chance = sum(len(i.answer) for i in items) / max(1, sum(len(i.options) for i in items))
        odds = chance / (1 - chance)
        weights = {
            sign: log(
                (right[sign] + STRENGTH * chance)
                / (count - right[sign] + STRENGTH * (1 - chance))
                / odds
            )
            for sign, count in seen.items()
            if count >= SEEN
        }
        return cls(weights)

    def guess(self, item: Item) -> Guess:
        """Return the option that is worded most like a right one."""
        # Sums are exact before they are rounded, so that the order of a set decides nothing.
        scores = [
            round(fsum(self.weights.get(sign, 0.0) for sign in found), 9) for found in signs(item)
        ]
        best = max(scores)
        places = tuple(place for place, score in enumerate(scores) if score == best)
        return Guess(item, places, best - sorted(scores)[-2])

    def telling(self, item: Item, least: float = 0.2) -> dict[str, float]:
        """Return the signs of the right options that speak for them, and of wrong ones against.

        The strongest come first.
        """
        found = {
            sign: weight
            for letter, own in zip(LETTERS, signs(item), strict=False)
            for sign in own
            if abs(weight := self.weights.get(sign, 0.0)) >= least
            and (weight > 0) == (letter in item.answer)
        }
        return dict(sorted(found.items(), key=lambda pair: (-abs(pair[1]), pair[0])))


def by_wording(items: Sequence[Item]) -> list[Guess]:
    """Return what the baseline picks of each item, having learnt from the other half."""
    return [guess for half in _guessed_halves(items) for guess in half]


def wording_figure(items: Sequence[Item]) -> dict[str, Any] | None:
    """Return how often the baseline is right, beside chance; None for too few items.

    Each half learnt from the other, so that both may be guessed well by the same luck: what is
    unlikely is the better of the two, of which there are two.
    """
    halves = _guessed_halves(items)
    figure = figure_of([guess for half in halves for guess in half])
    if figure is None:
        return None
    found = [each["p"] for each in map(figure_of, halves) if each]
    return figure | {"p": min(1.0, len(halves) * min(found))}


def _guessed_halves(items: Sequence[Item]) -> list[list[Guess]]:
    halves, trained = _trained_halves(items)
    return [
        [baseline.guess(item) for item in half]
        for half, baseline in zip(halves, trained, strict=True)
    ]


def baselines_of(items: Sequence[Item]) -> dict[str, WordingBaseline]:
    """Return for each item the baseline that learnt from the other half; none of too few items."""
    pairs = zip(*_trained_halves(items), strict=True)
    return {item.id: baseline for half, baseline in pairs for item in half}


def _trained_halves(
    items: Sequence[Item],
) -> tuple[Sequence[Sequence[Item]], Sequence[WordingBaseline]]:
    """Return two halves, and for each the baseline that learnt from the other."""
    closed = [item for item in items if item.kind == "single" and len(item.options) > 1]
    halves = _halves(sorted(closed, key=lambda item: seed_for("wording", item.id))[:MOST])
    if min(map(len, halves)) < ENOUGH:
        return (), ()
    return halves, [WordingBaseline.trained(half) for half in reversed(halves)]


def _halves(items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """Divide items into two halves, about as large, that have no video and no clip in common."""
    halves: tuple[list[Item], list[Item]] = ([], [])
    leaders = cluster_leaders(items)
    clusters: dict[str, list[Item]] = {}
    for item in items:
        clusters.setdefault(leaders[item.id], []).append(item)
    for own in sorted(clusters.values(), key=_lot):
        min(halves, key=len).extend(own)
    return halves


def _lot(items: Sequence[Item]) -> int:
    return seed_for("halves", min(item.media[0].path for item in items))


def signs(item: Item) -> list[frozenset[str]]:
    """Return the signs of each option of an item."""
    found: list[set[str]] = [
        {f"says {word!r}" for word in words(option)} for option in item.options
    ]
    for word in LENGTHS:
        (guess,) = by_length([item], word)
        if len(guess.places) == 1:
            found[guess.places[0]].add(f"is the {word}")
    for _, places in ranked_numbers([item]):
        for rank, place in enumerate(places, 1):
            found[place].add(f"is number {rank} of {len(places)}")
    compared = leaks(item.question, item.options)
    for name, phrase in MOST_OF.items():
        values = compared[name]
        if values.count(max(values)) == 1:
            found[values.index(max(values))].add(phrase)
    return [frozenset(own) for own in found]
