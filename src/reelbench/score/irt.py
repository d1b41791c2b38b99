"""Item response theory: how able models are, and how items behave, each with its error.

The model is the two-parameter logistic one: a model of ability t is right on an item with chance
1 / (1 + exp(-a (t - b))). Items are fitted by marginal maximum likelihood: EM, with Gauss-Hermite
nodes that follow each model's posterior (with thousands of items it falls between fixed nodes).

Few models say little about one item, so log a and the log odds of an average model (a times b, so
that it holds on any scale) have weak priors. A missing answer is left out: it is not wrong.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from reelbench.score.rounding import rounded

SLOPE_SPREAD = 0.35  # prior: log a is normal around the benchmark's mean, with this deviation
EASE_SPREAD = 1.5  # prior: so are the log odds of an average model
TOLERANCE = 1e-3  # the fit has converged when no ability and no item moves further
MOST_ROUNDS = 300
FEWEST_MODELS = 5  # to say anything about one item
_NODES, _WEIGHTS = np.polynomial.hermite.hermgauss(7)
GRID = np.linspace(-5, 5, 101)  # abilities, where a model is placed by the items of a subset
_GRID_PRIOR = -0.5 * (GRID / 1.5) ** 2  # wider than the fitted models, which the next may excel

Floats = NDArray[np.float64]
Verdicts = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Responses:
    """Who was right on what: one row per item, one column per model; -1 where no answer is."""

    items: tuple[str, ...]
    models: tuple[str, ...]
    right: Verdicts

    def without(self, model: int) -> "Responses":
        """Leave one model out, by its number."""
        models = self.models[:model] + self.models[model + 1 :]
        return Responses(self.items, models, np.delete(self.right, model, axis=1))

    def ordered(self) -> "Responses":
        """Sort items and models by name, so that no result depends on the order they came in."""
        rows = sorted(range(len(self.items)), key=self.items.__getitem__)
        columns = sorted(range(len(self.models)), key=self.models.__getitem__)
        return Responses(
            tuple(self.items[row] for row in rows),
            tuple(self.models[column] for column in columns),
            self.right[np.ix_(rows, columns)],
        )


@dataclass(frozen=True, slots=True)
class Ability:
    """How able one model is: 0 is the mean of the models, 1 their standard deviation."""

    model: str
    ability: float
    error: float  # the standard error, given the items

    def to_record(self) -> dict[str, Any]:
        """Return plain data."""
        return plain_record(self)


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted share right over all items, and its standard error."""

    accuracy: float
    error: float

    def to_record(self) -> dict[str, Any]:
        """Return plain data."""
        return plain_record(self)


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted benchmark, items and models sorted by name."""

    items: tuple[str, ...]
    discrimination: Floats  # a, on the scale of the abilities
    difficulty: Floats  # b: the ability that is right half of the time
    discrimination_error: Floats  # standard errors; not a number where models tell too little
    difficulty_error: Floats
    doubt: Floats  # how unsure log odds are: constant, linear and square in the ability
    abilities: tuple[Ability, ...]
    converged: bool
    rounds: int
    change: float  # how far anything moved in the last round
    log_likelihood: float  # marginal, without the priors

    def chances(self, abilities: Floats) -> Floats:
        """The chance of each ability (columns) to be right on each item (rows).

        It is the mean over the curves that the item may have: curves known from few models are
        flatter than the best of them, or the luckiest items would pass for the most telling.
        """
        odds = self.discrimination[:, None] * (abilities[None, :] - self.difficulty[:, None])
        doubt = self.doubt @ np.stack([np.ones_like(abilities), abilities, abilities**2])
        return np.asarray(expit(odds / np.sqrt(1 + np.pi / 8 * doubt)))

    def to_record(self) -> dict[str, Any]:
        """Return plain data; what has no error is left out, and the note says why."""
        columns = (
            _known(self.discrimination, self.discrimination_error),
            _known(self.discrimination_error, self.discrimination_error),
            _known(self.difficulty, self.difficulty_error),
            _known(self.difficulty_error, self.difficulty_error),
        )
        return {
            "converged": self.converged,
            "rounds": self.rounds,
            "change": rounded(self.change),
            "log_likelihood": rounded(self.log_likelihood),
            "abilities": [ability.to_record() for ability in self.abilities],
            "note": self._note(),
            "items": [
                {"id": item, "a": a, "a_error": a_error, "b": b, "b_error": b_error}
                for item, a, a_error, b, b_error in zip(self.items, *columns, strict=True)
            ],
        }

    def _note(self) -> str | None:
        left_out = int(np.isnan(self.discrimination_error).sum())
        if not left_out:
            return None
        return (
            f"{left_out} of {len(self.items)} discriminations are left out: {len(self.abilities)} "
            "models are too few to estimate them."
        )


def _known(values: Floats, errors: Floats) -> list[float | None]:
    known = ~np.isnan(errors)
    return [rounded(float(v)) if k else None for v, k in zip(values, known, strict=True)]


@dataclass(slots=True)
class _State:
    """Where the fit stands; slopes and eases by pattern of verdicts, the rest by model."""

    slope: Floats  # log a
    ease: Floats  # the log odds at ability 0
    doubt: Floats  # the variances of ease and slope and, between them, their covariance
    mean: Floats  # of each ability's posterior
    spread: Floats
    center: float  # of the abilities
    scale: float

    def moved(self, other: "_State") -> float:
        pairs = ((self.slope, other.slope), (self.ease, other.ease), (self.mean, other.mean))
        return max(float(np.abs(one - two).max(initial=0)) for one, two in pairs)


def fit_2pl(responses: Responses, near: Fit | None = None) -> Fit:
    """Fit items and abilities to the verdicts on several models.

    ``near`` is the fit of the same items to these models and others, from which fewer rounds lead
    to the same place.
    """
    responses = responses.ordered()
    # Items with the same verdicts have the same curve, and with few models there are many such.
    found = np.unique(responses.right, axis=0, return_inverse=True, return_counts=True)
    patterns, kind, count = found
    state = _first(patterns)
    if near is not None and patterns.size:
        _begin_near(state, near, responses, kind)
    change, rounds, likelihood = float("inf") if patterns.size else 0.0, 0, 0.0
    while change > TOLERANCE and rounds < MOST_ROUNDS:
        state, change, likelihood = _round(patterns, count.astype(np.float64), state)
        rounds += 1
    slope, ease = np.exp(state.slope)[kind], state.ease[kind]
    state.center = float(state.mean.mean()) if state.mean.size else 0.0
    discrimination_error, difficulty_error = _errors(state, len(responses.models))
    return Fit(
        responses.items,
        slope * state.scale,
        (-ease / slope - state.center) / state.scale,
        discrimination_error[kind],
        difficulty_error[kind],
        _doubt(state)[kind],
        tuple(
            Ability(model, float((mean - state.center) / state.scale), float(spread / state.scale))
            for model, mean, spread in zip(responses.models, state.mean, state.spread, strict=True)
        ),
        change <= TOLERANCE,
        rounds,
        change,
        likelihood,
    )


def _errors(state: _State, models: int) -> tuple[Floats, Floats]:
    """The standard errors of discriminations and difficulties.

    That of a discrimination is what the answers alone leave, without the prior, so that it holds
    where items differ more than the prior has it. It is none where the answers tell less than the
    prior does: the value would be the prior's. That of a difficulty is with the prior, which alone
    keeps the difficulty of an item that all or none solve finite.
    """
    slope = np.exp(state.slope)
    ease, both, own = state.doubt
    nothing = np.full(len(slope), np.nan)
    if models < FEWEST_MODELS:
        return nothing, nothing
    difficulty = np.sqrt(ease - 2 * state.ease * both + state.ease**2 * own) / slope / state.scale
    size = ease * own - both**2
    of_ease, of_both = own / size - 1 / EASE_SPREAD**2, both / size
    of_own = ease / size - 1 / SLOPE_SPREAD**2
    left = of_own - of_both**2 / np.maximum(of_ease, 1e-12)
    enough = (own <= SLOPE_SPREAD**2 / 2) & (left > 0)
    error = slope * state.scale / np.sqrt(np.where(enough, left, 1.0))
    return np.where(enough, error, nothing), difficulty


def _doubt(state: _State) -> Floats:
    """How unsure the log odds of an item are, as a polynomial of the reported ability."""
    slope = np.exp(state.slope)
    ease, both, own = state.doubt * np.stack([np.ones_like(slope), slope, slope**2])
    at, by = state.center, state.scale
    parts = ease + 2 * both * at + own * at**2, 2 * by * (both + own * at), own * by**2
    return np.stack(parts, axis=1)


def _first(patterns: Verdicts) -> _State:
    """Begin with the log odds of each item and each model."""
    right, wrong = (patterns == 1), (patterns == 0)
    odds = [np.log((right.sum(axis) + 0.5) / (wrong.sum(axis) + 0.5)) for axis in (1, 0)]
    ability = odds[1] - odds[1].sum() / max(1, odds[1].size)
    spread = 2 / np.sqrt((patterns >= 0).sum(0) + 4)
    nothing = np.zeros((3, len(patterns)))
    return _State(nothing[0], odds[0], nothing, ability, spread, 0.0, 1.0)


def _begin_near(state: _State, near: Fit, responses: Responses, kind: NDArray[np.intp]) -> None:
    """Begin where another fit ended."""
    known = {ability.model: ability for ability in near.abilities}
    found = [known[model] for model in responses.models]
    state.slope[kind] = np.log(near.discrimination)  # of items alike, any
    state.ease[kind] = -near.difficulty * near.discrimination
    state.mean = np.array([each.ability for each in found])
    state.spread = np.array([each.error for each in found])


def _round(patterns: Verdicts, count: Floats, state: _State) -> tuple[_State, float, float]:
    """One round of EM; return the new state, how far it moved, and the likelihood before it."""
    right, given = (patterns == 1).astype(np.float64), (patterns >= 0).astype(np.float64)
    nodes = state.mean[:, None] + np.sqrt(2) * state.spread[:, None] * _NODES
    slope = np.exp(state.slope)
    chances = expit(slope[:, None] * nodes.reshape(1, -1) + state.ease[:, None])
    chances *= np.repeat(given, len(_NODES), axis=1)  # what is not given says nothing
    weights, likelihood = _posterior(right, chances, count, nodes, slope, state)
    mean = (weights * nodes).sum(1)
    # What has moved is looked for in a wider place, or it could only creep along its nodes.
    variance = ((nodes - mean[:, None]) ** 2 * weights).sum(1)
    spread = np.maximum(np.sqrt(variance + (mean - state.mean) ** 2), 1e-4)
    slopes, eases, doubt = _better_items(right, chances, weights, nodes, state)
    # One more model, of ability 0 and deviation 1, holds the scale where models do not differ,
    # and its place where all are right or all are wrong.
    center = float(mean.sum() / (len(mean) + 1))
    scale = float(np.sqrt((((mean - center) ** 2 + spread**2).sum() + 1) / (len(mean) + 1)))
    new = _anchored(_State(slopes, eases, doubt, mean, spread, center, scale), count)
    return new, new.moved(state), likelihood


def _posterior(
    right: Floats, chances: Floats, count: Floats, nodes: Floats, slope: Floats, state: _State
) -> tuple[Floats, float]:
    """The weight of each node of each model, and the log likelihood of all verdicts."""
    wrong = count @ np.log1p(-np.minimum(chances, 1 - 1e-15))
    fit = (right.T @ (count * slope))[:, None] * nodes + (right.T @ (count * state.ease))[:, None]
    prior = -0.5 * ((nodes - state.center) / state.scale) ** 2 - np.log(state.scale)
    heights = fit + wrong.reshape(nodes.shape) + prior + np.log(_WEIGHTS) + _NODES**2
    total = logsumexp(heights, axis=1, keepdims=True)
    likelihood = total[:, 0] + np.log(state.spread) - 0.5 * np.log(np.pi)
    return np.exp(heights - total), float(likelihood.sum())


def _better_items(
    right: Floats, chances: Floats, weights: Floats, nodes: Floats, state: _State
) -> tuple[Floats, Floats, Floats]:
    """One step of Fisher scoring for every item at once, towards its best slope and ease.

    Also return how unsure both are: the inverse of the information.
    """
    slope = np.exp(state.slope)
    moments = np.stack([weights, weights * nodes, weights * nodes**2], axis=-1)
    expected = chances @ moments[..., :2].reshape(-1, 2)
    residual = right @ moments[..., :2].sum(1) - expected
    information = (chances * (1 - chances)) @ moments.reshape(-1, 3)
    up_ease = residual[:, 0] - state.ease / EASE_SPREAD**2
    up_slope = residual[:, 1] * slope - state.slope / SLOPE_SPREAD**2
    ee = information[:, 0] + 1 / EASE_SPREAD**2
    es = information[:, 1] * slope
    ss = information[:, 2] * slope**2 + 1 / SLOPE_SPREAD**2
    size = ee * ss - es**2
    step_ease = np.clip((ss * up_ease - es * up_slope) / size, -1, 1)
    step_slope = np.clip((ee * up_slope - es * up_ease) / size, -1, 1)
    doubt = np.stack([ss, -es, ee]) / size
    return state.slope + step_slope, state.ease + step_ease, doubt


def _anchored(state: _State, count: Floats) -> _State:
    """Move and stretch the scale to where the items' priors like it best.

    Nothing of the likelihood changes, but EM alone would creep there over thousands of rounds.
    """
    slope = np.exp(state.slope)
    shift = float((count * slope * state.ease).sum() / (count * slope**2).sum())
    stretch = float(np.exp((count * state.slope).sum() / count.sum()))
    return _State(
        state.slope - np.log(stretch),
        state.ease - slope * shift,
        state.doubt,
        (state.mean + shift) * stretch,
        state.spread * stretch,
        (state.center + shift) * stretch,
        state.scale * stretch,
    )


class AbilityGrid:
    """A fit's chances at the abilities of the grid, to place further models by a few items."""

    def __init__(self, fit: Fit) -> None:
        self._chances = fit.chances(GRID)
        self._expected = self._chances.sum(0)
        self._noise = (self._chances * (1 - self._chances)).sum(0)

    def placed(self, rows: NDArray[np.intp], right: NDArray[np.bool_]) -> Prediction:
        """Return a model's expected share right over all items, from verdicts on some of them."""
        seen, count = self._chances[rows], len(self._chances)
        heights = _GRID_PRIOR + np.log(np.where(right[:, None], seen, 1 - seen)).sum(0)
        weights = np.exp(heights - logsumexp(heights))
        counted = right.sum() + self._expected - seen.sum(0)
        mean = float(weights @ counted)
        noise = self._noise - (seen * (1 - seen)).sum(0)
        variance = float(weights @ ((counted - mean) ** 2 + noise))
        return Prediction(mean / count, np.sqrt(variance) / count)


def plain_record(result: Any) -> dict[str, Any]:
    """Return the fields of a result, numbers rounded."""
    values = {field.name: getattr(result, field.name) for field in fields(result)}
    return {k: rounded(v) if isinstance(v, float) else v for k, v in values.items()}
