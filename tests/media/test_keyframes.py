"""Key frames are those that tell the shots apart, each shown once, the same on any machine."""

import itertools
import random
from pathlib import Path

import av
import numpy as np
import pytest
from support import blind_benchmark, make_item

from reelbench.base.errors import ReelbenchError
from reelbench.client.media_input import MediaInput
from reelbench.data.items import Media
from reelbench.evaluate.condition import Condition
from reelbench.evaluate.item_media import item_media
from reelbench.media.decode.frames import FrameSpec, frames_of, planned_frames
from reelbench.media.decode.keyframes import candidate_times, chosen_places
from reelbench.media.decode.sample import parse_sampling
from reelbench.media.errors import MediaError
from reelbench.models.card import Card
from reelbench.models.text_image import VARIABLE

SHOTS = ((0.0, 1.0, (200, 30, 30)), (1.0, 1.4, (30, 200, 30)), (1.4, 5.6, (30, 30, 200)), (5.6, 6.0, (220, 220, 40)))  # fmt: skip


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four shots of one colour each, two of them short."""
    path = tmp_path_factory.mktemp("shots") / "shots.mp4"
    with av.open(str(path), "w") as target:
        stream = target.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 36, "yuv420p"
        for number in range(60):
            colour = next(c for start, end, c in SHOTS if start <= number / 10 < end)
            image = np.full((36, 64, 3), colour, np.uint8)
            target.mux(stream.encode(av.VideoFrame.from_ndarray(image, "rgb24")))
        target.mux(stream.encode(None))
    return path


def shot_of(time: float) -> int:
    return next(place for place, (start, end, _) in enumerate(SHOTS) if start <= time < end)


def seen(path: Path, sampling: str, **more: object) -> list[int]:
    found = frames_of(path, FrameSpec(sampling, **more))  # type: ignore[arg-type]
    return [shot_of(picture.time) for picture in found.pictures]


def test_each_shot_is_shown_where_even_frames_miss_some(shots: Path) -> None:
    assert seen(shots, "uniform:4") == [0, 2, 2, 2]
    assert seen(shots, "keyframes:4") == [0, 1, 2, 3]
    assert seen(shots, "keyframes:2", end=1.4) == [0, 1]
    assert seen(shots, "keyframes:4,evidence=only", evidence=((0.0, 1.4),)) == [0, 1]


def test_equal_frames_are_shown_once(shots: Path) -> None:
    pictures = frames_of(shots, FrameSpec("keyframes:8")).pictures
    assert len({picture.data for picture in pictures}) == len(pictures)
    assert len(frames_of(shots, FrameSpec("keyframes:3", start=2.0, end=5.0)).pictures) == 1
    assert planned_frames(shots, FrameSpec("keyframes:8")).count == 8  # at most


def brute_cost(points: np.ndarray, edges: tuple[int, ...]) -> float:
    return sum(
        float(((points[a:b] - points[a:b].mean(axis=0)) ** 2).sum())
        for a, b in itertools.pairwise(edges)
    )


def test_the_cuts_are_the_best_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reelbench.media.decode.keyframes._OF_TIME", 0.0)
    draw = random.Random(4)
    for count in (2, 3, 4):
        frames = [np.array([[[draw.randrange(256) for _ in range(3)]]], np.uint8) for _ in range(9)]
        points = np.stack([frame.ravel() for frame in frames]).astype(float)
        cuts = itertools.combinations(range(1, 9), count - 1)
        edges = min(((0, *cut, 9) for cut in cuts), key=lambda each: brute_cost(points, each))
        nearest = [
            a + int(((points[a:b] - points[a:b].mean(axis=0)) ** 2).sum(axis=1).argmin())
            for a, b in itertools.pairwise(edges)
        ]
        assert chosen_places(frames, range(9), count) == nearest


def test_a_slow_change_is_spread_over_the_clip() -> None:
    frames = [np.full((18, 32, 3), 2 * n, np.uint8) for n in range(100)]
    places = chosen_places(frames, [n / 2 for n in range(100)], 4)
    assert places == pytest.approx([12, 37, 62, 87], abs=1)


@pytest.mark.parametrize(("seconds", "count", "candidates"), [
    (10.0, 8, 32), (60.0, 8, 120), (1000.0, 8, 256), (10.0, 100, 400),
])  # fmt: skip
def test_candidates_are_two_a_second_within_limits(
    seconds: float, count: int, candidates: int
) -> None:
    assert len(candidate_times([(0.0, seconds)], count)) == candidates


def test_they_are_samplings_like_others() -> None:
    assert parse_sampling("keyframes:08").text == "keyframes:8"
    assert parse_sampling("query:16").at_most(4).text == "query:4"
    assert parse_sampling("keyframes:16").shared_by(2).count == 8
    with pytest.raises(ReelbenchError, match="is not valid"):
        parse_sampling("keyframes:257")


def test_a_question_that_chooses_frames_needs_weights_before_anything_is_asked(
    tmp_path: Path, shots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    benchmark = blind_benchmark(tmp_path / "b", make_item(1, media=(Media("media/a.mp4"),)))
    asked = Condition.of(benchmark.manifest.protocol, "q", {"sampling": "query:2", "modalities": "V+T"})  # fmt: skip
    media = item_media(tmp_path / "b", benchmark.items[0], asked.protocol)
    assert media.query == benchmark.items[0].question
    with pytest.raises(
        ReelbenchError, match=r"no config.json in .*/none: set REELBENCH_TEXT_IMAGE"
    ):
        media.record(lambda _: "digest")
    blind = media.for_card(Card(name="m", sees=False))
    assert blind.record(lambda _: "digest") == {}
    with pytest.raises(ReelbenchError, match="gets videos, for which sampling query:2 cannot"):
        media.for_card(Card(name="m", video="clip"))
    with pytest.raises(ReelbenchError, match="needs a question"):
        MediaInput.of(shots, sampling="query:2").record(lambda _: "digest")
    with pytest.raises(MediaError, match="needs a question"):
        frames_of(shots, FrameSpec("query:2"))


def test_the_key_of_a_request_has_the_sampling(shots: Path) -> None:
    records = [
        MediaInput.of(shots, sampling=text).record() for text in ("keyframes:4", "uniform:4")
    ]
    assert records[0]["frames"][0]["sampling"] == "keyframes:4"
    assert {name: v for name, v in records[0].items() if name != "frames"} == {
        name: v for name, v in records[1].items() if name != "frames"
    }
