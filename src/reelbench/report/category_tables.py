"""The main table of a paper: models by the values of a tag, with what they come to overall."""

from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.base.files import file_part
from reelbench.base.progress import counted
from reelbench.pages.table import Table
from reelbench.report.declared import ENOUGH
from reelbench.report.profile_figures import by_tier
from reelbench.report.rows import NO_TIER, Scores
from reelbench.score.coverage import no_score, partly_asked
from reelbench.score.people import HUMAN
from reelbench.score.rounding import points

Row = Mapping[str, Any]
Marks = set[tuple[int, int]]


def category_tables(scores: Scores, tag: str, intervals: bool = False) -> list[Table]:
    """Return accuracy by the values of a tag and overall, a table for each condition."""
    conditions = sorted(
        {row["condition"] for row in scores["results"]},
        key=lambda name: (name != scores["main_condition"], name),
    )
    several = len(conditions) > 1
    return [
        _category_table(scores, tag, condition if several else "", intervals)
        for condition in conditions
    ]


def category_title(scores: Scores, tag: str) -> str:
    """Return the title of the table of a tag under the main condition."""
    several = len({row["condition"] for row in scores["results"]}) > 1
    return _title(tag, scores["main_condition"] if several else "")


def _title(tag: str, condition: str) -> str:
    return f"Accuracy by {tag}, in percent" + (f", {condition}" if condition else "")


def _name(scores: Scores, tag: str, condition: str) -> str:
    """The name of the table of a tag under a condition; the main one is not named."""
    main = condition in ("", scores["main_condition"])
    return f"by-{file_part(tag.lower())}" + ("" if main else f"-{file_part(condition.lower())}")


def _category_table(scores: Scores, tag: str, condition: str, intervals: bool) -> Table:
    rows = [row for row in scores["results"] if not condition or row["condition"] == condition]
    values = list(scores["chance"]["by"][tag])
    lines: list[list[str]] = []
    groups: set[int] = set()
    best: Marks = set()
    second: Marks = set()
    for tier, some in by_tier(scores, rows).items():
        if tier or groups:
            groups.add(len(lines))
            lines.append([tier or NO_TIER, *[""] * (len(values) + 1)])
        marked = _marks(some, tag, values, len(lines))
        best |= marked[0]
        second |= marked[1]
        lines += [[row["model"], *_cells(row, tag, values, intervals)] for row in some]
    people = [
        [f"Human, {counted(each['participants'], 'participant')}", *_means(each, tag, intervals)]
        for each in scores.get("humans", ())
        if each["condition"] == (condition or scores["main_condition"])
    ]
    lines += people
    chance = [*scores["chance"]["by"][tag].values(), scores["chance"]["accuracy"]]
    lines.append(["chance", *map(points, chance)])
    lines.append(["items", *(str(each["all_items"]) for each in _parts(rows[0], tag, values))])
    note = "95% intervals in brackets. " if intervals else ""
    note += _note(best, second, bool(groups))
    return Table(
        _name(scores, tag, condition),
        _title(tag, condition),
        ["Model", *values, "Overall"],
        lines,
        best,
        second,
        groups,
        ends=2 + len(people),
        note=note,
    )


def _note(best: Marks, second: Marks, grouped: bool) -> str:
    if not best:
        return ""
    underlined = ", the second best underlined" if second else ""
    return f"The best of each column{' and group' if grouped else ''} is bold{underlined}."


def _parts(row: Row, tag: str, values: Sequence[str]) -> list[Row]:
    """The shares of a result by value, and over all items."""
    return [*(row["by"][tag][value] for value in values), row]


def _cells(row: Row, tag: str, values: Sequence[str], intervals: bool) -> list[str]:
    """Write the shares of a result; nothing where nothing was asked, or every call failed."""
    return [_cell(part, intervals) for part in _parts(row, tag, values)]


def _cell(part: Row, intervals: bool) -> str:
    """Write a share, with the number of items where that is not all."""
    if no_score(part):
        return ""
    interval = " to ".join(map(points, part["interval"])) if intervals else ""
    notes = "; ".join(filter(None, [partly_asked(part), interval]))
    # From the counts: the share in the file is rounded already.
    return points(part["correct"] / part["items"]) + (f" ({notes})" if notes else "")


def _means(people: Row, tag: str, intervals: bool) -> list[str]:
    """Write the means of people, with how many items they answered where that is not all."""
    return [_mean(part, intervals) for part in (*people["by"][tag].values(), people["overall"])]


def _mean(part: Row, intervals: bool) -> str:
    if part["value"] is None:
        return ""
    notes = [] if part["covered"] == part["items"] else [f"{part['covered']} of {part['items']}"]
    notes += [" to ".join(map(points, part["interval"]))] if intervals else []
    return points(part["value"]) + (f" ({'; '.join(notes)})" if notes else "")


def _marks(rows: Sequence[Row], tag: str, values: Sequence[str], above: int) -> tuple[Marks, Marks]:
    """Return the cells of the best and of the second best of each column, as they are printed.

    People do not compete, nor do results without a score, or over fewer items than the widest.
    Where all are equal, none is the best.
    """
    best: Marks = set()
    second: Marks = set()
    for column in range(len(values) + 1):
        parts = [_parts(row, tag, values)[column] for row in rows]
        widest = max(part["items"] for part in parts)
        shares = {
            (above + place, column + 1): round(1000 * part["correct"] / part["items"], 6)
            for place, (row, part) in enumerate(zip(rows, parts, strict=True))
            if not row["model"].startswith(HUMAN) and not no_score(part)
            if part["items"] >= ENOUGH * widest
        }
        ranked = sorted(set(shares.values()), reverse=True)
        if len(ranked) > 1:
            first = {place for place, share in shares.items() if share == ranked[0]}
            best |= first
            if len(first) == 1 and len(shares) > 2:
                second |= {place for place, share in shares.items() if share == ranked[1]}
    return best, second
