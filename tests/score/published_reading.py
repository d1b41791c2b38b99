"""The published tables, read from the papers' text, and what their own parts give.

A printed number stands for every number that rounds to it, so a value and what its parts give
agree when the two ranges touch. Where the parts need weights that a paper does not print, the
weights here are the ones that fit the most rows (`SHARES`, the counts); the tests check that.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from support import SHARED

PAPERS = SHARED / "papers"
Row = list[str]
Table = dict[str, Row]

MUSE_COUNTS = (990, 990, 985, 1023)  # Cinematic, Static, Stage, Game: items; the text prints none
MUSE_MULTI = (513, 372, 380, 523)  # of them multi-select
MUSE_SINGLE = tuple(a - b for a, b in zip(MUSE_COUNTS, MUSE_MULTI, strict=True))
CINEASTE_COUNTS = (905, 532, 544, 586, 552)  # VR, SC, TO, CE, MU: 3,119 in all
SHARES = {
    "MMOU Table 3, Overall from durations": (0.2516, 0.2820, 0.3279, 0.0670, 0.0715),
    "Q-Bench-Video Table 2, Overall from question types": (0.3430, 0.3346, 0.3223),
    "Q-Bench-Video Table 3, single Overall": (0.4672, 0.5328),
    "Q-Bench-Video Table 7, single Overall": (0.5047, 0.4953),
    "Q-Bench-Video Table 3, pairs Overall": (0.2134, 0.3498, 0.4368),
    "Q-Bench-Video Table 7, pairs Overall": (0.1915, 0.3495, 0.4590),
}
NO_SHARES = {  # the most rows that one set of shares fits: fewer than half, so one line each
    "Q-Bench-Video Table 6, Overall from question types": 6,
    "Q-Bench-Video Tables 2 and 3, one split into single and pairs": 3,
    "Q-Bench-Video Tables 6 and 7, one split into single and pairs": 2,
}


@dataclass(frozen=True)
class Check:
    """One printed number, and the range that its parts leave for it."""

    where: str
    row: str
    printed: str
    given: str
    agrees: bool


def half(text: str) -> float:
    """Half a unit of the last digit printed."""
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def compare(where: str, row: str, printed: str, low: float, high: float) -> Check:
    """A printed number beside the range its parts give."""
    value, slack = float(printed), half(printed) + 1e-9
    digits = len(printed.partition(".")[2])
    given = f"{(low + high) / 2:.{digits}f}"
    return Check(where, row, printed, given, low - slack <= value <= high + slack)


def between(where: str, row: str, printed: str, parts: Sequence[str]) -> Check:
    """A mean with any weights lies between the smallest and the largest part."""
    low, high = min(parts, key=float), max(parts, key=float)
    slack = half(printed) + half(low) + 1e-9
    agrees = float(low) - slack <= float(printed) <= float(high) + slack
    return Check(where, row, printed, f"{low} to {high}", agrees)


def weighted(
    where: str, row: str, printed: str, parts: Sequence[str], weights: Sequence[float] | None = None
) -> Check:
    """A mean of the parts; all weigh the same where no weights are given."""
    weights = weights or [1.0] * len(parts)
    mean = sum(w * float(p) for w, p in zip(weights, parts, strict=True)) / sum(weights)
    slack = max(map(half, parts))
    return compare(where, row, printed, mean - slack, mean + slack)


def exact(where: str, row: str, printed: str, given: float) -> Check:
    """A number that follows from whole numbers."""
    return compare(where, row, printed, given, given)


def difference(where: str, row: str, printed: str, a: str, b: str) -> Check:
    """A printed gap between two printed numbers."""
    gap, slack = float(a) - float(b), half(a) + half(b)
    return compare(where, row, printed, gap - slack, gap + slack)


# Reading


@cache
def lines(paper: str) -> list[str]:
    """The lines of a paper, without inline markup and links."""
    text = (PAPERS / f"{paper}.txt").read_text()
    text = re.sub(r"\[\[\d+\]\(https.*?\"\)\]", "|", re.sub(r"</?[iu]>", "", text))
    return text.replace("GPT-40", "GPT-4o").splitlines()


def after(paper: str, start: str, count: int) -> list[str]:
    """The lines that follow the one that begins with `start`."""
    found = [n for n, line in enumerate(lines(paper)) if line.startswith(start)]
    assert len(found) == 1, f"{paper}: {start!r} begins {len(found)} lines"
    return lines(paper)[found[0] + 1 : found[0] + 1 + count]


def tabbed(paper: str, start: str, count: int, numbers: int) -> Table:
    """Rows of tab-separated cells whose last `numbers` cells are numbers."""
    found: Table = {}
    for line in after(paper, start, count):
        cells = [cell.strip().removesuffix("%") for cell in line.split("\t") if cell.strip()]
        row = cells[-numbers:]
        if len(cells) > numbers and all(re.fullmatch(r"\d+\.\d+|/", cell) for cell in row):
            found[cells[0]] = row
    return found


def spaced(paper: str, start: str, count: int, numbers: int) -> Table:
    """Rows whose numbers are set apart by spaces or a minus sign alone."""
    found: Table = {}
    for line in after(paper, start, count):
        body = line.partition("|")[2] or line
        row = re.findall(r"-?\d+\.\d\d", body)
        if len(row) == numbers and len(line) < 300:
            found[re.split(r"[|–]| V\+| (?=\d\d\.\d\d)", line)[0].strip()] = row
    return found


def piped(paper: str, start: str, count: int) -> Table:
    """Rows of cells between bars, the empty ones left out."""
    found: Table = {}
    for line in after(paper, start, count):
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        found[name.strip()] = [cell for cell in cells if cell and cell not in ("V", "V+A", "A, V")]
    return found


def said(paper: str, pattern: str) -> re.Match[str]:
    """A sentence of the text; a number that is quoted must be there."""
    match = re.search(pattern, "\n".join(lines(paper)))
    assert match, f"{paper}.txt has no {pattern!r}"
    return match
