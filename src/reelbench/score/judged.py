"""Grades by judges: their means with coverage and interval, and how two judges compare."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Any

import numpy as np

from reelbench.base.progress import counted
from reelbench.data.items import Item
from reelbench.score.criteria import closed_counterparts, criterion_rows
from reelbench.score.estimates import estimate_record
from reelbench.score.grades import Graded, Grades, estimate_of, mean_grade, open_shares, worth
from reelbench.score.results import ModelResult
from reelbench.score.rounding import rounded

_NOTHING = 1e-9  # of a grade: what means of rounds differ by though they are equal


def summed_up(
    graded: Mapping[Graded, Grades],
    opened: Sequence[Item],
    results: Sequence[ModelResult],
    clusters: Mapping[str, int],
) -> dict[str, Any]:
    """Return the means of grades, alone and with closed items; and judges compared.

    ``opened`` are the open items; a model may have been asked a part of them.
    """
    known = {(result.model, result.condition): result for result in results}
    rows = []
    for key, grades in sorted(graded.items()):
        result = known.get(key[:2])
        asked = opened if result is None else result.opened
        criteria = criterion_rows(grades, asked, result, clusters)
        rows.append(
            {
                **dict(zip(("model", "condition", "judge", "rubric"), key, strict=True)),
                **mean_grade(grades, asked, open_shares(asked, result, grades), clusters),
                "all_items": len(opened),
                "valid_rounds": grades.valid,
                "invalid_rounds": grades.invalid,
                "twins": closed_counterparts(grades, result),
                **({"criteria": criteria} if criteria else {}),  # not of rubrics with one grade
                "with_closed": _with_closed(grades, result, clusters),
            }
        )
    return {"judged": rows, "judges": list(_compared(graded))}


def ungraded_in_words(scores: Mapping[str, Any]) -> str:
    """Return that open items have no grades, where no judge was asked; empty otherwise."""
    count = scores["benchmark"].get("ungraded_items", 0)
    return f"{counted(count, 'open item')}: no judge" if count else ""


def _with_closed(
    grades: Grades, result: ModelResult | None, clusters: Mapping[str, int]
) -> dict[str, Any] | None:
    """One mean over closed and open items, as Q-Bench-Video has it."""
    shares = {} if result is None else worth(result, grades)
    if result is None or not shares:
        return None
    return {
        "items": len(result.items) + len(result.opened),
        "covered": len(shares),
        "value": rounded(fsum(shares.values()) / len(shares)),
        **estimate_record(estimate_of(shares, clusters)),
    }


def _compared(graded: Mapping[Graded, Grades]) -> Iterator[dict[str, Any]]:
    """Hold the judges against each other, on what both have judged."""
    judges = sorted({(key[2], key[3]) for key in graded})
    for one, other in itertools.combinations(judges, 2):
        if one[1] != other[1]:
            continue  # grades after different rubrics have different scales
        pairs, means = [], []
        for model, condition in sorted({key[:2] for key in graded}):
            mine, theirs = ((model, condition, *judge) for judge in (one, other))
            if mine not in graded or theirs not in graded:
                continue
            first, second = graded[mine].scores, graded[theirs].scores
            both = [(first[item], second[item]) for item in sorted(first.keys() & second.keys())]
            pairs += both
            if both:
                means.append(tuple(np.mean(both, axis=0)))
        if pairs:
            yield {"judges": [one[0], other[0]], "rubric": one[1], **_agreement(pairs, means)}


def _agreement(
    pairs: Sequence[tuple[float, float]], means: Sequence[tuple[float, ...]]
) -> dict[str, Any]:
    first, second = np.array(pairs).T
    return {
        "replies": len(pairs),
        "means": [rounded(float(first.mean())), rounded(float(second.mean()))],
        "same": rounded(float(np.mean(np.abs(first - second) < _NOTHING))),
        "within_one": rounded(float(np.mean(np.abs(first - second) <= 1 + _NOTHING))),
        "correlation": _spearman(first, second),
        "model_rank_correlation": _spearman(*np.array(means).T) if len(means) > 2 else None,
    }


def _spearman(first: Any, second: Any) -> float | None:
    """Rank correlation; None where one of them does not vary."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    from scipy import stats  # takes a second, which only two judges need

    return rounded(float(stats.spearmanr(first, second).statistic))
