"""Questions that are asked twice about the same media."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from scipy import sparse

from reelbench.base.text import asked_words, plain
from reelbench.data.items import Item
from reelbench.lint.findings import Finding

ALIKE = 0.8  # share of word pairs that two questions have in common
_BLOCK = 1000  # questions compared with all others at a time
_MOST = 20_000  # questions about one medium; beyond, only equal ones are looked for

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
        same_words[asked_words(item.question)].append((line, item))
    for asked in same_words.values():
        line, item = asked[0]
        for other_line, other in asked[1:]:
            if other.is_counterpart_of(item):
                continue
            if _answer_texts(other) == _answer_texts(item):
                message = f"asks the same as {item.id} (line {line})"
                yield Finding.of("NEAR_DUPLICATE", message, other, other_line)
            elif set(map(plain, other.options)) == set(map(plain, item.options)):
                message = (
                    f"asks the same as {item.id} (line {line}), with the answer "
                    f"{_shown(other)} instead of {_shown(item)}"
                )
                yield Finding.of("CONTRADICTORY_KEYS", message, other, other_line)
    reported: set[int] = set()
    for first, second in _similar_pairs(list(same_words)):
        (line, item), (other_line, other) = same_words[first][0], same_words[second][0]
        if _answer_texts(item) == _answer_texts(other) and other_line not in reported:
            reported.add(other_line)
            message = f"nearly the same words and the same answer as {item.id} (line {line})"
            yield Finding.of("NEAR_DUPLICATE", message, other, other_line)


def _answer_texts(item: Item) -> frozenset[str]:
    return frozenset(map(plain, item.correct or (item.reference or "",)))


def _shown(item: Item) -> str:
    return ", ".join(map(repr, item.correct or (item.reference or "",)))


def _similar_pairs(texts: Sequence[Words]) -> Iterator[tuple[Words, Words]]:
    """Yield the pairs that share most word pairs, in order."""
    if not 1 < len(texts) <= _MOST:
        return
    shingles: list[set[Words]] = [set(pairwise(text)) or {text} for text in texts]
    columns: dict[Words, int] = {}
    places = [columns.setdefault(shingle, len(columns)) for own in shingles for shingle in own]
    sizes = np.array([len(own) for own in shingles])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    shape = (len(texts), len(columns))
    has = sparse.csr_array((np.ones(len(places), np.int32), places, starts), shape=shape)
    for begin in range(0, len(texts), _BLOCK):
        shared = (has[begin : begin + _BLOCK] @ has.T).tocoo()
        rows, others = shared.row + begin, shared.col
        union = sizes[rows] + sizes[others] - shared.data
        alike = (others < rows) & (shared.data >= ALIKE * union)
        for row, other in sorted(zip(rows[alike], others[alike], strict=True)):
            yield texts[other], texts[row]
