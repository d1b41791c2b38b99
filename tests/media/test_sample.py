"""Samplings say exactly which moments are shown."""

import pytest

from reelbench.errors import ReelbenchError
from reelbench.media.sample import parse_sampling


@pytest.mark.parametrize(("text", "times"), [
    ("uniform:4", [11.25, 13.75, 16.25, 18.75]),
    ("uniform:1", [15.0]),
    ("fps:0.5", [10.0, 12.0, 14.0, 16.0, 18.0]),
    ("fps:0.3", [10.0, 10 + 1 / 0.3, 10 + 2 / 0.3]),
    ("fps:1,max=4", [11.25, 13.75, 16.25, 18.75]),
    ("fps:0.2,max=4", [10.0, 15.0]),
])  # fmt: skip
def test_moments(text: str, times: list[float]) -> None:
    assert parse_sampling(text).times(10.0, 20.0) == pytest.approx(times)


def test_no_moment_lies_past_the_end() -> None:
    for text in ("uniform:7", "fps:3", "fps:2", "fps:25,max=9"):
        for end in (0.04, 1.0, 2.5, 10.0):
            times = parse_sampling(text).times(0.0, end)
            assert times
            assert all(0 <= time < end for time in times)


@pytest.mark.parametrize(
    "text", ["", "uniform", "uniform:0", "fps:0", "fps:-1", "all", "fps:2,max=0", "uniform:4;x"]
)
def test_what_is_no_sampling(text: str) -> None:
    with pytest.raises(ReelbenchError, match="write uniform:16, fps:2"):
        parse_sampling(text)
