"""Which wrong options were chosen: the share of errors whose option has one of some words."""

import re
from collections.abc import Mapping, Sequence

from reelbench.data.items import LETTERS, Item
from reelbench.evaluate.vote import Answer


def chosen_with(
    items: Sequence[Item], answers: Mapping[str, Answer | None], beginnings: Sequence[str]
) -> dict[str, float]:
    """Return, for each item that is answered wrong, 1 if a wrong choice has such a word, else 0.

    An item without an answer has no choice that could be counted.
    """
    found = {}
    for item in items:
        wrong = (answers.get(item.id) or frozenset()) - set(item.answer)
        if wrong:
            found[item.id] = float(bool(wrong & options_with(item, beginnings)))
    return found


def offered_share(items: Sequence[Item], beginnings: Sequence[str]) -> float | None:
    """Return the share of wrong options that have such a word, as the mean over the items."""
    shares = [
        len(options_with(item, beginnings) - set(item.answer)) / wrong
        for item in items
        if (wrong := len(item.options) - len(item.answer)) > 0
    ]
    return sum(shares) / len(shares) if shares else None


def options_with(item: Item, beginnings: Sequence[str]) -> frozenset[str]:
    """Return the letters of the options that have a word which begins so, whatever its case."""
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, beginnings))})", re.IGNORECASE)
    return frozenset(
        letter for letter, text in zip(LETTERS, item.options, strict=False) if pattern.search(text)
    )
