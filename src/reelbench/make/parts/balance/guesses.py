"""Wrong options drawn so that no rule of thumb finds the key: not the middle, nor the longest.

A rule of thumb picks options by what they say alone, such as the smallest number. Of all ways to
draw the wrong options of an item, the one is taken after which such rules are right as often as
chance, over all items together.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from reelbench.base.seeds import rng_for, seed_for

T = TypeVar("T")
# What each rule of thumb picks, by its name: the places of options, equally likely each.
Guesses = Callable[[Sequence[T]], Mapping[str, Sequence[int]]]
_MOST_WAYS = 200  # of an item that are compared


@dataclass(frozen=True, slots=True)
class OptionDraw(Generic[T]):
    """The key of an item, and the ways to draw its wrong options: one of them is taken."""

    key: T
    ways: Sequence[tuple[T, ...]]


def draw_wrong_options(
    draws: Mapping[str, OptionDraw[T]],
    guesses: Guesses[T],
    seed: int,
    *,
    slack: float | None = None,
) -> dict[str, tuple[T, ...]]:
    """Return the wrong options of each item by its id; an item without a way is left out.

    With ``slack``, items are left out until no rule is right more often than chance by more than so
    many items: where every way makes the key the longest, no draw can hide it.
    """
    balance = _Balance(guesses)
    # Those with few ways first: the others make up for them.
    order = sorted(draws, key=lambda each: (len(draws[each].ways), seed_for(seed, "order", each)))
    taken: dict[str, tuple[T, ...]] = {}
    for item in order:
        ways = list(draws[item].ways)
        if ways:
            ways = rng_for(seed, "ways", item).sample(ways, min(len(ways), _MOST_WAYS))
            key = draws[item].key
            taken[item] = min(ways, key=lambda way: balance.cost(key, way))
            balance.add(key, taken[item])
    while slack is not None and (worst := balance.worst(slack)):
        item = min(
            (each for each in taken if balance.gain(draws[each].key, taken[each], worst) > 0),
            key=lambda each: (balance.cost(draws[each].key, taken[each], -1), each),
        )
        balance.add(draws[item].key, taken.pop(item), -1)
    return taken


class _Balance(Generic[T]):
    """How many items more than by chance each rule of thumb has got right."""

    def __init__(self, guesses: Guesses[T]) -> None:
        self._guesses = guesses
        self._excess: dict[str, float] = defaultdict(float)

    def _gains(self, key: T, wrong: tuple[T, ...]) -> dict[str, float]:
        picks = self._guesses((key, *wrong))
        chance = 1 / (len(wrong) + 1)
        return {
            rule: (1 / len(places) if 0 in places else 0.0) - chance
            for rule, places in picks.items()
            if places
        }

    def gain(self, key: T, wrong: tuple[T, ...], rule: str) -> float:
        return self._gains(key, wrong).get(rule, 0.0)

    def cost(self, key: T, wrong: tuple[T, ...], times: int = 1) -> float:
        gains = self._gains(key, wrong)
        return sum(
            (self._excess[rule] + times * gain) ** 2 - self._excess[rule] ** 2
            for rule, gain in gains.items()
        )

    def add(self, key: T, wrong: tuple[T, ...], times: int = 1) -> None:
        for rule, gain in self._gains(key, wrong).items():
            self._excess[rule] += times * gain

    def worst(self, slack: float) -> str:
        """Return the rule that is furthest above chance; none where all are within the slack."""
        rule = max(self._excess, key=lambda each: (self._excess[each], each), default="")
        return rule if rule and self._excess[rule] > slack else ""


def by_rank(values: Sequence[float], name: str) -> dict[str, list[int]]:
    """Return the rules that pick the smallest value, the next, and so on; equal ones share."""
    ranked = sorted(values)
    return {
        f"{name} {rank + 1}": [place for place, each in enumerate(values) if each == value]
        for rank, value in enumerate(ranked)
    }
