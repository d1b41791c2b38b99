"""Long clips in parts: the same labels as in one piece, on all cores, and no part made twice."""

import math
import shutil
from pathlib import Path

import pytest
from annotating import Given, Start
from operators_for_tests import Pieces, counts, looks
from support import is_gone, rows_held, wait_until
from videos import make_video

from reelbench.annotate import operator
from reelbench.annotate.operator import Clip
from reelbench.media.decode.probe import MediaInfo


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second be a part."""
    monkeypatch.setattr(operator, "PART_SECONDS", 1.0)


def clip_of(seconds: float, container: str = "mov,mp4,m4a,3gp,3g2,mj2") -> Clip:
    return Clip(Path("a.mp4"), "", MediaInfo(container, seconds, seconds, width=16, height=16))


class TestSpans:
    def test_cover_the_clip_without_overlap_and_begin_when_a_frame_is_due(self) -> None:
        for rate in (0.5, 2.5, 8.0, 12.5):
            spans = Pieces(rate=rate).spans(clip_of(1200))
            assert len(spans) == 20
            assert (spans[0][0], spans[-1][1]) == (0.0, math.inf)
            assert [end for _, end in spans[:-1]] == [start for start, _ in spans[1:]]
            assert all(start * rate == round(start * rate) for start, _ in spans)

    def test_are_one_for_a_short_clip_and_for_what_cannot_be_searched(self) -> None:
        for clip in (clip_of(0.0), clip_of(80), clip_of(1200, "gif"), clip_of(1200, "avi")):
            assert Pieces().spans(clip) == [(0.0, math.inf)]

    def test_are_fewer_where_frames_are_looked_at_rarely(self) -> None:
        assert Pieces(rate=0.004).spans(clip_of(600)) == [
            (0.0, 250.0), (250.0, 500.0), (500.0, math.inf)]  # fmt: skip


@pytest.mark.usefixtures("short_parts")
class TestParts:
    def test_give_the_same_bytes_as_one_piece(
        self, given: Given, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make_video(given.clips / "long.mp4", seconds=4, sound=1)
        labels = ("fingerprint", "quality")
        rates = {"fingerprint": {"rate": 5.0}, "quality": {"rate": 3.0}}
        found = given.annotate(*labels, parameters=rates)
        assert (found.worked, found.failures) == (2, [])
        in_parts = given.written()
        assert len(given.stored()) == 2, "parts are not kept beside the whole"
        monkeypatch.setattr(operator, "PART_SECONDS", 60.0)
        given.out = given.out.with_name("whole")
        given.annotate(*labels, parameters=rates)
        assert given.written() == in_parts

    def test_run_at_the_same_time_and_are_merged_once(self, given: Given) -> None:
        make_video(given.clips / "long.mp4", seconds=4)
        shutil.copy(given.clips / "long.mp4", given.clips / "same.mp4")
        found = given.annotate("pieces", parameters={"pieces": {"seconds": 0.3}})
        assert found.worked == 1
        assert given.labels("same.mp4")["pieces"]["value"] == {"whole": [0.0, 4.0], "count": 4}
        done = looks(given.clips)
        parts = [f"pieces {n}" for n in range(4)]
        assert sorted(label for label, _, _ in done) == [*parts, "pieces merged"]
        assert len({worker for _, _, worker in done}) == 2

    def test_that_fail_are_made_again_and_the_others_are_not(self, given: Given) -> None:
        make_video(given.clips / "long.mp4", seconds=4)
        more = {"parameters": {"pieces": {"fails_at": 2.0}}}
        assert given.annotate("pieces", **more).failures == [
            ("long.mp4", "pieces", "ValueError: not yet")]  # fmt: skip
        before = counts(given.clips)
        assert not given.annotate("pieces", **more).failures
        assert counts(given.clips) - before == {"pieces 2": 1, "pieces merged": 1}

    def test_of_a_killed_run_are_not_made_again(self, given: Given, start: Start) -> None:
        make_video(given.clips / "long.mp4", seconds=150, rate=1)
        words = ["annotate", given.clips, "--labels", "pieces", "--out", given.out, "--workers", 1]
        process = start(*words, "--set", "pieces.seconds=1")
        wait_until(lambda: rows_held(given.out / "labels.sqlite", "results") >= 1)
        process.kill()
        process.join()
        wait_until(lambda: all(is_gone(worker) for _, _, worker in looks(given.clips)))
        kept = len(given.stored())
        last = start(*words, "--set", "pieces.seconds=1")
        last.join()
        assert last.exitcode == 0
        assert counts(given.clips)["pieces 0"] == 1
        assert kept >= 1
        assert [maker for maker, _ in given.stored()] == ["pieces"]
