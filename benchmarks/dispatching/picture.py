"""Draws how many cores were up and how many were busy, over time."""

from collections.abc import Iterable

from dispatching.scenarios import Outcome

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 720, 300, 56, 20, 40
_POINTS = 300


def draw(outcome: Outcome) -> str:
    """Return an SVG of a scenario."""
    end = outcome.seconds
    most = sum(machine.total.cpus for machine in outcome.ray.machines)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="12" fill="#808080">'
        "<title>Cores that are up and cores that are busy, over time</title>"
    ]
    for part in range(5):
        y, x = _y(part / 4), _x(part / 4)
        lines += [
            f'<line x1="{_LEFT}" x2="{_WIDTH - 16}" y1="{y:.1f}" y2="{y:.1f}" stroke="#808080" '
            'stroke-opacity="0.25"/>',
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{most * part / 4:.0f}</text>',
            f'<text x="{x:.1f}" y="{_HEIGHT - 22}" text-anchor="middle">'
            f"{end * part / 4:.0f}</text>",
        ]
    lines.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 6}" text-anchor="middle">seconds</text>')
    for name, colour, changes, x in (
        ("up", "#D55E00", outcome.ray.offered, 0.82),
        ("busy", "#0072B2", outcome.ray.busy, 0.92),
    ):
        points = " ".join(
            f"{_x(moment / end):.1f},{_y(value / most):.1f}"
            for moment, value in sampled(changes, end)
        )
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}"/>')
        lines.append(f'<text x="{_x(x):.1f}" y="14" fill="{colour}">{name}</text>')
    return "\n".join([*lines, "</svg>\n"])


def sampled(changes: Iterable[tuple[float, float]], end: float) -> list[tuple[float, float]]:
    """Return what the sum of the changes is at evenly spaced moments."""
    ordered = sorted(changes)
    found, total, place = [], 0.0, 0
    for number in range(_POINTS + 1):
        moment = end * number / _POINTS
        while place < len(ordered) and ordered[place][0] <= moment:
            total += ordered[place][1]
            place += 1
        found.append((moment, total))
    return found


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - 16 - _LEFT)


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - _TOP)
