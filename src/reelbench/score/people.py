"""Human participants who answered the items: their mean and spread, on what each of them answered.

People are models named ``human:...``. Nothing is guessed for what someone did not answer: a person
who left closed items out is not held against models that answered all, and is in the mean alone.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import fsum
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from reelbench.data.items import Item
from reelbench.score.estimates import estimate_record
from reelbench.score.intervals import Cell, intervals
from reelbench.score.metrics import METRICS
from reelbench.score.rounding import rounded

if TYPE_CHECKING:
    from reelbench.score.groups import Groups
    from reelbench.score.results import ModelResult

HUMAN = "human:"  # how the names of people among the models begin
Shares = Mapping[str, float]  # what answers are worth, by item


def is_person(model: str) -> bool:
    """Whether a name among the models is that of a person."""
    return model.startswith(HUMAN)


def without_partial_people(results: Sequence["ModelResult"]) -> list["ModelResult"]:
    """Return the results of models, and of the people who answered every closed item."""
    return [
        result
        for result in results
        if not is_person(result.model) or all(map(result.answered, result.items))
    ]


def on_what_people_answered(results: Sequence["ModelResult"]) -> list["ModelResult"]:
    """Return results, those of people on the items alone that they answered."""
    return [
        each.on({item.id for item in each.everything if each.answered(item)})
        if is_person(each.model)
        else each
        for each in results
    ]


def humans(
    results: Sequence["ModelResult"], groups: "Groups", clusters: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return, for each condition, the mean and spread of people over closed items.

    ``accuracy`` is the mean of the participants, each on what they answered. ``overall`` and ``by``
    have each item once, worth its mean over those who answered it, as tables have it.
    """
    found = []
    people = [each for each in results if is_person(each.model)]
    for condition in sorted({each.condition for each in people}):
        them = [each for each in people if each.condition == condition]
        given = [shares for each in them if (shares := _given(each))]
        if not given:
            continue
        means = [fsum(shares.values()) / len(shares) for shares in given]
        found.append(
            {
                "condition": condition,
                "participants": len(given),
                "accuracy": rounded(mean(means)),
                "sd": rounded(stdev(means)) if len(means) > 1 else None,
                "range": [rounded(min(means)), rounded(max(means))],
                "answered": [min(map(len, given)), max(map(len, given))],
                **_by_group(given, them[0].items, groups, clusters),
            }
        )
    return found


def _given(result: "ModelResult") -> Shares:
    """Return what a person's answers are worth; what has no answer is left out."""
    right = result.credits(METRICS["accuracy"])
    pairs = zip(result.items, right, strict=True)
    return {item.id: float(one) for item, one in pairs if result.answered(item)}


def _by_group(
    given: Sequence[Shares], items: Sequence[Item], groups: "Groups", clusters: Mapping[str, int]
) -> dict[str, Any]:
    """Return the mean over all items and over each group, with how many someone answered."""
    by_item: dict[str, list[float]] = defaultdict(list)
    for shares in given:
        for item, share in shares.items():
            by_item[item].append(share)
    worth = {item: fsum(some) / len(some) for item, some in by_item.items()}
    places = {("", ""): items}
    places |= {
        (tag, value): some for tag, values in groups.items() for value, some in values.items()
    }
    covered = {key: [i.id for i in some if i.id in worth] for key, some in places.items()}
    cells = [
        Cell([clusters[item] for item in some], [worth[item] for item in some])
        for some in covered.values()
        if some
    ]
    estimates = iter(intervals(cells, max(clusters.values()) + 1))
    parts = {
        key: {
            "items": len(places[key]),
            "covered": len(some),
            "value": rounded(fsum(worth[item] for item in some) / len(some)) if some else None,
            **estimate_record(next(estimates) if some else None),
        }
        for key, some in covered.items()
    }
    by = {tag: {value: parts[tag, value] for value in values} for tag, values in groups.items()}
    return {"overall": parts["", ""], "by": by}
