"""Grades by judges: their means with coverage and interval, and how two judges compare."""

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from reelbench.base.errors import ReelbenchError
from reelbench.base.limits import bounded_lines
from reelbench.data.benchmark import Benchmark
from reelbench.data.item_rules import decode_strictly
from reelbench.data.items import Item
from reelbench.evaluate.rubric import CHOICE
from reelbench.score.estimates import estimate_record
from reelbench.score.intervals import Cell, Estimate, intervals
from reelbench.score.metrics import METRICS
from reelbench.score.results import ModelResult
from reelbench.score.rounding import rounded

Graded = tuple[str, str, str, str]  # model, condition, judge, rubric
_NOTHING = 1e-9  # of a grade: what means of rounds differ by though they are equal


@dataclass(frozen=True, slots=True)
class Grades:
    """The grades of one judge for one model under one condition, by item."""

    scores: Mapping[str, float]
    scale: tuple[float, float]  # the worst and the best that there is
    valid: int  # rounds
    invalid: int


def read_grades(paths: Sequence[Path], benchmark: Benchmark) -> dict[Graded, Grades]:
    """Return the grades in files of judgements, in their order.

    Of a split, judgements about items of other splits are left out.
    """
    elsewhere = {item.id for item in benchmark.whole.items} - {i.id for i in benchmark.items}
    return {key: grades for path in paths for key, grades in _read(path, elsewhere).items()}


def summed_up(
    graded: Mapping[Graded, Grades],
    benchmark: Benchmark,
    results: Sequence[ModelResult],
    clusters: Mapping[str, int],
) -> dict[str, Any]:
    """Return the means of grades, alone and with closed items; and judges compared."""
    known = {(result.model, result.condition): result for result in results}
    opened = [item for item in benchmark.items if item.kind == "open"]
    rows = []
    for key, grades in sorted(graded.items()):
        result = known.get(key[:2])
        asked = opened if result is None else result.opened
        rows.append(
            {
                **dict(zip(("model", "condition", "judge", "rubric"), key, strict=True)),
                **_mean(grades, asked, open_shares(asked, result, grades), clusters),
                "valid_rounds": grades.valid,
                "invalid_rounds": grades.invalid,
                "twins": _closed_counterparts(grades, result),
                "with_closed": _with_closed(grades, result, clusters),
            }
        )
    return {"judged": rows, "judges": list(_compared(graded))}


def with_failed(
    graded: Mapping[Graded, Grades], results: Sequence[ModelResult]
) -> dict[Graded, Grades]:
    """Add results with no reply to any open question: no judge has seen them, and they count too.

    Each gets the judges and rubrics of the other models under its condition.
    """
    found = dict(graded)
    scales = {key[1:]: grades.scale for key, grades in graded.items()}
    for result in results:
        if result.opened and not any(map(result.answered, result.opened)):
            for (condition, *judge), scale in scales.items():
                if condition == result.condition:
                    key = (result.model, condition, judge[0], judge[1])
                    found.setdefault(key, Grades({}, scale, 0, 0))
    return found


def _mean(
    grades: Grades,
    asked: Sequence[Item],
    shares: Mapping[str, float],
    clusters: Mapping[str, int],
) -> dict[str, Any]:
    """The mean grade, with what it covers and how sure it is, on the judge's scale."""
    worst, best = grades.scale
    judged = sum(item.id in grades.scores for item in asked)
    estimate = _estimate(shares, clusters)
    given = [grades.scores.get(item, worst) for item in shares]
    return {
        "items": len(asked),
        "judged": judged,
        "unanswered": len(shares) - judged,  # these count as the lowest grade
        "ungraded": len(asked) - len(shares),  # these are left out
        "coverage": rounded(judged / len(asked)) if asked else 0.0,
        "score": rounded(fsum(given) / len(given)) if given else None,
        "scale": grades.scale,
        **estimate_record(estimate, worst, best),
    }


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
        **estimate_record(_estimate(shares, clusters)),
    }


def worth(result: ModelResult, grades: Grades | None) -> dict[str, float]:
    """Return the worth of each item's answer, from 0 to 1, where it is known.

    A closed item is worth 0 or 1, and 0 without an answer; open ones are worth ``open_shares``.
    """
    right = result.credits(METRICS["accuracy"])
    found = {item.id: float(one) for item, one in zip(result.items, right, strict=True)}
    return found | (open_shares(result.opened, result, grades) if grades else {})


def open_shares(
    asked: Sequence[Item], result: ModelResult | None, grades: Grades
) -> dict[str, float]:
    """The share of the best grade that each open item got, from 0 to 1.

    What has no reply is worth 0, as everywhere. A reply that has no grade is left out, since that
    is the judge's failure and not the model's; so are all items where no reply was graded. Where
    there is no result, nobody knows what was replied to.
    """
    worst, best = grades.scale
    graded = any(item.id in grades.scores for item in asked)
    replied = {item.id for item in asked if result is None or result.answered(item)}
    if replied and not graded:
        return {}
    return {
        item.id: (grades.scores.get(item.id, worst) - worst) / (best - worst)
        for item in asked
        if item.id in grades.scores or item.id not in replied
    }


def _estimate(shares: Mapping[str, float], clusters: Mapping[str, int]) -> Estimate | None:
    if not shares:
        return None
    cell = Cell([clusters[item] for item in shares], list(shares.values()))
    return intervals([cell], max(clusters.values()) + 1)[0]


POOR = 0.25  # of the way from the worst grade to the best: 2 of 1 to 5


def _closed_counterparts(grades: Grades, result: ModelResult | None) -> dict[str, Any] | None:
    """Hold questions that are asked both with options and without against each other.

    They have the same words and media. A model that is right with options and poor without knew
    the answer only by recognising it.
    """
    if result is None:
        return None
    closed = {(item.question, item.media): item for item in result.items}
    worst, best = grades.scale
    answers = result.answers
    right, poor = [], []
    for item in result.opened:
        counterpart = closed.get((item.question, item.media))
        if counterpart is not None and item.id in grades.scores:
            right.append(answers.get(counterpart.id) == frozenset(counterpart.answer))
            poor.append(grades.scores[item.id] < worst + POOR * (best - worst))
    if not right:
        return None
    among = [r for r, p in zip(right, poor, strict=True) if p]
    return {
        "pairs": len(right),
        "closed_right": rounded(sum(right) / len(right)),
        "open_poor": rounded(sum(poor) / len(poor)),
        "closed_right_among_poor": rounded(sum(among) / len(among)) if among else None,
    }


def _read(path: Path, elsewhere: Collection[str]) -> dict[Graded, Grades]:
    scores: dict[Graded, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    rounds: dict[Graded, list[int]] = defaultdict(lambda: [0, 0])
    scales: dict[Graded, tuple[float, float]] = {}
    for number, line in enumerate(_lines(path), 1):
        row, faults = decode_strictly(line.rstrip())
        try:
            key = (row["model"], row["condition"], row["judge"], row["rubric"])
            failed = ["failure" in each for each in row["rounds"]]
            if faults or not all(isinstance(part, str) for part in (*key, row["id"])):
                raise TypeError(faults)
            if key[3] == CHOICE or row["id"] in elsewhere:
                continue
            scales[key] = (float(row["scale"][0]), float(row["scale"][1]))
            if row["score"] is not None:
                scores[key][row["id"]].append(float(row["score"]))
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
            raise ReelbenchError(
                f"{path}:{number} is not a valid judgement ({error}): run `reelbench run` again to "
                "rewrite the file; nothing that was answered is asked again."
            ) from None
        rounds[key][0] += failed.count(False)
        rounds[key][1] += failed.count(True)
    return {
        key: Grades(
            {item: float(np.mean(given)) for item, given in scores[key].items()},
            scales[key],
            *counts,
        )
        for key, counts in rounds.items()
    }


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from bounded_lines(file)


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
