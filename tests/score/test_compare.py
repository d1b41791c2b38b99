"""Models are told apart when they differ, as often as promised, and never by their order."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from reelbench.base.errors import ReelbenchError
from reelbench.score.compare import Comparison, Pair, compare, compare_two, holm

Table = NDArray[np.float64]


def answers(means: list[float], sizes: list[int], seed: int) -> tuple[Table, NDArray[np.int64]]:
    """Verdicts of models that find the same videos and the same items hard."""
    generator = np.random.default_rng(seed)
    videos = np.repeat(np.arange(len(sizes)), sizes)
    hard = generator.normal(size=len(sizes))[videos] + generator.normal(size=len(videos))
    own = generator.normal(size=(len(means), len(sizes)))[:, videos]
    noise = generator.normal(size=(len(means), len(videos)))
    return (np.array(means)[:, None] + hard + own + noise > 0).astype(float), videos


def pair(found: Comparison, one: str, other: str) -> Pair:
    return next(each for each in found.pairs if (each.first, each.second) == (one, other))


def test_a_planted_difference_is_found() -> None:
    scores, videos = answers([1.0, 0.0, 0.0], [5] * 200, seed=0)
    found = compare(["good", "plain", "same"], scores, videos, 0)
    assert pair(found, "good", "plain").different
    assert pair(found, "good", "same").different
    assert not pair(found, "plain", "same").different
    assert [each.letters for each in found.models] == [("a",), ("b",), ("b",)]
    assert [each.rank_interval for each in found.models] == [(1, 1), (2, 3), (2, 3)]


def test_a_difference_by_hand() -> None:
    # Videos of one size: this is Student's paired test of the videos' means.
    gaps = np.array([0.5, 0.0, 1.0, 0.5, -0.5, 0.5, 0.0, 1.0])
    first = np.repeat(np.where(gaps > 0, gaps, 0.0), 2)
    second = np.repeat(np.where(gaps < 0, -gaps, 0.0), 2)
    found = compare(["a", "b"], [first, second], np.repeat(np.arange(8), 2), 0).pairs[0]
    error = gaps.std(ddof=1) / np.sqrt(8)
    assert found.difference == pytest.approx(0.375)
    assert found.interval == pytest.approx((0.375 - 2.364624 * error, 0.375 + 2.364624 * error))


@pytest.mark.parametrize("sizes", [[5] * 40, [1] * 40, [7], [3, 4]])
def test_the_same_model_twice_is_never_different(sizes: list[int]) -> None:
    scores, videos = answers([0.3], sizes, seed=1)
    (only,) = (found := compare(["a", "b"], [*scores, *scores], videos, 0)).pairs
    assert (only.difference, only.p, only.p_holm, only.different) == (0, 1, 1, False)
    assert only.interval[0] == -only.interval[1] < 0  # no spread is not certainty
    assert (only.needed_videos, only.design_effect) == (None, None)
    assert {(each.rank, each.rank_interval, each.letters) for each in found.models} == {
        (1, (1, 2), ("a",))
    }


@pytest.mark.parametrize("videos", [1, 2, 5])
def test_under_six_videos_nothing_is_certain(videos: int) -> None:
    numbers = np.repeat(np.arange(videos), 10)
    only = compare(["a", "b"], [np.ones(len(numbers)), np.zeros(len(numbers))], numbers, 0).pairs[0]
    assert only.p == pytest.approx(2.0 ** (1 - videos))
    assert only.interval[0] < 0 < only.interval[1]
    json.dumps(only.to_record(), allow_nan=False)


def test_turned_round_it_is_the_same() -> None:
    scores, videos = answers([0.4, 0.0], [3] * 50, seed=2)
    one = compare(["a", "b"], scores, videos, 0).pairs[0]
    other = compare(["b", "a"], scores, videos, 0).pairs[0]
    assert one.difference == -other.difference
    assert one.interval == (-other.interval[1], -other.interval[0])
    assert (one.p, one.needed_items, one.design_effect) == (
        other.p,
        other.needed_items,
        other.design_effect,
    )


@pytest.mark.parametrize("graded", [False, True])
def test_no_order_changes_a_byte(graded: bool) -> None:
    scores, videos = answers([0.3, 0.2, 0.1, 0.0], [2, 3, 7] * 20, seed=3)
    if graded:
        scores = (scores + np.random.default_rng(0).integers(0, 4, scores.shape) / 3) / 2
    names, texts = ["d", "b", "a", "c"], set()
    for seed in range(4):
        generator = np.random.default_rng(seed)
        models, items = generator.permutation(4), generator.permutation(len(videos))
        found = compare([names[n] for n in models], scores[models][:, items], videos[items], 7)
        texts.add(json.dumps(found.to_record()))
    assert len(texts) == 1


@pytest.mark.parametrize("sizes", [[5] * 10, list(range(1, 11)), [1, 2, 12] * 8, [3] * 60], ids=len)
def test_equal_models_differ_one_time_in_twenty(sizes: list[int]) -> None:
    """The p-values of 6,000 pairs that are equal in truth, in worlds of their own."""
    small = []
    for seed in range(6000):
        scores, videos = answers([0.0, 0.0], sizes, seed)
        small.append(compare_two(("a", "b"), scores, videos).p < 0.05)
    assert 0.04 < np.mean(small) < 0.06


def test_holm_by_hand_and_in_order() -> None:
    assert holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    values = list(np.random.default_rng(0).random(50) ** 3)
    corrected = holm(values)
    assert all(after >= before for before, after in zip(values, corrected, strict=True))
    for (p, q), (one, other) in zip(
        combinations(values, 2), combinations(corrected, 2), strict=True
    ):
        assert (p - q) * (one - other) >= 0


def test_rank_intervals_hold_the_true_rank() -> None:
    means = [0.6, 0.3, 0.25, 0.2, 0.0, -0.5]
    held = []
    for seed in range(60):
        found = compare(list("abcdef"), *answers(means, [4] * 60, seed), seed)
        for each in found.models:
            low, high = each.rank_interval
            held.append(low <= 1 + "abcdef".index(each.model) <= high)
            assert low <= each.rank <= high
    assert np.mean(held) >= 0.95
    sure = compare(list("abcdef"), *answers(means, [4] * 3000, 0), 0)
    assert {each.rank_interval for each in sure.models} >= {(1, 1), (5, 5), (6, 6)}


def test_as_many_videos_as_needed_give_the_power() -> None:
    large = compare(["a", "b"], *answers([0.5, 0.0], [4] * 20_000, 0), 0).pairs[0]
    needed = large.needed_videos
    assert needed
    assert large.needed_items == 4 * needed
    assert large.design_effect
    assert large.design_effect > 1.2
    seen = []
    for seed in range(1500):
        scores, videos = answers([0.5, 0.0], [4] * needed, seed)
        seen.append(compare_two(("a", "b"), scores, videos).p < 0.05)
    assert 0.77 < np.mean(seen) < 0.83


def test_what_has_no_answer_is_wrong() -> None:
    scores, videos = answers([0.3, 0.0], [3] * 30, seed=4)
    scores[0, :10] = np.nan
    wrong = compare(["a", "b"], scores, videos, 0)
    assert (wrong.items, wrong.videos, wrong.pairs[0].items) == (90, 30, 90)
    filled = compare(["a", "b"], np.nan_to_num(scores), videos, 0)
    assert wrong.models == filled.models
    (one,), (other,) = wrong.pairs, filled.pairs
    assert replace(one, coverage=(1.0, 1.0), both_answered=None) == other
    assert "counts as wrong" in wrong.to_record()["policy"]


class TestOtherItemsAsked:
    """Of 90 items, ``a`` was asked the last 80 and ``c`` the first 60; ``d`` the last 20."""

    def found(self) -> tuple[Comparison, Table, NDArray[np.int64]]:
        scores, videos = answers([0.3, 0.0, 1.0, -1.0], [3] * 30, seed=4)
        asked = np.ones(scores.shape, np.bool_)
        asked[0, :10] = asked[2, 60:] = asked[3, :70] = False
        return compare(list("abcd"), scores, videos, 0, asked), scores, videos

    def test_a_pair_is_compared_on_what_both_were_asked(self) -> None:
        found, scores, videos = self.found()
        places = {("a", "b"): slice(10, 90), ("a", "c"): slice(10, 60), ("a", "d"): slice(70, 90),
                  ("b", "c"): slice(0, 60), ("b", "d"): slice(70, 90)}  # fmt: skip
        assert [(each.first, each.second) for each in found.pairs] == list(places)  # not c and d
        for each, place in zip(found.pairs, places.values(), strict=True):
            two = ["abcd".index(each.first), "abcd".index(each.second)]
            (alone,) = compare(
                [each.first, each.second], scores[two, place], videos[place], 0
            ).pairs
            assert replace(each, p_holm=alone.p_holm) == alone
            assert each.items == place.stop - place.start
        ps = [each.p for each in found.pairs]
        assert [each.p_holm for each in found.pairs] == holm(ps)

    def test_ranks_are_by_the_pairs(self) -> None:
        found, _, _ = self.found()
        for model in found.models:
            sides = [(p, 1 if p.first == model.model else -1) for p in found.pairs
                     if model.model in (p.first, p.second)]  # fmt: skip
            assert model.rank == 1 + sum(side * pair.difference < 0 for pair, side in sides)
            low, high = model.rank_interval
            assert low <= model.rank <= high
        record = found.to_record()
        assert record["warnings"] == ["Not compared: c and d were asked no item in common."]
        assert record["letter_rule"].endswith("; models not compared share none")
        letters = {each.model: {*each.letters} for each in found.models}
        assert not letters["c"] & letters["d"]
        for each in found.pairs:
            assert bool(letters[each.first] & letters[each.second]) is not each.different
        assert record["policy"].startswith("each pair is compared on the items that both were")
        assert "this model's pairs" in record["rank_rule"]

    def test_no_order_changes_a_byte(self) -> None:
        scores, videos = answers([0.3, 0.0, 1.0], [3] * 30, seed=4)
        asked = np.random.default_rng(1).random(scores.shape) < 0.8
        texts = set()
        for seed in range(3):
            generator = np.random.default_rng(seed)
            models, items = generator.permutation(3), generator.permutation(len(videos))
            rows = (each[models][:, items] for each in (scores, asked))
            found = compare(["abc"[n] for n in models], next(rows), videos[items], 7, next(rows))
            texts.add(json.dumps(found.to_record()))
        assert len(texts) == 1


def test_all_that_is_wrong_is_said() -> None:
    with pytest.raises(
        ReelbenchError, match=r"a name of its own; .* shape \(2, 1\), .*; scores must"
    ):
        compare(["a", "a"], [[2.0], [0.0]], [0, 1], 0)


def test_one_model_has_nobody_to_be_compared_with() -> None:
    found = compare(["a"], *answers([0.0], [2] * 10, 0), 0)
    assert found.pairs == ()
    assert (found.models[0].rank, found.models[0].letters) == (None, ())


@pytest.mark.parametrize("videos", [60, 5000])
def test_no_difference_is_so_clear_that_p_is_nought(videos: int) -> None:
    scores = [[1.0] * (videos - 1) + [0.0], [0.0] * videos]
    (pair,) = compare(["a", "b"], scores, range(videos), seed=0).to_record()["pairs"]
    assert 0 < pair["p"] <= pair["p_holm"] < 1e-9


class TestUnequalCoverage:
    def found(self, missing: int, seed: int = 0) -> Comparison:
        """Two models that know the same; the second fails to answer some items."""
        scores, videos = answers([0.5], [2] * 40, seed)
        scores = np.vstack([scores, scores])
        scores[1, :missing] = np.nan
        return compare(["whole", "failing"], scores, videos, 0)

    def test_a_difference_that_comes_from_failures_is_told_with_both_coverages(self) -> None:
        found = self.found(60).to_record()
        (only,) = found["pairs"]
        assert (only["models"], only["coverage"]) == (["failing", "whole"], [0.25, 1.0])
        assert only["different"]
        assert only["difference"] < -0.3
        assert (only["both_answered"]["items"], only["both_answered"]["difference"]) == (20, 0.0)
        (warning,) = found["warnings"]
        assert "whole answered 100.0% of the items and failing 25.0%" in warning
        assert "failing is" not in warning.split(":")[0]
        assert warning.endswith("points ahead, but level on the 20 items that both answered.")

    def test_nothing_is_told_where_both_answered_the_same_items(self) -> None:
        found = self.found(0).to_record()
        assert (found["warnings"], found["pairs"][0]["both_answered"]) == ([], None)

    def test_nothing_is_told_where_both_answered_as_much(self) -> None:
        """A few other items are missing of each: no difference comes from that."""
        scores, videos = answers([1.5, -0.5], [2] * 500, seed=3)
        scores[0, :100] = scores[1, -100:] = np.nan
        found = compare(["a", "b"], scores, videos, 0).to_record()
        assert found["pairs"][0]["both_answered"]["items"] == 800
        assert found["warnings"] == []

    def test_it_is_told_where_few_items_were_answered_by_both(self) -> None:
        """As many each, but hardly the same: the two scores are about other items."""
        scores, videos = answers([0.5], [2] * 40, seed=1)
        scores = np.vstack([scores, scores])
        scores[0, 45:] = scores[1, :35] = np.nan
        found = compare(["a", "b"], scores, videos, 0).to_record()
        assert found["pairs"][0]["both_answered"]["items"] == 10
        assert len(found["warnings"]) == 1

    def test_a_model_that_answered_nothing_shares_no_item(self) -> None:
        found = self.found(80).to_record()
        both = {"items": 0, "difference": None, "interval": None}
        assert found["pairs"][0]["both_answered"] == both
        assert found["warnings"] == []  # without a score it has no standing that misleads

    def test_many_pairs_are_one_sentence_on_the_largest_gap_and_how_many_more(self) -> None:
        scores, videos = answers([1.0] * 4, [2] * 40, seed=1)
        scores[1, :20] = scores[2, :30] = scores[3, :40] = np.nan
        found = compare(["a", "b", "c", "d"], scores, videos, 0).to_record()
        first, rest = found["warnings"]
        assert "a answered 100.0% of the items and d 50.0%" in first
        told = [pair for pair in found["pairs"] if pair["both_answered"]]
        assert rest == "The same holds for 5 more pairs: see the table of pairs in the report."
        assert len(told) == 6

    def test_baselines_that_answer_everything_do_not_multiply_it(self) -> None:
        scores, videos = answers([1.0, 1.0, -1.0, -1.0, -1.0], [2] * 40, seed=1)
        scores[1, :40] = np.nan
        names = ["a", "b", "baseline:random", "baseline:first", "baseline:longest"]
        (warning,) = compare(names, scores, videos, 0).to_record()["warnings"]
        assert "baseline" not in warning
        (alone,) = compare(names[1:], scores[1:], videos, 0).to_record()["warnings"]
        assert "b 50.0%" in alone or "b answered 50.0%" in alone
        assert alone.count("baseline:") in (1, 2)

    def test_models_that_answered_different_items_are_told_of(self) -> None:
        scores, videos = answers([0.5], [2] * 40, seed=1)
        scores = np.vstack([scores, scores])
        scores[0, 40:] = scores[1, :40] = np.nan
        found = compare(["a", "b"], scores, videos, 0).to_record()
        assert found["warnings"][0].endswith("no item was answered by both.")


def test_all_against_nothing_on_many_videos_is_still_an_estimate() -> None:
    (pair,) = compare(["a", "b"], [[1.0] * 1100, [0.0] * 1100], range(1100), 0).to_record()["pairs"]
    assert pair["standard_error"] > 0
    assert pair["interval"][0] < 1
    assert pair["p"] > 0
