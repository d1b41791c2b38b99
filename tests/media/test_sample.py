"""Samplings say exactly which moments are shown."""

import numpy as np
import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.sample import parse_sampling

FRAMES = [n / 25 for n in range(1000)]


@pytest.mark.parametrize(("text", "times"), [
    ("uniform:4", [11.25, 13.75, 16.25, 18.75]),
    ("uniform:1", [15.0]),
    ("fps:0.5", [10.0, 12.0, 14.0, 16.0, 18.0]),
    ("fps:0.3", [10.0, 10 + 1 / 0.3, 10 + 2 / 0.3]),
    ("fps:1,max=4", [11.25, 13.75, 16.25, 18.75]),
    ("fps:0.2,max=4", [10.0, 15.0]),
    ("times:19,3,12.5", [12.5, 19.0]),
])  # fmt: skip
def test_moments(text: str, times: list[float]) -> None:
    assert parse_sampling(text).times([(10.0, 20.0)]) == pytest.approx(times)


class TestFrameNumbers:
    """As the code of those who use them computes the numbers, on the whole video."""

    @pytest.mark.parametrize(
        ("total", "count"), [(1000, 16), (999, 16), (45, 32), (17, 16), (5, 8), (1, 4)]
    )
    def test_each_rule(self, total: int, count: int) -> None:
        def numbers(text: str) -> list[int]:
            times = parse_sampling(text).times([(0.0, 1e9)], FRAMES[:total])
            return [round(time * 25) for time in times]

        assert numbers(f"uniform:{count},start") == [int(total / count) * i for i in range(count)]
        assert numbers(f"uniform:{count},inner") == [
            int(i * (total / (count + 1))) for i in range(1, count + 1)
        ]
        assert (
            numbers(f"uniform:{count},ends") == np.linspace(0, total - 1, count, dtype=int).tolist()
        )

    def test_within_a_window(self) -> None:
        times = parse_sampling("uniform:2,ends").times([(10.0, 20.0)], FRAMES)
        assert times == pytest.approx([10.0, 19.96])

    def test_they_need_the_times_of_frames(self) -> None:
        assert parse_sampling("uniform:8,start").counts_frames
        assert not parse_sampling("uniform:8").counts_frames


class TestEvidence:
    evidence = ((14.0, 16.0), (12.0, 13.0), (15.0, 17.0), (99.0, 100.0))

    def test_only(self) -> None:
        sampling = parse_sampling("uniform:4,evidence=only")
        spans = sampling.spans(10.0, 20.0, self.evidence)
        assert spans == [(12.0, 13.0), (14.0, 17.0)]
        assert sampling.times(spans) == pytest.approx([12.5, 14.5, 15.5, 16.5])

    def test_except(self) -> None:
        sampling = parse_sampling("fps:1,evidence=except")
        spans = sampling.spans(10.0, 20.0, self.evidence)
        assert spans == [(10.0, 12.0), (13.0, 14.0), (17.0, 20.0)]
        assert sampling.times(spans) == pytest.approx([10.0, 11.0, 13.0, 17.0, 18.0, 19.0])

    def test_none_leaves_nothing(self) -> None:
        assert parse_sampling("uniform:4,evidence=only").spans(0.0, 9.0, ()) == []

    def test_frames_by_number_within_it(self) -> None:
        sampling = parse_sampling("uniform:2,ends,evidence=only")
        assert sampling.times([(1.0, 2.0), (5.0, 6.0)], FRAMES) == pytest.approx([1.0, 5.96])


def test_pairs_share_a_budget() -> None:
    assert parse_sampling("uniform:16").shared_by(2).count == 8
    assert parse_sampling("fps:1,max=64").shared_by(2).most == 32
    assert parse_sampling("uniform:1").shared_by(2).count == 1
    assert parse_sampling("uniform:16").shared_by(1).text == "uniform:16"


def test_no_moment_lies_past_the_end() -> None:
    for text in ("uniform:7", "fps:3", "fps:2", "fps:25,max=9"):
        for end in (0.04, 1.0, 2.5, 10.0):
            times = parse_sampling(text).times([(0.0, end)])
            assert times
            assert all(0 <= time < end for time in times)


@pytest.mark.parametrize(("text", "spelled"), [
    ("times:3,1.50,02", "times:1.5,2,3"), ("fps:1.0", "fps:1"), ("fps:0.10,max=064", "fps:0.1,max=64"),
    (" uniform:016,start ", "uniform:16,start"), ("uniform:8,ends,evidence=only", "uniform:8,ends,evidence=only"),
])  # fmt: skip
def test_equal_samplings_have_one_spelling(text: str, spelled: str) -> None:
    assert parse_sampling(text).text == spelled
    assert parse_sampling(spelled) == parse_sampling(text)


def test_too_many_frames_are_an_error_not_fewer() -> None:
    with pytest.raises(
        ReelbenchError, match=r"fps:30 selects 108000 frames, .* write for example fps:30,max=64"
    ):
        parse_sampling("fps:30").times([(0.0, 3600.0)])


@pytest.mark.parametrize("text", [
    "uniform:" + "9" * 5000, "fps:" + "9" * 400, "times:1e5",
    "", "uniform", "uniform:0", "uniform:99999", "uniform:4,middle", "fps:0", "fps:-1", "all", "fps:2,max=0",
    "uniform:4;x", "times:", "times:a", "evidence=only",
])  # fmt: skip
def test_what_is_no_sampling(text: str) -> None:
    with pytest.raises(ReelbenchError, match="is not valid: write uniform:16"):
        parse_sampling(text)


def test_a_moment_at_the_very_end_lies_past_the_last_frame() -> None:
    assert parse_sampling("times:0,1,2").times([(0.0, 2.0)]) == [0.0, 1.0]
