"""Filters that ask nobody: repeated questions, what the linter finds, keys that stand out."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.items import LETTERS, Item
from reelbench.make.desk import Desk
from reelbench.make.embed import load_embedder
from reelbench.make.lint.duplicates import duplicate_findings
from reelbench.make.lint.evenness import evenness_of
from reelbench.make.lint.findings import Severity
from reelbench.make.lint.options import answer_findings, option_findings
from reelbench.make.lint.shortcuts import UNLIKELY
from reelbench.make.lint.text import is_none_of_them, words
from reelbench.make.near_duplicates import near_duplicates
from reelbench.make.stage import All, Rejected
from reelbench.seeds import seed_for

Kept = list[Item | Rejected]


def without_twins(alike: float = 0.92, within: str = "media") -> All:
    """Return the stage that keeps one of questions that ask the same in other words."""
    return All(
        name="twins",
        takes=Item,
        gives=Item,
        filters=True,
        work=_without_twins,
        parameters={"alike": alike, "within": within},
        fault=lambda said: "" if said["within"] in ("media", "all") else "within is media or all",
    )


def _without_twins(items: Sequence[Item], _desk: Desk, *, alike: float, within: Any) -> Kept:
    twins = near_duplicates(items, load_embedder(), alike, within) if items else []
    found = {twin.item: twin for twin in twins}
    return [
        Rejected("asks the same as another", f"{twin.twin}, alike to {twin.cosine:.2f}")
        if (twin := found.get(item.id))
        else item
        for item in items
    ]


def without_findings(tier: str = "HIGH") -> All:
    """Return the stage that leaves out items in which the linter finds something of this tier."""
    tiers = list(Severity.__members__)
    return All(
        name="lint",
        takes=Item,
        gives=Item,
        filters=True,
        work=_without_findings,
        parameters={"tier": tier},
        fault=lambda said: (
            "" if said["tier"] in Severity.__members__ else f"tier is one of {tiers}"
        ),
    )


def _without_findings(items: Sequence[Item], _desk: Desk, *, tier: str) -> Kept:
    numbered = list(enumerate(items, 1))
    findings = [
        finding
        for number, item in numbered
        for finding in (*option_findings(item, number), *answer_findings(item, number))
    ]
    found: dict[str, list[Any]] = {}
    for finding in (*findings, *duplicate_findings(numbered)):
        if finding.severity >= Severity[tier]:
            found.setdefault(finding.item, []).append(finding)
    return [
        Rejected(f"lint {found[item.id][0].tag}", "; ".join(f.message for f in found[item.id]))
        if item.id in found
        else item
        for item in items
    ]


def without_favoured_places() -> All:
    """Return the stage that leaves out items until no place of the key is favoured.

    It does nothing where the linter would say nothing. ``dealing_places`` loses no item, but puts
    options into another order than who published them did.
    """
    return All(
        name="positions", takes=Item, gives=Item, filters=True, work=_without_favoured_places
    )


def _without_favoured_places(items: Sequence[Item], desk: Desk) -> Kept:
    groups: dict[tuple[int, int], dict[int, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        free = len(item.options) - bool(item.options and is_none_of_them(item.options[-1]))
        if item.kind == "single" and LETTERS.index(item.answer[0]) < free:
            groups[free, 1][LETTERS.index(item.answer[0])].append(item)
    for held in groups.values():
        for each in held.values():
            each.sort(key=lambda item: seed_for(desk.seed, "positions", item.id))
    dropped: dict[str, str] = {}
    while _favoured(groups):
        # The fullest place of all gives a hundredth of its items at a time.
        held, place = max(
            ((held, place) for held in groups.values() for place in held),
            key=lambda each: (len(each[0][each[1]]) - _even(each[0]), -each[1]),
        )
        for _ in range(max(1, len(held[place]) // 100)):
            dropped[held[place].pop().id] = f"{LETTERS[place]}, which is right too often"
    return [
        Rejected("the key's place is favoured", dropped[item.id]) if item.id in dropped else item
        for item in items
    ]


def _favoured(groups: Mapping[tuple[int, int], Mapping[int, Sequence[Item]]]) -> bool:
    """Whether the linter would say that the places of keys give them away."""
    counts = {
        stratum: Counter({place: len(each) for place, each in held.items()})
        for stratum, held in groups.items()
    }
    evenness = evenness_of(counts)
    return evenness is not None and evenness["p"] < UNLIKELY


def _even(held: Mapping[int, Sequence[Item]]) -> float:
    return sum(map(len, held.values())) / max(1, len(held))


def without_outstanding_keys(factor: float = 1.5) -> All:
    """Return the stage that leaves out items whose key is much longer or shorter than the rest."""
    return All(
        name="lengths",
        takes=Item,
        gives=Item,
        filters=True,
        work=_without_outstanding_keys,
        parameters={"factor": factor},
    )


def _without_outstanding_keys(items: Sequence[Item], _desk: Desk, *, factor: float) -> Kept:
    return [
        Rejected("the key's length gives it away", fault)
        if (fault := _outstanding(item, factor))
        else item
        for item in items
    ]


def _outstanding(item: Item, factor: float) -> str:
    """Say how a key stands out by its length; a difference of two words is none."""
    if item.kind != "single" or len(item.options) < 3:
        return ""
    (key,) = item.correct
    length = len(words(key))
    others = [len(words(option)) for option in item.options if option != key]
    if not others:
        return ""
    if length > max(others) + 2 and length > factor * max(others):
        return f"{length} words, the others {min(others)} to {max(others)}"
    if length < min(others) - 2 and length * factor < min(others):
        return f"{length} words, the others {min(others)} to {max(others)}"
    return ""
