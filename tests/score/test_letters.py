"""Two models share a letter if and only if they cannot be told apart."""

import random
from itertools import combinations

import numpy as np
import pytest

from reelbench.score.compare import compare
from reelbench.score.letters import compact_letters, spelled

Table = list[list[bool]]


def table(count: int, pairs: set[tuple[int, int]]) -> Table:
    return [[(i, j) in pairs or (j, i) in pairs for j in range(count)] for i in range(count)]


def assert_true(different: Table, letters: list[tuple[str, ...]]) -> None:
    for one, other in combinations(range(len(different)), 2):
        shared = set(letters[one]) & set(letters[other])
        assert bool(shared) is not different[one][other], (one, other, letters)
    assert all(letters)


@pytest.mark.parametrize(
    ("count", "pairs", "letters"),
    [
        (1, set(), ["a"]),
        (3, set(), ["a", "a", "a"]),
        (3, {(1, 2)}, ["ab", "a", "b"]),  # the first cannot be told apart from two that can
        (3, {(0, 1), (0, 2), (1, 2)}, ["a", "b", "c"]),
        (3, {(0, 2)}, ["a", "ab", "b"]),
        (4, {(0, 2), (0, 3), (1, 3)}, ["a", "ab", "bc", "c"]),
    ],
)
def test_by_hand(count: int, pairs: set[tuple[int, int]], letters: list[str]) -> None:
    found = compact_letters(table(count, pairs))
    assert [spelled(each) for each in found] == letters


@pytest.mark.parametrize("seed", range(60))
def test_letters_are_shared_where_models_do_not_differ_and_nowhere_else(seed: int) -> None:
    draw = random.Random(seed)
    count, density = draw.randint(1, 20), draw.random()
    pairs = {pair for pair in combinations(range(count), 2) if draw.random() < density}
    different = table(count, pairs)
    assert_true(different, compact_letters(different))


def test_no_letter_can_be_taken_from_a_model() -> None:
    draw = random.Random(7)
    for _ in range(20):
        pairs = {pair for pair in combinations(range(9), 2) if draw.random() < 0.4}
        different = table(9, pairs)
        letters = compact_letters(different)
        for model, own in enumerate(letters):
            for letter in own:
                fewer = [*letters]
                fewer[model] = tuple(each for each in own if each != letter)
                with pytest.raises(AssertionError):
                    assert_true(different, fewer)


def test_the_worst_pattern_is_done_and_has_names_beyond_the_alphabet() -> None:
    """Threes that differ among themselves alone: 3 to the power of 20 largest sets of alike."""
    different = [[i != j and i // 3 == j // 3 for j in range(60)] for i in range(60)]
    letters = compact_letters(different)
    assert_true(different, letters)
    assert any(len(letter) > 1 for own in letters for letter in own)
    assert spelled(["a", "z", "aa"]) == "a z aa"


def test_models_that_differ_never_share_a_letter_because_of_a_third() -> None:
    """The first is noisy: it differs from neither of two that clearly differ from each other."""
    draw = np.random.default_rng(0)
    videos = np.repeat(np.arange(60), 5)
    second = (np.arange(300) % 2 == 0).astype(float)
    third = second * (np.arange(300) % 16 != 0)
    noisy = (draw.random(60) < 0.5).astype(float)[videos]
    found = compare(["noisy", "second", "third"], [noisy, second, third], videos, 0)
    letters = {each.model: set(each.letters) for each in found.models}
    for pair in found.pairs:
        assert bool(letters[pair.first] & letters[pair.second]) is not pair.different
    assert [pair.different for pair in found.pairs] == [False, False, True]
