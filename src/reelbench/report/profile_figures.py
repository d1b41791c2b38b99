"""Figures of questions with one and with several right options: profiles, sets and positions.

Where models have tiers, each tier has a profile of its own, and a mark.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.data.items import LETTERS
from reelbench.pages.figure import MARKS, Figure, dashes_at, layout_of, marker, plain, wrapped
from reelbench.pages.table import Table
from reelbench.report.rows import Scores, main_rows, numbers
from reelbench.score.people import HUMAN
from reelbench.score.rounding import percent

_MOST_VALUES = 8  # of a tag: each has two axes
_MOST_MODELS = 10  # in one profile
_MOST_LABELS = 12  # beside points
_DASHES = ("solid", "dash", "dot", "dashdot")
_PEOPLE = "people"
_HALF = 0.5
_HALVES = {"caa": "CAA", "exact_match": "EM"}  # above and below

Row = Mapping[str, Any]


def tiers_of(scores: Scores) -> dict[str, str]:
    """Return the tier of each model that has one, people apart."""
    return dict(scores.get("tiers", {}))


def by_tier(scores: Scores, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return rows by tier, in the order of the tiers; those in none are under an empty name."""
    tiers = tiers_of(scores)
    if tiers:
        tiers |= {row["model"]: _PEOPLE for row in rows if row["model"].startswith(HUMAN)}
    names = [*dict.fromkeys(tiers.values()), ""]
    found = {name: [row for row in rows if tiers.get(row["model"], "") == name] for name in names}
    return {name: some for name, some in found.items() if some}


def profiles(scores: Scores, tags: Sequence[str]) -> list[Figure]:
    """Return a figure for each tier: CAA by category on the upper half, exact match below."""
    rows = main_rows(scores)
    tag = next((tag for tag in tags if any(_has_halves(row, tag) for row in rows)), None)
    if tag is None:
        return []
    rows = [row for row in rows if _has_halves(row, tag)]
    return [
        _profile(scores, tag, tier, some, place)
        for place, (tier, some) in enumerate(by_tier(scores, rows).items())
    ]


def _has_halves(row: Row, tag: str) -> bool:
    values = list(row["by"].get(tag, {}).values())
    whole = all(set(_HALVES) <= set(cell["metrics"]) for cell in values)
    return 2 <= len(values) <= _MOST_VALUES and whole


def _profile(scores: Scores, tag: str, tier: str, rows: Sequence[Row], place: int) -> Figure:
    values = list(rows[0]["by"][tag])
    # The same category faces itself: the lower half runs backwards.
    axes = [("caa", value) for value in values] + [("exact_match", v) for v in reversed(values)]
    names = [f"{wrapped(value)}<br>{_HALVES[metric]}" for metric, value in axes]
    shown, number = rows[:_MOST_MODELS], numbers(scores)
    data = []
    for row in shown:
        worth = [100 * row["by"][tag][value]["metrics"][metric]["value"] for metric, value in axes]
        own = number[row["model"]]
        data.append(
            {
                "type": "scatterpolar",
                "mode": "lines+markers",
                "name": plain(row["model"]),
                "theta": [*names, names[0]],
                "r": [*worth, worth[0]],
                "line": {
                    "color": marker(own)["color"],
                    "width": 2,
                    "dash": _DASHES[own // len(MARKS) % len(_DASHES)],
                },
                "marker": {"symbol": MARKS[own % len(MARKS)], "size": 7},
                "hovertemplate": "%{theta}: %{r:.1f}%<extra>" + plain(row["model"]) + "</extra>",
            }
        )
    every = [worth for trace in data for worth in trace["r"]]
    low, high = min(0.0, *every), min(100.0, 10 * (max(every) // 10 + 1))
    polar = {
        "radialaxis": {"range": [low, high], "ticksuffix": "%", "angle": 90, "tickangle": 90},
        "angularaxis": {
            "rotation": 180 - 180 / len(axes),
            "direction": "clockwise",
            "categoryorder": "array",
            "categoryarray": names,
        },
    }
    height = 520 + 20 * (len(shown) // 3)
    margin = {"l": 90, "r": 90, "t": 60, "b": 60}
    layout = layout_of(None, polar=polar, showlegend=True, height=height, margin=margin)
    layout["legend"] = {"orientation": "h", "y": -0.18}
    which = f": {tier}" if tier else ""
    left = f" The best {len(shown)} of {len(rows)} models." if len(shown) < len(rows) else ""
    words = (
        f"Chance-adjusted accuracy of single-select questions by {tag} on the upper half, exact "
        f"match of multi-select ones on the lower, one line per model.{left}"
    )
    return Figure(f"profile-{place}", f"CAA and exact match by {tag}{which}", words, data, layout)


def precision_and_recall(scores: Scores) -> Figure | None:
    """Precision against recall of questions with several right options, a mark for each tier."""
    rows = [row for row in main_rows(scores) if "precision" in row["metrics"]]
    if not rows:
        return None
    number, groups = numbers(scores), by_tier(scores, rows)
    labelled = len(rows) <= _MOST_LABELS
    data = []
    for place, (tier, some) in enumerate(groups.items()):
        for row in some:
            shape = marker(number[row["model"]])
            name = plain(row["model"])
            values = {n: row["metrics"][n]["value"] for n in ("recall", "precision")}
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers+text" if labelled else "markers",
                    "text": [name],
                    # Towards the middle, where there is room for it.
                    "textposition": "top left" if values["recall"] > _HALF else "top right",
                    "cliponaxis": False,
                    "name": name,
                    "x": [100 * values["recall"]],
                    "y": [100 * values["precision"]],
                    "marker": shape | ({"symbol": MARKS[place % len(MARKS)]} if tier else {}),
                    "hovertemplate": f"precision {percent(values['precision'])}, recall "
                    f"{percent(values['recall'])}<extra>{name}</extra>",
                    **(
                        {"legendgroup": tier, "legendgrouptitle": {"text": plain(tier)}}
                        if tier
                        else {}
                    ),
                }
            )
    line = {"type": "line", "x0": 0, "y0": 0, "x1": 100, "y1": 100}
    grey = {"line": {"color": "#808080", "dash": "dash", "width": 1}}
    layout = layout_of("precision, %", shapes=[line | grey], showlegend=True)
    layout["xaxis"] = {"title": {"text": "recall, %"}, "range": [-3, 103]}
    layout |= _legend(len(rows), bool(tiers_of(scores)))
    words = "Precision against recall of multi-select questions; on the dashed line they are equal."
    if len(groups) > 1:
        words += " Each tier has a mark of its own."
    return Figure("precision-recall", "Precision and recall", words, data, layout)


def _legend(models: int, grouped: bool) -> dict[str, Any]:
    """Return a legend with its height: below where it is short, at the side where it is long."""
    if grouped:
        return {"legend": {"x": 1.02, "y": 1}, "height": max(450, 26 * models + 140)}
    return {"legend": {"orientation": "h", "y": -0.22}, "height": 450 + 20 * (models // 4)}


def pooled_positions(scores: Scores) -> Figure | None:
    """How often each position was chosen over all questions with enough options, beside the key.

    By tier where models have tiers, else by model; the table has all of them.
    """
    rows = _with_positions(scores)
    if not rows:
        return None
    groups = by_tier(scores, rows)
    lines = list(groups.items()) if tiers_of(scores) else [(r["model"], [r]) for r in rows]
    number = numbers(scores)
    letters = list(LETTERS[: len(_gold(rows))])
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": plain(name or "others"),
            "x": letters,
            "y": [100 * share for share in _together(some)],
            "marker": marker(number.get(name, place)),
            "line": {"width": 2},
            "hovertemplate": "%{x}: %{y:.1f}%<extra>" + plain(name or "others") + "</extra>",
        }
        for place, (name, some) in enumerate(lines)
    ]
    gold = [100 * share for share in _gold(rows)]
    dashes = [dashes_at(place - 0.4, place + 0.4, share) for place, share in enumerate(gold)]
    layout = layout_of("share of answers, %", shapes=dashes, showlegend=True)
    layout["yaxis"] = {"title": {"text": "share of answers, %"}, "rangemode": "tozero"}
    layout |= _legend(len(lines), False)
    least = rows[0]["bias"]["pooled_positions"]["least_options"]
    words = (
        f"How often each position was chosen, of single-select questions with {least} options or "
        "more; the dashes are how often it was right. The last positions are rarer, since not all "
        "questions have them."
    )
    title = f"Positions chosen, {least} options or more"
    return Figure("positions-pooled", title, words, data, layout)


def position_table(scores: Scores) -> Table:
    """Return how often each position was chosen by each tier and each model, and was right."""
    rows = _with_positions(scores)
    gold = _gold(rows) if rows else []
    lines = [[row["model"], *_spelled([row], len(gold))] for row in rows]
    if tiers_of(scores):
        groups = by_tier(scores, rows).items()
        lines = [[n or "others", *_spelled(some, len(gold))] for n, some in groups] + lines
    key = [["right", *map(percent, gold), ""]] if rows else []
    columns = ["Model", *LETTERS[: len(gold)], "Answers"]
    title = "Positions chosen in single-select questions with many options"
    return Table("positions", title, columns, [*lines, *key])


def _with_positions(scores: Scores) -> list[Row]:
    return [row for row in main_rows(scores) if "pooled_positions" in row["bias"]]


def _together(rows: Sequence[Row], part: str = "chosen") -> list[float]:
    """Return the shares of all answers of some models together."""
    pooled = [row["bias"]["pooled_positions"] for row in rows]
    places = max(len(each[part]) for each in pooled)
    total = sum(each["answers"] for each in pooled)
    return [
        sum(each["answers"] * each[part][n] for each in pooled if n < len(each[part])) / total
        for n in range(places)
    ]


def _gold(rows: Sequence[Row]) -> list[float]:
    return _together(rows, "right")


def _spelled(rows: Sequence[Row], places: int) -> list[str]:
    shares = _together(rows)
    answers = sum(row["bias"]["pooled_positions"]["answers"] for row in rows)
    return [*map(percent, [*shares, *[0.0] * (places - len(shares))]), str(answers)]
