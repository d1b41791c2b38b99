"""How far two judges agree: per criterion, and in the order that they put models in.

Intervals are by video: of shares as for any score, of coefficients by drawing videos again with
replacement (10,000 times); with fewer than six videos these have none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import ReelbenchError
from reelbench.evaluate.rubric import Rubric
from reelbench.judge.scores import JudgeScores, criterion_weights
from reelbench.score.intervals import LEVEL, Cell, intervals
from reelbench.score.resampling import FEWEST_VIDEOS, resampled
from reelbench.score.rounding import rounded

METHOD = (
    f"{LEVEL:.0%} by video: shares from a beta-binomial model, coefficients from 10,000 draws of "
    "videos with replacement"
)
FEWEST_MODELS = 3  # that have an order to speak of
OVERALL = "overall"

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The scores of both judges on what both have scored."""

    first: Array
    second: Array
    videos: NDArray[np.int64]


def compare_judges(
    first: JudgeScores, second: JudgeScores, rubric: Rubric, seed: int = 0
) -> dict[str, Any]:
    """Return the agreement of two judges on the responses that both have scored."""
    keys = sorted(first.keys() & second.keys())
    if not keys:
        raise ReelbenchError(
            f"No response is in both files ({len(first)} and {len(second)} scored): compare "
            "judgements of the same responses, whose ids and models are the same."
        )
    names = [first[key].video or second[key].video or key[0] for key in keys]
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    videos = np.array([numbers[name] for name in names], np.int64)
    weights = criterion_weights(rubric)
    low, high = (round(end) for end in rubric.scale)
    criteria = []
    for name in weights:
        rows = [n for n, key in enumerate(keys)
                if name in first[key].scores and name in second[key].scores]  # fmt: skip
        if rows:
            one = np.array([first[keys[n]].scores[name] for n in rows], np.float64)
            other = np.array([second[keys[n]].scores[name] for n in rows], np.float64)
            pairs = _Pairs(one, other, videos[rows])
            criteria.append({"criterion": name, **_criterion(pairs, low, high, seed)})
    return {
        "responses": len(keys),
        "left_out": [len(first) - len(keys), len(second) - len(keys)],
        "videos": len(numbers),
        "interval": METHOD,
        "criteria": criteria,
        "models": _models(first, second, keys, videos, weights, seed),
    }


def _criterion(pairs: _Pairs, low: int, high: int, seed: int) -> dict[str, Any]:
    apart = np.abs(pairs.first - pairs.second)
    videos = int(pairs.videos.max()) + 1
    shares = [(apart == 0).astype(float), (apart <= 1).astype(float)]
    cells = [Cell(pairs.videos.tolist(), share.tolist()) for share in shares]
    exact, near = intervals(cells, videos)
    tables = _tables(pairs, low, high)
    whole = tables.sum(1, keepdims=True)
    used = tables[:, tables.sum(0) > 0]
    draws = resampled(used, seed).astype(np.float64) if used.shape[1] >= FEWEST_VIDEOS else None
    return {
        "responses": len(apart),
        "means": [rounded(float(pairs.first.mean())), rounded(float(pairs.second.mean()))],
        "exact": _measured(float(shares[0].mean()), exact.interval),
        "within_one": _measured(float(shares[1].mean()), near.interval),
        "spearman": _coefficient(_spearman, whole, draws),
        "quadratic_kappa": _coefficient(_kappa, whole, draws),
    }


def _measured(value: float | None, interval: Sequence[float] | None) -> dict[str, Any]:
    ends = None if interval is None else [rounded(float(end)) for end in interval]
    return {"value": rounded(value), "interval": ends}


def _tables(pairs: _Pairs, low: int, high: int) -> Array:
    """Count, for each pair of scores, how often each video has it: (scores x scores) x videos."""
    scores = high - low + 1
    cells = ((pairs.first - low) * scores + pairs.second - low).astype(np.int64)
    both = np.concatenate([pairs.first, pairs.second])
    if both.min() < low or both.max() > high:
        raise ReelbenchError(f"There are scores outside of {low} to {high}, which the rubric has.")
    found = np.zeros((scores**2, int(pairs.videos.max()) + 1))
    np.add.at(found, (cells, pairs.videos), 1)
    return found


def _coefficient(
    measure: Callable[[Array], Array], whole: Array, draws: Array | None
) -> dict[str, Any]:
    value = float(measure(whole)[0])
    known = None if draws is None else measure(draws)
    ends = None
    if known is not None and np.isfinite(known).mean() > LEVEL:
        tail = 100 * (1 - LEVEL) / 2
        ends = np.percentile(known[np.isfinite(known)], [tail, 100 - tail]).tolist()
    return _measured(value if np.isfinite(value) else None, ends)


def _margins(tables: Array) -> tuple[Array, Array, Array]:
    """The shares of pairs of scores, and of the scores of each: scores x scores x draws."""
    scores = round(len(tables) ** 0.5)
    joint = tables.reshape(scores, scores, -1) / tables.sum(0)
    return joint, joint.sum(1), joint.sum(0)


def _kappa(tables: Array) -> Array:
    """Cohen's kappa with quadratic weights, in each column of counts."""
    joint, first, second = _margins(tables)
    steps = np.arange(len(first), dtype=np.float64)
    apart = (steps[:, None] - steps[None, :]) ** 2
    seen = np.einsum("ij,ijk->k", apart, joint)
    chance = np.einsum("ij,ik,jk->k", apart, first, second)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Array = 1 - seen / chance
    return found


def _spearman(tables: Array) -> Array:
    """Spearman's rank correlation, ties at their middle, in each column of counts."""
    joint, first, second = _margins(tables)
    ranks = [margin.cumsum(0) - margin / 2 - 0.5 for margin in (first, second)]
    together = np.einsum("ijk,ik,jk->k", joint, ranks[0], ranks[1])
    spread = (first * ranks[0] ** 2).sum(0) * (second * ranks[1] ** 2).sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Array = together / np.sqrt(spread)
    return found


def _models(
    first: JudgeScores,
    second: JudgeScores,
    keys: Sequence[tuple[str, str]],
    videos: NDArray[np.int64],
    weights: Mapping[str, float],
    seed: int,
) -> dict[str, Any] | None:
    """Hold the order of models by one judge against that by the other; None for fewer than two."""
    names = sorted({key[1] for key in keys if key[1]})
    if len(names) < 2:
        return None
    count = int(videos.max()) + 1
    sums = np.zeros((3, len(names), count))  # of both judges, and how many
    for key, video in zip(keys, videos, strict=True):
        if key[1]:
            row = names.index(key[1])
            overall = [_overall(judge[key].scores, weights) for judge in (first, second)]
            sums[:, row, video] += (*overall, 1)
    flat = sums.reshape(-1, count)
    whole = flat.sum(1, keepdims=True)
    grid = np.rint(flat * 2**20) / 2**20  # exact sums, in any order
    draws = resampled(grid, seed).astype(np.float64) if count >= FEWEST_VIDEOS else None
    means = np.round(_means(whole, len(names)), 9)  # equal means tie, whatever the order of sums
    enough = len(names) >= FEWEST_MODELS
    return {
        "names": names,
        "means": [[rounded(float(mean)) for mean in judge[:, 0]] for judge in means],
        "ranks": [[1 + int((judge > mean).sum()) for mean in judge] for judge in means[:, :, 0]],
        "kendall": _coefficient(_kendall_of(len(names)), whole, draws) if enough else None,
        "spearman": _coefficient(_ranked_of(len(names)), whole, draws) if enough else None,
    }


def _overall(scores: Mapping[str, int], weights: Mapping[str, float]) -> float:
    known = {name: weight for name, weight in weights.items() if name in scores}
    return sum(scores[name] * weight for name, weight in known.items()) / sum(known.values())


def _means(sums: Array, models: int) -> Array:
    """The mean of each model by both judges: judges x models x draws."""
    table = sums.reshape(3, models, -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Array = table[:2] / table[2]
    return found


def _kendall_of(models: int) -> Callable[[Array], Array]:
    """Kendall's tau-b over models."""

    def measure(sums: Array) -> Array:
        means = _means(sums, models)
        one, other = np.triu_indices(models, 1)
        signs = np.sign(np.round(means[:, one] - means[:, other], 9))
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.sqrt(np.abs(signs[0]).sum(0) * np.abs(signs[1]).sum(0))
            found: Array = (signs[0] * signs[1]).sum(0) / spread
        return found

    return measure


def _ranked_of(models: int) -> Callable[[Array], Array]:
    """Spearman's rank correlation over models."""

    def measure(sums: Array) -> Array:
        means = np.round(_means(sums, models), 9)
        above = (means[:, :, None] > means[:, None]).sum(2)
        level = (means[:, :, None] == means[:, None]).sum(2)
        ranks = above + (level - 1) / 2 - (models - 1) / 2
        ranks = np.where(np.isfinite(means), ranks, np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.sqrt((ranks[0] ** 2).sum(0) * (ranks[1] ** 2).sum(0))
            found: Array = (ranks[0] * ranks[1]).sum(0) / spread
        return found

    return measure
