"""Grades that judges gave, overall and by criterion, and what replies are worth by them."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from reelbench.base.errors import ReelbenchError
from reelbench.base.limits import bounded_lines
from reelbench.data.benchmark import Benchmark
from reelbench.data.item_rules import decode_strictly
from reelbench.data.items import NOTHING, Item
from reelbench.evaluate.rubric import CHOICE, Rubric, criterion_of, load_rubric
from reelbench.score.estimates import estimate_record
from reelbench.score.intervals import Cell, Estimate, intervals
from reelbench.score.metrics import METRICS
from reelbench.score.results import ModelResult
from reelbench.score.rounding import rounded

Graded = tuple[str, str, str, str]  # model, condition, judge, rubric


@dataclass(frozen=True, slots=True)
class Grades:
    """The grades of one judge for one model under one condition, by item."""

    scores: Mapping[str, float]
    scale: tuple[float, float]  # the worst and the best that there is
    valid: int  # rounds
    invalid: int
    criteria: Mapping[str, Mapping[str, float]] = NOTHING  # scores by criterion and item

    def of_criterion(self, name: str) -> "Grades":
        """Return the grades of one criterion; the overall ones where it is empty."""
        return replace(self, scores=self.criteria[name]) if name else self


def read_grades(paths: Sequence[Path], benchmark: Benchmark) -> dict[Graded, Grades]:
    """Return the grades in files of judgements, in their order.

    Judgements about items that are not selected are left out.
    """
    elsewhere = {item.id for item in benchmark.whole.items} - {i.id for i in benchmark.items}
    return {
        key: grades
        for path in paths
        for key, grades in _read(path, elsewhere, benchmark.root).items()
    }


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


def mean_grade(
    grades: Grades,
    asked: Sequence[Item],
    shares: Mapping[str, float],
    clusters: Mapping[str, int],
) -> dict[str, Any]:
    """The mean grade, with what it covers and how sure it is, on the judge's scale."""
    worst, best = grades.scale
    judged = sum(item.id in grades.scores for item in asked)
    estimate = estimate_of(shares, clusters)
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


def estimate_of(shares: Mapping[str, float], clusters: Mapping[str, int]) -> Estimate | None:
    """Return the mean of shares with its interval; None where there are none."""
    if not shares:
        return None
    cell = Cell([clusters[item] for item in shares], list(shares.values()))
    return intervals([cell], max(clusters.values()) + 1)[0]


def _read(path: Path, elsewhere: Collection[str], root: Path) -> dict[Graded, Grades]:
    rubrics: dict[str, Rubric | None] = {}
    scores: dict[Graded, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    parts: dict[Graded, dict[str, dict[str, list[float]]]] = defaultdict(dict)
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
                if key[3] not in rubrics:
                    rubrics[key[3]] = _rubric(key[3], root)
                for name, values in _criteria(row["rounds"], rubrics[key[3]]).items():
                    parts[key].setdefault(name, {}).setdefault(row["id"], []).extend(values)
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
            valid=counts[0],
            invalid=counts[1],
            criteria={
                name: {item: float(np.mean(given)) for item, given in by_item.items()}
                for name, by_item in parts[key].items()
            },
        )
        for key, counts in rounds.items()
    }


def _rubric(name: str, root: Path) -> Rubric | None:
    """Return the rubric of judgements; None where it is not there any more."""
    try:
        return load_rubric(name, root)
    except ReelbenchError:
        return None


def _criteria(rounds: Sequence[Mapping[str, Any]], rubric: Rubric | None) -> dict[str, list[float]]:
    """Return the scores of valid rounds by criterion; none where a rubric has one number alone.

    A judge may add numbers of its own, such as an overall score: those are no criteria.
    """
    asked = None if rubric is None else set(map(criterion_of, rubric.paths))
    found: dict[str, list[float]] = defaultdict(list)
    for each in rounds:
        for path, value in _numbers(each.get("reply")):
            if asked is None or criterion_of(path) in asked:
                found[criterion_of(path)].append(value)
    return dict(found) if len(found) > 1 else {}


def _numbers(reply: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    if isinstance(reply, dict):
        for name, value in reply.items():
            yield from _numbers(value, (*path, name))
    elif isinstance(reply, int | float) and not isinstance(reply, bool):
        yield path, float(reply)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from bounded_lines(file)
