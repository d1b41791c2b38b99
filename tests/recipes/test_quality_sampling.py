"""Uniform quality sampling: on files of others, and on scores that make it hard."""

import random
from collections import Counter
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest
from quality_actors import scored, write_datasets
from support import SHARED

from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.qbench_video.rows import Interval, ScoredVideo
from reelbench.recipes.qbench_video.sampling import in_intervals, sample
from reelbench.recipes.qbench_video.source import videos_in

SCORES = SHARED / "data" / "quality_scores"
REAL = {
    "konvid": ("KONVID_1K_metadata.csv", "flickr_id", "mos", [68, 244, 399, 432, 57]),
    "youtube-ugc": ("YOUTUBE_UGC_metadata.csv", "vid", "MOSFull", [21, 105, 359, 512, 383]),
}
needs_scores = pytest.mark.skipif(
    not SCORES.is_dir(), reason="the scores of KoNViD-1k and YouTube-UGC are not beside the project"
)


def drawn(videos: list[ScoredVideo], seed: int = 0) -> tuple[list[ScoredVideo], list[str]]:
    """The sample, and what is said about it."""
    ctx: Any = SimpleNamespace(seed=seed, notes=[])
    made = sample(videos, ctx, intervals=5)
    assert len(made) == len(videos)
    for before, after in zip(videos, made, strict=True):
        assert isinstance(after, Rejected) or after.id == before.id
    return [each for each in made if isinstance(each, ScoredVideo)], ctx.notes


def counts(videos: list[ScoredVideo]) -> list[int]:
    return [each.drawn for each in videos[0].intervals]


def real(name: str, folder: Path, wanted: int | None = None) -> list[ScoredVideo]:
    file, video, score, _ = REAL[name]
    (folder / file).write_bytes((SCORES / file).read_bytes())
    dataset = {"name": name, "type": "natural", "scores": file, "video": video, "score": score}
    write_datasets(folder, dataset | ({"sample": wanted} if wanted else {}))
    sources = videos_in(folder)
    assert not sources.broken
    return list(sources.rows)


@needs_scores
class TestRealScores:
    @pytest.mark.parametrize("name", REAL)
    def test_the_intervals_of_real_files(self, name: str, tmp_path: Path) -> None:
        bins = in_intervals(real(name, tmp_path), 5)
        assert [len(inside) for inside in bins] == REAL[name][3]

    @pytest.mark.parametrize(
        ("name", "wanted", "expected"),
        [
            ("konvid", 200, [40, 40, 40, 40, 40]),
            ("youtube-ugc", 200, [21, 59, 40, 40, 40]),
            ("konvid", 600, [68, 172, 120, 183, 57]),
            ("youtube-ugc", 600, [21, 105, 234, 120, 120]),
        ],
    )
    def test_what_a_thin_interval_lacks_is_taken_from_the_nearest(
        self, name: str, wanted: int, expected: list[int], tmp_path: Path
    ) -> None:
        chosen, notes = drawn(real(name, tmp_path, wanted))
        assert counts(chosen) == expected
        found = Counter(video.interval for video in chosen)
        assert [found[number] for number in range(1, 6)] == expected
        assert bool(notes) == (min(expected) < wanted / 5)

    def test_the_shortfall_is_said_with_its_numbers(self, tmp_path: Path) -> None:
        _, (note,) = drawn(real("youtube-ugc", tmp_path, 200))
        assert "youtube-ugc" in note
        assert "21 of 40 from 1.242 to 1.933" in note
        assert "the 19 missing ones" in note

    @pytest.mark.parametrize("name", REAL)
    def test_without_a_size_the_intervals_are_equal(self, name: str, tmp_path: Path) -> None:
        chosen, (note,) = drawn(real(name, tmp_path))
        assert counts(chosen) == [min(REAL[name][3])] * 5
        assert f"{len(chosen)} of" in note

    def test_more_is_the_same_and_some_more(self, tmp_path: Path) -> None:
        videos = real("konvid", tmp_path)
        sizes = [1, 2, 7, 100, 283, 284, 340, 341, 700, 1199, 1200]
        samples = []
        for size in sizes:
            wanted = [ScoredVideo(**{**_fields(video), "sample": size}) for video in videos]
            samples.append({video.id for video in drawn(wanted)[0]})
            assert len(samples[-1]) == size
        assert all(less < more for less, more in pairwise(samples))

    def test_the_order_of_the_rows_decides_nothing(self, tmp_path: Path) -> None:
        videos = real("konvid", tmp_path, 300)
        mixed = random.Random(5).sample(videos, len(videos))
        one, other = ({v.id for v in drawn(each)[0]} for each in (videos, mixed))
        assert one == other
        assert one != {video.id for video in drawn(videos, seed=1)[0]}


def _fields(video: ScoredVideo) -> dict[str, Any]:
    return {name: getattr(video, name) for name in ScoredVideo.__struct_fields__}


class TestHardScores:
    def test_an_end_belongs_to_the_interval_above_it(self) -> None:
        # As floats, 0.1 + 2 * 0.1 is more than 0.3, and a score of 0.3 would fall below it.
        videos = scored(0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
        assert [[v.score for v in inside] for inside in in_intervals(videos, 5)] == [
            [0.1], [0.2], [0.3], [0.4], [0.5, 0.6]
        ]  # fmt: skip

    def test_one_value_is_one_interval_and_said(self) -> None:
        chosen, notes = drawn(scored(*[3.5] * 8, wanted=4))
        assert chosen[0].intervals == (Interval(3.5, 3.5, 8, 4, 4),)
        assert any("every score is 3.5" in note for note in notes)

    def test_one_video(self) -> None:
        chosen, _ = drawn(scored(2.0, wanted=3))
        assert [video.id for video in chosen] == ["set:0"]

    def test_more_than_there_are_takes_all_and_says_so(self) -> None:
        chosen, (note,) = drawn(scored(1, 2, 3, 4, 5, 6, wanted=50))
        assert len(chosen) == 6
        assert "50 videos are asked for, but there are 6" in note

    @pytest.mark.parametrize("wanted", range(1, 12))
    def test_a_remainder_goes_to_intervals_by_the_seed(self, wanted: int) -> None:
        videos = scored(*(n / 10 for n in range(101)), wanted=wanted)
        found = counts(drawn(videos)[0])
        assert sum(found) == wanted
        assert max(found) - min(found) <= 1
        others = {tuple(counts(drawn(videos, seed)[0])) for seed in range(30)}
        assert len(others) > 1 or wanted % 5 == 0

    def test_whole_numbers_leave_an_interval_empty(self) -> None:
        # Scores of 1 to 4, as VideoFeedback has them: nothing lies from 2.2 to 2.8.
        videos = scored(*[1, 2, 3, 4] * 50, wanted=100)
        chosen, (note,) = drawn(videos)
        assert counts(chosen) == [20, 30, 0, 30, 20]
        assert "0 of 20 from 2.2 to 2.8" in note

    def test_of_equal_scores_chance_decides_and_not_the_name(self) -> None:
        videos = scored(*[1.0] * 40, *[2.0] * 40, wanted=20)
        samples = [{v.id for v in drawn(videos, seed)[0]} for seed in range(20)]
        often = Counter(name for each in samples for name in each)
        assert len(often) > 70
        assert max(often.values()) < 15

    def test_it_is_scores_that_are_uniform_within_an_interval(self) -> None:
        generator = random.Random(2)
        low = [generator.uniform(0, 0.9) for _ in range(100)]
        heap = [generator.uniform(0.9, 1.0) for _ in range(900)]
        rest = [generator.uniform(1, 5) for _ in range(500)]
        chosen, _ = drawn(scored(0.0, 5.0, *low, *heap, *rest, wanted=200))
        inside = [video.score for video in chosen if video.interval == 1]
        assert len(inside) == 40
        assert abs(fmean(inside) - 0.5) < 0.12  # of the videos themselves, the mean is 0.9

    def test_no_video_is_drawn_twice(self) -> None:
        videos = scored(*[1, 1, 1, 2, 5, 5] * 10, wanted=60)
        chosen, _ = drawn(videos)
        assert len({video.id for video in chosen}) == len(chosen) == 60

    def test_datasets_are_sampled_for_themselves(self) -> None:
        first = scored(*range(50), wanted=10, dataset="first")
        second = scored(*range(500, 600), wanted=20, dataset="second")
        both = {video.id for video in drawn([*second, *first])[0]}
        assert both == {v.id for each in (first, second) for v in drawn(each)[0]}

    def test_who_is_not_drawn_is_told_the_interval(self) -> None:
        ctx: Any = SimpleNamespace(seed=0, notes=[])
        made = sample(scored(*range(1, 12), wanted=5), ctx, intervals=5)
        left = next(each for each in made if isinstance(each, Rejected))
        assert left.reason == "not drawn"
        assert "1 of 2 were drawn from interval 1 (1 to 3)" in left.detail
