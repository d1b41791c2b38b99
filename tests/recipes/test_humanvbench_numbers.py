"""HumanVBench: options that are numbers, times and intervals, at the edges of every limit."""

from itertools import combinations
from random import Random

import pytest

from reelbench.recipes.humanvbench.numbers import (
    ActionStart,
    Presence,
    draw_counts,
    draw_intervals,
    draw_points,
    draw_starts,
    iou,
    overlap,
    thirds,
    whole,
)


class TestCounts:
    def test_three_others_at_most_four_away_and_at_least_one(self) -> None:
        truths = {f"c{number}": number % 9 + 1 for number in range(90)}
        drawn = draw_counts(truths, 1)
        for item, truth in truths.items():
            key, *wrong = drawn[item]
            assert key == truth
            assert len({truth, *wrong}) == 4
            assert all(number >= 1 and abs(number - truth) <= 4 for number in wrong)
        distances = {abs(number - key) for key, *wrong in drawn.values() for number in wrong}
        assert distances == {1, 2, 3, 4}

    def test_fewer_than_the_clips_were_selected_for_are_not_offered(self) -> None:
        truths = {f"c{number}": 3 + number % 6 for number in range(60)}
        assert min(min(wrong) for wrong in draw_counts(truths, 1).values()) == 3

    def test_how_far_away_is_a_parameter(self) -> None:
        drawn = draw_counts({"a": 10, "b": 12}, 1, within=2)
        assert set(drawn["a"]) < {8, 9, 10, 11, 12}

    def test_the_same_seed_draws_the_same_in_any_order(self) -> None:
        truths = {f"c{number}": 3 + number % 9 for number in range(40)}
        turned = dict(reversed(truths.items()))
        assert draw_counts(truths, 1) == draw_counts(turned, 1)
        assert draw_counts(truths, 1) != draw_counts(truths, 2)


class TestStarts:
    def test_wrong_ones_are_at_least_three_seconds_from_the_truth_and_inside_the_clip(self) -> None:
        rng = Random(1)
        truths = {f"t{n}": ActionStart(rng.uniform(9, 30), rng.uniform(0, 9)) for n in range(60)}
        drawn = draw_starts(truths, 1)
        for item, (key, *wrong) in drawn.items():
            truth = truths[item]
            assert truth.at is not None
            assert key == round(truth.at)
            assert len(set(wrong)) == 3
            assert all(abs(number - truth.at) >= 3 for number in wrong)
            assert all(0 <= number <= truth.seconds for number in wrong)
        nearest = min(abs(n - key) for key, *wrong in drawn.values() for n in wrong)
        assert nearest == 3

    def test_they_are_spread_where_the_clip_is_long_enough(self) -> None:
        ((key, *wrong),) = draw_starts({"a": ActionStart(12.0, 6.0)}, 1).values()
        assert all(abs(a - b) >= 3 for a, b in combinations([key, *wrong], 2))

    def test_a_clip_without_room_for_three_gives_none(self) -> None:
        assert draw_starts({"a": ActionStart(7.1, 3.5)}, 1) == {}

    def test_ongoing_actions_look_like_the_others(self) -> None:
        truths = {f"t{n}": ActionStart(15.0, None if n % 2 else 5.0) for n in range(20)}
        drawn = draw_starts(truths, 1)
        assert all(len(set(numbers)) == 4 for numbers in drawn.values())
        odd = {drawn[f"t{n}"] for n in range(1, 20, 2)}
        assert len(odd) > 3, "not one set that gives them away"

    def test_the_papers_numbers_for_ongoing_ones_are_a_parameter(self) -> None:
        truths = {"a": ActionStart(15.0, None), "b": ActionStart(9.0, None)}
        drawn = draw_starts(truths, 1, ongoing=[1, 4, 7, 10])
        assert drawn == {"a": (1, 4, 7, 10), "b": (1, 4, 7)}

    def test_starts_that_only_can_be_the_first_are_left_out_beyond_the_slack(self) -> None:
        truths = {f"t{n}": ActionStart(20.0, 1.0) for n in range(40)}
        assert len(draw_starts(truths, 1)) == 40
        assert len(draw_starts(truths, 1, slack=3.0)) == 4  # each is 0.75 of an item above chance


class TestIntervals:
    @pytest.mark.parametrize("most_overlap", [4.0, 2.0])
    def test_overlap_and_iou_have_a_limit_and_all_lie_inside(self, most_overlap: float) -> None:
        rng = Random(1)
        truths = {}
        for number in range(40):
            seconds, start = rng.uniform(8, 30), rng.randrange(0, 4)
            truths[f"t{number}"] = Presence(seconds, (start, start + round(seconds / 2)))
        drawn = draw_intervals(truths, 1, most_overlap=most_overlap, slack=None)
        shared, unions = set(), set()
        for item, (key, *wrong) in drawn.items():
            assert key == truths[item].span
            assert len({key, *wrong}) == 4
            for each in wrong:
                assert 0 <= each[0] < each[1] <= truths[item].seconds
                shared.add(overlap(each, truths[item].span))
                unions.add(iou(each, truths[item].span))
        assert max(shared) == most_overlap
        assert max(unions) <= 0.5

    def test_in_a_short_clip_the_overlap_alone_means_nothing(self) -> None:
        """Of a truth of four seconds, all would be allowed to be covered."""
        drawn = draw_intervals({"a": Presence(7.5, (2, 6))}, 1, slack=None)
        assert all(iou(each, (2, 6)) <= 0.5 for each in drawn["a"][1:])

    def test_truths_that_can_only_be_the_longest_are_left_out_beyond_the_slack(self) -> None:
        truths = {f"t{n}": Presence(20.0, (5, 16)) for n in range(40)}
        everything = draw_intervals(truths, 1, slack=None)
        longest = sum(max(b - a for a, b in wrong) < 11 for _, *wrong in everything.values())
        kept = draw_intervals(truths, 1, slack=3.0)
        assert longest > 20
        assert 0 < len(kept) < 10

    def test_shared_seconds_and_their_share(self) -> None:
        assert (overlap((2, 6), (4, 9)), overlap((2, 4), (4, 6))) == (2, 0)
        assert iou((2, 6), (4, 8)) == pytest.approx(1 / 3)


class TestPoints:
    def test_thirds_are_whole_seconds(self) -> None:
        assert thirds(8.1) == (0, 3, 5)
        assert thirds(30.0) == (0, 10, 20)

    def test_each_third_is_the_key_equally_often(self) -> None:
        drawn = draw_points({f"a{n}": 12.0 for n in range(30)}, 1)
        assert sorted(drawn.values()) == [0] * 10 + [4] * 10 + [8] * 10

    def test_thirds_that_are_one_second_in_a_forecast(self) -> None:
        assert draw_points({"a": 1.0}, 1)["a"] in thirds(1.0)


def test_whole_seconds_lie_in_the_clip() -> None:
    assert (whole(-0.4, 9.0), whole(3.6, 9.0), whole(10.6, 10.6)) == (0, 4, 10)
