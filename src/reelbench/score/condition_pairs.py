"""Condition against condition: the same model on the same items, asked in two ways."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from reelbench.score.ablation import distinct_conditions, fields_that_differ
from reelbench.score.compare import POWER_RULE
from reelbench.score.paired import PAIRED_METHOD, corrected, paired
from reelbench.score.results import ModelResult

Condition = Mapping[str, Any]


def condition_pairs(
    results: Sequence[ModelResult],
    conditions: Sequence[Condition],
    clusters: Mapping[str, int],
    reference: str,
) -> dict[str, Any] | None:
    """Return each model's conditions held against each other; None where none has two.

    Every condition is held against ``reference``, and two others where they differ in one field
    alone, by ``conditions`` of ``run.json``. Conditions that differ in their names alone are one.
    """
    by_condition: dict[str, dict[str, ModelResult]] = defaultdict(dict)
    for result in results:
        by_condition[result.condition][result.model] = result
    found = [
        (model, pair, each)
        for pair in _chosen(by_condition, conditions, reference)
        for model in sorted(set(by_condition[pair[0]]) & set(by_condition[pair[1]]))
        if (each := paired(by_condition[pair[0]][model], by_condition[pair[1]][model], clusters))
    ]
    if not found:
        return None
    family = corrected([each for _, _, each in found])
    return {
        "reference": reference,
        "method": PAIRED_METHOD,
        "power_rule": POWER_RULE,
        "pairs": [
            {
                "model": model,
                "conditions": list(pair),
                "fields": fields_that_differ(*pair, conditions),
                **each.to_record(),
            }
            for (model, pair, _), each in zip(found, family, strict=True)
        ],
    }


def _chosen(
    asked: Mapping[str, object], conditions: Sequence[Condition], reference: str
) -> Iterator[tuple[str, str]]:
    """Yield the pairs to hold against each other, the reference first in its own."""
    names = distinct_conditions(sorted(asked, key=lambda n: (n != reference, n)), conditions)
    for first, second in combinations(names, 2):
        if first == reference or len(fields_that_differ(first, second, conditions)) == 1:
            yield first, second
