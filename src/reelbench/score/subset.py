"""Choose few items that predict the score on all, by item response theory, and measure it."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from reelbench.base.errors import ReelbenchError
from reelbench.base.seeds import seed_for
from reelbench.score.irt import (
    AbilityGrid,
    Fit,
    Floats,
    Responses,
    fit_2pl,
    plain_record,
)

RANDOM_SUBSETS = 40
FEWEST_MODELS = 3  # to leave one out
MOST_LEFT_OUT = 40  # models, drawn where there are more: each costs a fit to all the others


@dataclass(frozen=True, slots=True)
class PredictedAccuracy:
    """One model, predicted from the others: its share right, and the prediction."""

    model: str
    accuracy: float
    predicted: float

    def to_record(self) -> dict[str, Any]:
        """Return plain data."""
        return plain_record(self)


@dataclass(frozen=True, slots=True)
class Subset:
    """Few items that predict the share right over all, and how well they do.

    Errors are mean absolute ones, over models that had no part in the choice and the fit.
    """

    items: tuple[str, ...]
    of: int
    models: tuple[PredictedAccuracy, ...]
    error: float | None  # of this choice; None where there are too few models to leave one out
    random_error: float | None  # of the plain share right on as many random items
    random_predicted_error: float | None  # of random items, with our prediction from them

    def to_record(self) -> dict[str, Any]:
        """Return plain data."""
        models = [model.to_record() for model in self.models]
        return {**plain_record(self), "items": list(self.items), "models": models}


def choose_subset(responses: Responses, size: int, seed: int = 0) -> Subset:
    """Return the items that tell most about any ability, and the errors of their predictions."""
    if not 1 <= size <= len(responses.items):
        raise ReelbenchError(
            f"A subset of {size} of {len(responses.items)} items cannot be chosen: give a size "
            "from 1 to the number of items."
        )
    responses = responses.ordered()
    whole = fit_2pl(responses)
    chosen = _most_telling(whole, size, seed)
    items = tuple(responses.items[row] for row in sorted(chosen))
    answered = np.flatnonzero((responses.right >= 0).any(axis=0))
    if len(answered) < FEWEST_MODELS:
        return Subset(items, len(responses.items), (), None, None, None)
    if len(answered) > MOST_LEFT_OUT:
        generator = np.random.Generator(np.random.PCG64(seed_for(seed, "models left out")))
        answered = np.sort(generator.choice(answered, MOST_LEFT_OUT, replace=False))
    trials = [_leave_out(responses, whole, int(model), size, seed) for model in answered]
    errors = np.array([[abs(t[0].predicted - t[0].accuracy), *t[1:]] for t in trials]).mean(0)
    return Subset(items, len(responses.items), tuple(t[0] for t in trials), *map(float, errors))


def _most_telling(fit: Fit, size: int, seed: int) -> list[int]:
    """Of the more telling half of the items, the most telling one of each band of difficulty.

    The few most telling of all would look alike, and be the luckiest where models are few.
    """
    ties = _ties(fit.items, seed)
    models = ndtri((np.arange(21) + 0.5) / 21)  # abilities, spread as the models' are
    telling = _information(fit, models).mean(1) * (1 + 1e-9 * ties)
    pool = np.argsort(-telling, kind="stable")[: max(size, len(telling) // 2)]
    hard_first = pool[np.argsort(fit.chances(np.zeros(1))[pool, 0], kind="stable")]
    bands = np.array_split(hard_first, size)
    return [int(band[np.argmax(telling[band])]) for band in bands]


@lru_cache(maxsize=1)  # the same for every model that is left out
def _ties(items: tuple[str, ...], seed: int) -> Floats:
    return np.array([seed_for(seed, "subset", item) / 2**64 for item in items])


def _information(fit: Fit, abilities: Floats) -> Floats:
    """How much each item (rows) tells about each ability (columns)."""
    step = 1e-3
    chance = fit.chances(abilities)
    rise = (fit.chances(abilities + step) - fit.chances(abilities - step)) / (2 * step)
    return np.asarray(rise**2 / (chance * (1 - chance)))


def _leave_out(
    responses: Responses, whole: Fit, model: int, size: int, seed: int
) -> tuple[PredictedAccuracy, float, float]:
    """Predict one model from the others; also return the errors of random items."""
    fit = fit_2pl(responses.without(model), whole)
    verdicts, grid = responses.right[:, model], AbilityGrid(fit)
    given = np.flatnonzero(verdicts >= 0)
    accuracy = float((verdicts[given] == 1).mean())

    def predicted(rows: NDArray[np.intp]) -> float:
        rows = rows[verdicts[rows] >= 0]
        return grid.placed(rows, verdicts[rows] == 1).accuracy

    plain, ours = [], []
    generator = np.random.Generator(np.random.PCG64(seed_for(seed, "random subsets")))
    for _ in range(RANDOM_SUBSETS):
        rows = generator.choice(given, min(size, len(given)), replace=False)
        plain.append(abs(float((verdicts[rows] == 1).mean()) - accuracy))
        ours.append(abs(predicted(rows) - accuracy))
    predicted_accuracy = predicted(np.array(_most_telling(fit, size, seed), np.intp))
    prediction = PredictedAccuracy(responses.models[model], accuracy, predicted_accuracy)
    return prediction, float(np.mean(plain)), float(np.mean(ours))
