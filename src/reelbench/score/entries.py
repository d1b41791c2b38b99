"""What is held against each other: a model under a condition, in a run or a file of predictions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.data.benchmark import Benchmark
from reelbench.data.clusters import video_clusters
from reelbench.data.items import Item
from reelbench.evaluate.condition import PROTOCOL
from reelbench.evaluate.folder import benchmark_among, read_run
from reelbench.score.coverage import Scope
from reelbench.score.paired import PairedResult, paired
from reelbench.score.people import is_person
from reelbench.score.predictions import Asked, ItemOutcome, read_predictions
from reelbench.score.results import ModelResult, with_answers
from reelbench.score.score import main_condition


@dataclass(frozen=True, slots=True)
class ResultSource:
    """A run, or a file of predictions: the benchmark that it is about, and what came of it."""

    label: str
    benchmark: Benchmark
    outcomes: Mapping[Asked, Mapping[str, ItemOutcome]]
    record: Mapping[str, Any] = field(default_factory=dict)  # ``run.json``, where there is one
    path: Path | None = None  # the run's folder


def run_source(
    out: Path,
    label: str,
    moved: Sequence[Path] = (),
    choose: Callable[..., Benchmark] | None = None,
) -> ResultSource:
    """Read a run; its benchmark is in its place, or one of those that are named as ``moved``.

    ``choose`` takes part of what the run is about, given that and the run's seed.
    """
    record = read_run(out)
    benchmark = benchmark_among(out, record, moved)
    benchmark = choose(benchmark, seed=record["seed"]) if choose else benchmark
    outcomes = read_predictions(out / "predictions.jsonl", benchmark)
    return ResultSource(label, benchmark, outcomes, record, out)


@dataclass(frozen=True, slots=True)
class ResultEntry:
    """One model under one condition of one source."""

    source: ResultSource
    model: str
    condition: str

    def result(self, items: Sequence[Item], scope: Scope = "asked") -> ModelResult:
        """Return its answers to some closed items of its benchmark: those that are in scope."""
        outcomes = self.source.outcomes[self.model, self.condition]
        result = ModelResult(self.model, self.condition, items, (), items, outcomes)
        if scope == "common":
            return result.on({item.id for item in items if result.answered(item)})
        if scope == "asked" or is_person(self.model):  # nobody is wrong on what they were not shown
            return result.on(result.answers)
        return result

    @property
    def is_silent(self) -> bool:
        """Whether there are closed items and it has answered none of them."""
        items = [*self.items().values()]
        return bool(items) and not with_answers([self.result(items)])

    def items(self) -> dict[str, Item]:
        """Return the closed items that it was asked, or should have been, by id."""
        return {item.id: item for item in self.source.benchmark.items if item.kind != "open"}

    def names(self) -> tuple[str, str, str]:
        """Return the names of source, model and condition."""
        return self.source.label, self.model, self.condition


@dataclass(frozen=True, slots=True)
class SharedItems:
    """The items that two entries have in common, unchanged."""

    items: tuple[Item, ...]
    changed: int  # these have the same id, and another question, option, key or video
    alone: int  # these are in one of the two alone

    def in_words(self, first: ResultEntry, second: ResultEntry) -> str:
        """Say how many items are compared, where that is not all; else empty."""
        if not self.changed and not self.alone:
            return ""
        about = [_version(each) for each in (first, second)]
        left = [f"{self.changed} changed"] if self.changed else []
        left += [f"{self.alone} are in one of them alone"] if self.alone else []
        return (
            f"{about[0]} and {about[1]} are not about the same items: "
            f"{counted(len(self.items), 'item')} that both have unchanged "
            f"{'is' if len(self.items) == 1 else 'are'} compared ({', '.join(left)})."
        )


def _version(entry: ResultEntry) -> str:
    manifest = entry.source.benchmark.manifest
    return f"{entry.source.label} ({manifest.name} {manifest.version})"


def shared_items(first: ResultEntry, second: ResultEntry) -> SharedItems:
    """Return the closed items that two entries have in common, unchanged."""
    one, other = first.items(), second.items()
    both = sorted(set(one) & set(other))
    same = tuple(one[name] for name in both if _as_asked(one[name]) == _as_asked(other[name]))
    return SharedItems(same, len(both) - len(same), len(set(one) ^ set(other)))


def _as_asked(item: Item) -> tuple[object, ...]:
    """What a model is asked, and what is right."""
    return item.kind, item.media, item.question, item.options, item.answer


def paired_entries(
    first: ResultEntry,
    second: ResultEntry,
    scope: Scope = "asked",
    items: Sequence[Item] | None = None,
) -> PairedResult | None:
    """Hold two entries against each other on the items that both have; None where there are none.

    ``scope`` is for both: items that both were asked, all, or those that both answered. ``items``
    are some of those they share.
    """
    items = shared_items(first, second).items if items is None else items
    return paired(first.result(items, scope), second.result(items, scope), video_clusters(items))


def chosen_pairs(
    sources: Sequence[ResultSource], models: Sequence[str] = (), conditions: Sequence[str] = ()
) -> list[tuple[ResultEntry, ResultEntry]]:
    """Return the pairs of entries to hold against each other.

    Of several sources: the same model under the same condition; for a source without such a pair,
    different models under the same condition, or any. Of one source: the conditions of each model
    where two are named or there is one model, else the models under one condition, the main one
    unless another is named. What has not answered anything is in no pair.
    """
    entries = [
        ResultEntry(source, *asked)
        for source in sources
        for asked in sorted(source.outcomes, key=lambda asked: _place(asked, models, conditions))
    ]
    _check_names(entries, models, conditions)
    entries = [
        entry
        for entry in entries
        if (not models or entry.model in models)
        and (not conditions or entry.condition in conditions)
        and not entry.is_silent
    ]
    pairs = list(_between(entries) if len(sources) > 1 else _within(entries, conditions))
    if not pairs:
        known = "; ".join(", ".join(entry.names()) for entry in entries) or "nothing"
        raise ReelbenchError(
            f"There is nothing to compare with each other; this is all that has answers: {known}. "
            "Name another run, or other --model and --condition."
        )
    return pairs


def _place(asked: Asked, models: Sequence[str], conditions: Sequence[str]) -> tuple[Any, ...]:
    """The order in which they were named, else by name, the protocol first."""
    return tuple(
        (named.index(name) if name in named else len(named), name != PROTOCOL, name)
        for name, named in zip(asked, (models, conditions), strict=True)
    )


def _check_names(
    entries: Sequence[ResultEntry], models: Sequence[str], conditions: Sequence[str]
) -> None:
    known = {
        "model": (models, {entry.model for entry in entries}),
        "condition": (conditions, {entry.condition for entry in entries}),
    }
    for what, (named, there) in known.items():
        if unknown := [name for name in named if name not in there]:
            raise ReelbenchError(
                f"There is no {what} {', '.join(unknown)} in what is compared; its {what}s: "
                f"{', '.join(sorted(there))}."
            )


def _between(entries: Sequence[ResultEntry]) -> Iterator[tuple[ResultEntry, ResultEntry]]:
    """Yield pairs of different sources, of the kind that says most; each source is in one."""
    pairs = [
        (one, other)
        for one, other in combinations(entries, 2)
        if one.source.label != other.source.label
    ]
    alike = [one.condition == other.condition for one, other in pairs]
    same = [
        way and one.model == other.model for way, (one, other) in zip(alike, pairs, strict=True)
    ]
    chosen: set[int] = set()
    for fits in (same, alike, [True] * len(pairs)):
        there = {each.source.label for number in chosen for each in pairs[number]}
        chosen |= {
            number
            for number, pair in enumerate(pairs)
            if fits[number] and not {each.source.label for each in pair} <= there
        }
    yield from (pairs[number] for number in sorted(chosen))


def _within(
    entries: Sequence[ResultEntry], conditions: Sequence[str]
) -> Iterator[tuple[ResultEntry, ResultEntry]]:
    """Yield pairs of one source: conditions of each model, or models under one condition."""
    pairs = list(combinations(entries, 2))
    if len(conditions) > 1 or len({entry.model for entry in entries}) < 2:
        yield from ((one, other) for one, other in pairs if one.model == other.model)
        return
    main = main_condition([entry.result(()) for entry in entries])
    yield from ((one, other) for one, other in pairs if one.condition == other.condition == main)
