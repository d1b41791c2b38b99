"""The picture of a funnel: a row for each stage, with a bar of what comes out and of what is lost.

Bars are to scale from the last stage on that makes several rows of one: before it, rows are sources
or tasks, which cannot be compared with questions, and only their number is shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from reelbench.pages import colour_of, shortened, units
from reelbench.score.rounding import percent

WIDTH = 900
NAMES, BARS, WORDS = 24, 196, 556  # where the columns begin
_BAR_WIDTH, _BAR_HEIGHT = 330, 28
_LINE, _GAP = 18, 26  # of text; between two rows
_LETTERS_OF_NAME, _LETTERS_OF_WORDS = 21, 50  # that fit
_LETTER = 7.4  # how wide one is, about
_MOST_REASON_LINES = 2


@dataclass(frozen=True, slots=True)
class BarSegment:
    """A part of a bar."""

    x: float
    width: float
    kind: str  # out, undecided or rejected
    colour: str
    words: str

    @property
    def drawn(self) -> float:
        """How wide it is drawn: what is undecided must be seen, however little it is."""
        return max(self.width, 5.0) if self.kind == "undecided" else self.width


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text beside a bar."""

    text: str
    kind: str  # count, rejected, undecided or reason


@dataclass(frozen=True, slots=True)
class Step:
    """One row of the picture."""

    name: str
    lines: Sequence[Line]
    pieces: Sequence[BarSegment] = ()
    pill: str = ""  # instead of a bar
    y: float = 0.0

    @property
    def height(self) -> int:
        """How much room its lines or its bar take."""
        return max(len(self.lines) * _LINE, _BAR_HEIGHT)

    @property
    def pill_width(self) -> float:
        """How wide the pill is, for its text."""
        return 20 + _LETTER * len(self.pill)

    def ends(self) -> tuple[float, float]:
        """How wide it is where rows go in, and where they come out."""
        if not self.pieces:
            return self.pill_width, self.pill_width
        out = sum(piece.width for piece in self.pieces if piece.kind == "out")
        return sum(piece.width for piece in self.pieces), out


@dataclass(frozen=True, slots=True)
class FunnelPicture:
    """All that is drawn, with its places."""

    title: str
    words: str
    steps: Sequence[Step]
    legend: Sequence[tuple[float, float, str, str]]  # x, y, colour, name
    bands: Sequence[str] = field(default=())  # the points of what joins the rows
    height: float = 0.0
    undecided: bool = False

    width, names, bars, texts = WIDTH, NAMES, BARS, WORDS
    bar_height, line = _BAR_HEIGHT, _LINE


def picture_of(recipe: str, funnel: Mapping[str, Any]) -> FunnelPicture:
    """Lay out the funnel."""
    colours = category_colours(funnel)
    stages = funnel["stages"]
    first = _first_to_scale(stages)
    longest = max([_length(stage) for stage in stages[first:]], default=0)
    scale = _BAR_WIDTH / longest if longest else 0.0
    steps = [_sources(funnel)]
    for place, stage in enumerate(stages):
        steps.append(_step(stage, scale if place >= first else 0.0, colours))
    undecided = any(stage["undecided"] for stage in stages)
    legend = _legend(colours, undecided, rejected=any(s["rejected"] for s in stages[first:]))
    top = 74.0 + (max((y for _, y, _, _ in legend), default=0) + 30 if legend else 0)
    steps, bottom = _placed(steps, top)
    bands = [_band(a, b) for a, b in pairwise(steps)]
    words = " ".join(_in_words(stage) for stage in stages)
    return FunnelPicture(
        f"{recipe}: {_from_to(funnel)}", words, steps, legend, bands, bottom + 14, undecided
    )


def category_colours(funnel: Mapping[str, Any]) -> dict[str, str]:
    """Give each category one colour, in the order in which they come up in the funnel."""
    names = dict.fromkeys(
        name for stage in funnel["stages"] for name in stage.get("by_category", ())
    )
    return {name: colour_of(place) for place, name in enumerate(names)}


def _from_to(funnel: Mapping[str, Any]) -> str:
    stages, sources = funnel["stages"], funnel["sources"]
    if not stages:
        return units(sources["in"], "source")
    begun, left = units(sources["in"], stages[0]["input"]), stages[-1]
    return f"from {begun} to {units(left['out'], left['output'])}"


def _first_to_scale(stages: Sequence[Mapping[str, Any]]) -> int:
    """The last stage that makes several rows of one of another kind; the first, where none does."""
    wider = [
        place
        for place, stage in enumerate(stages)
        if stage["input"] != stage["output"] and stage["out"] > stage["passed"]
    ]
    return wider[-1] if wider else 0


def _length(stage: Mapping[str, Any]) -> int:
    lost = stage["rejected"] + stage["undecided"] if _is_of_one_kind(stage) else 0
    return int(stage["out"] + lost)


def _is_of_one_kind(stage: Mapping[str, Any]) -> bool:
    """Whether what is lost counts as much as what comes out."""
    return bool(stage["input"] == stage["output"] or stage["out"] <= stage["passed"])


def _sources(funnel: Mapping[str, Any]) -> Step:
    sources, stages = funnel["sources"], funnel["stages"]
    unit = stages[0]["input"] if stages else "source"
    lines = [Line(f"{units(sources['in'], unit)} found", "count")]
    if sources["rejected"]:
        lines.append(Line(f"{sources['rejected']:,} could not be used", "rejected"))
    return Step("sources", lines, pill=units(sources["out"], unit))


def _step(stage: Mapping[str, Any], scale: float, colours: Mapping[str, str]) -> Step:
    name, lines = shortened(stage["stage"], _LETTERS_OF_NAME), _lines(stage)
    pieces = _pieces(stage, scale, colours) if scale else ()
    pill = "" if pieces else shortened(units(stage["out"], stage["output"]), 40)
    return Step(name, lines, pieces, pill)


def _pieces(stage: Mapping[str, Any], scale: float, colours: Mapping[str, str]) -> list[BarSegment]:
    """The parts of a bar: what comes out by category, then what does not."""
    cells = stage.get("by_category", {})
    shown = {name: cells[name]["out"] for name in colours if name in cells}
    rest = stage["out"] - sum(shown.values())
    parts = [(count, "out", colours[name], f"{name}: ") for name, count in shown.items()]
    parts.append((rest, "out", "", "without a category: " if shown else ""))
    if _is_of_one_kind(stage):
        parts.append((stage["rejected"], "rejected", "", "rejected: "))
        parts.append((stage["undecided"], "undecided", "", "undecided: "))
    pieces, x = [], 0.0
    for count, kind, colour, words in parts:
        if count > 0:
            width = count * scale
            pieces.append(BarSegment(x, width, kind, colour, f"{words}{count:,}"))
            x += width
    return pieces


def _lines(stage: Mapping[str, Any]) -> list[Line]:
    """What stands beside a bar."""
    same = stage["input"] == stage["output"]
    begun = f"{stage['in']:,}" if same else units(stage["in"], stage["input"])
    count = f"{begun} → {units(stage['out'], stage['output'])}"
    lines = [Line(shortened(count, _LETTERS_OF_WORDS), "count")]
    if stage["rejected"]:
        lines.append(Line(f"{stage['rejected']:,} rejected{_rate(stage)}", "rejected"))
    if stage["undecided"]:
        lines.append(Line(f"{stage['undecided']:,} undecided: run make again", "undecided"))
    return lines + [Line(text, "reason") for text in _reasons(stage["reasons"])]


def _rate(stage: Mapping[str, Any]) -> str:
    if stage.get("rate") is None:
        return ""
    low, high = (percent(end) for end in stage["interval"])
    return f", {percent(stage['rate'])} ({low} to {high})"


def _reasons(reasons: Mapping[str, int]) -> list[str]:
    """The most usual reasons, as many as fit."""
    lines: list[str] = []
    shown = 0
    for reason, count in reasons.items():
        text = f"{shortened(reason, 30)} {count:,}"
        if lines and len(lines[-1]) + len(text) + 3 <= _LETTERS_OF_WORDS:
            lines[-1] += f" · {text}"
        elif len(lines) < _MOST_REASON_LINES:
            lines.append(text)
        else:
            break
        shown += 1
    if len(reasons) > shown:
        lines[-1] = f"{shortened(lines[-1], 38)} · {len(reasons) - shown} more"
    return lines


def _legend(
    colours: Mapping[str, str], undecided: bool, rejected: bool
) -> list[tuple[float, float, str, str]]:
    """The categories and fates, set in lines."""
    named = list(colours.items())[:20]
    named += [("rejected", "rejected")] if rejected else []
    named += [("undecided", "undecided")] if undecided else []
    found, x, y = [], 0.0, 0.0
    for name, colour in named:
        text = shortened(name, 30)
        width = 34 + _LETTER * len(text)
        if x and x + width > WIDTH - 2 * NAMES:
            x, y = 0.0, y + 20
        found.append((x, y, colour, text))
        x += width
    return found


def _placed(steps: Sequence[Step], top: float) -> tuple[list[Step], float]:
    placed = []
    for step in steps:
        placed.append(Step(step.name, step.lines, step.pieces, step.pill, top))
        top += step.height + _GAP
    return placed, top - _GAP


def _band(above: Step, below: Step) -> str:
    """What joins two rows: as wide as what came out of one and went into the other."""
    out, into = above.ends()[1], below.ends()[0]
    top, bottom = above.y + _BAR_HEIGHT, below.y
    corners = ((0.0, top), (out, top), (into, bottom), (0.0, bottom))
    return " ".join(f"{BARS + x:.2f},{y:.2f}" for x, y in corners)


def _in_words(stage: Mapping[str, Any]) -> str:
    begun, out = units(stage["in"], stage["input"]), units(stage["out"], stage["output"])
    lost = f"{stage['rejected']:,} rejected, {stage['undecided']:,} undecided"
    return f"{stage['stage']}: {begun} in, {out} out, {lost}."
