"""The rows of a declared table: models under conditions, people, and means of several models."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Any

from reelbench.data.items import NOTHING, Item
from reelbench.data.table_rules import ACCURACY, F1_OF_MEANS, METRIC, POOLED_METRICS
from reelbench.evaluate.vote import Answer
from reelbench.score.ablation import natural_order
from reelbench.score.given import Given
from reelbench.score.grades import Graded, Grades, worth
from reelbench.score.metrics import METRICS
from reelbench.score.mistakes import chosen_with
from reelbench.score.people import is_person
from reelbench.score.predictions import Asked
from reelbench.score.results import ModelResult

Usage = Mapping[str, float]  # of a model under a condition, by what is measured


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What rows are made from beside the results: all by name of the model."""

    tiers: Mapping[str, str] = NOTHING  # the groups that the user has put models into
    helped: Mapping[str, Sequence[str]] = NOTHING  # the roles of models that made the items
    usage: Mapping[Asked, Usage] = field(default_factory=dict)
    given: Mapping[Asked, Given] = field(default_factory=dict)  # media, by model and condition


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: a model under a condition, all people under one, or the mean of several models."""

    names: Mapping[str, Any]
    worth: Mapping[str, Mapping[str, float]]  # by metric, of items that can be valued
    asked: frozenset[str]  # the items that were
    answers: Sequence[Mapping[str, Answer | None]] = ()  # of each who is in the row
    usage: Usage = field(default_factory=dict)
    members: Sequence["TableRow"] = ()  # of a mean of models

    @property
    def condition(self) -> str:
        """The condition that it is under."""
        return str(self.names["condition"])

    @property
    def who(self) -> str:
        """Who it is about, under any condition."""
        return str(self.names["model"])

    def covered(self, items: Sequence[Item], metric: str = ACCURACY) -> dict[str, float]:
        """Return the worth of those items that have one; none where none of them was asked.

        A mean of models covers what all of them do.
        """
        if any(not member.covered(items, metric) for member in self.members):
            return {}
        if not any(item.id in self.asked for item in items):
            return {}
        worth = self.worth[metric]
        return {item.id: worth[item.id] for item in items if item.id in worth}

    def wrong_with(self, items: Sequence[Item], words: Sequence[str]) -> list[tuple[str, float]]:
        """Return each wrong answer of the row by its item: 1 if the choice has such a word."""
        return [
            pair for answers in self.answers for pair in chosen_with(items, answers, words).items()
        ]


def table_rows(
    results: Sequence[ModelResult],
    ranked: Sequence[Asked],
    grades: Mapping[Asked, Grades],
    facts: RowFacts,
    metrics: Collection[str] = (),
) -> list[TableRow]:
    """Return a row for each model and condition, in their order, then one for people of each.

    An answer is valued by accuracy, and by these metrics too.
    """
    known = {(result.model, result.condition): result for result in results}
    models: list[TableRow] = []
    people: dict[str, list[TableRow]] = defaultdict(list)
    for asked in ranked:
        row = _row(known[asked], grades.get(asked), facts, metrics)
        (people[row.condition] if is_person(asked[0]) else models).append(row)
    return models + [_people(condition, them) for condition, them in sorted(people.items())]


def metrics_in(tables: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the metrics that answers are to be valued by, for the columns of these tables."""
    found = {
        choice[METRIC]
        for table in tables
        for choice in table["columns"].values()
        if METRIC in choice
    }
    parts = {"precision", "recall"} if found & {F1_OF_MEANS, *POOLED_METRICS} else set[str]()
    return (found & METRICS.keys()) | parts


def _row(
    result: ModelResult, grades: Grades | None, facts: RowFacts, metrics: Collection[str]
) -> TableRow:
    asked = frozenset(result.outcomes)
    values = {ACCURACY: worth(result, grades)}
    for name in sorted(set(metrics) - {ACCURACY}):
        metric = METRICS[name]
        pairs = zip(result.items, result.credits(metric), strict=True)
        values[name] = {item.id: float(one) for item, one in pairs if item.kind in metric.kinds}
    if is_person(result.model):  # who need not answer everything
        every = (*result.items, *result.opened)
        asked = frozenset(item.id for item in every if result.answered(item))
        values = {
            name: {item: value for item, value in each.items() if item in asked}
            for name, each in values.items()
        }
    helped = facts.helped.get(result.model)
    names = {"model": result.model, "condition": result.condition}
    return TableRow(
        {**names, **({"helped": list(helped)} if helped else {})},
        values,
        asked,
        (result.answers,),
        facts.usage.get((result.model, result.condition), {}),
    )


def grades_of(judge: str | None, graded: Mapping[Graded, Grades]) -> dict[Asked, Grades]:
    """Return the grades of one judge; those of another rubric only where the first has none."""
    found: dict[Asked, Grades] = {}
    for (model, condition, name, _), grades in sorted(
        graded.items(), key=lambda each: (not each[1].scores, each[0])
    ):
        if name == judge:
            found.setdefault((model, condition), grades)
    return found


def _people(condition: str, them: Sequence[TableRow]) -> TableRow:
    """People as one: an item is worth the mean of what it is worth for each of them."""
    values: dict[str, dict[str, float]] = {}
    for metric in them[0].worth:
        by_item: dict[str, list[float]] = defaultdict(list)
        for each in them:
            for item, share in each.worth[metric].items():
                by_item[item].append(share)
        values[metric] = {item: fsum(some) / len(some) for item, some in by_item.items()}
    name = them[0].names["model"] if len(them) == 1 else "people"
    names = {"model": name, "condition": condition, "participants": len(them)}
    asked = frozenset[str]().union(*(each.asked for each in them))
    return TableRow(names, values, asked, [answers for each in them for answers in each.answers])


def rows_of(rows: Sequence[TableRow], table: Mapping[str, Any], facts: RowFacts) -> list[TableRow]:
    """Return the rows of one table: those of its conditions, with the means that it asks for."""
    wanted = tuple(table.get("conditions", ()))
    left = [row for row in rows if not wanted or place_of(row.condition, wanted) is not None]
    if wanted:
        order = {who: place for place, who in reversed([*enumerate(row.who for row in left)])}
        left.sort(
            key=lambda row: (
                order[row.who],
                place_of(row.condition, wanted),
                natural_order(row.condition),
            )
        )
    if table.get("frames"):
        left = _by_frames(left, facts)
    models = [row for row in left if "participants" not in row.names]
    people = [row for row in left if "participants" in row.names]
    averages = list(_averages(models, table, facts))
    if table.get("tiers"):
        models = _by_tier(models, facts)
    if table.get("modality"):
        models = [_with_name(row, "modality", _given(row, facts).modalities) for row in models]
    if table.get("frames"):
        models = [_with_name(row, "frames", _given(row, facts).frames) for row in models]
    # People whose protocol is declared stand first, as papers print them.
    return [*people, *models, *averages] if "people" in table else [*models, *averages, *people]


def _by_tier(models: Sequence[TableRow], facts: RowFacts) -> list[TableRow]:
    """Return rows tier by tier, in the order of the tiers; those that are in none come last."""
    tiers = [*dict.fromkeys(facts.tiers.values()), ""]
    named = [(facts.tiers.get(row.who, ""), row) for row in models]
    return [
        replace(row, names={**row.names, "tier": tier}) if tier else row
        for wanted in tiers
        for tier, row in named
        if tier == wanted
    ]


def _given(row: TableRow, facts: RowFacts) -> Given:
    return facts.given.get((row.who, row.condition), Given())


def _with_name(row: TableRow, name: str, value: str) -> TableRow:
    return replace(row, names={**row.names, name: value})


def _by_frames(rows: Sequence[TableRow], facts: RowFacts) -> list[TableRow]:
    """Return the rows of each model by the number of frames, those that asked the same once."""
    together: dict[str, dict[Given | str, TableRow]] = defaultdict(dict)
    for row in rows:
        asked = facts.given.get((row.who, row.condition), row.condition)
        together[row.who].setdefault(asked, row)
    return [
        row
        for mine in together.values()
        for row in sorted(mine.values(), key=lambda row: natural_order(_given(row, facts).frames))
    ]


def place_of(condition: str, wanted: Sequence[str]) -> int | None:
    """Return which of some conditions one is; a grid's name stands for all of its cells."""
    for place, name in enumerate(wanted):
        if condition == name or condition.startswith(f"{name}/"):
            return place
    return None


def _averages(
    models: Sequence[TableRow], table: Mapping[str, Any], facts: RowFacts
) -> Iterator[TableRow]:
    """Yield the means over all models, and over those of each tier, under each condition."""
    kinds = table.get("averages", ())
    conditions = list(dict.fromkeys(row.condition for row in models))
    groups: dict[str, list[TableRow]] = {}
    for tier in dict.fromkeys(facts.tiers.values()) if "tiers" in kinds else ():
        groups[tier] = [row for row in models if facts.tiers.get(row.who) == tier]
    if "models" in kinds:
        groups[""] = list(models)
    for tier, members in groups.items():
        if "against" in table:  # a difference of means must be of the same models
            members = _under_all(members, conditions)
        for condition in conditions:
            here = [row for row in members if row.condition == condition]
            if len(here) > 1 or (tier and here):
                yield _average(tier, condition, here)


def _under_all(rows: Sequence[TableRow], conditions: Sequence[str]) -> list[TableRow]:
    under: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        under[row.who].add(row.condition)
    return [row for row in rows if under[row.who] == set(conditions)]


def _means_by_item(metric: str, members: Sequence[TableRow]) -> dict[str, float]:
    worth = [each.worth[metric] for each in members]
    shared = set.intersection(*map(set, worth))
    return {item: fsum(each[item] for each in worth) / len(worth) for item in sorted(shared)}


def _average(tier: str, condition: str, members: Sequence[TableRow]) -> TableRow:
    values = {metric: _means_by_item(metric, members) for metric in members[0].worth}
    measured = set.intersection(*(set(each.usage) for each in members))
    usage = {name: fsum(m.usage[name] for m in members) / len(members) for name in sorted(measured)}
    names = {
        "model": tier or "mean",
        "condition": condition,
        "models": [each.names["model"] for each in members],
        **({"tier": tier} if tier else {}),
    }
    asked = frozenset[str]().union(*(each.asked for each in members))
    answers = [answers for each in members for answers in each.answers]
    return TableRow(names, values, asked, answers, usage, members)
