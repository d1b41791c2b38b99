"""Wrong options drawn so that no rule of thumb finds the key: not the middle, nor the longest.

A rule of thumb picks options by what they say alone, such as the smallest number. Of all ways to
draw the options of an item, the one is taken after which such rules are right as often as chance,
over all items together.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from reelbench.base.seeds import rng_for, seed_for

T = TypeVar("T")
Values = NDArray[np.float64]  # of the options: way by way, option by option
Picks = NDArray[np.bool_]  # whether a rule picks an option: rule by rule, way by way
# What rules of thumb pick among options, given the length of the clip in seconds; equals share.
Rules = Callable[[Values, float], Picks]
_MOST_WAYS = 60  # of an item that are compared
_PASSES = 20  # over all items, in which each takes the way that is best beside the others
_AT_ONCE = 50  # one item in so many is left out before the others choose again
_SLACK = 0.005  # of the items: so far above chance a rule may be in any case
_WHOLE = 60  # an item, in parts that halves, thirds, quarters and fifths are whole numbers of


@dataclass(frozen=True, slots=True)
class OptionDraw(Generic[T]):
    """The ways to draw the options of an item, the key first in each: one of them is taken."""

    ways: Sequence[tuple[T, ...]]
    seconds: float = 0.0  # that its clip lasts
    group: Hashable = None  # of items among which rules must not be right too often either


def draw_options(
    draws: Mapping[str, OptionDraw[T]], rules: Rules, seed: int, *, slack: float | None = None
) -> dict[str, tuple[T, ...]]:
    """Return the options of each item by its id, the key first; items without a way are left out.

    With ``slack``, items are left out until no rule is right more often than chance by more than so
    many items, or half a percent of them: where every way makes the key the longest, no draw can
    hide it.
    """
    # Those with few ways first: the others make up for them.
    order = sorted(
        (item for item, draw in draws.items() if draw.ways),
        key=lambda item: (len(draws[item].ways), seed_for(seed, "order", item)),
    )
    groups = list(dict.fromkeys(draws[item].group for item in order))
    members = np.array([1 + groups.index(draws[item].group) for item in order], int)
    ways: list[list[tuple[T, ...]]] = []
    wins: list[NDArray[np.int8]] = []  # of each item: what rules win by each way
    for item in order:
        every = list(draws[item].ways)
        some = rng_for(seed, "ways", item).sample(every, min(len(every), _MOST_WAYS))
        ways.append(some)
        wins.append(_wins(rules(np.asarray(some, np.float64), draws[item].seconds)))
    if not wins:
        return {}
    balance = _Balance(wins, members)
    balance.choose()
    if slack is not None:
        balance.leave_out(slack)
    picked = zip(order, ways, balance.chosen, balance.kept, strict=True)
    return {item: own[best] for item, own, best, stays in picked if stays}


class _Balance:
    """Which way is taken for each item, and what each rule wins by that over chance.

    All numbers are whole, so that sums are the same in any order and on every machine.
    """

    def __init__(self, wins: list[NDArray[np.int8]], groups: NDArray[np.int64]) -> None:
        self._wins, self._groups = wins, groups
        self.kept = np.ones(len(wins), bool)
        self.chosen = [0] * len(wins)
        self._taken = np.zeros((len(wins), wins[0].shape[1]), np.int64)
        self._squares = [(won.astype(np.int64) ** 2).sum(axis=1) for won in wins]
        # Over all items, and in each group of them.
        self._excess = np.zeros((1 + groups.max(), wins[0].shape[1]), np.int64)

    def choose(self, passes: int = _PASSES) -> None:
        """Take for each item that is kept the way that is best beside those of the others."""
        for _ in range(passes):
            before = list(self.chosen)
            for item in np.flatnonzero(self.kept).tolist():
                self._add(item, -1)
                both = (self._excess[0] + self._excess[self._groups[item]]).astype(np.float64)
                costs = self._wins[item].astype(np.float64) @ both + self._squares[item]
                self.chosen[item] = int(np.argmin(costs))
                self._taken[item] = self._wins[item][self.chosen[item]]
                self._add(item, 1)
            if self.chosen == before:
                break

    def _add(self, item: int, times: int) -> None:
        self._excess[[0, self._groups[item]]] += times * self._taken[item]

    def leave_out(self, slack: float) -> None:
        """Leave out items until no rule wins ``slack`` items, over all or in a group of them."""
        at_once = max(1, len(self.chosen) // _AT_ONCE)
        while self._excess.max() > self._allowed(slack):
            for _ in range(at_once):
                group, rule = np.unravel_index(int(self._excess.argmax()), self._excess.shape)
                if self._excess[group, rule] <= self._allowed(slack):
                    break
                won = self._taken[:, rule] > 0  # by none that was left out before
                lost = np.flatnonzero(won & ((self._groups == group) | (group == 0)))
                others = self._excess[0] + self._excess[self._groups[lost]]
                costs = (self._taken[lost] * (self._taken[lost] - others)).sum(axis=1)
                item = int(lost[np.argmin(costs)])
                self._add(item, -1)
                self._taken[item] = 0
                self.kept[item] = False
            self.choose(1)

    def _allowed(self, slack: float) -> float:
        return max(slack, _SLACK * int(self.kept.sum())) * _WHOLE


def _wins(picks: Picks) -> NDArray[np.int8]:
    """Return what each rule wins over chance by each way, in parts of an item."""
    count = picks.sum(axis=2)
    right = np.where(picks[:, :, 0], _WHOLE // np.maximum(count, 1), 0)
    return np.where(count > 0, right - _WHOLE // picks.shape[2], 0).astype(np.int8).T


def by_rank(*measures: Values) -> Picks:
    """Return the rules that pick the least by each measure, the next, and so on; equals share."""
    values = np.stack(measures)
    ranked = np.moveaxis(np.sort(values, axis=2), 2, 1)
    picks: Picks = values[:, None] == ranked[..., None]
    return picks.reshape(-1, *picks.shape[2:])


def equal_to(values: Values, numbers: Sequence[float]) -> Picks:
    """Return the rules that pick a number, each its own, wherever it is offered."""
    picks: Picks = values == np.asarray(numbers)[:, None, None]
    return picks


def off_the_next(values: Values) -> Values:
    """Return how far each value is from the one nearest to it."""
    off = np.abs(values[:, :, None] - values[:, None, :])
    off[:, np.arange(values.shape[1]), np.arange(values.shape[1])] = np.inf
    nearest: Values = off.min(axis=2)
    return nearest


def off_the_mean(values: Values) -> Values:
    """Return how far each value is from the mean of all."""
    off: Values = np.abs(values - values.mean(axis=1, keepdims=True))
    return off
