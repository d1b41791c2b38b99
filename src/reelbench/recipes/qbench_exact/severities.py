"""Search how severe a damage must be, to reach as much of it as is wanted."""

from collections.abc import Callable

from reelbench.recipes.qbench_exact.footage import UnfitError

_TRIES = 8  # severities that are tried between none and the worst
_NEAR = 0.15  # of what is wanted, so far from the aim, is near enough
_INSIDE = 0.05  # of the severities between two, so far from either


class SeveritySearch:
    """Severities and the extents that they reach; what is known of them is kept."""

    def __init__(self, extent: Callable[[float], float]) -> None:
        self._measure = extent
        self._known = {0.0: 0.0}

    def extent(self, severity: float) -> float:
        """Return the extent that a severity reaches."""
        if severity not in self._known:
            self._known[severity] = self._measure(severity)
        return self._known[severity]

    def find(self, least: float, aim: float, most: float) -> float:
        """Return a severity whose extent is between two, near the aim; 0 where that suffices.

        Raise ``UnfitError`` where none is found.
        """
        if least <= 0 <= most:
            return 0.0
        if most < 0:
            raise UnfitError(f"undamaged it already has {-most:.2f} too much")
        worst = self.extent(1.0)
        if not worst >= least:  # what cannot be measured is no extent
            raise UnfitError(f"the highest severity reaches {worst:.2f}, not {least:.2f}")
        aim, near = min(aim, (least + worst) / 2), _NEAR * (min(most, worst) - least)
        self._approach(aim, near)
        apart = {severity: abs(extent - aim) for severity, extent in self._known.items()}
        fit = [severity for severity, extent in self._known.items() if least <= extent <= most]
        if not fit:
            reached = self._known[min(apart, key=apart.__getitem__)]
            raise UnfitError(
                f"the nearest severity reaches {reached:.2f}, not {least:.2f} to {most:.2f}"
            )
        return min(fit, key=apart.__getitem__)

    def _approach(self, aim: float, near: float) -> None:
        """Try severities until one reaches about the aim.

        Each is where a straight line between two that are known meets the aim. Where the same end
        stays twice, half as much is believed of it, or a bent curve would be approached from one
        side alone (the Illinois method).
        """
        high = min(severity for severity, extent in self._known.items() if extent >= aim)
        low = max(s for s, extent in self._known.items() if s < high and extent < aim)
        under, over = aim - self._known[low], self._known[high] - aim
        last = 0
        for _ in range(_TRIES):
            share = min(1 - _INSIDE, max(_INSIDE, under / (under + over)))
            middle = round(low + (high - low) * share, 4)
            apart = self.extent(middle) - aim
            if abs(apart) <= near:
                return
            side = 1 if apart > 0 else -1
            if side < 0:
                low, under = middle, -apart
                over /= 2 if last == side else 1
            else:
                high, over = middle, apart
                under /= 2 if last == side else 1
            last = side
