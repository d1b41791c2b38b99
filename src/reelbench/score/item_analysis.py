"""Item analysis from several models' answers: difficulty, discrimination and distractors.

Open items have no options and are left out. All of it is over the models that answered an item
(``ANSWERS_POLICY``): a call that failed says nothing about the item.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item
from reelbench.score.irt import Responses
from reelbench.score.rounding import rounded

Answer = frozenset[str]  # letters
ANSWERS_POLICY = (
    "everything about an item is over the models that answered it: those that were not asked, "
    "failed, refused or cannot be read are left out (`unanswered` is their share)"
)
BAND = 0.32  # HumanVBench, appendix E: good distractors draw 1 to 8 of 25 models


@dataclass(frozen=True, slots=True)
class Answers:
    """Closed items and what each model chose, both sorted by name; None where no answer is."""

    items: tuple[Item, ...]
    models: tuple[str, ...]
    chosen: tuple[tuple[Answer | None, ...], ...]  # by item, then by model

    @classmethod
    def of(
        cls, items: Sequence[Item], by_model: Mapping[str, Mapping[str, Answer | None]]
    ) -> "Answers":
        """Return the answers of models to these items; refuse answers that do not fit them."""
        known = {item.id for item in items}
        if len(known) < len(items):
            raise ReelbenchError("Two items have the same id: give each item once.")
        closed = sorted((item for item in items if item.kind != "open"), key=lambda item: item.id)
        models = tuple(sorted(by_model))
        _check(closed, known, by_model)
        chosen = tuple(tuple(by_model[m].get(item.id) for m in models) for item in closed)
        return cls(tuple(closed), models, chosen)

    def responses(self) -> Responses:
        """Which models were right on which items."""
        right = np.full((len(self.items), len(self.models)), -1, np.int8)
        for row, (item, chosen) in enumerate(zip(self.items, self.chosen, strict=True)):
            key = frozenset(item.answer)
            right[row] = [-1 if answer is None else answer == key for answer in chosen]
        return Responses(tuple(item.id for item in self.items), self.models, right)


def _check(
    closed: Sequence[Item], known: set[str], by_model: Mapping[str, Mapping[str, Answer | None]]
) -> None:
    faults = [
        f"{model} answers {item}, which is not an item of the benchmark"
        for model in sorted(by_model)
        for item in sorted(by_model[model].keys() - known)
    ]
    for item in closed:
        letters = frozenset(item.letters)
        for model in sorted(by_model):
            answer = by_model[model].get(item.id)
            if answer is not None and not answer <= letters:
                beyond = "".join(sorted(answer - letters))
                faults.append(
                    f"{model} answers {item.id} with {beyond}, which is not in {item.letters}"
                )
    if faults:
        raise ReelbenchError(
            f"{len(faults)} answers do not fit the items: {'; '.join(faults[:10])}. Give answers "
            "as letters of the benchmark's own option order."
        )


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """Difficulty, discrimination and choices of one item."""

    id: str
    difficulty: float | None  # the share right of the models that answered: 1 is easy
    discrimination: float | None  # correlation with the share right of the rest; None: no variation
    unanswered: float | None  # the share of models without an answer
    chosen: Mapping[str, int]  # how many models chose each option

    def to_record(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "id": self.id,
            "difficulty": rounded(self.difficulty),
            "discrimination": rounded(self.discrimination),
            "unanswered": rounded(self.unanswered),
            "chosen": dict(self.chosen),
        }


def item_facts(answers: Answers) -> tuple[ItemFacts, ...]:
    """Return difficulty, discrimination and choices of each closed item."""
    right = answers.responses().right
    telling = _discriminations(right)
    models = len(answers.models)
    return tuple(
        ItemFacts(
            item.id,
            float((row == 1).sum() / (row >= 0).sum()) if (row >= 0).any() else None,
            telling[number],
            float((row < 0).sum() / models) if models else None,
            _choices(item, answers.chosen[number]),
        )
        for number, (item, row) in enumerate(zip(answers.items, right, strict=True))
    )


def _choices(item: Item, chosen: Sequence[Answer | None]) -> dict[str, int]:
    counts = Counter(letter for answer in chosen if answer is not None for letter in answer)
    return {letter: counts[letter] for letter in item.letters}


def _discriminations(verdicts: NDArray[np.int8]) -> list[float | None]:
    """Correlate each item with the share right of the other items, over those who answered both."""
    given, right = verdicts >= 0, verdicts == 1
    others = given.sum(0) - given
    rest = np.where(others > 0, (right.sum(0) - right) / np.maximum(others, 1), 0.0)
    counts = (given & (others > 0)).astype(np.float64)
    total = np.maximum(counts.sum(1, keepdims=True), 1)
    x = (right - (right * counts).sum(1, keepdims=True) / total) * counts
    y = (rest - (rest * counts).sum(1, keepdims=True) / total) * counts
    size = np.sqrt((x**2).sum(1) * (y**2).sum(1))
    both = (x * y).sum(1)
    return [float(b / s) if s > 1e-9 else None for b, s in zip(both, size, strict=True)]


@dataclass(frozen=True, slots=True)
class Distractors:
    """How often wrong options were chosen (HumanVBench, appendix E)."""

    histogram: tuple[int, ...]  # at n: how many distractors were chosen by n models
    chosen_share: float | None  # of the distractors, those that at least one model chose
    band_share: float | None  # those chosen by some, but at most 32 % of the models that answered
    never: tuple[tuple[str, str], ...]  # item and letter of those that no model chose

    def to_record(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "distractors": sum(self.histogram),
            "histogram": list(self.histogram),
            "chosen_share": rounded(self.chosen_share),
            "band_share": rounded(self.band_share),
            "never": [{"id": item, "option": letter} for item, letter in self.never],
        }


def distractors(answers: Answers) -> Distractors:
    """Count how many models chose each distractor."""
    counts = [
        (item.id, letter, count, sum(answer is not None for answer in chosen))
        for item, chosen in zip(answers.items, answers.chosen, strict=True)
        for letter, count in _choices(item, chosen).items()
        if letter not in item.answer
    ]
    histogram = np.bincount([c for _, _, c, _ in counts], minlength=len(answers.models) + 1)
    band = sum(0 < count <= answered * BAND + 1e-9 for _, _, count, answered in counts)
    return Distractors(
        tuple(map(int, histogram)),
        float(1 - histogram[0] / len(counts)) if counts else None,
        band / len(counts) if counts else None,
        tuple((item, letter) for item, letter, count, _ in counts if count == 0),
    )
