"""Accuracy by category around a circle."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.pages.figure import COLOURS, MARKS, Figure, layout_of, marker, plain, wrapped
from reelbench.report.rows import Scores, main_rows, numbers
from reelbench.score.rounding import percent

_FEWEST, _MOST = 3, 16  # spokes
_FEWEST_ITEMS = 2  # of one alone, accuracy is 0 or 100 %
_CIRCLES = (0.5, 1.0)
_LETTER = 6  # pixels, about


def radar(scores: Scores, tag: str) -> Figure | None:
    """Accuracy by category around a circle, of the categories that have several items."""
    rows, number = main_rows(scores)[: len(COLOURS)], numbers(scores)
    if not rows:
        return None
    first: Mapping[str, Any] = rows[0]["by"].get(tag, {})
    names = [name for name, cell in first.items() if cell["all_items"] >= _FEWEST_ITEMS]
    rows = [row for row in rows if all(row["by"][tag][name]["items"] for name in names)]
    if not rows or not _FEWEST <= len(names) <= _MOST:
        return None
    labels = [_label(name, first[name]["all_items"]) for name in names]
    data = [
        {
            "type": "scatterpolar",
            "name": plain(row["model"]),
            "theta": [*labels, labels[0]],
            "r": [100 * row["by"][tag][name]["accuracy"] for name in [*names, names[0]]],
            "line": {"color": marker(number[row["model"]])["color"], "width": 2},
            "marker": {"symbol": MARKS[number[row["model"]] % len(MARKS)], "size": 7},
            "mode": "lines+markers",
            "hovertemplate": "%{theta}: %{r:.1f}%<extra>" + plain(row["model"]) + "</extra>",
        }
        for row in rows
    ]
    words = f"The same accuracies by {tag} around a circle, one line per model."
    note = _left_out([name for name in first if name not in names])
    shares = [[row["by"][tag][name]["accuracy"] for name in names] for row in rows]
    return Figure("radar", f"Profile over {tag}", words, data, _layout(labels, shares), note)


def _label(name: str, items: int) -> str:
    return f"{wrapped(name)}<br>n = {items}"


def _left_out(names: Sequence[str]) -> str:
    return f"Left out, with one item each: {', '.join(names)}." if names else ""


def _layout(labels: Sequence[str], shares: Sequence[Sequence[float]]) -> dict[str, Any]:
    """The first spoke is on top; the numbers stand between two of them, upright."""
    longest = max(len(line) for label in labels for line in label.split("<br>"))
    side = min(130, 16 + _LETTER * longest)
    angle = 90 - 360 / len(labels) * (_widest_gap(shares) + 0.5)
    polar = {
        "radialaxis": {
            "range": [0, 100],
            "tickvals": [100 * share for share in _CIRCLES],
            "ticktext": [percent(share, 0) for share in _CIRCLES],
            "angle": angle,
            "tickangle": angle,  # as seen from the axis, which makes them upright
            "tickfont": {"size": 10},
            "showline": False,
            "ticks": "",
        },
        "angularaxis": {"rotation": 90, "direction": "clockwise", "tickfont": {"size": 11}},
    }
    layout = layout_of(None, polar=polar, showlegend=True)
    return layout | {
        "margin": {"l": side, "r": side, "t": 44, "b": 60},
        "legend": {
            "orientation": "h",
            "yref": "container",
            "y": 0,
            "yanchor": "bottom",
            "x": 0.5,
            "xanchor": "center",
        },
    }


def _widest_gap(shares: Sequence[Sequence[float]]) -> int:
    """Return behind which spoke no line crosses the circles near their numbers."""
    spokes = len(shares[0])
    half = math.cos(math.pi / spokes)

    def crossing(row: Sequence[float], spoke: int) -> float:
        """Where the line between two spokes crosses the middle between them."""
        one, other = row[spoke], row[(spoke + 1) % spokes]
        return 2 * one * other * half / (one + other) if one + other else 0.0

    def room(spoke: int) -> float:
        return min(abs(crossing(row, spoke) - at) for row in shares for at in _CIRCLES)

    return max(range(spokes), key=room)
