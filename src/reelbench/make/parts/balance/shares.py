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
    seats = _Seats(apportion(sum(sizes.values()), shares))
    for part in parts.values():
        seats.fill(part)
    for stratum in sorted(sizes, key=lambda stratum: (seed_for(seed, "stratum", stratum), stratum)):
        part, size = parts[stratum], sizes[stratum]
        rests = {name: size * share % 1 for name, share in shares.items() if size * share % 1}
        specs = sorted(rests, key=lambda n: (now[stratum].get(n, 0) <= part[n], -rests[n]))
        for _ in range(size - sum(part.values())):
            seats.seat(stratum, specs)
    for stratum, name in seats.taken():
        parts[stratum][name] += 1
    return parts


class _Seats:
    """What is left of strata takes seats at names, one at each name at most if it can be.

    Who finds all seats taken where it may sit sends another on, so that sitting down early does
    not decide (Kuhn's matching).
    """

    def __init__(self, seats: Counts) -> None:
        self._free = dict(seats)
        self._wishes: dict[Stratum, list[str]] = {}
        self._at: dict[str, dict[Stratum, None]] = {name: {} for name in seats}
        self._anywhere: list[tuple[Stratum, str]] = []

    def fill(self, counts: Mapping[str, int]) -> None:
        """Take seats away before anyone sits down."""
        for name, count in counts.items():
            self._free[name] -= count

    def seat(self, stratum: Stratum, specs: list[str]) -> None:
        """Find a seat for one of a stratum: where it wishes, or where it does not if it must."""
        self._wishes[stratum] = specs
        if not self._sits(stratum, set()):
            free = [name for name, seats in self._free.items() if seats]
            name = min(free, key=lambda name: stratum in self._at[name])
            self._free[name] -= 1
            self._anywhere.append((stratum, name))

    def _sits(self, stratum: Stratum, tried: set[str]) -> bool:
        for name in self._wishes[stratum]:
            if name in tried or stratum in self._at[name]:
                continue
            tried.add(name)
            if self._free[name] or self._sends_one_on(name, tried):
                self._free[name] -= 1
                self._at[name][stratum] = None
                return True
        return False

    def _sends_one_on(self, name: str, tried: set[str]) -> bool:
        for other in self._at[name]:
            if self._sits(other, tried):
                del self._at[name][other]
                self._free[name] += 1
                return True
        return False

    def taken(self) -> Iterator[tuple[Stratum, str]]:
        """Yield who sits where."""
        yield from self._anywhere
        yield from ((stratum, name) for name, there in self._at.items() for stratum in there)
