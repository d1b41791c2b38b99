"""Scores that judges gave: their means with coverage and interval, and how two judges compare."""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from reelbench.benchmark import Benchmark
from reelbench.errors import ReelbenchError
from reelbench.evaluate.rubric import CHOICE
from reelbench.item_rules import decode_strictly
from reelbench.score.intervals import Cell, intervals
from reelbench.score.metrics import METRICS
from reelbench.score.results import Result
from reelbench.score.rounding import rounded

Graded = tuple[str, str, str, str]  # model, condition, judge, rubric


@dataclass(frozen=True, slots=True)
class Grades:
    """What a judge gave the replies of one model under one condition, by item."""

    scores: Mapping[str, float]
    scale: tuple[float, float]  # the worst and the best that there is
    valid: int  # rounds
    invalid: int


def score_judgements(
    paths: Sequence[Path],
    benchmark: Benchmark,
    results: Sequence[Result],
    clusters: Mapping[str, int],
    seed: int,
) -> dict[str, Any]:
    """Return the means of what judges gave, alone and with closed items; and judges compared."""
    return summed_up(read_grades(paths), benchmark, results, clusters, seed)


def read_grades(paths: Sequence[Path]) -> dict[Graded, Grades]:
    """Return what is in files of judgements, in the order in which it stands there."""
    return {key: grades for path in paths for key, grades in _read(path).items()}


def summed_up(
    graded: Mapping[Graded, Grades],
    benchmark: Benchmark,
    results: Sequence[Result],
    clusters: Mapping[str, int],
    seed: int,
) -> dict[str, Any]:
    """Return the means of grades, alone and with closed items; and judges compared."""
    known = {(result.model, result.condition): result for result in results}
    opened = [item.id for item in benchmark.items if item.kind == "open"]
    rows = []
    for (model, condition, judge, rubric), grades in sorted(graded.items()):
        ids = [item for item in opened if item in grades.scores]
        rows.append(
            {
                "model": model,
                "condition": condition,
                "judge": judge,
                "rubric": rubric,
                "items": len(opened),
                "judged": len(ids),
                "coverage": rounded(len(ids) / len(opened)) if opened else 0.0,
                "score": rounded(float(np.mean([grades.scores[i] for i in ids]))) if ids else None,
                "scale": grades.scale,
                "interval": _interval(grades, ids, clusters, seed) if ids else None,
                "valid_rounds": grades.valid,
                "invalid_rounds": grades.invalid,
                "twins": _twins(grades, known.get((model, condition))),
                "with_closed": _with_closed(grades, known.get((model, condition)), clusters, seed),
            }
        )
    return {"judged": rows, "judges": list(_compared(graded))}


def _with_closed(
    grades: Grades, result: Result | None, clusters: Mapping[str, int], seed: int
) -> dict[str, Any] | None:
    """One mean over closed and open items, as Q-Bench-Video has it."""
    if result is None or not result.items:
        return None
    shares = worth(result, grades)
    cell = Cell([clusters[name] for name in shares], list(shares.values()))
    (estimate,) = intervals([cell], max(clusters.values()) + 1, seed)
    return {
        "items": len(result.everything),
        "covered": len(shares),
        "value": rounded(fsum(cell.right) / len(shares)),
        "interval": [rounded(end) for end in estimate.interval],
    }


def worth(result: Result, grades: Grades | None) -> dict[str, float]:
    """What each item was answered with is worth, from 0 to 1, as far as anyone can say.

    A closed item is worth 0 or 1, an open one the share of the best grade that it got. What has
    no answer is worth 0, be it closed or open. A reply that has no grade is left out, since that
    is the judge's failure and not the model's; so are all open items where nobody graded.
    """
    right = result.credits(METRICS["accuracy"])
    found = {item.id: float(one) for item, one in zip(result.items, right, strict=True)}
    if grades is None or not grades.scores:
        return found
    worst, best = grades.scale
    for item in result.everything:
        if item.id in grades.scores and item.kind == "open":
            found[item.id] = (grades.scores[item.id] - worst) / (best - worst)
        elif item.kind == "open" and not _replied(result, item.id):
            found[item.id] = 0.0
    return found


def _replied(result: Result, name: str) -> bool:
    outcome = result.outcomes.get(name)
    return outcome is not None and any(turn.status == "ok" for turn in outcome.turns)


POOR = 0.25  # of the way from the worst grade to the best: 2 of 1 to 5


def _twins(grades: Grades, result: Result | None) -> dict[str, Any] | None:
    """Hold questions that are asked both with options and without against each other.

    Twins have the same words and media. A model that is right with options and poor without knew
    the answer by its looks.
    """
    if result is None:
        return None
    closed = {(item.question, item.media): item for item in result.items}
    worst, best = grades.scale
    answers = result.answers
    right, poor = [], []
    for item in result.everything:
        twin = closed.get((item.question, item.media))
        if item.kind == "open" and twin is not None and item.id in grades.scores:
            right.append(answers.get(twin.id) == frozenset(twin.answer))
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


def _interval(
    grades: Grades, ids: Sequence[str], clusters: Mapping[str, int], seed: int
) -> list[float]:
    """The interval of a mean, from the shares of the best that its grades are."""
    worst, best = grades.scale
    shares = [(grades.scores[item] - worst) / (best - worst) for item in ids]
    cell = Cell([clusters[item] for item in ids], shares)
    (estimate,) = intervals([cell], max(clusters.values()) + 1, seed)
    return [rounded(worst + end * (best - worst)) for end in estimate.interval]


def _read(path: Path) -> dict[Graded, Grades]:
    scores: dict[Graded, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    rounds: dict[Graded, list[int]] = defaultdict(lambda: [0, 0])
    scales: dict[Graded, tuple[float, float]] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        row, faults = decode_strictly(line)
        try:
            key = (row["model"], row["condition"], row["judge"], row["rubric"])
            failed = ["failure" in each for each in row["rounds"]]
            if faults or not all(isinstance(part, str) for part in (*key, row["id"])):
                raise TypeError(faults)
            if key[3] == CHOICE:
                continue
            scales[key] = (float(row["scale"][0]), float(row["scale"][1]))
            if row["score"] is not None:
                scores[key][row["id"]].append(float(row["score"]))
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
            raise ReelbenchError(
                f"{path}:{number} is no judgement of ours ({error}): run the run again to write "
                "it anew; nothing that was answered is asked again."
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
        "same": rounded(float(np.mean(np.abs(first - second) < 1e-9))),
        "within_one": rounded(float(np.mean(np.abs(first - second) <= 1))),
        "correlation": _spearman(first, second),
        "model_rank_correlation": _spearman(*np.array(means).T) if len(means) > 2 else None,
    }


def _spearman(first: Any, second: Any) -> float | None:
    """Rank correlation; None where one of them does not vary."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    from scipy import stats  # takes a second, which only two judges need

    return rounded(float(stats.spearmanr(first, second).statistic))
