"""The first judge, and whether several judges rank the models in the same order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from reelbench.score.estimates import estimate_record
from reelbench.score.grades import Graded, Grades, open_shares
from reelbench.score.intervals import Cell, intervals
from reelbench.score.people import HUMAN
from reelbench.score.results import ModelResult
from reelbench.score.rounding import rounded


def first_judge(graded: Mapping[Graded, Grades], named: Sequence[str]) -> str | None:
    """Return the first judge who graded anything; None where nobody did.

    The first is the one named first in ``run.json``, or else in the file of judgements.
    """
    return next(iter(_judges(graded, named)), None)


def _judges(graded: Mapping[Graded, Grades], named: Sequence[str]) -> list[str]:
    found = dict.fromkeys(judge for (_, _, judge, _), grades in graded.items() if grades.scores)
    return [judge for judge in dict.fromkeys((*named, *found)) if judge in found]


def judge_orders(
    graded: Mapping[Graded, Grades],
    named: Sequence[str],
    results: Sequence[ModelResult],
    clusters: Mapping[str, int],
) -> list[dict[str, Any]]:
    """Return the mean and rank that each of several judges gives each model.

    Judges are held against each other under one condition and rubric, over the models that all of
    them graded, on items that all these models were asked and that count for all judges
    (``open_shares``): the replies that all of them graded, and 0 for a question without one. Means
    go from 0 to 1. People are left out: it is models that are ranked.
    """
    named_in = {key[:2] for key in graded}
    models = [
        result
        for result in results
        if (result.model, result.condition) in named_in and not result.model.startswith(HUMAN)
    ]
    asked: dict[str, set[str]] = {}
    for result in models:
        ids = {item.id for item in result.opened}
        asked[result.condition] = asked.get(result.condition, ids) & ids
    shares = {
        (result.condition, key[3], key[2], result.model): open_shares(
            [i for i in result.opened if i.id in asked[result.condition]], result, grades
        )
        for result in models
        for key, grades in sorted(graded.items())
        if key[:2] == (result.model, result.condition)
    }
    found = []
    for condition, rubric in sorted({key[:2] for key in shares}):
        by_judge = {
            judge: {
                model: of
                for (*where, name, model), of in shares.items()
                if where == [condition, rubric] and name == judge and of
            }
            for judge in _judges(graded, named)
        }
        held = _Held.of({judge: of for judge, of in by_judge.items() if of})
        if held.models:
            order = held.record(clusters)
            found.append({"condition": condition, "rubric": rubric, **order})
    return found


Shares = Mapping[str, float]  # of the best grade, by item


@dataclass(frozen=True, slots=True)
class _Held:
    """Judges against each other, each model on the items that count for all of them."""

    judges: Mapping[str, Mapping[str, Shares]]
    models: Mapping[str, Sequence[str]]  # to the items

    @classmethod
    def of(cls, judges: Mapping[str, Mapping[str, Shares]]) -> "_Held":
        if len(judges) < 2:
            return cls(judges, {})
        models = {
            model: sorted(set.intersection(*(set(by[model]) for by in judges.values())))
            for model in sorted(set.intersection(*map(set, judges.values())))
        }
        return cls(judges, {model: items for model, items in models.items() if items})

    def record(self, clusters: Mapping[str, int]) -> dict[str, Any]:
        shares = {
            judge: {model: [by[model][item] for item in items]
                    for model, items in self.models.items()}
            for judge, by in self.judges.items()
        }  # fmt: skip
        means = {
            judge: {model: rounded(fsum(given) / len(given)) for model, given in of.items()}
            for judge, of in shares.items()
        }
        ranks = {judge: _ranks(of) for judge, of in means.items()}
        first = next(iter(ranks.values()))
        models = sorted(self.models, key=lambda model: (first[model], model))
        cells = [
            Cell([clusters[item] for item in self.models[model]], of[model])
            for of in shares.values()
            for model in models
        ]
        estimates = iter(intervals(cells, max(clusters.values()) + 1))
        return {
            "models": models,
            "items": [len(self.models[model]) for model in models],
            "judges": [
                {
                    "judge": judge,
                    "means": [means[judge][model] for model in models],
                    "estimates": [estimate_record(next(estimates)) for _ in models],
                    "ranks": [ranks[judge][model] for model in models],
                }
                for judge in self.judges
            ],
            "same_order": all(of == first for of in ranks.values()) if len(models) > 1 else None,
        }


def _ranks(means: Mapping[str, float]) -> dict[str, int]:
    """1 for the best; those that are equal share a rank."""
    return {
        model: 1 + sum(other > mean for other in means.values()) for model, mean in means.items()
    }
