"""Compare runs, files of predictions, models or conditions, pair by pair on the same items."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import working
from reelbench.base.spelling import name_meant
from reelbench.data.items import Item
from reelbench.score.ablation import settings_that_differ
from reelbench.score.compare import POWER_RULE
from reelbench.score.coverage import (
    ASKED_PAIR_POLICY,
    POLICY,
    CoverageGap,
    Scope,
    coverage_warnings,
)
from reelbench.score.entries import (
    ResultEntry,
    ResultSource,
    chosen_pairs,
    paired_entries,
    shared_items,
)
from reelbench.score.groups import grouped
from reelbench.score.paired import PAIRED_METHOD, PairedResult, corrected

Pairs = Sequence[tuple[ResultEntry, ResultEntry]]


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two entries on the items that both have, or on those of them with a value of a tag."""

    first: ResultEntry
    second: ResultEntry
    found: PairedResult
    value: str = ""  # of the tag; empty for all items

    def changed(self) -> Iterator[tuple[str, Item, bool]]:
        """Yield the items that are right in one of the two alone, and whether in the first."""
        items = self.first.items()
        for names, in_first in ((self.found.only_first, True), (self.found.only_second, False)):
            for name in sorted(names):
                yield name, items[name], in_first


@dataclass(frozen=True, slots=True)
class ComparedEntries:
    """Pairs on the same items, over all items and by a tag, and what is to be known of them."""

    pairs: tuple[ComparedPair, ...]
    by_tag: tuple[ComparedPair, ...]
    tag: str
    policy: str
    notes: tuple[str, ...]

    def label(self, entry: ResultEntry) -> str:
        """Name an entry by what is not the same in all of them, the model alone where that will do.

        A file of predictions is often named after its model: both would be the same twice.
        """
        entries = {each.names() for pair in self.pairs for each in (pair.first, pair.second)}
        if len({model for _, model, _ in entries}) == len(entries):
            return entry.model
        columns = list(zip(*entries, strict=True))
        parts = [n for n, column in zip(entry.names(), columns, strict=True) if len({*column}) > 1]
        return ", ".join(parts)

    def to_record(self) -> dict[str, Any]:
        """Return what goes into a file."""
        return {
            "policy": self.policy,
            "method": PAIRED_METHOD,
            "power_rule": POWER_RULE,
            "notes": list(self.notes),
            "pairs": [_record(pair) for pair in self.pairs],
            **({"tag": self.tag, "by": [*map(_record, self.by_tag)]} if self.tag else {}),
        }


def _record(pair: ComparedPair) -> dict[str, Any]:
    fields = ("source", "model", "condition")
    return {
        "first": dict(zip(fields, pair.first.names(), strict=True)),
        "second": dict(zip(fields, pair.second.names(), strict=True)),
        **({"value": pair.value} if pair.value else {}),
        **pair.found.to_record(),
        "changed": {
            "right_to_wrong": sorted(pair.found.only_first),
            "wrong_to_right": sorted(pair.found.only_second),
        },
    }


@working("Comparing")
def compare_sources(
    sources: Sequence[ResultSource],
    *,
    models: Sequence[str] = (),
    conditions: Sequence[str] = (),
    scope: Scope = "asked",
    by: str = "",
) -> ComparedEntries:
    """Compare what ``chosen_pairs`` finds in some runs or files, corrected for the number of pairs.

    ``scope`` is that of ``paired_entries``; ``by`` is a tag whose values are compared besides, as a
    family of their own. It may be written in another case.
    """
    pairs = chosen_pairs(sources, models, conditions)
    tags = {tag for first, _ in pairs for item in first.items().values() for tag in item.tags}
    if by and by not in tags:  # a property, or a tag in another case
        groups = [grouped(e.source.benchmark, list(e.items().values())) for e, _ in pairs]
        by = name_meant(by, tags.union(*groups))
    found = [_compared(first, second, scope) for first, second in pairs]
    by_value = [each for first, second in pairs for each in _by_tag(first, second, scope, by)]
    if by and not by_value:
        raise ReelbenchError(
            f"No item has the tag {by!r}; the tags are {', '.join(sorted(tags)) or 'none'}."
        )
    compared = ComparedEntries(
        _corrected(found),
        _corrected(by_value),
        by,
        _POLICIES[scope],
        tuple(dict.fromkeys(note for pair in pairs for note in _notes(*pair))),
    )
    gaps = (_gap(pair, compared) for pair in compared.pairs)
    entries = (ResultEntry(source, *asked) for source in sources for asked in source.outcomes)
    silent = [
        f"{' of '.join(entry.names()[1::-1])} answered nothing and is in no pair."
        for entry in entries
        if (not models or entry.model in models)
        and (not conditions or entry.condition in conditions)
        and entry.is_silent
    ]
    warnings = coverage_warnings(gaps, "--common compares only what both of a pair answered")
    return replace(compared, notes=(*compared.notes, *silent, *warnings))


_POLICIES: Mapping[Scope, str] = {
    "asked": ASKED_PAIR_POLICY,
    "all": f"{POLICY}, but people are compared on the items that they were shown",
    "common": "only the items that both answered are compared",
}


def _compared(first: ResultEntry, second: ResultEntry, scope: Scope) -> ComparedPair:
    found = paired_entries(first, second, scope)
    if found is None:
        sides = " and ".join(", ".join(each.names()) for each in (first, second))
        if not first.items() and not second.items():
            raise ReelbenchError(
                f"{sides} have open questions alone, and those are not compared: their grades are "
                "in the report."
            )
        raise ReelbenchError(
            f"{sides} have no closed item in common, with the same question, options, key and "
            "video, that both were asked: compare runs of one benchmark"
            + (", or leave --common out." if scope == "common" else ".")
        )
    return ComparedPair(first, second, found)


def _by_tag(
    first: ResultEntry, second: ResultEntry, scope: Scope, tag: str
) -> Iterator[ComparedPair]:
    """Yield the pair on the items of each value of a tag, or of a property such as the length."""
    shared = shared_items(first, second).items if tag else ()
    tagged: dict[str, list[Item]] = defaultdict(list)
    for item in shared:
        for value in item.tag(tag):
            tagged[value].append(item)
    if shared and not tagged:
        tagged |= grouped(first.source.benchmark, shared).get(tag, {})
    for value in sorted(tagged):
        if found := paired_entries(first, second, scope, tagged[value]):
            yield ComparedPair(first, second, found, value)


def _corrected(pairs: Sequence[ComparedPair]) -> tuple[ComparedPair, ...]:
    family = corrected([pair.found for pair in pairs])
    return tuple(
        ComparedPair(pair.first, pair.second, found, pair.value)
        for pair, found in zip(pairs, family, strict=True)
    )


def _notes(first: ResultEntry, second: ResultEntry) -> Iterator[str]:
    """Yield sentences on what is not the same of two entries, besides what their names say."""
    if words := shared_items(first, second).in_words(first, second):
        yield words
    if first.source is second.source:
        return
    one, other = (
        _named(each.source.record, "conditions", each.condition) for each in (first, second)
    )
    if one and other and first.condition == second.condition:
        for field, values in settings_that_differ(one, other).items():
            yield (
                f"{first.condition} does not ask in the same way in both: {field} is "
                f"{values[0]} in {first.source.label} and {values[1]} in {second.source.label}."
            )
    one, other = (_named(each.source.record, "models", each.model) for each in (first, second))
    if first.model == second.model and one.get("parameters") != other.get("parameters"):
        yield (
            f"{first.model} does not have the same parameters in both: see run.json of "
            f"{first.source.label} and of {second.source.label}."
        )


def _named(record: Mapping[str, Any], part: str, name: str) -> Mapping[str, Any]:
    return next((each for each in record.get(part, ()) if each["name"] == name), {})


def _gap(pair: ComparedPair, compared: ComparedEntries) -> CoverageGap:
    names = compared.label(pair.first), compared.label(pair.second)
    return replace(pair.found.pair.gap, names=names)
