"""Divide counts by shares, by largest remainder: of all items, and of each stratum too."""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

from reelbench.base.errors import ReelbenchError
from reelbench.base.seeds import seed_for
from reelbench.data.items import Item

Shares = Mapping[str, Fraction]  # they sum to one
Stratum = tuple[tuple[str, ...], ...]  # an item's values of some tags
Counts = dict[str, int]

_FINEST = 1_000_000  # denominator up to which a float is taken for the fraction it stands for


def exact(number: float | Fraction) -> Fraction:
    """Return the fraction that a float stands for: a third for 0.333..., so that thirds add up."""
    near = Fraction(number).limit_denominator(_FINEST)
    return near if math.isclose(near, number, rel_tol=1e-12) else Fraction(number)


def share_of_all(name: str, share: float) -> Fraction:
    """Return a share as a fraction; one that is not from 0 to 1 raises an error."""
    if not 0 <= share <= 1:  # which no comparison with a nan is
        raise ReelbenchError(f"{name} is {share}: give a share from 0 to 1.")
    return exact(share)


def stratum_of(item: Item, tags: tuple[str, ...]) -> Stratum:
    """Return an item's values of the tags; items without one are a stratum of their own."""
    return tuple(tuple(sorted(set(item.tag(tag)))) for tag in tags)


def apportion(total: int, shares: Shares) -> Counts:
    """Divide so many by largest remainder; of equal remainders the share named first wins."""
    counts = {name: math.floor(total * share) for name, share in shares.items()}
    by_remainder = sorted(shares, key=lambda name: counts[name] - total * shares[name])
    for name in by_remainder[: total - sum(counts.values())]:
        counts[name] += 1
    return counts


def apportion_within(
    now: Mapping[Stratum, Mapping[str, int]], shares: Shares, seed: int
) -> dict[Stratum, Counts]:
    """Divide each stratum, so that the sums over all strata are those of ``apportion``.

    ``now`` counts each stratum as it is; what a name has now it keeps where it can. Each stratum
    gets its whole parts, and what is left of it is rounded up for some names and down for others.
    """
    sizes = {stratum: sum(counts.values()) for stratum, counts in now.items()}
    parts = {
        stratum: {name: math.floor(size * share) for name, share in shares.items()}
        for stratum, size in sizes.items()
    }
    remainders = _Matching(apportion(sum(sizes.values()), shares))
    for part in parts.values():
        remainders.subtract(part)
    for stratum in sorted(sizes, key=lambda stratum: (seed_for(seed, "stratum", stratum), stratum)):
        part, size = parts[stratum], sizes[stratum]
        rests = {name: size * share % 1 for name, share in shares.items() if size * share % 1}
        preferred = sorted(rests, key=lambda n: (now[stratum].get(n, 0) <= part[n], -rests[n]))
        for _ in range(size - sum(part.values())):
            remainders.add(stratum, preferred)
    for stratum, name in remainders.matched():
        parts[stratum][name] += 1
    return parts


class _Matching:
    """Assigns what is left of strata to names with free places, at most once each if possible.

    Where all places that a stratum prefers are taken, another one is moved to a place that it
    prefers too, so that the order of strata does not decide (Kuhn's algorithm).
    """

    def __init__(self, places: Counts) -> None:
        self._free = dict(places)
        self._preferred: dict[Stratum, list[str]] = {}
        self._at: dict[str, dict[Stratum, None]] = {name: {} for name in places}
        self._others: list[tuple[Stratum, str]] = []  # at names that they do not prefer

    def subtract(self, counts: Mapping[str, int]) -> None:
        """Take away places that are used already."""
        for name, count in counts.items():
            self._free[name] -= count

    def add(self, stratum: Stratum, preferred: list[str]) -> None:
        """Assign one of a stratum to a name, one of the preferred ones if possible."""
        self._preferred[stratum] = preferred
        if not self._assign(stratum, set()):
            free = [name for name, places in self._free.items() if places]
            name = min(free, key=lambda name: stratum in self._at[name])
            self._free[name] -= 1
            self._others.append((stratum, name))

    def _assign(self, stratum: Stratum, tried: set[str]) -> bool:
        for name in self._preferred[stratum]:
            if name in tried or stratum in self._at[name]:
                continue
            tried.add(name)
            if self._free[name] or self._move_one(name, tried):
                self._free[name] -= 1
                self._at[name][stratum] = None
                return True
        return False

    def _move_one(self, name: str, tried: set[str]) -> bool:
        for other in self._at[name]:
            if self._assign(other, tried):
                del self._at[name][other]
                self._free[name] += 1
                return True
        return False

    def matched(self) -> Iterator[tuple[Stratum, str]]:
        """Yield each stratum with the name that one of it was assigned to."""
        yield from self._others
        yield from ((stratum, name) for name, there in self._at.items() for stratum in there)
