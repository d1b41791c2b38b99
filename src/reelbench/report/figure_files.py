"""The figures of a report as files for a paper: SVG, PDF and PNG, drawn by Plotly in Chromium."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command
from reelbench.base.files import file_part, write_atomically
from reelbench.base.progress import track
from reelbench.pages.figure import Figure
from reelbench.report.figures import figures, tags_with_values

FORMATS = ("svg", "pdf", "png")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_COLUMN, _PAGE = 336, 672  # pixels: 3.5 and 7 inches, a column and the width of a page
_FONT = 10.6  # pixels: 8 points
_MOST_IN_COLUMN = 12  # points side by side; more need the width of a page
_SCALE = 4  # dots of a PNG for a pixel: 384 an inch
_LONGEST = 80  # characters of a file's name
_SECONDS = 120  # for one figure


def figure_formats(text: str) -> list[str]:
    """Return the formats that a text lists; refuse others, and what this machine cannot draw."""
    listed = [each.strip().lower() for each in text.split(",") if each.strip()]
    unknown = [each for each in listed if each not in FORMATS]
    if unknown or not listed:
        raise ReelbenchError(
            f"--figure-format {text}: expected one or several of {', '.join(FORMATS)}, with commas "
            "between."
        )
    try:
        import kaleido  # noqa: F401
    except ImportError:
        raise ReelbenchError(
            f"Figures as files need Kaleido: {install_command('figures')}."
        ) from None
    _browser()
    return list(dict.fromkeys(listed))


def write_figures(
    scores: Mapping[str, Any], folder: Path, formats: Sequence[str] = ("svg",)
) -> list[Path]:
    """Write every figure for which the scores have data into a folder; return the files.

    The same scores give the same files, byte for byte, with the same browser and fonts.
    """
    folder.mkdir(parents=True, exist_ok=True)
    drawn = figures(scores, tags_with_values(scores))
    return asyncio.run(_write(drawn, folder, formats))


async def _write(drawn: Sequence[Figure], folder: Path, formats: Sequence[str]) -> list[Path]:
    written = []
    names = _file_names(drawn)
    async with _renderer() as renderer:
        for figure in track(drawn, "Drawing figures", len(drawn), "figures"):
            sized = for_paper(figure)
            size = {name: sized["layout"][name] for name in ("width", "height")}
            for form in formats:
                scale = _SCALE if form == "png" else 1
                options = {"format": form, "scale": scale, **size}
                data = await renderer.calc_fig(sized, opts=options)
                written.append(folder / f"{names[figure.name]}.{form}")
                write_atomically(written[-1], settled(data, form))
    return written


def _file_names(drawn: Sequence[Figure]) -> dict[str, str]:
    """Name files by the titles of the figures; each has a name of its own."""
    names: dict[str, str] = {}
    for figure in drawn:
        plain = file_part(figure.title.lower())[:_LONGEST]
        number = sum(name == plain or name.startswith(f"{plain}-no-") for name in names.values())
        names[figure.name] = f"{plain}-no-{number + 1}" if number else plain
    return names


@asynccontextmanager
async def _renderer() -> AsyncIterator[Any]:
    import kaleido

    # Plotly's own script from its wheel: nothing is fetched.
    script = str(files("plotly").joinpath("package_data/plotly.min.js"))
    opened = kaleido.Kaleido(n=1, timeout=_SECONDS, plotlyjs=script, mathjax=False, path=_browser())
    async with opened as renderer:
        yield renderer


def _browser() -> str:
    """Return the path of a browser of the Chromium family."""
    for name in _BROWSERS:
        if path := shutil.which(name):
            return path
    raise ReelbenchError(
        "Figures as files are drawn by Chromium or Chrome, and neither is installed (on Debian: "
        "apt-get install chromium). The page has buttons that save its figures without it."
    )


def for_paper(figure: Figure) -> dict[str, Any]:
    """Return a figure with a size, a font and a legend for print."""
    layout = {**figure.layout}
    polar = "polar" in layout
    named = len(figure.data) > 1 and all("name" in trace for trace in figure.data)
    points = sum(len(trace.get("x", ())) for trace in figure.data)
    width = _COLUMN if points <= _MOST_IN_COLUMN or polar else _PAGE
    longest = max((len(trace.get("name", "")) for trace in figure.data), default=0)
    beside = max(1, width // round(45 + 0.6 * _FONT * longest))
    legend = round(1.8 * _FONT * -(-len(figure.data) // beside)) if named else 0
    line = {"showline": True, "linecolor": "#444444", "gridcolor": "#dddddd", "ticks": "outside"}
    for axis in ("xaxis", "yaxis") if not polar else ():
        layout[axis] = {"zeroline": False, **line, **layout.get(axis, {}), "automargin": True}
    layout |= {
        "width": width,
        "height": (round(width * 0.95) if polar else 230) + legend,
        "autosize": False,
        # At the sides of a circle stand labels, which make no room for themselves.
        "margin": {"l": 66, "r": 66, "t": 10, "b": 10}
        if polar
        else {"l": 8, "r": 8, "t": 8, "b": 8},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "font": {"size": _FONT, "color": "#000000", "family": "Arial, Liberation Sans, sans-serif"},
        "showlegend": named,
        # Above: the names of categories below may be long, and turned.
        "legend": {"orientation": "h", "y": 1.08 if polar else 1.02, "yanchor": "bottom", "x": 0},
    }
    # With a name, so that Plotly makes up none.
    traces = [_smaller(trace) | {"uid": f"-{place}"} for place, trace in enumerate(figure.data)]
    return {"data": traces, "layout": layout}


def _smaller(trace: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trace with marks for a small figure."""
    mark, line = trace.get("marker", {}), trace.get("line", {})
    # A legend has the names, which would lie over each other here.
    mode = str(trace.get("mode", "")).replace("+text", "")
    found = {
        **trace,
        **({"mode": mode} if mode else {}),
        "marker": {**mark, **({"size": 6} if "size" in mark else {})},
    }
    if line:
        found["line"] = {**line, "width": 1.4}
    if "error_y" in trace:
        found["error_y"] = {**trace["error_y"], "thickness": 1.2}
    return found


def settled(data: bytes, form: str) -> bytes:
    """Return a drawing without what differs from one time to the next: random names, and dates."""
    if form == "svg":
        found = re.search(rb'id="defs-(\w+)"', data)
        return re.sub(rb"([a-z]|defs-)" + found[1], rb"\1figure", data) if found else data
    if form == "pdf":
        # As long as before, so that the places that the file lists stay right.
        return re.sub(rb"\(D:\d{14}", b"(D:20000101000000", data)
    return data
