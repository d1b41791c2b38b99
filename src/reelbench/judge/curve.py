"""The loss of a training, step by step: as JSON, and as a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reelbench.base.files import pretty_json, write_atomically
from reelbench.pages.figure import COLOURS

LOSS_FILE, LOSS_PICTURE = "loss.json", "loss.svg"
_WIDTH, _HEIGHT = 720, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 28, 40
_TICKS = 4
_SMOOTH = 0.9  # of the running mean that is drawn over the steps


def write_curve(
    out: Path, losses: Sequence[Mapping[str, Any]], tests: Sequence[Mapping[str, Any]] = ()
) -> None:
    """Write the losses of all steps, and those on the test rows, as ``loss.json`` and ``.svg``."""
    record = {"steps": list(losses), "test": list(tests)}
    write_atomically(out / LOSS_FILE, pretty_json(record))
    write_atomically(out / LOSS_PICTURE, curve_svg(losses, tests))


def curve_svg(losses: Sequence[Mapping[str, Any]], tests: Sequence[Mapping[str, Any]] = ()) -> str:
    """Draw the losses; the picture stands alone, in light and dark."""
    steps = [(float(each["step"]), float(each["loss"])) for each in losses]
    held = [(float(each["step"]), float(each["loss"])) for each in tests]
    most_step = max([step for step, _ in [*steps, *held]], default=1.0)
    most_loss = max([loss for _, loss in [*steps, *held]], default=1.0) * 1.05 or 1.0

    def at(step: float, loss: float) -> tuple[float, float]:
        x = _LEFT + step / most_step * (_WIDTH - _LEFT - _RIGHT)
        return x, _HEIGHT - _BOTTOM - loss / most_loss * (_HEIGHT - _TOP - _BOTTOM)

    lines = [_axis(at, most_step, most_loss)]
    lines.append(_line([at(*point) for point in steps], COLOURS[5], 1))
    lines.append(_line([at(*point) for point in _smoothed(steps)], COLOURS[0], 2.5))
    marks = [at(*point) for point in held]
    if marks:
        lines.append(_line(marks, COLOURS[1], 2))
        lines += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{COLOURS[1]}"/>' for x, y in marks
        ]
    legend = [("training, each step", COLOURS[5]), ("running mean", COLOURS[0])]
    legend += [("test rows", COLOURS[1])] if marks else []
    for number, (name, colour) in enumerate(legend):
        x = _LEFT + 160 * number
        lines.append(f'<rect x="{x}" y="8" width="14" height="10" fill="{colour}"/>')
        lines.append(f'<text x="{x + 20}" y="17">{name}</text>')
    body = "\n".join(lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="#808080"><title>Loss by step</title>\n'
        f"{body}\n</svg>\n"
    )


def _axis(at: Any, most_step: float, most_loss: float) -> str:
    parts = []
    for tick in range(_TICKS + 1):
        share = tick / _TICKS
        x, y = at(share * most_step, share * most_loss)
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
            'stroke="#808080" stroke-opacity="0.25"/>'
        )
        loss = f"{share * most_loss:.2f}"
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{loss}</text>')
        parts.append(
            f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">'
            f"{share * most_step:.0f}</text>"
        )
    parts.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 6}" text-anchor="middle">step</text>')
    return "\n".join(parts)


def _line(points: Sequence[tuple[float, float]], colour: str, width: float) -> str:
    shown = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{shown}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _smoothed(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for step, loss in points:
        kept = found[-1][1] * _SMOOTH + loss * (1 - _SMOOTH) if found else loss
        found.append((step, kept))
    return found
