"""What several models' answers say about the items: hard, telling, badly keyed, badly distracted.

Open items have no options and are left out. An item without an answer counts as wrong in its
difficulty, as it does in the scores, and is left out of everything else.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from reelbench.errors import ReelbenchError
from reelbench.items import Item
from reelbench.score.irt import Floats, Responses, fit_2pl
from reelbench.score.rounding import rounded

Answer = frozenset[str]  # letters
BAND = 0.32  # HumanVBench, appendix E: good distractors draw 1 to 8 of 25 models
MARGIN = 0.2  # by so much must the models' weighted share for an option exceed that for the key
LIKELY = 0.5  # and so probable must it be that the key is wrong
FEWEST_ANSWERS = 3  # to suspect a key
GUESSING = 2.33  # by so many standard deviations must a model beat guesses to have a say
_PRIOR_WRONG = (1.0, 99.0)  # keys wrong and right that we begin with
_EASES = np.linspace(-6.0, 6.0, 25)  # log odds of an average model: how easy an item may be
_PULLS = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.95])  # how many errors one distractor may draw
_ROUNDS = 60


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
        """Hold the answers of models against the items they are about."""
        known = {item.id for item in items}
        if len(known) < len(items):
            raise ReelbenchError("Two items have the same id: give each item once.")
        closed = sorted((item for item in items if item.kind != "open"), key=lambda item: item.id)
        models = tuple(sorted(by_model))
        _check(closed, known, by_model)
        chosen = tuple(tuple(by_model[m].get(item.id) for m in models) for item in closed)
        return cls(tuple(closed), models, chosen)

    def responses(self) -> Responses:
        """Who was right on what."""
        right = np.full((len(self.items), len(self.models)), -1, np.int8)
        for row, (item, chosen) in enumerate(zip(self.items, self.chosen, strict=True)):
            key = frozenset(item.answer)
            right[row] = [-1 if answer is None else answer == key for answer in chosen]
        return Responses(tuple(item.id for item in self.items), self.models, right)


def _check(
    closed: Sequence[Item], known: set[str], by_model: Mapping[str, Mapping[str, Answer | None]]
) -> None:
    faults = [
        f"{model} answers {item}, which is no item"
        for model in sorted(by_model)
        for item in sorted(by_model[model].keys() - known)
    ]
    for item in closed:
        letters = frozenset(item.letters)
        for model in sorted(by_model):
            answer = by_model[model].get(item.id)
            if answer is not None and not answer <= letters:
                beyond = "".join(sorted(answer - letters))
                faults.append(f"{model} answers {item.id} with {beyond}, beyond {item.letters}")
    if faults:
        raise ReelbenchError(
            f"{len(faults)} answers do not fit the items: {'; '.join(faults[:10])}. Give answers "
            "as letters of the benchmark's own option order."
        )


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """How models fared on one item."""

    id: str
    difficulty: float | None  # the share of models that are right: 1 is easy; None without models
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
            float((row == 1).sum() / models) if models else None,
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
    band_share: float | None  # those that some, but at most 32 % of the models chose
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
    models = len(answers.models)
    counts = [
        (item.id, letter, count)
        for item, chosen in zip(answers.items, answers.chosen, strict=True)
        for letter, count in _choices(item, chosen).items()
        if letter not in item.answer
    ]
    histogram = np.bincount([count for *_, count in counts], minlength=models + 1)
    band = int(histogram[1 : int(models * BAND + 1e-9) + 1].sum())
    return Distractors(
        tuple(map(int, histogram)),
        float(1 - histogram[0] / len(counts)) if counts else None,
        band / len(counts) if counts else None,
        tuple((item, letter) for item, letter, count in counts if count == 0),
    )


@dataclass(frozen=True, slots=True)
class Suspect:
    """An item whose key may be wrong, and the answer that the able models agree on."""

    id: str
    key: str
    instead: str
    probability: float  # that this answer is the right one and the key is not
    p_value: float  # about so often, at most, does one item with a right key look like this
    agreement: float  # the models' share for this answer, weighted by their ability
    for_key: float  # and for the key
    models: tuple[str, ...]  # who chose it, the ablest first

    def to_record(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "id": self.id,
            "key": self.key,
            "instead": self.instead,
            "probability": rounded(self.probability),
            "p_value": rounded(self.p_value),
            "agreement": rounded(self.agreement),
            "for_key": rounded(self.for_key),
            "models": list(self.models),
        }


def wrong_key_suspects(answers: Answers) -> tuple[Suspect, ...]:
    """Return the items whose keys are probably wrong, the surest first.

    Each item is explained twice: by the key, where it may be hard and one distractor may draw most
    errors, and by every other answer that was given, as if that were the key. How hard items are,
    how strongly distractors draw, how popular each answer is among errors and how many keys are
    wrong is learnt from all items. An item is suspect if another answer is probably (LIKELY) right
    and leads the key by MARGIN among the models, weighted by ability. The ``p_value`` is one over
    the ratio of the two explanations, times the answers that might have been the best: a bound
    for one item, as far as what was learnt is true. Models not clearly better than guessing have
    no say.
    """
    answers = _better_than_guessing(answers)
    if not answers.items or not answers.models:
        return ()
    fit = fit_2pl(answers.responses())
    typical = float(np.median(fit.discrimination))  # turns abilities into log odds
    abilities = np.array([each.ability * typical for each in fit.abilities])
    puzzles = [
        puzzle
        for item, chosen in zip(answers.items, answers.chosen, strict=True)
        if (puzzle := _puzzle(item, chosen)) is not None
    ]
    found = []
    for multi in (False, True):
        alike = [puzzle for puzzle in puzzles if (puzzle.item.kind == "multi") is multi]
        if alike:
            found += _suspects(alike, answers.models, abilities)
    return tuple(sorted(found, key=lambda each: (-each.probability, each.p_value, each.id)))


def _better_than_guessing(answers: Answers) -> Answers:
    """Keep the models that are right more often than blind guesses are, beyond chance."""
    right = answers.responses().right
    chance = np.array([[item.chance] for item in answers.items]).reshape(-1, 1) * (right >= 0)
    noise = np.sqrt((chance * (1 - chance)).sum(0))
    able = np.flatnonzero((right == 1).sum(0) > chance.sum(0) + GUESSING * noise)
    return Answers(
        answers.items,
        tuple(answers.models[number] for number in able),
        tuple(tuple(chosen[number] for number in able) for chosen in answers.chosen),
    )


@dataclass(frozen=True, slots=True)
class _Puzzle:
    """An item as numbers: which of its candidates each model chose; the key is candidate 0."""

    item: Item
    candidates: tuple[Answer, ...]
    picks: NDArray[np.intp]  # -1 where no answer is


def _puzzle(item: Item, chosen: Sequence[Answer | None]) -> _Puzzle | None:
    key = frozenset(item.answer)
    others = sorted({answer for answer in chosen if answer} - {key}, key=sorted)
    if not others or sum(answer is not None for answer in chosen) < FEWEST_ANSWERS:
        return None
    candidates = (key, *others)
    numbers = {answer: number for number, answer in enumerate(candidates)}
    return _Puzzle(
        item, candidates, np.array([numbers.get(a, -1) if a else -1 for a in chosen], np.intp)
    )


def _suspects(
    puzzles: Sequence[_Puzzle], models: tuple[str, ...], abilities: Floats
) -> list[Suspect]:
    """Weigh the candidates of like items, and say which beat their key."""
    popular = _popularity(puzzles)
    skill = [_skill(puzzle, abilities) for puzzle in puzzles]
    errors = [_errors(puzzle, popular) for puzzle in puzzles]
    evidence, wrong = _learn(skill, errors)
    found = []
    for puzzle, heights in zip(puzzles, evidence, strict=True):
        prior = np.full(len(heights), wrong / _alternatives(puzzle.item))
        prior[0] = 1 - wrong
        chance = np.exp(heights + np.log(prior) - logsumexp(heights + np.log(prior)))
        best = 1 + int(np.argmax(chance[1:]))
        p_value = min(1.0, float(_alternatives(puzzle.item) * np.exp(heights[0] - heights[best])))
        suspect = _suspect(puzzle, best, float(chance[best]), p_value, models, abilities)
        if suspect.probability >= LIKELY and suspect.agreement - suspect.for_key >= MARGIN:
            found.append(suspect)
    return found


def _alternatives(item: Item) -> int:
    count = len(item.options)
    return max(1, 2**count - 2 if item.kind == "multi" else count - 1)


def _popularity(puzzles: Sequence[_Puzzle]) -> Counter[str]:
    """How often each letter, or each distance from the key of a set, is chosen in error."""
    counts: Counter[str] = Counter()
    for puzzle in puzzles:
        for pick in puzzle.picks[puzzle.picks > 0]:
            counts[_trait(puzzle.item, puzzle.candidates[pick], puzzle.candidates[0])] += 1
    return counts


def _trait(item: Item, answer: Answer, truth: Answer) -> str:
    return str(len(answer ^ truth)) if item.kind == "multi" else "".join(sorted(answer))


def _skill(puzzle: _Puzzle, abilities: Floats) -> Floats:
    """Log likelihood of who is right and who is not: by candidate for the truth, and ease."""
    given = puzzle.picks >= 0
    odds = abilities[given, None] + _EASES
    right, wrong = np.log(expit(odds)), np.log(expit(-odds))
    hits = (puzzle.picks[given] == np.arange(len(puzzle.candidates))[:, None]).astype(np.float64)
    return np.asarray(hits @ right + (1 - hits) @ wrong)


def _errors(puzzle: _Puzzle, popular: Counter[str]) -> Floats:
    """Log likelihood of which errors are made: by candidate for the truth, and pull.

    Any other candidate may be the distractor that pulls; what it leaves goes by popularity.
    """
    size = len(puzzle.candidates)
    picked = np.bincount(puzzle.picks[puzzle.picks >= 0], minlength=size).astype(np.float64)
    rows = []
    for truth in range(size):
        others = [number for number in range(size) if number != truth]
        shares = _shares(puzzle, truth, popular)[others]
        pulled = np.eye(len(others))[:, :, None] * _PULLS  # by puller, answer and pull
        chances = pulled + (1 - _PULLS) * shares[:, None]
        heights = np.tensordot(picked[others], np.log(np.maximum(chances, 1e-12)), (0, 1))
        unseen = _alternatives(puzzle.item) - len(others)
        spare = picked[others, None] * np.log(np.maximum((1 - _PULLS) * shares[:, None], 1e-12))
        heights = np.vstack([heights, spare.sum(0) + np.log(max(unseen, 1e-12))])
        rows.append(logsumexp(heights, axis=0) - np.log(_alternatives(puzzle.item)))
    return np.stack(rows)


def _shares(puzzle: _Puzzle, truth: int, popular: Counter[str]) -> Floats:
    """The share of errors that each candidate draws by popularity alone, if one is the truth."""
    item, right = puzzle.item, puzzle.candidates[truth]
    if item.kind == "multi":  # the sets that differ in as many letters share their popularity
        near = [len(answer ^ right) for answer in puzzle.candidates]
        each = [(popular[str(d)] + 1) / comb(len(item.options), d) for d in near]
        return np.array(each) / (popular.total() + len(item.options))
    weights = {letter: popular[letter] + 1 for letter in item.letters if letter not in right}
    given = np.array([weights.get(min(answer), 0) for answer in puzzle.candidates], np.float64)
    return given / max(1, sum(weights.values()))


def _learn(skill: Sequence[Floats], errors: Sequence[Floats]) -> tuple[list[Floats], float]:
    """Learn how easy items are, how distractors pull and how many keys are wrong, by EM."""
    ease = np.exp(-0.5 * (_EASES / 2) ** 2)
    ease, pull = ease / ease.sum(), np.full(len(_PULLS), 1 / len(_PULLS))
    owner = np.repeat(np.arange(len(skill)), [len(each) for each in skill])
    first = np.concatenate([np.arange(len(each)) == 0 for each in skill])
    others = np.maximum(np.bincount(owner) - 1, 1)[owner]
    logs = np.concatenate(skill), np.concatenate(errors)
    tops = [each.max(1) for each in logs]
    by_ease, by_pull = (np.exp(each - each.max(1)[:, None]) for each in logs)
    wrong = _PRIOR_WRONG[0] / sum(_PRIOR_WRONG)
    for _ in range(_ROUNDS):
        eased, pulled = by_ease @ ease, by_pull @ pull
        heights = sum(tops) + np.log(eased) + np.log(pulled)
        joint = heights + np.log(np.where(first, 1 - wrong, wrong / others))
        weight = np.exp(joint - np.maximum.reduceat(joint, np.flatnonzero(first))[owner])
        weight /= np.bincount(owner, weight)[owner]
        ease = ease * ((weight / eased) @ by_ease) + 1e-3
        pull = pull * ((weight / pulled) @ by_pull) + 1e-3
        ease, pull = ease / ease.sum(), pull / pull.sum()
        wrong = float(weight[~first].sum() + _PRIOR_WRONG[0]) / (len(skill) + sum(_PRIOR_WRONG))
    return np.split(heights, np.flatnonzero(first)[1:]), wrong


def _suspect(
    puzzle: _Puzzle,
    best: int,
    chance: float,
    p_value: float,
    models: tuple[str, ...],
    abilities: Floats,
) -> Suspect:
    weights = expit(abilities) * (puzzle.picks >= 0)
    share = np.bincount(np.maximum(puzzle.picks, 0), weights) / weights.sum()
    who = np.flatnonzero(puzzle.picks == best)
    return Suspect(
        puzzle.item.id,
        "".join(sorted(puzzle.candidates[0])),
        "".join(sorted(puzzle.candidates[best])),
        chance,
        p_value,
        float(share[best]),
        float(share[0]),
        tuple(models[m] for m in sorted(who, key=lambda m: (-abilities[m], models[m]))),
    )
