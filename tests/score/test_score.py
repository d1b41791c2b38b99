"""Scores come with coverage and intervals, and do not depend on anything they should not."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import pretty_json
from reelbench.data.benchmark import Benchmark, BenchmarkError
from reelbench.data.clusters import video_clusters
from reelbench.data.items import SOURCE_CLIPS, Item, Media, freeze
from reelbench.score.intervals import Cell, Interval, intervals, wilson
from reelbench.score.score import score_predictions

Save = Callable[..., Path]


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


ITEMS = [
    make_item(1, tags=freeze({"skill": ["see", "hear"]})),
    make_item(2, tags=freeze({"skill": "see"})),
    make_item(3, kind="multi", answer=("A", "C")),
    make_item(4, kind="yesno", options=("Yes", "No"), answer=("A",)),
]


@pytest.fixture
def benchmark(save: Save) -> Benchmark:
    return Benchmark.load(save(*ITEMS))


def test_numbers_by_hand(benchmark: Benchmark, tmp_path: Path) -> None:
    path = write(
        tmp_path / "p.jsonl",
        {"id": "q-1", "parsed": ["B"]},
        {"id": "q-2", "response": "I think so. The answer is (C)."},
        {"id": "q-3", "response": "A and C"},
        {"id": "q-4", "status": "timeout", "response": None},
    )
    scores = score_predictions(benchmark, path)
    (row,) = scores["results"]
    assert (row["model"], row["condition"]) == ("p", "protocol")
    assert (row["items"], row["answered"], row["correct"], row["missing"]) == (4, 3, 2, 0)
    assert (row["accuracy"], row["coverage"]) == (0.5, 0.75)
    assert row["statuses"] == {"ok": 3, "timeout": 1}
    assert {k: (v["correct"], v["items"]) for k, v in row["by"]["skill"].items()} == {
        "hear": (1, 1),
        "see": (1, 2),
    }
    assert {k: v["accuracy"] for k, v in row["by"]["kind"].items()} == {
        "multi": 1.0,
        "single": 0.5,
        "yesno": 0.0,
    }
    assert scores["policy"] == "an item without an answer counts as wrong"


def test_chance_is_computed_from_the_options(benchmark: Benchmark, tmp_path: Path) -> None:
    assert [item.chance for item in ITEMS] == [1 / 4, 1 / 4, 1 / 15, 1 / 2]
    scores = score_predictions(
        benchmark, write(tmp_path / "p.jsonl", {"id": "q-1", "parsed": None})
    )
    assert scores["chance"]["accuracy"] == pytest.approx(
        (1 / 4 + 1 / 4 + 1 / 15 + 1 / 2) / 4, abs=1e-6
    )
    assert scores["results"][0]["missing"] == 3


def test_an_answer_to_a_shuffled_order_is_mapped_back(benchmark: Benchmark, tmp_path: Path) -> None:
    row = {"id": "q-1", "response": "D", "permutation": [3, 2, 0, 1]}
    scores = score_predictions(benchmark, write(tmp_path / "p.jsonl", row))
    assert scores["results"][0]["correct"] == 1


def test_the_order_of_lines_does_not_matter(save: Save, tmp_path: Path) -> None:
    items = [
        make_item(n, media=(Media(f"{n % 5}.mp4"),), tags=freeze({"c": str(n % 3)}))
        for n in range(40)
    ]
    rows = [
        {"id": i.id, "model": m, "parsed": ["ABCD"[(n * k) % 4]]}
        for n, i in enumerate(items)
        for k, m in enumerate("xyz")
    ]
    texts = []
    for seed in range(3):
        random.Random(seed).shuffle(items)
        random.Random(seed).shuffle(rows)
        benchmark = Benchmark.load(save(*items))
        texts.append(pretty_json(score_predictions(benchmark, write(tmp_path / "p.jsonl", *rows))))
    assert texts[0] == texts[1] == texts[2]


def interval(videos: list[int], right: list[bool]) -> Interval:
    return intervals([Cell(videos, right)], max(videos) + 1)[0].interval


class TestIntervals:
    def test_wilson_of_the_textbook(self) -> None:
        assert wilson(0.8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)

    def test_it_knows_that_questions_about_one_video_hang_together(self) -> None:
        low, high = interval([n // 10 for n in range(200)], [n // 10 % 2 == 0 for n in range(200)])
        naive_low, naive_high = wilson(0.5, 200)
        assert high - low > 2.5 * (naive_high - naive_low)

    @pytest.mark.parametrize("videos", [3, 6, 10, 24, 60])
    def test_it_covers_the_truth_as_often_as_it_says(self, videos: int) -> None:
        generator = np.random.default_rng(5)
        numbers = [n // 6 for n in range(videos * 6)]
        shares = np.repeat(generator.beta(3, 3, (600, videos)), 6, axis=1)
        verdicts = generator.random(shares.shape) < shares
        found = intervals([Cell(numbers, list(row)) for row in verdicts], videos)
        covered = sum(low <= 0.5 <= high for low, high in (each.interval for each in found)) / 600
        assert 0.925 < covered < 0.985

    @pytest.mark.parametrize(
        "right", [[True] * 8, [True, False] * 4], ids=["all right", "all alike"]
    )
    def test_no_spread_is_not_certainty(self, right: list[bool]) -> None:
        low, high = interval([0, 0, 1, 1, 2, 2, 3, 3], right)
        assert high - low > 0.35

    def test_one_video_tells_little(self) -> None:
        low, high = interval([0] * 100, [True] * 50 + [False] * 50)
        assert high - low > 0.75

    def test_pairs_tie_their_videos_together(self) -> None:
        def item(number: int, *paths: str) -> Item:
            return make_item(number, media=tuple(map(Media, paths)))

        items = [item(1, "a"), item(2, "b", "c"), item(3, "c"), item(4, "d"), item(5, "a", "b")]
        clusters = video_clusters(items)
        assert clusters == {"q-1": 0, "q-2": 0, "q-3": 0, "q-4": 1, "q-5": 0}
        assert video_clusters(items[::-1]) == clusters

    def test_videos_made_from_one_clip_are_one(self) -> None:
        def item(number: int, *clips: str) -> Item:
            extra = freeze({SOURCE_CLIPS: list(clips)} if clips else {})
            return make_item(number, media=(Media(f"{number}.mp4"),), extra=extra)

        items = [item(1, "street"), item(2, "sea"), item(3, "street"), item(4), item(5, "sea", "x")]
        clusters = video_clusters(items)
        assert clusters["q-1"] == clusters["q-3"]
        assert clusters["q-2"] == clusters["q-5"]
        assert len(set(clusters.values())) == 3
        named_like_a_file = [item(1, "2.mp4"), item(2)]
        assert len(set(video_clusters(named_like_a_file).values())) == 2


@pytest.mark.parametrize(("row", "words"), [
    ({"id": "q-99", "parsed": ["A"]}, "id: found 'q-99', expected the id of an item"),
    ({"id": 1, "parsed": ["A"]}, "id: found 1"),
    ({"id": "q-1"}, "parsed: found nothing"),
    ({"id": "q-1", "parsed": ["E"]}, "a list of letters among ABCD"),
    ({"id": "q-1", "parsed": "A"}, "a list of letters"),
    ({"id": "q-1", "parsed": ["AB"]}, "a list of letters"),
    ({"id": "q-1", "parsed": [""]}, "a list of letters"),
    ({"id": "q-1", "response": "A", "permutation": 5}, "the numbers 0 to 3"),
    ({"id": "q-1", "response": "A", "permutation": [0, "a", 2, 3]}, "the numbers 0 to 3"),
    ({"id": "q-1", "response": 3}, "response: found 3"),
    ({"id": "q-1", "parsed": ["A"], "status": "fine"}, "one of ok, truncated, refused"),
    ({"id": "q-1", "parsed": ["A"], "order": "first"}, "a whole number"),
    ({"id": "q-1", "response": "A", "permutation": [0, 1]}, "the numbers 0 to 3"),
    ({"id": "q-2", "parsed": ["A"]}, "'q-2' twice for p, order 0"),
    ([1], "a JSON object"),
])  # fmt: skip
def test_bad_predictions_are_listed_with_their_lines(
    row: object, words: str, benchmark: Benchmark, tmp_path: Path
) -> None:
    path = write(tmp_path / "p.jsonl", {"id": "q-2", "parsed": ["A"]}, row)
    with pytest.raises(BenchmarkError) as caught:
        score_predictions(benchmark, path)
    assert f"p.jsonl:2: {words.split(':')[0] if ':' in words else ''}" in str(caught.value)
    assert words in str(caught.value)


def test_files_that_cannot_be_read(benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(ReelbenchError, match="does not exist"):
        score_predictions(benchmark, tmp_path / "absent")
    (tmp_path / "p").write_bytes(b'{"id": "q-1", "response": "\xff"}')
    with pytest.raises(BenchmarkError, match="p:1: line: found byte 0xFF at column 28"):
        score_predictions(benchmark, tmp_path / "p")
    (tmp_path / "p").write_text("\n")
    with pytest.raises(BenchmarkError, match="p: file: found nothing"):
        score_predictions(benchmark, tmp_path / "p")
    (tmp_path / "p").write_text('{"id": "q-1", "parsed": ["A"], "parsed": ["B"]}\n')
    with pytest.raises(BenchmarkError, match="'parsed' twice"):
        score_predictions(benchmark, tmp_path / "p")
    (tmp_path / "p").write_text("not json\n")
    with pytest.raises(BenchmarkError, match="p:1: line: found 'not json'"):
        score_predictions(benchmark, tmp_path / "p")


def test_open_questions_are_left_out_and_counted(save: Save, tmp_path: Path) -> None:
    items: list[Item] = [ITEMS[0], make_item(9, kind="open", options=(), answer=(), reference="r")]
    benchmark = Benchmark.load(save(*items))
    path = write(
        tmp_path / "p.jsonl", {"id": "q-1", "parsed": ["B"]}, {"id": "q-9", "response": "r"}
    )
    scores = score_predictions(benchmark, path)
    assert (scores["benchmark"]["items"], scores["benchmark"]["scored_items"]) == (2, 1)
    assert scores["results"][0]["accuracy"] == 1.0
