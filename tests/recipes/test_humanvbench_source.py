"""Which videos and clips are taken: every number of appendix K, at its edge."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from human_clips import stage
from parts import Studio, recipe_of
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.make.parts.source_videos import SourceVideo, videos_in
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline, StageResult
from reelbench.make.pipeline.stage import Stage
from reelbench.media.decode.probe import probe
from reelbench.recipes.humanvbench.rows import ShotClip
from reelbench.recipes.humanvbench.source import parts_of

VIDEO = SourceVideo("v.mp4", "v", 10.0, True)
Labels = Mapping[str, Any]


def taken(folder: Path, row: Any, labels: Labels, made: Stage) -> StageResult:
    """What a stage makes of one row with these labels."""

    async def through(ctx: StageContext) -> list[StageResult]:
        ctx.clip_labels[row.clip] = dict(labels)
        return await Pipeline(recipe_of(made), ctx, ctx.store).take([row])

    (passed,), _ = Studio(folder).with_context(through)
    assert isinstance(passed, StageResult)
    return passed


def reason(passed: StageResult) -> str:
    (result,) = passed.results
    rejected = getattr(result, "rejected", None)
    return rejected.reason if rejected else ""


def video(width: int = 1280, height: int = 480, unsafe: float = 0.1, **more: Any) -> Labels:
    size = {"format": {"width": width, "height": height}, "unsafe": {"mean": unsafe}}
    return {**size, **more}


@pytest.mark.parametrize(("labels", "why"), [
    (video(), ""),
    (video(width=1279), "resolution"),
    (video(height=479), "resolution"),
    (video(unsafe=0.5), ""),
    (video(unsafe=0.51), "unsafe"),
])  # fmt: skip
def test_videos_are_large_enough_and_safe(labels: Labels, why: str, tmp_path: Path) -> None:
    assert reason(taken(tmp_path, VIDEO, labels, stage("suitable"))) == why


class TestAesthetics:
    """No package tells them: they are those of an operator that a user brings."""

    @pytest.mark.parametrize(("score", "why"), [(0.5, ""), (0.49, "aesthetics")])
    def test_are_a_score_of_ones_own(self, score: float, why: str, tmp_path: Path) -> None:
        labels = video(aesthetics={"score": score})
        made = stage("suitable", least_aesthetics=0.5)
        assert reason(taken(tmp_path, VIDEO, labels, made)) == why

    def test_are_asked_for_where_nothing_tells_them(self, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match="no operator makes the label aesthetics: name"):
            taken(tmp_path, VIDEO, video(), stage("suitable", least_aesthetics=0.5))


def clip(seconds: float = 10.0) -> ShotClip:
    return ShotClip("c", "make/clips/c.mp4", "c", "v.mp4", 0.0, seconds)


def seen(motion: float = 1.2, share: float = 0.65, tracks: Any = ()) -> Labels:
    return {
        "motion": {"pixels": motion},
        "face_ratio": {"share": share},
        "objects": {"tracks": list(tracks)},
    }


@pytest.mark.parametrize(("seconds", "labels", "why"), [
    (1.0, seen(), ""),
    (0.99, seen(), "too short"),
    (10.0, seen(motion=1.19), "hardly any motion"),
    (10.0, seen(share=0.649), "too few frames with a face"),
])  # fmt: skip
def test_clips_are_long_enough_move_and_show_faces(
    seconds: float, labels: Labels, why: str, tmp_path: Path
) -> None:
    assert reason(taken(tmp_path, clip(seconds), labels, stage("human-centric"))) == why


def test_other_things_take_the_place_of_faces(tmp_path: Path) -> None:
    car = {"class": "car", "start": 1.0, "end": 4.0, "boxes": [{"time": 4.0}]}
    made = stage("human-centric", subject="car")
    assert reason(taken(tmp_path / "a", clip(), seen(share=0.0, tracks=[car]), made)) == ""
    assert reason(taken(tmp_path / "b", clip(), seen(), made)) == "too few frames with a car"


@pytest.mark.parametrize(("start", "end", "lengths"), [
    (0.0, 30.0, [30.0]),
    (0.0, 30.5, [15.25, 15.25]),
    (10.0, 75.0, [21.66, 21.66, 21.66]),
])  # fmt: skip
def test_no_clip_is_longer_than_thirty_seconds(
    start: float, end: float, lengths: list[float]
) -> None:
    parts = parts_of(start, end, 30.0)
    assert [b - a for a, b in parts] == pytest.approx(lengths, abs=0.01)
    assert parts[-1][1] == end


def test_every_shot_becomes_a_clip_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    make_video(tmp_path / "source" / "v.mp4", seconds=3.0)
    (row,) = videos_in(tmp_path / "source").rows
    labels = {"shots": {"shots": [[0.0, 1.0], [1.0, 3.0]]}}
    passed = taken(tmp_path, row, labels, stage("cut"))
    first, second = passed.out
    assert probe(tmp_path / first.clip).duration == pytest.approx(1.0, abs=0.05)
    assert probe(tmp_path / second.clip).duration == pytest.approx(1.98, abs=0.05)
    assert (second.source, second.start) == ("v.mp4", 1.02)
