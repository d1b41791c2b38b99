"""Splits: every stratum divided by the same shares, items on one video or clip kept together."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import structs

from reelbench.base.errors import ReelbenchError
from reelbench.base.seeds import seed_for
from reelbench.data.clusters import cluster_leaders, footage_of
from reelbench.data.items import FrozenDict, Item, freeze
from reelbench.make.parts.balance.draw import in_order_of_chance
from reelbench.make.parts.balance.shares import (
    Shares,
    Stratum,
    apportion,
    apportion_within,
    exact,
    stratum_of,
)

HALVES = FrozenDict({"dev": 0.5, "test": 0.5})
_OFF = 1e-9  # how far from 1 the shares may sum


def split_items(
    items: Sequence[Item],
    shares: Mapping[str, float] = HALVES,
    by: str | Sequence[str] = ("category",),
    *,
    seed: int,
    together: bool = True,
) -> tuple[Item, ...]:
    """Return items tagged with splits, each with its share of all items and of each stratum.

    A stratum is the items with equal values of the tags ``by``. With ``together``, items on the
    same media, or on media made from the same clip, are in the same split, and sizes are as near as
    that allows; otherwise the sizes are exact, and those within a stratum one item off at most.
    """
    wanted = _checked(shares)
    drawn = in_order_of_chance(items, seed, "split")
    groups = _clusters(drawn) if together else [[item] for item in drawn]
    tags = (by,) if isinstance(by, str) else tuple(by)
    strata = {item.id: stratum_of(item, tags) for item in drawn}
    divide = _groups if any(len(group) > 1 for group in groups) else _single_items
    split = divide(groups, strata, wanted, seed)
    return tuple(
        structs.replace(item, tags=freeze({**item.tags, "split": split[item.id]})) for item in items
    )


def known_splits(items: Sequence[Item]) -> dict[str, str]:
    """Return splits by item id: those that items are tagged with, and of others on their videos."""
    split = {item.id: item.tag("split")[0] for item in items if item.tag("split")}
    ordered, before = sorted(items, key=lambda item: item.id), -1
    while len(split) != before:
        before = len(split)
        of_footage: dict[str, str] = {}
        for item in ordered:
            for name in footage_of(item) if item.id in split else ():
                of_footage.setdefault(name, split[item.id])
        for item in ordered:
            known = [of_footage[name] for name in footage_of(item) if name in of_footage]
            if known:
                split.setdefault(item.id, known[0])
    return split


def _checked(shares: Mapping[str, float]) -> Shares:
    listed = ", ".join(f"{name} {share}" for name, share in shares.items()) or "none"
    if not shares or not all(0 < share < math.inf for share in shares.values()):
        raise ReelbenchError(f"The shares of the splits are {listed}: give each one above 0.")
    if abs(math.fsum(shares.values()) - 1) > _OFF:
        raise ReelbenchError(
            f"The shares of the splits are {listed}, which sum to {math.fsum(shares.values()):g}: "
            "give shares that sum to 1."
        )
    fractions = {name: exact(share) for name, share in shares.items()}
    total = sum(fractions.values(), Fraction())
    return {name: share / total for name, share in fractions.items()}


def _clusters(items: Sequence[Item]) -> list[list[Item]]:
    """Group items that share a file or a clip, also by way of others: a pair joins what both do."""
    leaders = cluster_leaders(items)
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[leaders[item.id]].append(item)
    return list(groups.values())


def _single_items(
    groups: Sequence[Sequence[Item]], strata: Mapping[str, Stratum], shares: Shares, seed: int
) -> dict[str, str]:
    members: dict[Stratum, list[str]] = defaultdict(list)
    for (item,) in groups:
        members[strata[item.id]].append(item.id)
    none_yet = {stratum: {"": len(ids)} for stratum, ids in members.items()}
    split: dict[str, str] = {}
    for stratum, counts in apportion_within(none_yet, shares, seed).items():
        names = [name for name, count in counts.items() for _ in range(count)]
        split |= zip(members[stratum], names, strict=True)
    return split


def _groups(
    groups: Sequence[Sequence[Item]], strata: Mapping[str, Stratum], shares: Shares, seed: int
) -> dict[str, str]:
    """Put down group after group, the largest first, where it fills the splits most evenly."""
    splits = _Splits(Counter(strata.values()), shares)
    split: dict[str, str] = {}
    for group in sorted(groups, key=len, reverse=True):  # equals stay in their order of chance
        parts = Counter(strata[item.id] for item in group)
        ties = {name: seed_for(seed, "split", group[0].id, name) for name in shares}
        name = min(ties, key=lambda name: (*splits.strain(name, parts), ties[name]))
        splits.add(name, parts)
        split |= {item.id: name for item in group}
    return split


class _Splits:
    """How full each split is, of all items and of each stratum."""

    def __init__(self, sizes: Counter[Stratum], shares: Shares) -> None:
        self._sizes = sizes
        self._shares = {name: float(share) for name, share in shares.items()}
        self._all = sizes.total()
        self._wanted = apportion(self._all, shares)
        self._has: dict[str, Counter[Stratum]] = {name: Counter() for name in shares}
        self._total = dict.fromkeys(shares, 0)

    def strain(self, name: str, parts: Counter[Stratum]) -> tuple[int, float]:
        """By how many a group would be too large for a split, and how much it would lift it.

        The second is what the group adds to a chi-square of what the split has against its share,
        with a term for each stratum and one for all: less where the split lags behind.
        """
        has, size = self._has[name], parts.total()
        lift = size * (2 * self._total[name] + size) / self._all
        for stratum, count in parts.items():
            lift += count * (2 * has[stratum] + count) / self._sizes[stratum]
        too_many = self._total[name] + size - self._wanted[name]
        return max(0, too_many), lift / self._shares[name]

    def add(self, name: str, parts: Counter[Stratum]) -> None:
        """Put a group down."""
        self._has[name].update(parts)
        self._total[name] += parts.total()
