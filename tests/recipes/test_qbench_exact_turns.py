"""Clips come in turns, whatever their length, and none of them is in two splits."""

from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support import make_item

from reelbench.data.clusters import video_clusters
from reelbench.data.items import SOURCE_CLIPS, Item, Media, freeze
from reelbench.interop.qbench_video.taxonomy import SPLITS
from reelbench.make.parts.balance import split_items
from reelbench.recipes.qbench_exact.clips import Segment
from reelbench.recipes.qbench_exact.plan import (
    TWO_SEGMENTS,
    QuestionPlan,
    SegmentPlan,
    plan,
)
from reelbench.recipes.qbench_exact.turns import uneven_clips

LENGTHS = st.lists(st.integers(1, 20), min_size=1, max_size=12)  # of clips, in segments


def segments(lengths: Sequence[int], scenes: Sequence[str] = ()) -> list[Segment]:
    return [
        Segment(
            f"{clip}.mp4#{n:04d}",
            f"{clip}.mp4",
            f"{clip:064d}",
            n,
            n + 1,
            scenes[clip] if scenes else "",
        )
        for clip, length in enumerate(lengths)
        for n in range(length)
    ]


def planned(given: Sequence[Segment], items: int, seed: int = 0) -> list[QuestionPlan]:
    rows: list[Any] = plan(given, SimpleNamespace(seed=seed), items=items, margin=[0.15])  # type: ignore[arg-type]
    orders = [order for row in rows if isinstance(row, SegmentPlan) for order in row.orders]
    return sorted(orders, key=lambda order: order.id)


def items_of(orders: Sequence[QuestionPlan], attempt: int) -> list[Item]:
    """What would be made of orders if each succeeded with one of its attempts."""
    return [
        make_item(
            number,
            media=tuple(Media(f"media/{order.id}-{n}.mp4") for n, _ in enumerate(tried)),
            tags=freeze({"question_type": order.family, "context": order.family}),
            extra=freeze({SOURCE_CLIPS: sorted({segment.source for segment in tried})}),
        )
        for number, order in enumerate(orders)
        for tried in [order.segments[(attempt * number) % len(order.segments)]]
    ]


class TestTurns:
    def test_a_long_clip_has_no_more_turns_than_a_short_one(self) -> None:
        """As in a real folder: eighty seconds of a street beside eight short clips."""
        orders = planned(segments([20, 13, 12, 5, 5, 4, 2, 2, 1]), 300)
        counts = Counter(order.segments[0][0].path for order in orders)
        assert len(counts) == 9
        assert max(counts.values()) - min(counts.values()) <= 2

    @given(LENGTHS, st.integers())
    @settings(max_examples=30, deadline=None)
    def test_turns_are_even_whatever_the_lengths(self, lengths: list[int], seed: int) -> None:
        orders = planned(segments(lengths), 100, seed)
        counts = Counter(order.segments[0][0].path for order in orders)
        share = len(orders) / len(lengths)
        assert set(counts) == {f"{clip}.mp4" for clip in range(len(lengths))}
        assert max(counts.values()) <= 1.5 * share + 2
        assert min(counts.values()) >= 0.5 * share - 2

    def test_the_segments_of_a_clip_come_in_turns(self) -> None:
        orders = planned(segments([5, 3, 7]), 200)
        for clip, length in enumerate([5, 3, 7]):
            firsts = [order.segments[0][0] for order in orders]
            counts = Counter(each.id for each in firsts if each.path == f"{clip}.mp4")
            assert len(counts) == length
            assert max(counts.values()) - min(counts.values()) <= 1

    def test_two_videos_show_two_clips_where_clips_have_one_segment(self) -> None:
        """Also where the number of clips is odd, so that they are not all in pairs."""
        orders = planned(segments([1, 1, 1]), 200)
        tried = [
            each for order in orders if order.family in TWO_SEGMENTS for each in order.segments
        ]
        assert {each[0].path for each in tried} == {"0.mp4", "1.mp4", "2.mp4"}
        assert all(one.path != other.path for one, other in tried)

    def test_clips_that_show_one_scene_have_one_turn(self) -> None:
        orders = planned(segments([4, 4, 4], ["0.mp4", "0.mp4", "2.mp4"]), 200)
        counts = Counter(order.segments[0][0].source for order in orders)
        assert set(counts) == {"0.mp4", "2.mp4"}
        assert abs(counts["0.mp4"] - counts["2.mp4"]) <= 1
        assert len({order.segments[0][0].path for order in orders}) == 3

    def test_no_family_and_no_key_is_that_of_a_clip(self) -> None:
        """As it would be if clips and families came round in the same rhythm."""
        orders = planned(segments([4] * 11), 1100)
        for part in ("family", "goal", "damage"):
            for clip in range(11):
                own = [o for o in orders if o.segments[0][0].path == f"{clip}.mp4"]
                most = Counter(getattr(order, part) for order in own).most_common(1)[0][1]
                assert most <= 0.6 * len(own), (part, clip)


class TestSplits:
    @given(LENGTHS, st.integers(), st.integers(0, 5))
    @settings(max_examples=40, deadline=None)
    def test_a_clip_is_in_one_split(self, lengths: list[int], seed: int, attempt: int) -> None:
        scenes = [f"{clip // 2 * 2}.mp4" if clip < 4 else f"{clip}.mp4" for clip in range(12)]
        items = items_of(planned(segments(lengths, scenes), 60, seed), attempt)
        where: dict[str, set[str]] = {}
        for item in split_items(items, SPLITS, ("question_type", "context"), seed=seed):
            for clip in item.source_clips:
                where.setdefault(clip, set()).add(str(item.tags["split"]))
        assert all(len(splits) == 1 for splits in where.values())

    @given(LENGTHS, st.integers())
    @settings(max_examples=30, deadline=None)
    def test_questions_about_two_videos_do_not_join_all_clips(
        self, lengths: list[int], seed: int
    ) -> None:
        items = items_of(planned(segments(lengths), 120, seed), 0)
        clusters = video_clusters(items)
        clips: dict[int, set[str]] = {}
        for item in items:
            clips.setdefault(clusters[item.id], set()).update(item.source_clips)
        assert max(map(len, clips.values())) <= 2 + len(lengths) % 2, "the last joins a pair"
        if min(lengths) > 1:
            assert max(map(len, clips.values())) == 1

    def test_clips_of_one_segment_are_split_in_pairs(self) -> None:
        items = items_of(planned(segments([1] * 40), 200), 0)
        splits = Counter(i.tags["split"] for i in split_items(items, by=("context",), seed=0))
        assert abs(splits["dev"] - splits["test"]) <= 12


class TestShortfall:
    def test_clips_without_their_share_are_named(self) -> None:
        (told,) = uneven_clips(["a"] * 20 + ["b"] * 18 + ["c"], "abcd")
        assert "9.8 of 39: d (0), c (1) cannot show more" in told

    def test_an_even_spread_and_too_few_videos_need_no_word(self) -> None:
        assert not list(uneven_clips(["a"] * 20 + ["b"] * 12, "ab"))
        assert not list(uneven_clips("ab", "abcdef"))
        assert not list(uneven_clips("", ""))
