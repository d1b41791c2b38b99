"""Keys that may be wrong, because able models agree on another answer; how probable that is.

The probability is meant to be taken at its word. What two explanations of an item make of the
models' answers overstates what is known: models of a kind err alike, and some right keys mislead
even able ones. So the evidence counts in part, by less where models are weak, and the rate of wrong
keys begins near what is known of benchmarks (docs/score.md has what simulations showed).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp

from reelbench.data.items import Item
from reelbench.score.irt import Floats, fit_2pl
from reelbench.score.item_analysis import Answer, Answers
from reelbench.score.rounding import rounded, significant

FEWEST_MODELS = 5  # that have a say: fewer cannot tell a wrong key from a hard item
MARGIN = 0.2  # by so much must the models' weighted share for an option exceed that for the key
LIKELY = 0.25  # and so probable must it be that the key is wrong, to be worth a look
FEWEST_ANSWERS = 3  # to suspect a key
GUESSING = 2.33  # by so many standard deviations must a model beat guesses to have a say
TRUST = 0.75  # of the evidence that counts, if models are able
ABLE = 0.6  # of the way from guessing to all right that able models have come
_PRIOR_WRONG = (5.0, 245.0)  # keys wrong and right that we begin with
_EASES = np.linspace(-6.0, 6.0, 25)  # log odds of an average model: how easy an item may be
_PULLS = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.95])  # how many errors one distractor may draw
_ROUNDS = 60


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
            "p_value": significant(self.p_value),
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
    no say, and nothing is suspect where fewer than FEWEST_MODELS have one.
    """
    answers = _better_than_guessing(answers)
    if not answers.items or len(answers.models) < FEWEST_MODELS:
        return ()
    fit = fit_2pl(answers.responses())
    typical = float(np.median(fit.discrimination))  # turns abilities into log odds
    abilities = np.array([each.ability * typical for each in fit.abilities])
    found = []
    for multi in (False, True):
        rows = [n for n, item in enumerate(answers.items) if (item.kind == "multi") is multi]
        puzzles = [
            puzzle
            for row in rows
            if (puzzle := _puzzle(answers.items[row], answers.chosen[row])) is not None
        ]
        if puzzles:
            trust = TRUST * min(1.0, _advance(answers) / ABLE)
            found += _suspects(puzzles, len(rows), trust, answers.models, abilities)
    return tuple(sorted(found, key=lambda each: (-each.probability, each.p_value, each.id)))


def suspects_note(answers: Answers) -> str | None:
    """Say that more models are needed to suspect keys; None where there are enough."""
    able = len(_better_than_guessing(answers).models)
    if not answers.items or able >= FEWEST_MODELS:
        return None
    return (
        f"Keys are suspected where {FEWEST_MODELS} models or more do better than guessing, and "
        f"here {able} of {len(answers.models)} do: ask more models."
    )


def _advance(answers: Answers) -> float:
    """How far models have come from guessing (0) to all right (1), in the mean."""
    right = answers.responses().right
    chance = np.array([item.chance for item in answers.items]).mean()
    return float(((right == 1).sum() / max(1, (right >= 0).sum()) - chance) / (1 - chance))


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
    puzzles: Sequence[_Puzzle],
    items: int,
    trust: float,
    models: tuple[str, ...],
    abilities: Floats,
) -> list[Suspect]:
    """Weigh the candidates of like items, and say which beat their key."""
    popular = _popularity(puzzles)
    skill = [_skill(puzzle, abilities) for puzzle in puzzles]
    evidence = _learn(skill, [_errors(puzzle, popular) for puzzle in puzzles])
    bests = [1 + int(np.argmax(heights[1:])) for heights in evidence]
    ratios = np.array([
        heights[best] - heights[0] - np.log(_alternatives(puzzle.item))
        for puzzle, heights, best in zip(puzzles, evidence, bests, strict=True)
    ])  # fmt: skip
    chances = _probabilities(trust * ratios, items)
    p_values = np.minimum(1.0, np.exp(-ratios))
    found = [
        _suspect(puzzle, best, float(chance), float(p_value), models, abilities)
        for puzzle, best, chance, p_value in zip(puzzles, bests, chances, p_values, strict=True)
    ]
    return [
        each
        for each in found
        if each.probability >= LIKELY and each.agreement - each.for_key >= MARGIN
    ]


def _probabilities(evidence: Floats, items: int) -> Floats:
    """The probability that each key is wrong, with the rate of wrong keys learnt from all items."""
    wrong, right = _PRIOR_WRONG
    rate = wrong / (wrong + right)
    for _ in range(_ROUNDS):
        chances = expit(logit(rate) + evidence)
        rate = float((chances.sum() + wrong) / (items + wrong + right))
    return np.asarray(chances)


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


def _learn(skill: Sequence[Floats], errors: Sequence[Floats]) -> list[Floats]:
    """Learn how easy items are and how distractors pull, by EM; weigh the candidates of each."""
    ease = np.exp(-0.5 * (_EASES / 2) ** 2)
    ease, pull = ease / ease.sum(), np.full(len(_PULLS), 1 / len(_PULLS))
    owner = np.repeat(np.arange(len(skill)), [len(each) for each in skill])
    first = np.concatenate([np.arange(len(each)) == 0 for each in skill])
    others = np.maximum(np.bincount(owner) - 1, 1)[owner]
    logs = np.concatenate(skill), np.concatenate(errors)
    tops = [each.max(1) for each in logs]
    by_ease, by_pull = (np.exp(each - each.max(1)[:, None]) for each in logs)
    wrong = 0.01
    for _ in range(_ROUNDS):
        eased, pulled = by_ease @ ease, by_pull @ pull
        heights = sum(tops) + np.log(eased) + np.log(pulled)
        joint = heights + np.log(np.where(first, 1 - wrong, wrong / others))
        weight = np.exp(joint - np.maximum.reduceat(joint, np.flatnonzero(first))[owner])
        weight /= np.bincount(owner, weight)[owner]
        ease = ease * ((weight / eased) @ by_ease) + 1e-3
        pull = pull * ((weight / pulled) @ by_pull) + 1e-3
        ease, pull = ease / ease.sum(), pull / pull.sum()
        wrong = float(weight[~first].sum() + 1) / (len(skill) + 100)
    return np.split(heights, np.flatnonzero(first)[1:])


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
