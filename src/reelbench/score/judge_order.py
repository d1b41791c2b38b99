"""Which judge goes first, and whether several put the models in the same order."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from reelbench.score.intervals import Cell, intervals
from reelbench.score.judged import Graded, Grades
from reelbench.score.people import HUMAN
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
    clusters: Mapping[str, int],
    seed: int,
) -> list[dict[str, Any]]:
    """Return the mean and rank that each of several judges gives each model.

    Judges are held against each other under one condition and rubric, over the models that all of
    them graded and on the replies that all of them graded. Means go from 0 to 1. People are left
    out: it is models that are ranked.
    """
    found = []
    for condition, rubric in sorted({(key[1], key[3]) for key in graded}):
        by_judge = {
            judge: {
                model: grades
                for (model, *rest), grades in sorted(graded.items())
                if rest == [condition, judge, rubric]
                and grades.scores
                and not model.startswith(HUMAN)
            }
            for judge in _judges(graded, named)
        }
        held = _Held.of({judge: of for judge, of in by_judge.items() if of}, clusters)
        if held.models:
            order = held.record(clusters, seed)
            found.append({"condition": condition, "rubric": rubric, **order})
    return found


@dataclass(frozen=True, slots=True)
class _Held:
    """Judges against each other, each model on the replies that all of them graded."""

    judges: Mapping[str, Mapping[str, Grades]]
    models: Mapping[str, Sequence[str]]  # to the items

    @classmethod
    def of(cls, judges: Mapping[str, Mapping[str, Grades]], known: Container[str]) -> "_Held":
        if len(judges) < 2:
            return cls(judges, {})
        models = {
            model: sorted(set.intersection(*(set(by[model].scores) for by in judges.values())))
            for model in sorted(set.intersection(*map(set, judges.values())))
        }
        models = {model: [i for i in items if i in known] for model, items in models.items()}
        return cls(judges, {model: items for model, items in models.items() if items})

    def record(self, clusters: Mapping[str, int], seed: int) -> dict[str, Any]:
        shares = {judge: self._shares(judge) for judge in self.judges}
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
        estimates = iter(intervals(cells, max(clusters.values()) + 1, seed))
        return {
            "models": models,
            "replies": [len(self.models[model]) for model in models],
            "judges": [
                {
                    "judge": judge,
                    "means": [means[judge][model] for model in models],
                    "intervals": [
                        [rounded(end) for end in next(estimates).interval] for _ in models
                    ],
                    "ranks": [ranks[judge][model] for model in models],
                }
                for judge in self.judges
            ],
            "same_order": all(of == first for of in ranks.values()) if len(models) > 1 else None,
        }

    def _shares(self, judge: str) -> dict[str, list[float]]:
        """The grades of each model's replies, as shares of the best that there is."""
        found = {}
        for model, items in self.models.items():
            grades = self.judges[judge][model]
            worst, best = grades.scale
            found[model] = [(grades.scores[item] - worst) / (best - worst) for item in items]
        return found


def _ranks(means: Mapping[str, float]) -> dict[str, int]:
    """1 for the best; those that are equal share a rank."""
    return {
        model: 1 + sum(other > mean for other in means.values()) for model, mean in means.items()
    }
