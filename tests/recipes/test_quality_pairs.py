"""Pairs, and the question that each video and each pair is assigned."""

from collections import Counter
from itertools import combinations
from statistics import median
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs
from quality_actors import scored

from reelbench.base.errors import ReelbenchError
from reelbench.recipes.qbench_video.pairing import assign, draw_pairs, pair
from reelbench.recipes.qbench_video.rows import Partner, ScoredVideo


def paired(
    videos: list[ScoredVideo], count: int | None, seed: int = 0
) -> tuple[list[ScoredVideo], list[str]]:
    ctx: Any = SimpleNamespace(seed=seed, notes=[])
    asked = [structs.replace(video, pairs=count) for video in videos]
    return pair(asked, ctx), ctx.notes


def partners(videos: list[ScoredVideo]) -> list[tuple[ScoredVideo, Partner]]:
    return [(video, partner) for video in videos for partner in video.partners]


class TestPairs:
    @pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 8, 13])
    def test_every_two_meet_once_if_all_are_asked_for(self, size: int) -> None:
        videos = scored(*range(size))
        pairs = draw_pairs("set", videos, 1000, 0)
        met = Counter(frozenset((one.id, other.id)) for one, other in pairs)
        ids = [video.id for video in videos]
        assert met == Counter(frozenset(two) for two in combinations(ids, 2))

    def test_nobody_is_paired_twice_while_others_are_not_at_all(self) -> None:
        pairs = draw_pairs("set", scored(*range(41)), 20, 0)
        often = Counter(video.id for two in pairs for video in two)
        assert set(often.values()) == {1}
        assert len(often) == 40

    def test_pairs_stay_in_small_groups_so_that_they_can_be_split(self) -> None:
        videos = scored(*range(64))
        group = {video.id: {video.id} for video in videos}
        for one, other in draw_pairs("set", videos, 96, 0):  # three for each video
            joined = group[one.id] | group[other.id]
            group |= dict.fromkeys(joined, joined)
        assert max(map(len, group.values())) == 4

    def test_the_better_one_is_first_about_as_often_as_not(self) -> None:
        pairs = draw_pairs("set", scored(*range(200)), 400, 3)
        better = sum(one.score > other.score for one, other in pairs)
        assert 160 < better < 240

    def test_more_than_the_median_is_coarse(self) -> None:
        made, notes = paired(scored(1, 2.5, 3, 4, 4.2, 4.9, 1.1), 15)
        both = partners(made)
        middle = median(abs(one.score - two.score) for one, two in both)
        assert len(both) == 15
        for one, two in both:
            assert two.difference == pytest.approx(abs(one.score - two.score))
            assert two.median == pytest.approx(middle)
            assert two.grain == (
                "Compare-coarse" if two.difference > two.median else "Compare-fine"
            )
        assert Counter(two.grain for _, two in both) == {"Compare-coarse": 7, "Compare-fine": 8}
        assert not notes

    def test_differences_that_are_equal_as_written_are_equal(self) -> None:
        # As floats, 3.2 - 3.0 is more than 0.2 and 1.2 - 1.0 is less.
        made, _ = paired(scored(1.0, 1.2, 3.0, 3.2), 6)
        small = [two for one, two in partners(made) if abs(one.score - two.score) < 1]
        assert [two.difference for two in small] == [0.2, 0.2]
        made, _ = paired(scored(2, 2, 2, 2), 6)
        assert {two.grain for _, two in partners(made)} == {"Compare-fine"}

    def test_pairs_are_of_one_dataset(self) -> None:
        videos = [*scored(*range(6), dataset="one"), *scored(*range(6), dataset="two")]
        made, _ = paired(videos, 15)
        assert len(partners(made)) == 30
        assert all(one.dataset == two.id.split(":")[0] for one, two in partners(made))

    def test_as_many_as_can_be_and_it_is_said(self) -> None:
        made, (note,) = paired(scored(1, 2, 3), 10)
        assert len(partners(made)) == 3
        assert "10 pairs are asked for, but 3 videos make only 3" in note

    def test_a_third_as_many_as_videos_where_no_number_is_given(self) -> None:
        assert len(partners(paired(scored(*range(20)), None)[0])) == 6
        assert not partners(paired(scored(*range(20)), 0)[0])

    def test_the_order_of_rows_decides_nothing(self) -> None:
        videos = scored(*range(30))
        one, other = (
            {(v.id, p.id) for v, p in partners(paired(each, 20)[0])}
            for each in (videos, videos[::-1])
        )
        assert one == other
        assert one != {(v.id, p.id) for v, p in partners(paired(videos, 20, seed=1)[0])}


class TestDeal:
    def assigned(self, seed: int = 0) -> list[ScoredVideo]:
        videos = []
        for name, size in (("one", 50), ("two", 31)):
            for number, video in enumerate(scored(*range(size), dataset=name)):
                videos.append(structs.replace(video, path="a.mp4", interval=1 + number % 5))
        ctx: Any = SimpleNamespace(seed=seed, notes=[])
        return assign(paired(videos, 14, seed)[0], ctx)

    def test_types_and_looks_are_assigned_evenly_to_all_and_within_datasets(self) -> None:
        made = self.assigned()
        for videos in (made, *([v for v in made if v.dataset == d] for d in ("one", "two"))):
            hands = Counter((video.question_type, video.context) for video in videos)
            assert len(hands) == 6
            assert max(hands.values()) - min(hands.values()) <= 1

    def test_bad_videos_get_every_type(self) -> None:
        for interval in range(1, 6):
            types = Counter(v.question_type for v in self.assigned() if v.interval == interval)
            assert max(types.values()) - min(types.values()) <= 4
            assert len(types) == 3

    def test_pairs_are_assigned_joint_or_their_own_grain(self) -> None:
        pairs = [two for _, two in partners(self.assigned())]
        assert len(pairs) == 28
        assert {two.context for two in pairs} == {"Joint", "Compare-fine", "Compare-coarse"}
        assert all(two.context in ("Joint", two.grain) for two in pairs)
        assert sum(two.context == "Joint" for two in pairs) == 14
        types = Counter(two.question_type for two in pairs)
        assert max(types.values()) - min(types.values()) <= 1

    def test_what_is_assigned_depends_on_the_seed(self) -> None:
        one, other = ([v.question_type for v in self.assigned(seed)] for seed in (0, 1))
        assert one != other

    def test_without_videos_it_is_said_what_to_add(self) -> None:
        ctx: Any = SimpleNamespace(seed=0, notes=[])
        with pytest.raises(
            ReelbenchError, match=r"videos of set: add `videos: FOLDER`.*--until pair"
        ):
            assign(scored(1, 2), ctx)
