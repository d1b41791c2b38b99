"""The fit recovers what data were made with, whatever is missing; few items foretell many."""

import json

import numpy as np
import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.score.irt import Floats, Responses, fit_2pl
from reelbench.score.subset import choose_subset


def simulate(
    items: int, models: int, seed: int = 0, missing: float = 0.0, spread: float = 1.2
) -> tuple[Responses, Floats, Floats, Floats]:
    draw = np.random.default_rng(seed)
    ability = draw.normal(0, 1, models)
    a, b = np.exp(draw.normal(0, 0.5, items)), draw.normal(0, spread, items)
    chance = 1 / (1 + np.exp(-a[:, None] * (ability - b[:, None])))
    right = (draw.random(chance.shape) < chance).astype(np.int8)
    right[draw.random(chance.shape) < missing] = -1
    names = tuple(f"q-{n:05}" for n in range(items)), tuple(f"m{n:03}" for n in range(models))
    return Responses(*names, right), ability, a, b


def correlation(one: Floats, other: Floats) -> float:
    return float(np.corrcoef(one, other)[0, 1])


@pytest.mark.parametrize(
    ("models", "missing", "ability_r", "b_r"),
    [(28, 0.0, 0.99, 0.85), (10, 0.2, 0.97, 0.7), (5, 0.0, 0.95, 0.6)],
)
def test_abilities_and_difficulties_are_recovered(
    models: int, missing: float, ability_r: float, b_r: float
) -> None:
    responses, ability, a, b = simulate(1000, models, missing=missing)
    fit = fit_2pl(responses)
    found = np.array([each.ability for each in fit.abilities])
    print(
        models,
        correlation(found, ability),
        correlation(np.clip(fit.difficulty, -5, 5), b),
        correlation(np.log(fit.discrimination), np.log(a)),
    )
    assert fit.converged
    assert correlation(found, ability) > ability_r
    assert correlation(np.clip(fit.difficulty, -5, 5), b) > b_r
    assert all(0.03 < each.error < 0.25 for each in fit.abilities)


def test_items_are_recovered_from_many_models() -> None:
    responses, _, a, b = simulate(200, 400)
    fit = fit_2pl(responses)
    assert correlation(fit.difficulty, b) > 0.97
    assert correlation(np.log(fit.discrimination), np.log(a)) > 0.9
    assert np.median(fit.discrimination / a) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("models", [60, 150])
def test_items_come_with_the_errors_that_they_have(models: int) -> None:
    responses, ability, a, b = simulate(300, models, seed=5)
    fit = fit_2pl(responses)
    mean, spread = ability.mean(), ability.std()  # the scale is that of these models
    told = ~np.isnan(fit.discrimination_error)
    assert told.mean() > 0.15
    off = np.abs(fit.discrimination - a * spread)[told] / fit.discrimination_error[told]
    assert 0.9 < (off < 1.96).mean() <= 1
    off = np.abs(fit.difficulty - (b - mean) / spread) / fit.difficulty_error
    assert 0.88 < (off < 1.96).mean() < 0.98


@pytest.mark.parametrize("models", [2, 4, 5, 20])
def test_few_models_tell_no_discriminations(models: int) -> None:
    record = fit_2pl(simulate(200, models)[0]).to_record()
    assert {each["a"] for each in record["items"]} == {each["a_error"] for each in record["items"]}
    assert {each["a"] for each in record["items"]} == {None}
    assert f"200 of 200 discriminations are left out: {models} models" in record["note"]
    assert all((each["b_error"] is None) == (models < 5) for each in record["items"])
    assert all((each["b"] is None) == (models < 5) for each in record["items"])


def test_a_missing_answer_is_not_a_wrong_one() -> None:
    responses, *_ = simulate(400, 8, seed=2)
    full = fit_2pl(responses)
    right = responses.right.copy()
    right[200:, 3] = -1
    holes = fit_2pl(Responses(responses.items, responses.models, right))
    one, other = full.abilities[3], holes.abilities[3]
    assert abs(one.ability - other.ability) < 2 * other.error
    assert other.error > 1.2 * one.error


def test_a_large_benchmark() -> None:
    responses, ability, *_ = simulate(15_000, 28)
    fit = fit_2pl(responses)
    assert correlation(np.array([each.ability for each in fit.abilities]), ability) > 0.99


def test_chosen_items_foretell_better_than_random_ones() -> None:
    errors = []
    for seed in range(3):
        found = choose_subset(simulate(400, 15, seed, spread=1.5)[0], 30)
        assert (len(set(found.items)), found.of, len(found.models)) == (30, 400, 15)
        errors.append((found.error, found.random_error, found.random_predicted_error))
    ours, plain, same_prediction = np.array(errors, np.float64).mean(0)
    print(f"error {ours:.4f}, random {plain:.4f}, random and our prediction {same_prediction:.4f}")
    assert ours < 0.75 * plain
    assert ours < same_prediction


def test_no_result_depends_on_the_order() -> None:
    responses, *_ = simulate(120, 6, missing=0.1)
    rows, columns = np.random.default_rng(1).permutation(120), np.array([3, 1, 5, 0, 2, 4])
    mixed = Responses(
        tuple(responses.items[n] for n in rows),
        tuple(responses.models[n] for n in columns),
        responses.right[np.ix_(rows, columns)],
    )
    for make in (fit_2pl, lambda each: choose_subset(each, 10, seed=3)):
        one, other = (
            json.dumps(make(each).to_record(), allow_nan=False) for each in (responses, mixed)
        )
        assert one == other


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (40, 1), (40, 2), (40, 6), (0, 3), (3, 0)])
@pytest.mark.parametrize("verdict", [1, 0, -1])
def test_where_nothing_varies_the_fit_is_still_finite(shape: tuple[int, int], verdict: int) -> None:
    names = tuple(f"q{n}" for n in range(shape[0])), tuple(f"m{n}" for n in range(shape[1]))
    responses = Responses(*names, np.full(shape, verdict, np.int8))
    fit = fit_2pl(responses)
    json.dumps(fit.to_record(), allow_nan=False)
    assert fit.converged
    assert all(each.error > 0 for each in fit.abilities)
    if shape[0]:
        subset = choose_subset(responses, 1)
        json.dumps(subset.to_record(), allow_nan=False)
        assert (subset.error is None) == (shape[1] < 3 or verdict == -1)


def test_a_subset_that_cannot_be_is_refused() -> None:
    with pytest.raises(ReelbenchError, match="from 1 to the number of items"):
        choose_subset(simulate(5, 3)[0], 6)


def test_a_fit_that_begins_near_ends_at_the_same_place() -> None:
    responses = simulate(300, 12, 4)[0].ordered()
    part = responses.without(3)
    near, anew = fit_2pl(part, fit_2pl(responses)), fit_2pl(part)
    assert near.rounds < anew.rounds
    assert np.abs(near.difficulty - anew.difficulty).max() < 0.05
    assert np.abs(near.discrimination - anew.discrimination).max() < 0.05


def test_of_many_models_forty_are_left_out_by_the_seed() -> None:
    responses = simulate(30, 44, 5)[0]
    found = [choose_subset(responses, 5, seed) for seed in (1, 1, 2)]
    names = [[each.model for each in subset.models] for subset in found]
    assert [len(set(each)) for each in names] == [40, 40, 40]
    assert names[0] == names[1] != names[2]
