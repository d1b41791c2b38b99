"""Figures, as data that Plotly draws in the page's colours, light or dark."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import escape

from reelbench.score.rounding import percent

# Okabe and Ito's colours, which the colour-blind tell apart; beyond seven, markers help.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
MARKS = ("circle", "square", "diamond", "triangle-up", "x", "star", "triangle-down")
_LINE = 12  # letters of a label


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: its name and title, its description for screen readers, and its traces."""

    name: str
    title: str
    words: str
    data: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any]
    note: str = ""  # a sentence under it

    def to_record(self) -> dict[str, Any]:
        """Return what Plotly draws."""
        return {"data": self.data, "layout": self.layout}


def colour_of(place: int) -> str:
    """The colour of the series or category with this number; after the last, mixed with grey."""
    colour, turn = COLOURS[place % len(COLOURS)], place // len(COLOURS)
    kept = 0.55**turn
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part * kept + 136 * (1 - kept)):02X}" for part in parts)


def layout_of(y: str | None, **more: Any) -> dict[str, Any]:
    """A layout with categories below and, where there is a title for it, a percent axis."""
    layout: dict[str, Any] = {
        "autosize": True,
        "margin": {"l": 54, "r": 12, "t": 24, "b": 36},
        "showlegend": False,
        # Above: names of categories below may be long, and turned.
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "xaxis": {"type": "category", "automargin": True},
    }
    if y is not None:
        layout["yaxis"] = {"title": {"text": y}, "range": [-3, 103]}
    return layout | more


def dashes_at(start: float, end: float, height: float) -> dict[str, Any]:
    """A dashed line at a height, such as that of chance."""
    line = {"color": "#808080", "dash": "dash", "width": 2}
    return {"type": "line", "x0": start, "x1": end, "y0": height, "y1": height, "line": line}


def marker(number: int) -> dict[str, Any]:
    """The colour and shape of the series with this number."""
    colour, mark = COLOURS[number % len(COLOURS)], MARKS[number // len(COLOURS) % len(MARKS)]
    return {"color": colour, "symbol": mark, "size": 11}


def points(
    name: str,
    values: Sequence[str],
    cells: Sequence[Mapping[str, Any]],
    number: int,
    joined: bool = False,
) -> dict[str, Any]:
    """Accuracies with their intervals, as points or as a line; none for what was not asked."""
    shape = marker(number)
    known = [(v, c) for v, c in zip(values, cells, strict=True) if c["accuracy"] is not None]
    values, cells = [value for value, _ in known], [cell for _, cell in known]
    return {
        "type": "scatter",
        "mode": "lines+markers" if joined else "markers",
        "name": plain(name),
        "x": [plain(value) for value in values],
        "y": [100 * cell["accuracy"] for cell in cells],
        "marker": shape,
        "line": {"color": shape["color"], "width": 2},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [100 * (cell["interval"][1] - cell["accuracy"]) for cell in cells],
            "arrayminus": [100 * (cell["accuracy"] - cell["interval"][0]) for cell in cells],
            "color": shape["color"],
            "thickness": 2,
            "width": 0,
        },
        "customdata": [percent(cell["accuracy"]) for cell in cells],  # ties as in the tables
        "hovertemplate": "%{x}: %{customdata}<extra>" + plain(name) + "</extra>",
        **({} if joined else {"offsetgroup": str(number)}),
    }


def wrapped(text: str) -> str:
    """A label in short lines, broken between words: drawings make room for the longest line."""
    lines = textwrap.wrap(text, _LINE, break_long_words=False, break_on_hyphens=False)
    return "<br>".join(map(plain, lines or [""]))


def plain(text: str) -> str:
    """Plotly reads some HTML in labels: show it instead."""
    return str(escape(text))
