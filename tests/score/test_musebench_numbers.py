"""MuseBench's printed numbers: what can be recomputed from them, and what they leave open.

Items by category are not printed; those here follow from the accuracies (see the notes on the
paper). They are used in these tests alone.
"""

from statistics import fmean

import pytest
from support import make_item

from reelbench.data.items import Item
from reelbench.data.table_rules import RANDOM_POLICIES
from reelbench.score.expectation import expected_value

SIZES = {"Cin": 990, "SVA": 990, "SPA": 985, "GA": 1023}
MULTI = {"Cin": 513, "SVA": 372, "SPA": 380, "GA": 523}
RANDOM = {"ACC": 13.55, "EM": 6.04}
RANDOM_EM = {"Cin": 5.85, "SVA": 4.47, "SPA": 6.34, "GA": 6.37}
# Table 1 and 7: exact match by category, overall, and accuracy.
GPT = {"EM": {"Cin": 31.58, "SVA": 27.15, "SPA": 30.79, "GA": 14.53}, "overall": 25.50}
GPT_ACC = {"Cin": 47.58, "SVA": 49.49, "SPA": 51.68, "GA": 30.11, "overall": 44.58}
# Table 7: precision, recall and F1 of three models on Cinematic Arts.
CELLS = [(77.52, 71.05, 74.14), (79.60, 70.68, 74.87), (54.52, 87.69, 67.24)]


def weighted(by_category: dict[str, float], sizes: dict[str, int]) -> float:
    return sum(by_category[name] * size for name, size in sizes.items()) / sum(sizes.values())


def question(options: int, right: int) -> Item:
    letters = tuple("ABCDEFGH"[:options])
    return make_item(1, kind="multi", options=letters, answer=letters[:right])


def test_overall_numbers_are_means_over_items_of_the_derived_sizes() -> None:
    accuracy = {name: GPT_ACC[name] for name in SIZES}
    assert weighted(accuracy, SIZES) == pytest.approx(GPT_ACC["overall"], abs=0.01)
    assert weighted(GPT["EM"], MULTI) == pytest.approx(GPT["overall"], abs=0.01)
    # Each printed share is that of a whole number of items.
    for name, share in GPT["EM"].items():
        right = share * MULTI[name] / 100
        assert right == pytest.approx(round(right), abs=0.03), name


def test_the_random_row_contradicts_its_categories() -> None:
    assert weighted(RANDOM_EM, MULTI) == pytest.approx(5.82, abs=0.01)  # printed: 6.04


def test_f1_of_table_7_is_that_of_means() -> None:
    for precision, recall, f1 in CELLS:
        assert 2 * precision * recall / (precision + recall) == pytest.approx(f1, abs=0.01)


def singles_by_chance() -> float:
    """The share of single-select questions that guessing gets right, from accuracy and EM."""
    total, multi = sum(SIZES.values()), sum(MULTI.values())
    return (RANDOM["ACC"] * total - RANDOM["EM"] * multi) / (total - multi) / 100


def test_the_random_row_tells_the_mean_number_of_options() -> None:
    assert 1 / singles_by_chance() == pytest.approx(5.1, abs=0.05)


def options_like_those_of_singles() -> dict[int, float]:
    """Shares of 4 to 8 options that fit what is printed of single-select questions.

    1,407 of 2,200 have five or more (4.3), and the mean of 1/K is what guessing gets right; the
    shares of 5 to 8 fall by one factor, which is solved for.
    """
    singles = sum(SIZES.values()) - sum(MULTI.values())
    more = 1407 / singles
    low, high = 0.0, 4.0
    while high - low > 1e-9:
        factor = (low + high) / 2
        falling = [factor**n for n in range(4)]
        tail = {5 + n: more * part / sum(falling) for n, part in enumerate(falling)}
        mean = (1 - more) / 4 + sum(share / options for options, share in tail.items())
        low, high = (factor, high) if mean > singles_by_chance() else (low, factor)
    return {4: 1 - more, **tail}


def random_em(policy: str) -> float:
    """Exact match of guessing, if sets have as many options as singles and 2 to 4 right ones."""
    return 100 * sum(
        share * fmean(expected_value([question(options, n)], "exact_match", policy) or 0.0
                      for n in (2, 3, 4) if n < options)
        for options, share in options_like_those_of_singles().items()
    )  # fmt: skip


def test_no_policy_comes_to_the_printed_random_exact_match() -> None:
    found = {policy: random_em(policy) for policy in RANDOM_POLICIES}
    assert sum(options_like_those_of_singles().values()) == pytest.approx(1)
    nearest = min(found, key=lambda policy: abs(found[policy] - RANDOM["EM"]))
    assert nearest == "two-to-four"
    assert found["subsets"] < found["two-to-four"] < 5.82 < RANDOM["EM"] < found["key-size"]


def test_ours_would_come_to_it_if_most_sets_had_four_options() -> None:
    four, five = (100 * (expected_value([question(n, 2)], "exact_match", "subsets") or 0) for n in (4, 5))  # fmt: skip
    assert (four, five) == pytest.approx((100 / 15, 100 / 31))
    assert 0.75 < (RANDOM["EM"] - five) / (four - five) < 0.85
