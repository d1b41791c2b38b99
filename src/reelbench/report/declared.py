"""The tables that a benchmark declares, as a paper prints them."""

from collections.abc import Callable, Mapping
from typing import Any

from reelbench.pages.table import Table
from reelbench.report.figures import label
from reelbench.score.rounding import percent

Scores = Mapping[str, Any]


def declared(scores: Scores) -> list[Mapping[str, Any]]:
    """The tables that the benchmark declares, if there are items for them."""
    return [
        table
        for table in scores.get("tables", ())
        if table["rows"] and any(column["items"] for column in table["columns"])
    ]


def shown(found: Mapping[str, Any]) -> Table:
    """A declared table as a paper prints it: means, and what guessing comes to."""
    rows = [[name_of(row, found), *map(mean_of, row["cells"])] for row in found["rows"]]
    chances = [column["chance"] for column in found["columns"]]
    chance = ["chance", *(NONE if share is None else percent(share) for share in chances)]
    best = {(row, column + 1) for row, column in best_cells(found)}
    return Table(found["name"], found["title"], _columns(found), [*rows, chance], best)


def sureness(found: Mapping[str, Any]) -> Table:
    """The intervals and standard errors of a declared table, and its numbers of items."""
    rows = [
        [name_of(row, found), *(_with_error(cell) or NONE for cell in row["cells"])]
        for row in found["rows"]
    ]
    items = ["items", *(str(column["items"]) for column in found["columns"])]
    title = f"{found['title']}: 95% intervals and standard errors"
    return Table(f"{found['name']}-intervals", title, _columns(found), [*rows, items])


NONE = "-"  # where there is nothing to take a mean of


def _columns(found: Mapping[str, Any]) -> list[str]:
    return ["Model", *(column["name"] for column in found["columns"])]


def name_of(row: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Name a row: by its condition too, where there are several, and people by their number."""
    name = label(row, found["rows"])
    several = row.get("participants", 1) > 1
    return f"{name}, {row['participants']} participants" if several else name


def mean_of(cell: Mapping[str, Any]) -> str:
    """Write a mean, with how many items it covers where that is not all."""
    if cell["value"] is None:
        return NONE
    whole = cell["covered"] == cell["items"]
    return percent(cell["value"]) + ("" if whole else f" ({cell['covered']} of {cell['items']})")


def interval_of(cell: Mapping[str, Any], spell: Callable[[float], str]) -> str:
    """Write the interval of a mean; nothing where there is none."""
    return "" if cell["interval"] is None else " to ".join(map(spell, cell["interval"]))


def _with_error(cell: Mapping[str, Any]) -> str:
    error = cell["standard_error"]
    return interval_of(cell, percent) + ("" if error is None else f" (SE {percent(error)})")


_ENOUGH = 0.95  # of the widest cover: a mean of fewer items is not held against the others


def best_cells(found: Mapping[str, Any]) -> set[tuple[int, int]]:
    """Row and column of the best mean of each column, where several can be held together.

    A model whose replies nobody graded has no open questions in its mean, which are the harder
    ones: it does not win by that. People do not compete.
    """
    best = set()
    for column in range(len(found["columns"])):
        cells = {
            (place, column): row["cells"][column]
            for place, row in enumerate(found["rows"])
            if "participants" not in row and row["cells"][column]["covered"]
        }
        widest = max((cell["covered"] for cell in cells.values()), default=0)
        means = {
            place: cell["value"]
            for place, cell in cells.items()
            if cell["covered"] >= _ENOUGH * widest
        }
        if len(means) > 1:
            best |= {place for place, mean in means.items() if mean == max(means.values())}
    return best
