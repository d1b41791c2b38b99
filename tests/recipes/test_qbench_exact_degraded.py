"""What is measured of a segment is what a model is shown of the file that is written."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from exactness import Seen, strength
from ordinary import ordinary_clip, ordinary_frames, shown
from videos import make_video

from reelbench.media.edit.write import video_writer
from reelbench.media.measure.quality import all_qualities
from reelbench.recipes.qbench_exact.clips import Segment
from reelbench.recipes.qbench_exact.degraded import refuse_undamaged, write_degraded
from reelbench.recipes.qbench_exact.footage import DamageTarget, SegmentFrames, UnfitError
from reelbench.recipes.qbench_exact.plan import QuestionPlan
from reelbench.recipes.qbench_exact.severities import SeveritySearch
from reelbench.recipes.qbench_exact.targets import QuestionTargets
from reelbench.recipes.qbench_exact.videos import MadeQuestion, write_videos


def segment(start: float, end: float) -> Segment:
    return Segment("clip.mp4#0000", "clip.mp4", "", start, end)


def strays(footage: SegmentFrames, out: Path, videos: int) -> list[int]:
    """Which of the frames that are shown of a file are others than those that were measured."""
    write_degraded(footage, [DamageTarget("noise", "noise")], out, 0)  # which needs none
    seen = shown(out, videos)
    assert len(seen) == len(footage.shown) == 16 // videos
    return [
        place
        for place, (image, number) in enumerate(zip(seen, footage.shown, strict=True))
        if np.abs(image.astype(int) - footage.images[number]).mean() > 4  # a frame further it is 6
    ]


class TestFrames:
    @pytest.mark.parametrize(("rate", "seconds"), [(24, 4.0), (25, 2.0), (20, 1.0), (30, 3.0)])
    def test_they_are_the_planned_ones_where_times_are_even(
        self, tmp_path: Path, rate: int, seconds: float
    ) -> None:
        """What is refused before anything is written rests on them."""
        clip = ordinary_clip(tmp_path / "clip.mp4", 1, seconds, rate)
        footage = SegmentFrames(clip, segment(0.0, seconds), 512, 1)
        planned = footage.shown
        footage.write(footage.images, tmp_path / "out.mp4")
        assert footage.shown == planned

    @pytest.mark.parametrize("rate", [17, 25])
    @pytest.mark.parametrize("start", [0.0, 0.39, 0.37])
    def test_those_that_are_measured_are_those_that_are_shown(
        self, tmp_path: Path, rate: int, start: float
    ) -> None:
        clip = ordinary_clip(tmp_path / "clip.mp4", 1, 3.0, rate)
        for videos in (1, 2):
            footage = SegmentFrames(clip, segment(start, start + 2.0), 512, videos)
            assert not strays(footage, tmp_path / f"{videos}.mp4", videos)

    def test_so_they_are_where_frames_come_in_bursts(self, tmp_path: Path) -> None:
        """And none for a while where the segment begins."""
        clip = tmp_path / "uneven.mp4"
        moments = [n / 20 for n in range(20)] + [1.4 + n / 30 for n in range(36)]
        with video_writer(clip, 20, 10) as writer:
            for image, moment in zip(ordinary_frames(1, 56), moments, strict=True):
                writer.show(image, moment)
        footage = SegmentFrames(clip, segment(1.0, 2.6), 512, 1)
        assert min(footage.shown) >= 0, "a frame of the end would stand for the beginning"
        assert not strays(footage, tmp_path / "out.mp4", 1)

    def test_times_are_those_of_the_file_where_frames_are_missing(self, tmp_path: Path) -> None:
        """The last picture stands still, and the file of its own ends before the segment does."""
        clip = tmp_path / "held.mp4"
        with video_writer(clip, 20, 10) as writer:
            for image, moment in zip(
                ordinary_frames(1, 41), [*np.arange(40) / 20, 2.9], strict=True
            ):
                writer.show(image, float(moment))
        footage = SegmentFrames(clip, segment(0.0, 2.9), 512, 1)
        later = DamageTarget("noise", "noise", begin=0.5)
        own = [place for place, n in enumerate(footage.shown) if n >= footage.span(later)[0]]
        assert own == list(range(8, 16)), "half of the frames that are shown"

    def test_pictures_of_several_sizes_are_refused(self, tmp_path: Path) -> None:
        clip = tmp_path / "clip.ts"
        for first, width in ((0, 64), (40, 128)):  # as broadcasts do
            with av.open(str(tmp_path / "part.ts"), "w") as out:
                stream = out.add_stream("libx264", 20, width=width, height=64, pix_fmt="yuv420p")
                for n in range(40):
                    picture = np.full((64, width, 3), 3 * n, np.uint8)
                    frame = av.VideoFrame.from_ndarray(picture, "rgb24")
                    frame.pts, frame.time_base = first + n, Fraction(1, 20)
                    out.mux(stream.encode(frame))
                out.mux(stream.encode(None))
            with clip.open("ab") as file:
                file.write((tmp_path / "part.ts").read_bytes())
        with pytest.raises(UnfitError, match="its pictures change their size"):
            SegmentFrames(clip, segment(0.0, 3.5), 512, 1)

    def test_too_few_are_refused(self, tmp_path: Path) -> None:
        clip = make_video(tmp_path / "slow.mp4", seconds=2.0, rate=5)
        with pytest.raises(UnfitError, match="it has 10 frames, fewer than the 16 shown"):
            SegmentFrames(clip, segment(0.0, 2.0), 512, 1)


class TestDamage:
    @pytest.fixture
    def footage(self, tmp_path: Path) -> SegmentFrames:
        clip = ordinary_clip(tmp_path / "clip.mp4", 1, 1.0)
        return SegmentFrames(clip, segment(0.0, 1.0), 512, 1)

    def test_it_comes_out_as_it_is_wanted(self, footage: SegmentFrames, tmp_path: Path) -> None:
        for least in (0.2, 0.5):
            out = tmp_path / f"{least}.mp4"
            seen = write_degraded(
                footage, [DamageTarget("noise", "noise", least=least, most=least + 0.1)], out, 3
            )
            assert least <= seen.extent <= least + 0.1
            assert strength(Seen(all_qualities(shown(out, 1))), "noise") == pytest.approx(
                seen.level, abs=1e-3
            )
            out = tmp_path / f"level {least}.mp4"
            seen = write_degraded(
                footage, [DamageTarget("blur", "motion blur", least, least + 0.1)], out, 3
            )
            assert least <= strength(Seen(all_qualities(shown(out, 1))), "blur") <= least + 0.1

    def test_what_is_bad_enough_is_left_alone(self, footage: SegmentFrames, tmp_path: Path) -> None:
        seen = write_degraded(
            footage, [DamageTarget("noise", "noise", -0.5, 0.5)], tmp_path / "out.mp4", 3
        )
        assert seen.severity == 0
        assert abs(seen.extent) < 0.05

    @pytest.mark.parametrize("begin", [0.35, 0.5, 0.6])
    def test_it_begins_when_it_is_wanted(
        self, footage: SegmentFrames, tmp_path: Path, begin: float
    ) -> None:
        out = tmp_path / "out.mp4"
        seen = write_degraded(
            footage, [DamageTarget("noise", "noise", 0.4, 0.6, begin=begin)], out, 3
        )
        levels = [strength(Seen(all_qualities([image])), "noise") for image in shown(out, 1)]
        assert seen.levels == pytest.approx(levels, abs=1e-3)
        assert max(levels[: seen.begin]) < 0.1
        assert min(levels[seen.begin :]) > 0.3
        assert abs(seen.begin - begin * 16) <= 1.3

    @pytest.mark.parametrize(("target", "why"), [
        (DamageTarget("noise", "noise", least=3.0, most=4.0), "the highest severity reaches"),
        (DamageTarget("noise", "noise", low=-9.0, high=-1.0), "it already has .* of noise"),
        (DamageTarget("noise", "noise", 0.4, 0.6, begin=1.0), "no frame is shown after"),
    ])  # fmt: skip
    def test_what_cannot_be_is_said(
        self, footage: SegmentFrames, tmp_path: Path, target: DamageTarget, why: str
    ) -> None:
        with pytest.raises(UnfitError, match=why):
            write_degraded(footage, [target], tmp_path / "out.mp4", 3)

    def test_frames_that_are_not_the_planned_ones_are_searched_anew(
        self, footage: SegmentFrames, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A container's times may be others; then a spot is seen in fewer frames than planned."""
        spot = DamageTarget("noise", "noise", begin=0.3, end=0.5, region=(0, 0, 1, 1), jnds=(5, 6))
        planned, written = len(footage.own(spot)), []

        def write(images: Sequence[np.ndarray], _out: Path) -> list[np.ndarray]:
            written.append(len(footage.own(spot)))
            footage.shown = [0] * 6 + footage.shown[6:]
            return [footage.images[number] for number in footage.shown]  # where nothing is seen

        monkeypatch.setattr(footage, "write", write)
        with pytest.raises(UnfitError):
            write_degraded(footage, [spot], tmp_path / "out.mp4", 3)
        assert written[0] == planned > written[1]


class TestSearch:
    @pytest.mark.parametrize("shape", [
        lambda s: s, lambda s: s**3, lambda s: s**0.3, lambda s: max(0.0, s - 0.7) * 3,
        lambda s: round(s * 12) / 12,
    ])  # fmt: skip
    @pytest.mark.parametrize("window", [(0.3, 0.45), (0.5, 0.6), (0.85, 9.0)])
    def test_it_finds_what_is_wanted_with_few_tries(
        self, shape: Callable[[float], float], window: tuple[float, float]
    ) -> None:
        tried: list[float] = []

        def extent(severity: float) -> float:
            tried.append(severity)
            return shape(severity)

        found = SeveritySearch(extent).find(window[0], sum(window) / 2, window[1])
        assert window[0] <= shape(found) <= window[1]
        assert len(tried) <= 9

    def test_what_is_so_already_needs_nothing(self) -> None:
        assert SeveritySearch(lambda _: 1 / 0).find(-0.1, 0.0, 0.1) == 0.0

    def test_what_no_severity_reaches_is_said(self) -> None:
        """As of a damage that knows few severities."""
        with pytest.raises(UnfitError, match=r"nearest severity reaches 0.50, not 0.52 to 0.58"):
            SeveritySearch(lambda severity: round(severity * 10) / 10).find(0.52, 0.54, 0.58)
        with pytest.raises(UnfitError, match=r"undamaged it already has 0.10 too much"):
            SeveritySearch(lambda severity: severity).find(-0.3, -0.2, -0.1)

    def test_what_cannot_be_measured_is_refused(self) -> None:
        with pytest.raises(UnfitError, match="the highest severity reaches nan"):
            SeveritySearch(lambda _: float("nan")).find(0.4, 0.5, 0.6)

    @pytest.mark.parametrize("aim", [0.1, 0.3, 0.5, 0.7, 0.9])
    @pytest.mark.parametrize("shape", [lambda s: 1 - np.exp(-10 * s), lambda s: s**8])
    def test_bent_curves_take_few_tries(self, shape: Callable[[float], float], aim: float) -> None:
        """A straight line from one end alone would take a hundred."""
        tried: list[float] = []

        def extent(severity: float) -> float:
            tried.append(severity)
            return float(shape(severity))

        found = SeveritySearch(extent).find(aim - 0.02, aim, aim + 0.02)
        assert abs(shape(found) - aim) <= 0.02
        assert len(tried) <= 9

    def test_what_was_tried_is_not_tried_again(self) -> None:
        """A video that came out too weak is wanted a little stronger."""
        tried: list[float] = []

        def extent(severity: float) -> float:
            tried.append(severity)
            return severity**0.5

        search = SeveritySearch(extent)
        search.find(0.4, 0.45, 0.5)
        before = len(tried)
        assert 0.5 <= search.find(0.5, 0.55, 0.6) ** 0.5 <= 0.6
        assert len(tried) == len(set(tried)) <= before + 2

    def test_too_little_at_the_worst_is_said(self) -> None:
        with pytest.raises(UnfitError, match="the highest severity reaches"):
            SeveritySearch(lambda severity: severity / 4).find(0.4, 0.5, 0.6)


def test_questions_of_one_segment_share_its_frames_and_leave_them_alone(tmp_path: Path) -> None:
    clip = ordinary_clip(tmp_path / "clip.mp4", 1, 1.0)
    one = SegmentFrames(clip, segment(0.0, 1.0), 512, 1)
    before = [image.copy() for image in one.images]
    for damage, kind in (("noise", "noise"), ("low contrast", "low contrast")):
        write_degraded(one, [DamageTarget(damage, kind, least=0.1)], tmp_path / "out.mp4", 1)
    two = SegmentFrames(clip, segment(0.0, 1.0), 512, 2)
    assert two.images is one.images
    assert all(map(np.array_equal, two.images, before))


class TestWhatIsThereAlready:
    """A segment that spoils a question by itself is refused before anything is written."""

    @pytest.fixture
    def dark_below(self, tmp_path: Path) -> SegmentFrames:
        clip = tmp_path / "clip.mp4"
        with video_writer(clip, 20, 10) as writer:
            for number, image in enumerate(ordinary_frames(1, 20)):
                half = image.shape[0] // 2
                writer.show(np.concatenate([image[:half], image[half:] // 8]), number / 20)
        return SegmentFrames(clip, segment(0.0, 1.0), 512, 1)

    def test_elsewhere(self, dark_below: SegmentFrames, tmp_path: Path) -> None:
        wanted = DamageTarget("under-exposure", "under-exposure", 0.4, 0.6, corner="top left")
        with pytest.raises(UnfitError, match="under-exposure is visible elsewhere, undamaged"):
            write_degraded(dark_below, [wanted], tmp_path / "out.mp4", 3)
        assert not (tmp_path / "out.mp4").exists()

    def test_at_another_time(self, dark_below: SegmentFrames, tmp_path: Path) -> None:
        wanted = DamageTarget("under-exposure", "under-exposure", 0.6, 0.8, begin=0.5)
        with pytest.raises(UnfitError, match="under-exposure is visible elsewhere, undamaged"):
            write_degraded(dark_below, [wanted], tmp_path / "out.mp4", 3)

    def test_though_it_should_be_absent(self, dark_below: SegmentFrames) -> None:
        refuse_undamaged(dark_below, "noise")
        with pytest.raises(UnfitError, match=r"under-exposure is at .* undamaged"):
            refuse_undamaged(dark_below, "under-exposure")

    @pytest.mark.parametrize("seed", range(3))
    def test_the_milder_of_two_may_have_no_more_than_that(self, tmp_path: Path, seed: int) -> None:
        """Two videos of a dark clip are compared all the same."""
        clip = tmp_path / "clip.mp4"
        with video_writer(clip, 20, 10) as writer:
            for number, image in enumerate(ordinary_frames(1, 20)):
                writer.show((image * 0.6).astype(np.uint8), number / 20)
        place = segment(0.0, 1.0)
        damage = "under-exposure"
        order = QuestionPlan("x", "which", damage, damage, 0, False, ((place, place),), 0.1)
        outs = [tmp_path / f"{number}.mp4" for number in range(2)]
        made = write_videos([clip] * 2, [place] * 2, QuestionTargets(order, seed), outs, 128)
        assert isinstance(made, MadeQuestion), made
