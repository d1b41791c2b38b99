"""docs/published-numbers.md lists what does not follow from its own parts: no more, no less."""

import re
from collections import Counter

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from score import published, published_more, published_reading
from score.published_reading import Check, half
from support import REPOSITORY

pytestmark = pytest.mark.skipif(
    not published_reading.PAPERS.is_dir(),
    reason=f"the papers' text is not at {published_reading.PAPERS}",
)
PAGE = REPOSITORY / "docs" / "published-numbers.md"


@pytest.fixture(scope="module")
def checks() -> list[Check]:
    return [check for source in published.CHECKS for check in source()]


def table(header: str) -> list[list[str]]:
    """The rows of a table of the page, found by its first column's name."""
    text = PAGE.read_text().replace("\\|", "\x00")
    (body,) = re.findall(rf"^\| {header} \|.*\n\|[-|: ]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in body.splitlines()]
    return [[cell.replace("\x00", "|") for cell in row] for row in rows]


def test_the_page_lists_exactly_what_disagrees(checks: list[Check]) -> None:
    listed = [tuple(row[:4]) for row in table("where")]
    found = [(c.where, c.row, c.printed, c.given) for c in checks if not c.agrees]
    assert sorted(listed) == sorted(found)


def test_the_page_prints_the_differences() -> None:
    for where, row, printed, given, gap, remark in table("where"):
        digits = len(printed.partition(".")[2])
        if re.fullmatch(r"[\d.]+", printed) and re.fullmatch(r"[\d.]+", given):
            assert gap == f"{float(printed) - float(given):+.{digits}f}", (where, row)
        assert remark, (where, row)


def test_the_page_counts_what_was_checked(checks: list[Check]) -> None:
    counted = {row[0]: (int(row[2]), int(row[3])) for row in table("checked")}
    all_of, agreed = Counter(c.where for c in checks), Counter(c.where for c in checks if c.agrees)
    totals = {where: (n, agreed[where]) for where, n in all_of.items()}
    assert counted == totals | {"all": (len(checks), agreed.total())}


@pytest.mark.parametrize(
    ("where", "most"),
    [*dict.fromkeys(published_reading.SHARES, None).items(), *published_reading.NO_SHARES.items()],
)
def test_no_other_shares_fit_more_rows(where: str, most: int | None, checks: list[Check]) -> None:
    if where.startswith("MMOU"):
        rows = published_reading.tabbed("mmou", "Table 3. ", 34, 16).values()
        sums = [(row[15], row[10:15]) for row in rows]
    else:
        sums = list(published_more.qbench_parts(where).values())
    printed = np.array([float(total) for total, _ in sums])
    parts = np.array([[float(part) for part in row] for _, row in sums])
    tolerance = 2 * half(sums[0][0])
    fitted = most or sum(check.agrees for check in checks if check.where == where)
    assert fitted == most_rows_fitted(parts, printed, tolerance)


def most_rows_fitted(parts: np.ndarray, printed: np.ndarray, tolerance: float) -> int:
    """The largest number of rows that one set of shares gives, by integer programming."""
    rows, columns = parts.shape
    free = 100.0 * np.eye(rows)  # a row that is left out may miss by anything
    result = milp(
        np.r_[np.zeros(columns), -np.ones(rows)],
        integrality=np.r_[np.zeros(columns), np.ones(rows)],
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(np.hstack([parts, free]), -np.inf, printed + tolerance + 100),
            LinearConstraint(np.hstack([parts, -free]), printed - tolerance - 100, np.inf),
            LinearConstraint(np.r_[np.ones(columns), np.zeros(rows)], 1, 1),
        ],
    )
    return round(-result.fun)


def counts_that_fit(values: list[str], limit: int) -> list[int]:
    """The numbers of items of which every printed percentage is a whole number."""
    exact = np.array([float(value) for value in values])
    return [
        n
        for n in range(1, limit)
        if np.all(np.abs(np.rint(exact * n / 100) * 100 / n - exact) <= 0.005 + 1e-9)
    ]


def test_muse_percentages_are_shares_of_these_counts_and_of_no_smaller_ones() -> None:
    table_1, table_7 = published.muse_table_1(), published.muse_table_7()
    for n, (items, multi) in enumerate(
        zip(published_reading.MUSE_COUNTS, published_reading.MUSE_MULTI, strict=True)
    ):
        acc = [row[5 * n] for row in table_7.values()]
        em = [table_1[name][4 + 2 * n] for name in table_7]
        assert counts_that_fit(acc, 4017)[0] == items
        assert counts_that_fit(em, 4017)[0] == multi
    overall = [row[20] for row in table_7.values()]
    assert counts_that_fit(overall, 4100) == [sum(published_reading.MUSE_COUNTS)] == [3988]
