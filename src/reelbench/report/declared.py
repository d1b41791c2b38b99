"""The tables that a benchmark declares, as a paper prints them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from reelbench.base.progress import counted
from reelbench.data.table_rules import (
    F1_OF_MEANS,
    MEASURED,
    METRIC,
    RANDOM_POLICIES,
    WRONG_WITH,
)
from reelbench.pages.table import Table
from reelbench.report.rows import NO_TIER, label
from reelbench.score.metrics import STEADY
from reelbench.score.rounding import fixed, percent, points, signed

Scores = Mapping[str, Any]


def declared(scores: Scores) -> list[Mapping[str, Any]]:
    """The tables that the benchmark declares, if there are items for them."""
    return [
        table
        for table in scores.get("tables", ())
        if table["rows"]
        and any(column["items"] for column in table["columns"])
        # Where conditions are held against one, there must be two.
        and ("against" not in table or len({row["condition"] for row in table["rows"]}) > 1)
    ]


def shown(found: Mapping[str, Any], intervals: bool = False) -> Table:
    """A declared table as a paper prints it: means, and what guessing comes to.

    ``intervals`` puts the interval behind each mean.
    """
    columns = _columns(found)
    before = len(columns) - len(found["columns"])  # the model, and perhaps what it was given
    guessed = [
        [name, *[""] * (before - 1), *(NONE if s is None else percent(s) for s in shares)]
        for name, shares in guessing_rows(found)
    ]
    rows = list(guessed) if found.get("random") else []
    places, groups = {}, set()
    for place, row in enumerate(found["rows"]):
        if tier := tier_above(found, place):
            groups.add(len(rows))
            rows.append([tier, *[""] * (len(columns) - 1)])
        places[place] = len(rows)
        cells = [text_of(found, row, column) for column in range(len(row["cells"]))]
        if intervals:
            ends = (interval_of(cell, points) for cell in row["cells"])
            cells = [f"{c} [{e}]" if e else c for c, e in zip(cells, ends, strict=True)]
        rows.append([*_heads(row, found), *cells])
    last = [] if found.get("random") else guessed
    rows += last
    best, second = (
        {(places[row], column + before) for row, column in cells}
        for cells in (best_cells(found), second_cells(found))
    )
    note = " ".join(notes_on(found))
    return Table(
        found["name"], found["title"], columns, rows, best, second, groups, len(last), note
    )


def tier_above(found: Mapping[str, Any], place: int) -> str:
    """Return the tier that begins with a row; empty where its tier is that of the row before."""
    if not found.get("tiers"):
        return ""
    rows = found["rows"]
    tier, above = (_tier(rows[at]) if at >= 0 else "" for at in (place, place - 1))
    if above and not tier and _is_model(rows[place]):
        return NO_TIER  # or they would stand under the tier before
    return tier if tier != above else ""


def _tier(row: Mapping[str, Any]) -> str:
    """The tier of a model; means of models and people are in none."""
    return str(row.get("tier", "")) if _is_model(row) else ""


def _is_model(row: Mapping[str, Any]) -> bool:
    return not {"models", "participants"} & set(row)


def given_columns(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the headings of the columns that tell what models were given, each with its field."""
    return {title: field for title, field in _GIVEN.items() if found.get(field)}


_GIVEN = {"Modality": "modality", "Frames": "frames"}


def _heads(row: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """The cells that name a row."""
    given = (str(row.get(field) or NONE) for field in given_columns(found).values())
    return [name_of(row, found), *given]


def sureness(found: Mapping[str, Any]) -> Table:
    """The intervals and standard errors of a declared table, and its numbers of items."""
    rows = [
        [*_heads(row, found), *(_with_error(cell) or NONE for cell in row["cells"])]
        for row in found["rows"]
    ]
    columns = _columns(found)
    blank = [""] * (len(columns) - len(found["columns"]) - 1)
    items = ["items", *blank, *(str(column["items"]) for column in found["columns"])]
    title = f"{found['title']}: 95% intervals and standard errors"
    return Table(f"{found['name']}-intervals", title, columns, [*rows, items])


NONE = "-"  # where there is nothing to take a mean of
HELPED = "†"  # behind the name of a model that helped to make the items


def guessing_rows(found: Mapping[str, Any]) -> list[tuple[str, list[float | None]]]:
    """Return the rows of what guessing comes to: by item, and questions over options if asked."""
    if found.get("kind") == "distractors":
        return []
    columns = found["columns"]
    name = "Random" if found.get("random") else "chance"
    rows = [(name, [column["chance"] for column in columns])]
    if any("pooled_chance" in column for column in columns):
        rows.append(("questions / options", [column["pooled_chance"] for column in columns]))
    return rows


def text_of(found: Mapping[str, Any], row: Mapping[str, Any], place: int) -> str:
    """Write one cell: a mean with its difference, or what was measured."""
    cell = row["cells"][place]
    unit = measured_in(found["columns"][place])
    if not unit or cell["value"] is None:
        return mean_of(cell)
    return f"{cell['value']:,.0f}" if unit.endswith("tokens") else fixed(cell["value"], 1)


def measured_in(column: Mapping[str, Any]) -> str:
    """Return what a column measures, such as minutes; empty where it scores."""
    return str(column.get("of", {}).get(MEASURED, ""))


def difference_in(cell: Mapping[str, Any]) -> str:
    """Write the difference of a cell in points, with its sign; empty where there is none."""
    difference = cell.get("difference")
    return "" if difference is None else signed(difference["value"])


def notes_on(found: Mapping[str, Any]) -> list[str]:
    """Return sentences on what the signs of a table mean."""
    notes = [found["note"]] if found.get("note") else []
    helpers = {row["model"]: row["helped"] for row in found["rows"] if row.get("helped")}
    if helpers:
        listed = "; ".join(f"{name}: {', '.join(roles)}" for name, roles in helpers.items())
        notes.append(f"{HELPED} helped to make the items ({listed}).")
    if "against" in found:
        notes.append(f"Differences are in points, against {found['against']}, on the same items.")
    if policy := found.get("random"):
        notes.append(
            "Random is what guessing comes to, computed from the options: of questions with one "
            f"right option each is as likely; of sets, {RANDOM_POLICIES[policy]}."
        )
    if found.get("people"):
        notes.append(f"{people_title(found)}: {found['people']['protocol']}")
    if found.get("second_best"):
        grouped = found.get("best_by_tier") and any(map(_tier, found["rows"]))
        each = "each column and group" if grouped else "each column"
        notes.append(f"The best of {each} is bold, the second best underlined.")
    notes += _on_metrics(found)
    for column in found["columns"]:
        of = column.get("of", {})
        if "against" in of:
            notes.append(f"{column['name']} has its difference from {of['against']}, in points.")
        if WRONG_WITH in of:
            words = ", ".join(f"{word}..." for word in of[WRONG_WITH])
            notes.append(
                f"{column['name']}: of the wrong answers, those whose option has {words}; as "
                "chance, the share of the wrong options that do."
            )
    if found.get("kind") == "distractors":
        notes.append(f"Wrong options, by how many of the {len(found['models'])} models chose them.")
    return notes


def _on_metrics(found: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each metric of the columns, but for the usual one."""
    used = {column.get("of", {}).get(METRIC) for column in found["columns"]}
    return [sentence for metric, sentence in _METRICS_IN_WORDS.items() if metric in used]


CAA_MEANS = (
    "CAA is accuracy corrected for guessing: guessing comes to 0, and a wrong answer or none is "
    "worth less than 0."
)
_METRICS_IN_WORDS = {
    "steady": (
        f"Steady: an answer counts where at least {STEADY:.0%} of the replies to the question, "
        "over orders and rounds, agree on it. What guessing comes to depends on how many these are."
    ),
    "caa": CAA_MEANS,
    "exact_match": "EM is the share of multi-select questions whose set is exactly right.",
    "precision": "P is the mean over questions of the share of what was chosen that is right.",
    "recall": "R is the mean over questions of the share of what is right that was chosen.",
    "f1": "F1 is the mean over questions of each question's F1.",
    F1_OF_MEANS: "F1 of means is the harmonic mean of mean precision and mean recall.",
    "f1_micro": "Micro F1 is over the options of all questions together.",
}


def people_title(found: Mapping[str, Any]) -> str:
    """Return the name of the row of people: that which the table gives it."""
    return str(found.get("people", {}).get("title", "Human"))


def _columns(found: Mapping[str, Any]) -> list[str]:
    first = "Wrong options" if found.get("kind") == "distractors" else "Model"
    return [first, *given_columns(found), *(column["name"] for column in found["columns"])]


def name_of(row: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Name a row: by its condition too, where there are several, and people by their number.

    Where the frames tell a model's conditions apart, their names are left out.
    """
    rows = found["rows"]
    if found.get("frames"):
        rows = [r for r in rows if all(r.get(name) == row.get(name) for name in _APART)]
    name = label(row, rows)
    if "participants" in row and found.get("people"):
        return f"{people_title(found)}, {counted(row['participants'], 'participant')}"
    if row.get("participants", 1) > 1:
        return f"{name}, {row['participants']} participants"
    if "models" in row:
        return f"{name}, {counted(len(row['models']), 'model')}"
    return f"{name} {HELPED}" if row.get("helped") else name


_APART = ("model", "frames")


def mean_of(cell: Mapping[str, Any]) -> str:
    """Write a mean, with how many items it covers where that is not all."""
    if cell["value"] is None:
        return NONE
    whole = cell["covered"] == cell["items"]
    covered = "" if whole else f"{cell['covered']} of {cell['items']}"
    notes = "; ".join(filter(None, (covered, difference_in(cell))))
    return percent(cell["value"]) + (f" ({notes})" if notes else "")


def interval_of(cell: Mapping[str, Any], spell: Callable[[float], str]) -> str:
    """Write the interval of a mean; nothing where there is none."""
    return "" if cell["interval"] is None else " to ".join(map(spell, cell["interval"]))


def _with_error(cell: Mapping[str, Any]) -> str:
    error, difference = cell["standard_error"], cell.get("difference")
    text = interval_of(cell, percent) + ("" if error is None else f" (SE {percent(error)})")
    if difference is None:
        return text
    ends = interval_of(difference, signed)
    return f"{text}; {signed(difference['value'])}" + (f" ({ends})" if ends else "")


ENOUGH = 0.95  # of the widest cover: a mean of fewer items is not held against the others


def best_cells(found: Mapping[str, Any]) -> set[tuple[int, int]]:
    """Row and column of the best mean of each column, where several can be held together."""
    return {
        place
        for means in _held_together(found)
        for place, mean in means.items()
        if mean == max(means.values())
    }


def second_cells(found: Mapping[str, Any]) -> set[tuple[int, int]]:
    """Row and column of the second best of each column, where the table asks for it."""
    marked: set[tuple[int, int]] = set()
    for means in _held_together(found) if found.get("second_best") else ():
        values = sorted(set(means.values()), reverse=True)
        marked |= {place for place, mean in means.items() if [mean] == values[1:2]}
    return marked


def _held_together(found: Mapping[str, Any]) -> Iterator[dict[tuple[int, int], float]]:
    """Yield the means of each column that can be held together, by row and column.

    They are those of all models, or of each tier where the table asks for that. A model whose
    replies nobody graded has no open questions in its mean, which are the harder ones: it does not
    win by that. People and means of models do not compete.
    """
    for column, about in enumerate(found["columns"]):
        if found.get("kind") == "distractors" or {MEASURED, WRONG_WITH} & set(about.get("of", ())):
            continue
        tiers: dict[str, dict[tuple[int, int], Mapping[str, Any]]] = {}
        for place, row in enumerate(found["rows"]):
            cell = row["cells"][column]
            if _is_model(row) and cell["covered"] and cell["value"] is not None:
                tier = _tier(row) if found.get("best_by_tier") else ""
                tiers.setdefault(tier, {})[place, column] = cell
        for cells in tiers.values():
            widest = max(cell["covered"] for cell in cells.values())
            means = {
                place: cell["value"]
                for place, cell in cells.items()
                if cell["covered"] >= ENOUGH * widest
            }
            if len(means) > 1:
                yield means
