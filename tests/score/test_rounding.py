"""Numbers are rounded as people do it: a tie goes up, whatever the float below it."""

import re
from fractions import Fraction
from math import floor, inf, nan
from pathlib import Path

import pytest

import reelbench
from reelbench.score.rounding import fixed, percent, points, rounded


def half_up(exact: Fraction, digits: int) -> Fraction:
    return Fraction(floor(exact * 10**digits + Fraction(1, 2)), 10**digits)


@pytest.mark.parametrize(
    ("share", "digits", "shown"),
    [
        (0.125, 1, "12.5%"), (0.125, 0, "13%"), (0.0625, 1, "6.3%"), (5 / 16, 1, "31.3%"),
        (0.285, 0, "29%"), (0.2845, 1, "28.5%"), (1.005, 0, "101%"), (0.0005, 1, "0.1%"),
        (0.29 - 0.005, 0, "29%"), (0.0004, 1, "0.0%"), (1, 1, "100.0%"), (0.9995, 1, "100.0%"),
    ],
)  # fmt: skip
def test_ties_of_percentages_go_up(share: float, digits: int, shown: str) -> None:
    assert percent(share, digits) == shown


def test_every_share_of_whole_numbers_is_shown_as_the_exact_ratio_rounds() -> None:
    wholes = [*range(1, 101), 125, 160, 200, 320, 400, 640, 1000, 1600, 2000]
    for whole in wholes:
        for part in range(0, whole + 1, 1 + whole // 101):
            exact = Fraction(part * 100, whole)
            for digits in (0, 1, 2):
                shown = Fraction(percent(part / whole, digits).removesuffix("%"))
                assert shown == half_up(exact, digits), (part, whole, digits)


@pytest.mark.parametrize("whole", [128, 640, 3200, 15_000, 32_000, 2_000_000])
def test_six_digits_are_those_of_the_exact_ratio(whole: int) -> None:
    for part in range(1, whole, 1 + whole // 997):
        assert rounded(part / whole) == float(half_up(Fraction(part, whole), 6)), part


def test_a_difference_is_written_in_points_and_zero_without_a_minus() -> None:
    assert (points(-0.0625), points(-0.0004), points(0.285, 0)) == ("-6.3", "0.0", "29")
    assert str(rounded(-1e-9)) == "0.0"
    assert (fixed(2.675, 2), fixed(-0.001, 2), fixed(3, 2)) == ("2.68", "0.00", "3.00")


def test_what_has_no_digits_is_left_as_it_is() -> None:
    assert rounded(None) is None
    assert (rounded(inf), rounded(-inf), rounded(1e30)) == (inf, -inf, 1e30)
    assert rounded(nan) != rounded(nan)


def test_no_percentage_is_written_by_other_means() -> None:
    """Python's own format rounds ties to even, and floats below a tie down."""
    constants = r"\{[A-Z]+:\.\d%\}"
    for path in sorted(Path(reelbench.__file__).parent.rglob("*.py")):
        if "annotate" in path.parts:
            continue  # measured levels, which have no ties
        text = re.sub(constants, "", path.read_text())
        assert not re.search(r":\.\d%\}", text), path
