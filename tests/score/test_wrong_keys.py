"""The probability that a key is wrong is what it says, and few models give none."""

import numpy as np
import pytest
from support import make_item

from reelbench.score.item_analysis import Answer, Answers
from reelbench.score.wrong_keys import suspects_note, wrong_key_suspects


def simulate(
    seed: int, models: int, weakest: float, planted: float, family: int = 1, items: int = 300
) -> tuple[Answers, dict[str, str]]:
    """Models that err alike within a family, items that mislead, and some keys moved away."""
    draw = np.random.default_rng(seed)
    ability = np.linspace(weakest, weakest + 2, models)
    made, truth = [], {}
    sheets: dict[str, dict[str, Answer | None]] = {f"m{n:02}": {} for n in range(models)}
    for number in range(items):
        right, hard = int(draw.integers(4)), draw.normal(-0.3, 1.2)
        wrong = [n for n in range(4) if n != right]
        pull, misleads = draw.dirichlet(np.full(3, 0.7)), draw.random() < 0.04
        top, key = wrong[int(np.argmax(pull))], right
        if draw.random() < planted:
            key, truth[f"q-{number}"] = int(draw.choice([top, *wrong])), "ABCD"[right]
        made.append(make_item(number, answer=("ABCD"[key],)))
        chances = 0.2 + 0.8 / (1 + np.exp(hard - ability))
        picks = np.where(draw.random(models) < chances, right, draw.choice(wrong, models, p=pull))
        if misleads:
            picks = np.where(draw.random(models) < 0.6, top, picks)
        copied = picks[np.arange(models) // family * family]
        picks = np.where(draw.random(models) < 0.4, copied, picks)
        for n, pick in enumerate(picks):
            sheets[f"m{n:02}"][f"q-{number}"] = frozenset("ABCD"[pick])
    return Answers.of(made, sheets), truth


def test_what_is_said_is_what_is_true() -> None:
    said, true = [], []
    for seed in range(12):
        models, weakest, family = [(5, -1.0, 1), (8, -0.5, 2), (12, 0.0, 4), (16, 0.5, 4)][seed % 4]
        answers, truth = simulate(seed, models, weakest, (0.01, 0.03, 0.05)[seed // 4], family)
        for each in wrong_key_suspects(answers):
            said.append(each.probability)
            true.append(truth.get(each.id) == each.instead)
    print(f"{len(said)} suspects, said {np.mean(said):.3f}, true {np.mean(true):.3f}")
    assert len(said) > 40
    assert np.mean(said) == pytest.approx(np.mean(true), abs=0.1)  # the error of so few is 0.06
    sure = np.array(said) > 0.85
    assert np.mean(np.array(true)[sure]) > 0.7


def test_five_weak_models_accuse_hardly_anyone() -> None:
    found = hits = 0
    for seed in range(4):
        answers, truth = simulate(100 + seed, 5, -1.5, 0.03)
        suspects = wrong_key_suspects(answers)
        found += len(suspects)
        hits += sum(truth.get(each.id) == each.instead for each in suspects)
    assert found - hits <= 4  # 56, said to be wrong with 0.65, where evidence counts in full


@pytest.mark.parametrize("models", [1, 2, 4])
def test_fewer_than_five_models_give_no_probability_and_say_why(models: int) -> None:
    answers, _ = simulate(0, models, 1.0, 0.05)
    assert wrong_key_suspects(answers) == ()
    note = suspects_note(answers)
    assert note is not None
    assert f"5 models or more do better than guessing, and here {models} of {models} do" in note


def test_models_that_guess_are_not_counted() -> None:
    answers, _ = simulate(0, 5, 1.0, 0.05)
    assert suspects_note(answers) is None
    guessed = (
        {model: {} for model in answers.models}
        | {  # all but the first say A to everything
            model: {item.id: frozenset("A") for item in answers.items}
            for model in answers.models[1:]
        }
    )
    note = suspects_note(Answers.of(answers.items, guessed))
    assert note is not None
    assert "here 0 of 5 do" in note
