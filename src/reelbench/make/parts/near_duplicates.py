"""Items that ask the same in other words, by the meaning of their texts.

The linter compares words and reports; this compares meanings and returns which items to drop. Two
items are near duplicates when all of this holds:

- question and right answer, embedded together, have a cosine of at least ``alike``;
- the right answers say the same: the same words, or a cosine of at least ``SAME_ANSWER``. Else it
  is the same question with another answer, which is for the linter (CONTRADICTORY_KEYS);
- neither the questions nor the answers stand in contrast: before and after, left and right, a man
  and a woman, two numbers, a negation. Embeddings hardly see these. The words are English; in
  other languages only numbers written in digits count.

The figures behind both numbers are in tests/make/test_near_duplicates.py.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from reelbench.base.errors import ReelbenchError
from reelbench.base.text import bare, plain, words
from reelbench.data.items import Item
from reelbench.make.parts.embed import Embedder, Vectors
from reelbench.make.parts.negations import is_negated

ALIKE = 0.92
SAME_ANSWER = 0.8
_DIGITS = 4  # of a cosine; far above the noise of an embedder (6e-7)
_SLACK = 1e-3  # single precision finds candidates this far below, double precision decides
_BLOCK = 512  # items compared with all kept ones at a time

# One contrast a line; what stands between two bars means the same.
_TABLE = """
before | after
first | second | third | fourth | last
start beginning | middle | end ending
left | right
up | down
top | bottom
yes | no
man men guy guys | woman women lady ladies | boy boys | girl girls
red | orange | yellow | green | blue | purple | pink | brown | black | white | gray grey
one | two | three | four | five | six | seven | eight | nine | ten
"""
_CONTRASTS = [
    {word: side.split()[0] for side in line.split("|") for word in side.split()}
    for line in _TABLE.strip().splitlines()
]


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """An item to drop, the kept one that it repeats, and how alike they are."""

    item: str
    repeats: str
    cosine: float


def near_duplicates(
    items: Sequence[Item],
    embedder: Embedder,
    alike: float = ALIKE,
    within: Literal["media", "all"] = "media",
) -> list[NearDuplicate]:
    """Return the items to drop, by id: each repeats an item that comes before it and is kept.

    Items are taken in the order of their ids as text. An item is compared with kept ones only, so
    both ends of a chain stay if they are not alike; it is reported with the first item that it
    repeats. Within ``all``, the same question and answer about different media is found as well,
    which is rarely meant to be dropped.
    """
    if not 0 < alike <= 1:
        raise ReelbenchError(f"alike is {alike}: give a cosine above 0 and at most 1.")
    ordered = sorted(items, key=lambda item: item.id)
    for item, following in pairwise(ordered):
        if item.id == following.id:
            raise ReelbenchError(f"Two items have the id {item.id!r}: give each its own.")
    groups: dict[object, list[Item]] = defaultdict(list)
    for item in ordered:
        groups[item.media if within == "media" else None].append(item)
    compared = [[_Entry.by(item) for item in group] for group in groups.values() if len(group) > 1]
    vectors = _Vectors(embedder, [entry for group in compared for entry in group])
    return sorted(
        (each for group in compared for each in _greedy(group, vectors, alike)),
        key=lambda each: each.item,
    )


@dataclass(frozen=True, slots=True)
class _Entry:
    """The text of one item, prepared for comparison."""

    id: str
    text: str
    answer: str
    answers: frozenset[str]
    marks: tuple["_Marks", ...]

    @classmethod
    def by(cls, item: Item) -> "_Entry":
        right = sorted(map(plain, item.correct or (item.reference or "",)))
        question, answer = plain(item.question), "; ".join(right)
        marks = (_marks(question), _marks(answer))
        text = f"{question} {answer}".strip()
        return cls(item.id, text, answer, frozenset(map(bare, right)), marks)

    def contrasts_with(self, other: "_Entry") -> bool:
        return any(_contrast(*pair) for pair in zip(self.marks, other.marks, strict=True))


def contrasting(one: str, other: str) -> bool:
    """Whether two texts contrast: by a negation, a number or words such as left and right."""
    return _contrast(_marks(plain(one)), _marks(plain(other)))


_Marks = tuple[bool, tuple[frozenset[str], ...]]


def _contrast(one: _Marks, other: _Marks) -> bool:
    (negated, own), (its_negated, its) = one, other
    differs = any(not (a <= b or b <= a) for a, b in zip(own, its, strict=True))
    return negated != its_negated or differs


def _marks(text: str) -> _Marks:
    """Whether a text is negated, and its words of each contrast; last, its digits."""
    found = words(text)
    groups = [frozenset(group[word] for word in found if word in group) for group in _CONTRASTS]
    digits = frozenset(word for word in found if word.isdecimal())
    return is_negated(text), (*groups, digits)


class _Vectors:
    """The vectors of all texts, each embedded once."""

    def __init__(self, embedder: Embedder, entry: Sequence[_Entry]) -> None:
        texts = sorted({each.text for each in entry} | {each.answer for each in entry})
        self._row = {text: row for row, text in enumerate(texts)}
        self._all = embedder(texts) if texts else np.empty((0, 1), np.float32)
        lengths = np.linalg.norm(self._all, axis=-1)
        if self._all.shape[:-1] != (len(texts),) or not np.allclose(lengths, 1, atol=1e-3):
            raise ReelbenchError(
                f"The embedder {embedder.name} gave an array of shape {self._all.shape} for "
                f"{len(texts)} texts; expected one vector of length 1 for each."
            )

    def of(self, texts: Sequence[str]) -> Vectors:
        return self._all[[self._row[text] for text in texts]]

    def cosine(self, text: str, other: str) -> float:
        """Return the cosine of two texts; it does not depend on the texts embedded beside them."""
        one, two = self._all[self._row[text]], self._all[self._row[other]]
        return round(float((one.astype(np.float64) * two).sum()), _DIGITS)


def _greedy(group: Sequence[_Entry], vectors: _Vectors, alike: float) -> Iterator[NearDuplicate]:
    kept: list[_Entry] = []
    for begin in range(0, len(group), _BLOCK):
        block = group[begin : begin + _BLOCK]
        before = list(kept)
        rows = vectors.of([entry.text for entry in block])
        near = rows @ vectors.of([entry.text for entry in before]).T >= alike - _SLACK
        near_own = rows @ rows.T >= alike - _SLACK
        own_kept: list[int] = []
        for row, entry in enumerate(block):
            candidates = [before[place] for place in np.flatnonzero(near[row])]
            candidates += [block[place] for place in own_kept if near_own[row, place]]
            found = (_repeated(entry, c, vectors, alike) for c in candidates)
            if first := next(filter(None, found), None):
                yield first
            else:
                own_kept.append(row)
                kept.append(entry)


def _repeated(entry: _Entry, kept: _Entry, vectors: _Vectors, alike: float) -> NearDuplicate | None:
    if entry.contrasts_with(kept):
        return None
    same = entry.answers == kept.answers
    if not same and vectors.cosine(entry.answer, kept.answer) < SAME_ANSWER:
        return None
    cosine = vectors.cosine(entry.text, kept.text)
    return NearDuplicate(entry.id, kept.id, cosine) if cosine >= alike else None
