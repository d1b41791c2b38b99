"""Questions that are asked twice about the same media."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from reelbench.items import Item
from reelbench.make.lint.findings import Finding
from reelbench.make.lint.text import plain, words

ALIKE = 0.8  # share of word pairs that two questions have in common

Numbered = tuple[int, Item]
Words = tuple[str, ...]


def duplicate_findings(items: Sequence[Numbered]) -> Iterator[Finding]:
    """Compare questions about the same media.

    The same words about other media are a template, which is fine; nearly the same words with
    another answer are two questions. The same words with another answer cannot both be right.
    """
    by_media: dict[object, list[Numbered]] = defaultdict(list)
    for line, item in items:
        by_media[item.media].append((line, item))
    for group in by_media.values():
        if len(group) > 1:
            yield from _within(group)


def _within(group: Sequence[Numbered]) -> Iterator[Finding]:
    same_words: dict[Words, list[Numbered]] = defaultdict(list)
    for line, item in group:
        same_words[tuple(words(item.question))].append((line, item))
    for asked in same_words.values():
        line, item = asked[0]
        for other_line, other in asked[1:]:
            if _said(other) == _said(item):
                message = f"asks the same as {item.id} (line {line})"
                yield Finding.of("NEAR_DUPLICATE", message, other, other_line)
            elif set(map(plain, other.options)) == set(map(plain, item.options)):
                message = (
                    f"asks the same as {item.id} (line {line}), with the answer "
                    f"{_shown(other)} instead of {_shown(item)}"
                )
                yield Finding.of("CONTRADICTORY_KEYS", message, other, other_line)
    for first, second in _similar_pairs([text for text in same_words if text]):
        (line, item), (other_line, twin) = same_words[first][0], same_words[second][0]
        if _said(item) == _said(twin):
            message = f"nearly the same words and the same answer as {item.id} (line {line})"
            yield Finding.of("NEAR_DUPLICATE", message, twin, other_line)


def _said(item: Item) -> frozenset[str]:
    return frozenset(map(plain, item.correct or (item.reference or "",)))


def _shown(item: Item) -> str:
    return ", ".join(map(repr, item.correct or (item.reference or "",)))


def _similar_pairs(texts: Sequence[Words]) -> Iterator[tuple[Words, Words]]:
    """Yield the pairs that share most word pairs, without comparing all with all.

    Of two sets that share ``ALIKE`` of their union, each must have at least one of the other's
    rarest elements among its own rarest few; only such pairs are compared.
    """
    shingles: list[set[Words]] = [set(pairwise(text)) or {text} for text in texts]
    frequency = Counter(shingle for each in shingles for shingle in each)
    holders: dict[Words, list[int]] = defaultdict(list)
    for number, own in enumerate(shingles):
        rarest_first = sorted(own, key=lambda shingle: (frequency[shingle], shingle))
        telling = rarest_first[: len(own) - math.ceil(ALIKE * len(own)) + 1]
        candidates = {other for shingle in telling for other in holders[shingle]}
        for other in sorted(candidates):
            if len(own & shingles[other]) >= ALIKE * len(own | shingles[other]):
                yield texts[other], texts[number]
        for shingle in telling:
            holders[shingle].append(number)
