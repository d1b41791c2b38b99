"""Bars, numbers and colours of the page of a make."""

import re

import pytest

from reelbench.make.page.svg import category_colours
from reelbench.pages.histogram import bins_of, distribution
from reelbench.pages.text import number, plural


def test_what_is_not_a_number_is_left_out_of_a_distribution() -> None:
    assert distribution("none", [None, float("nan"), "x", True]) is None
    found = distribution("some", [3, None, 1, 2, 2])
    assert found is not None
    assert (found.count, found.mean, found.median, found.least, found.most) == (4, 2.0, 2.0, 1, 3)
    assert [(bar.low, bar.count) for bar in found.bins] == [(1, 1), (2, 2), (3, 1)]


@pytest.mark.parametrize(("values", "bars"), [
    ([5, 5], [(4, 0), (5, 2), (6, 0)]),
    ([0], [(0, 1), (1, 0)]),
    ([2.5], [(1, 0), (2, 1), (3, 0)]),
])  # fmt: skip
def test_a_single_value_does_not_fill_the_picture(
    values: list[float], bars: list[tuple[float, int]]
) -> None:
    found = distribution("one", values)
    assert found is not None
    assert [(bar.low, bar.count) for bar in found.bins] == bars
    assert 0 < found.mean_at < 1
    assert found.words.count(";") == 0  # bars without a value are not read out


@pytest.mark.parametrize(
    "values",
    [
        [5],
        [0.1] * 9,
        [0, 1e9],
        [-3, -2.5, 8],
        [1e-9, 2e-9],
        list(range(1000)),
        [1e17, 1e17 + 16],
        [0.3, 0.1 + 0.2],
        [-1e300, 1e300],
    ],
)
def test_every_value_is_in_one_bar(values: list[float]) -> None:
    bars = bins_of(values)
    assert sum(bar.count for bar in bars) == len(values)
    assert len(bars) <= 33
    assert all(bar.high > bar.low for bar in bars)


def test_numbers_as_people_write_them() -> None:
    assert [number(v) for v in (1994, 11729, 0.5, 126.04, 2.0, 2.345, "ten", 0)] == [
        "1994",
        "11,729",
        "0.500",
        "126.0",
        "2",
        "2.35",
        "ten",
        "0",
    ]
    assert [plural(unit) for unit in ("movie", "story", "clip", "class", "essay")] == [
        "movies",
        "stories",
        "clips",
        "classes",
        "essays",
    ]


def test_every_category_has_a_colour_of_its_own() -> None:
    funnel = {"stages": [{"by_category": {f"c{n}": {} for n in range(20)}}]}
    colours = category_colours(funnel)
    assert len(set(colours.values())) == 20
    assert all(re.fullmatch(r"#[0-9A-F]{6}", colour) for colour in colours.values())
