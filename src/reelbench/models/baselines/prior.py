"""A baseline that reads the question and its options, and nothing else.

What it gets right above chance, the wording gave away. It never sees a key and learns nothing:
five habits of people who write questions are turned into numbers from 0 to 1 (one of them can speak
against an option, down to -1) and added up with weights set by hand.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from reelbench.models.base import Request
from reelbench.models.baselines.shortcuts import Offline

# A word, or one sign of a script that is written without spaces.
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
ABOVE = re.compile(
    r"\b(all|both|none|neither) of (?:the )?(?:above|these|those|them|options|answers|choices)\b"
)

# Round on purpose: halving or doubling any one of them moves accuracy on NExT-QA and MMMU-Pro by
# less than a point.
WEIGHTS: Mapping[str, float] = {
    "echo": 2.0,
    "central": 1.0,
    "long": 0.5,
    "middle": 0.5,
    "above": 1.0,
}


class BlindPrior(Offline):
    """Takes the option that its wording gives away: what a benchmark leaks without its video."""

    parameters: Mapping[str, Any] = {"version": 1}

    def choose(self, request: Request) -> list[int]:
        """Choose the option that the wording favours most; of several, the first."""
        if not request.options:
            return []
        scores = blind_scores(request.question, request.options)
        outstanding = standing_out(scores) if request.kind == "multi" else []
        return outstanding or [scores.index(max(scores))]


def standing_out(scores: Sequence[float]) -> list[int]:
    """Return the places of the scores that lie half a standard deviation above the mean."""
    mean = fsum(scores) / len(scores)
    spread = (fsum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5
    if spread < 1e-9:  # all alike: nothing stands out
        return []
    return [place for place, score in enumerate(scores) if score > mean + spread / 2]


def blind_scores(question: str, options: Sequence[str]) -> list[float]:
    """Return how strongly the wording favours each option.

    Sums are exact before they are rounded, so that neither the order of the options nor that of a
    set decides between equals.
    """
    signs = leaks(question, options)
    columns = [[WEIGHTS[name] * value for value in values] for name, values in signs.items()]
    return [round(fsum(row), 9) for row in zip(*columns, strict=True)]


def leaks(question: str, options: Sequence[str]) -> dict[str, list[float]]:
    """Return each sign of a key, by name, with one value per option."""
    asked = plain(question)
    texts = [plain(option) for option in options]
    bags = [pieces(text) for text in texts]
    return {
        "echo": echo(pieces(asked), bags),
        "central": central(bags),
        "long": long(texts),
        "middle": middle(texts),
        "above": [above(text) for text in texts],
    }


def echo(asked: frozenset[str], bags: Sequence[frozenset[str]]) -> list[float]:
    """Return the share of each option that the question says too.

    A key is about what the question is about; distractors borrowed from other questions are not.
    What several options share tells them apart less, and counts less.
    """
    holders = Counter(piece for bag in bags for piece in bag)
    return [fsum(1 / holders[piece] for piece in bag & asked) / max(1, len(bag)) for bag in bags]


def central(bags: Sequence[frozenset[str]]) -> list[float]:
    """Return how much each option shares with the others, on average (Dice).

    Distractors made by changing the key resemble the key more than they resemble each other.
    """
    others = max(1, len(bags) - 1)
    return [
        fsum(dice(bag, other) for at, other in enumerate(bags) if at != place) / others
        for place, bag in enumerate(bags)
    ]


def dice(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share that two bags have in common: 1 if they are equal, 0 if one is empty."""
    return 2 * len(one & other) / max(1, len(one) + len(other))


def long(texts: Sequence[str]) -> list[float]:
    """Return each length as a share of the longest: a key is qualified until it is true."""
    longest = max([1, *map(len, texts)])
    return [len(text) / longest for text in texts]


def middle(texts: Sequence[str]) -> list[float]:
    """Return how near the middle each option's first number ranks; zeros if one has no number.

    Who invents wrong numbers puts some below the right one and some above it.
    """
    found = [NUMBER.search(text) for text in texts]
    numbers = [float(match[0].replace(",", "")) for match in found if match]
    if len(numbers) < len(texts):
        return [0.0] * len(texts)
    others = max(1, len(numbers) - 1)
    return [
        1 - abs(sum(n < number for n in numbers) - sum(n > number for n in numbers)) / others
        for number in numbers
    ]


def above(text: str) -> float:
    """Return 1 for "all of the above", -1 for "none of the above", 0 for any other option.

    The first is seldom offered unless it is right, the second is often there to fill the list.
    English only: elsewhere it stays silent.
    """
    match = ABOVE.search(text)
    return 0.0 if match is None else 1.0 if match[1] in ("all", "both") else -1.0


def pieces(text: str) -> frozenset[str]:
    """Return the runs of three letters in the words, so that "play" and "playing" share some."""
    padded = [f" {word} " for word in WORD.findall(text)]
    return frozenset(word[at : at + 3] for word in padded for at in range(len(word) - 2))


def plain(text: str) -> str:
    """Fold case, width, minus signs and white space, which say nothing about the key."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.replace("\u2212", "-").split())
