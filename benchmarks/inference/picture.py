"""Draws how busy a GPU was over time, one panel for each way of asking."""

from collections.abc import Sequence

from inference.ways import Measured

_WIDTH, _PANEL, _LEFT, _TOP = 720, 92, 48, 24
_BIN = 0.25  # seconds


def draw(ways: Sequence[Measured]) -> str:
    """Return an SVG of the traces, all on the same time axis."""
    end = max(each.seconds for each in ways)
    height = _PANEL * len(ways) + 30
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        'font-family="sans-serif" font-size="12" fill="#808080">'
        "<title>How busy the GPU is over time</title>"
    ]
    for number, each in enumerate(ways):
        top = _PANEL * number + _TOP
        lines += _panel(each, top, end)
    step = 5 if end <= 60 else 20
    for second in range(0, int(end) + 1, step):
        x = _x(second, end)
        lines.append(f'<text x="{x:.1f}" y="{height - 14}" text-anchor="middle">{second}</text>')
    lines.append(f'<text x="{_WIDTH / 2}" y="{height - 1}" text-anchor="middle">seconds</text>')
    return "\n".join([*lines, "</svg>\n"])


def _panel(way: Measured, top: int, end: float) -> list[str]:
    bottom = top + _PANEL - 30
    lines = [
        f'<text x="{_LEFT}" y="{top - 8}">{way.name}: {way.seconds:.1f} s, busy {way.busy:.0f} %'
        "</text>"
    ]
    for line in (0, 100):
        y = bottom - line / 100 * (bottom - top)
        lines += [
            f'<line x1="{_LEFT}" x2="{_WIDTH - 16}" y1="{y:.1f}" y2="{y:.1f}" stroke="#808080" '
            'stroke-opacity="0.25"/>',
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{line} %</text>',
        ]
    bins: dict[int, list[float]] = {}
    for at, percent in way.trace:
        if 0 <= at <= way.seconds:
            bins.setdefault(int(at / _BIN), []).append(percent)
    points = " ".join(
        f"{_x(_BIN * (place + 0.5), end):.1f},"
        f"{bottom - sum(found) / len(found) / 100 * (bottom - top):.1f}"
        for place, found in sorted(bins.items())
    )
    lines.append(f'<polyline points="{points}" fill="none" stroke="#0072B2"/>')
    return lines


def _x(second: float, end: float) -> float:
    return _LEFT + second / end * (_WIDTH - 16 - _LEFT)
