"""Compute the content of ``scores.json``."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import pretty_json, write_atomically
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import NOTHING, Item
from reelbench.evaluate.condition import PROTOCOL
from reelbench.evaluate.folder import of_runs, read_run
from reelbench.evaluate.usage import read_usage
from reelbench.evaluate.vote import TIE_RULE
from reelbench.score.ablation import ablations
from reelbench.score.compare import Missing, compare
from reelbench.score.declared import declared_tables
from reelbench.score.grades import Graded, Grades, read_grades, with_failed
from reelbench.score.groups import grouped
from reelbench.score.helped import models_that_helped
from reelbench.score.intervals import METHOD
from reelbench.score.irt import fit_2pl
from reelbench.score.item_analysis import Answers, distractors, item_facts
from reelbench.score.judge_order import first_judge, judge_orders
from reelbench.score.judged import summed_up
from reelbench.score.metrics import METRICS, guessing
from reelbench.score.modalities import modalities_in
from reelbench.score.origins import wrong_by_origin
from reelbench.score.people import HUMAN, humans
from reelbench.score.predictions import Asked, ItemOutcome, read_predictions
from reelbench.score.results import ModelResult, on_common_items, result_rows
from reelbench.score.rounding import rounded
from reelbench.score.subset import choose_subset
from reelbench.score.table_rows import RowFacts
from reelbench.score.tiers import tiers_in
from reelbench.score.wrong_keys import suspects_note, wrong_key_suspects

POLICY = "an item without an answer counts as wrong"
COMMON_POLICY = "only the {} of {} items that every model answered are scored"
SUBSET = 0.1  # of the items, to foretell the score on all of them


def score_predictions(
    benchmark: Benchmark,
    predictions: Path | str | Sequence[Path | str],
    seed: int = 0,
    judgements: Path | None = None,
    conditions: Sequence[Mapping[str, Any]] = (),
    common: bool = False,
) -> dict[str, Any]:
    """Score a file of predictions, or several; the result is the content of ``scores.json``.

    ``judgements`` is the file of what judges gave the replies to open questions, and ``conditions``
    are those of ``run.json``, where there is one. ``benchmark.split("dev")`` in place of the
    benchmark scores that split alone.
    """
    paths = [predictions] if isinstance(predictions, Path | str) else predictions
    outcomes = read_predictions([Path(path) for path in paths], benchmark)
    judged = [judgements] if judgements else []
    return score_outcomes(benchmark, outcomes, seed, judged, conditions, common=common)


def score_outcomes(
    benchmark: Benchmark,
    outcomes: Mapping[Asked, Mapping[str, ItemOutcome]],
    seed: int,
    judgements: Sequence[Path] = (),
    conditions: Sequence[Mapping[str, Any]] = (),
    judges: Sequence[str] = (),
    common: bool = False,
    tiers: Mapping[str, str] = NOTHING,
    usage: Mapping[Asked, Mapping[str, float]] = MappingProxyType({}),
    modalities: Mapping[Asked, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Score outcomes, of one run or of several together.

    ``judges`` are the names of ``run.json``: tables have the grades of the first. ``common`` scores
    the items alone that every model answered, where else those without an answer count as wrong.
    Declared tables have means over ``tiers``, groups of models by the model's name, what models
    took (``usage``) and what they were given (``modalities``).
    """
    results = _results(benchmark, outcomes)
    if common:
        results = on_common_items(results)
    closed = results[0].items if results else ()
    # One clustering for all: a number that stands in two places has one interval.
    clusters = video_clusters(benchmark.items)
    groups = grouped(benchmark, closed)
    rows = result_rows(results, groups, clusters)
    answers = {(result.model, result.condition): result.answers for result in results}
    main = main_condition(results)
    graded = with_failed(_grades(judgements, benchmark), results)
    ranked = [(row["model"], row["condition"]) for row in rows] or list(answers)
    judge = first_judge(graded, judges)
    return {
        "benchmark": {
            "name": benchmark.manifest.name,
            "version": benchmark.manifest.version,
            **({"split": benchmark.split_name} if benchmark.split_name else {}),
            "digest": benchmark.digest,
            "items": len(benchmark.items),
            "scored_items": len(closed),
            "videos": len({media.path for item in benchmark.items for media in item.media}),
        },
        "policy": _policy(benchmark, results) if common else POLICY,
        "ties": TIE_RULE,
        "interval": METHOD,
        "chance": {
            "accuracy": _mean_chance(closed),
            "guessing": {name: rounded(value) for name, value in guessing(closed).items()},
            "by": {
                tag: {value: _mean_chance(group) for value, group in values.items()}
                for tag, values in groups.items()
            },
        },
        "main_condition": main,
        "tags": sorted({tag for item in closed for tag in item.tags}),  # the benchmark's own
        "results": rows,
        "humans": humans(rows),
        "comparison": compared([r for r in results if r.condition == main], clusters, seed, common),
        "items": item_summary([r for r in results if r.condition == main]),
        **({"origins": origins} if (origins := wrong_by_origin(results)) else {}),
        "ablations": ablations(conditions, rows, answers),
        **summed_up(graded, benchmark, results, clusters),
        "judge_orders": judge_orders(graded, judges, results, clusters),
        "tables": declared_tables(
            benchmark,
            results,
            ranked,
            judge,
            graded,
            clusters,
            RowFacts(tiers, models_that_helped(benchmark), usage, modalities),
        ),
        **({"tiers": dict(tiers)} if tiers else {}),
    }


@dataclass(frozen=True, slots=True)
class ScoredRuns:
    """Runs of one benchmark, scored together: the outcome of every item, and the scores."""

    benchmark: Benchmark  # or the split that the runs are about
    runs: Mapping[Path, dict[str, Any]]  # the content of each ``run.json``, by the run's folder
    outcomes: Mapping[Asked, Mapping[str, ItemOutcome]]
    scores: dict[str, Any]  # the content of ``scores.json``


def score_run(benchmark: Benchmark, out: Path) -> ScoredRuns:
    """Score a run, and write its ``scores.json``."""
    scored = score_runs(benchmark, [out])
    write_atomically(out / "scores.json", pretty_json(scored.scores))
    return scored


def score_runs(
    benchmark: Benchmark,
    outs: Sequence[Path],
    seed: int | None = None,
    common: bool = False,
    tiers: Mapping[str, str] = NOTHING,
) -> ScoredRuns:
    """Score runs of one benchmark together; the seed of the intervals is that of the first.

    ``tiers`` are groups of models beside those that their cards name.
    """
    runs = {out: read_run(out) for out in outs}
    benchmark = of_runs(benchmark, runs)
    conditions: dict[str, Mapping[str, Any]] = {}
    judges: dict[str, None] = {}
    for out, run in runs.items():
        judges |= dict.fromkeys(judge["name"] for judge in run.get("judges", ()))
        for condition in run["conditions"]:
            if conditions.setdefault(condition["name"], condition) != condition:
                raise ReelbenchError(
                    f"The condition {condition['name']} of {out} differs from that of another run: "
                    "score and report these runs apart."
                )
    judgements = [out / "judgements.jsonl" for out in outs]
    outcomes = outcomes_of(benchmark, outs)
    asked = list(conditions.values())
    seed = runs[outs[0]]["seed"] if seed is None else seed
    scores = score_outcomes(
        benchmark,
        outcomes,
        seed,
        judgements,
        asked,
        list(judges),
        common,
        {**tiers_in(runs.values()), **tiers},
        {asked: taken for out in outs for asked, taken in read_usage(out).items()},
        modalities_in(runs.values()),
    )
    return ScoredRuns(benchmark, runs, outcomes, scores)


def _grades(judgements: Sequence[Path], benchmark: Benchmark) -> dict[Graded, Grades]:
    return read_grades([path for path in judgements if path.exists()], benchmark)


def _results(
    benchmark: Benchmark, outcomes: Mapping[Asked, Mapping[str, ItemOutcome]]
) -> list[ModelResult]:
    closed = [item for item in benchmark.items if item.kind != "open"]
    opened = [item for item in benchmark.items if item.kind == "open"]
    return [
        ModelResult(*asked, closed, opened, benchmark.items, outcome)
        for asked, outcome in outcomes.items()
    ]


def _policy(benchmark: Benchmark, results: Sequence[ModelResult]) -> str:
    scored = len(results[0].items) + len(results[0].opened) if results else 0
    return COMMON_POLICY.format(scored, len(benchmark.items))


def outcomes_of(benchmark: Benchmark, outs: Sequence[Path]) -> dict[Asked, dict[str, ItemOutcome]]:
    """Return the outcomes of the items in all these runs."""
    outcomes: dict[Asked, dict[str, ItemOutcome]] = {}
    for out in outs:
        for asked, found in read_predictions(out / "predictions.jsonl", benchmark).items():
            if asked in outcomes:
                raise ReelbenchError(
                    f"{out} asked {asked[0]} under {asked[1]}, and so did another run: leave one "
                    "of them out."
                )
            outcomes[asked] = found
    return dict(sorted(outcomes.items()))


def main_condition(results: Sequence[ModelResult]) -> str:
    """The condition that most models were asked under: there they are compared."""
    counts = Counter(result.condition for result in results)
    return min(counts, key=lambda name: (-counts[name], name != PROTOCOL, name), default=PROTOCOL)


def compared(
    results: Sequence[ModelResult], clusters: Mapping[str, int], seed: int, common: bool = False
) -> dict[str, Any] | None:
    """Return the comparison of the models of one condition; None where there are too few."""
    if len(results) < 2 or not results[0].items:
        return None
    items = results[0].items
    scores = np.stack([result.credits(METRICS["accuracy"]) for result in results])
    for row, result in zip(scores, results, strict=True):
        if not (common and result.model.startswith(HUMAN)):  # who need not answer all of them
            row[[not result.answered(item) for item in items]] = np.nan
    videos = [clusters[item.id] for item in items]
    missing: Missing = "common" if common else "wrong"
    found = compare([result.model for result in results], scores, videos, seed, missing)
    return {"condition": results[0].condition, **found.to_record()}


def item_summary(results: Sequence[ModelResult]) -> dict[str, Any] | None:
    """Return the item analysis of several models' answers; None where there are too few."""
    if len(results) < 2 or not results[0].items:
        return None
    answers = answers_of(results)
    wrong = distractors(answers).to_record()
    return {
        "condition": results[0].condition,
        "models": list(answers.models),
        "distractors": {name: value for name, value in wrong.items() if name != "never"},
        "suspects": [suspect.to_record() for suspect in wrong_key_suspects(answers)],
        "suspects_note": suspects_note(answers),
    }


def answers_of(results: Sequence[ModelResult]) -> Answers:
    """The answers of models under one condition, as the analysis of items takes them."""
    items = results[0].items
    scored = {item.id for item in items}
    answers = {
        result.model: {name: answer for name, answer in result.answers.items() if name in scored}
        for result in results
    }
    return Answers.of(items, answers)


def analyse_items(
    benchmark: Benchmark,
    outcomes: Mapping[Asked, Mapping[str, ItemOutcome]],
    seed: int,
    common: bool = False,
) -> dict[str, Any]:
    """Return the analysis of each item from several models' answers, for its editors."""
    results = _results(benchmark, outcomes)
    results = on_common_items(results) if common else results
    main = main_condition(results)
    results = [result for result in results if result.condition == main]
    closed = results[0].items if results else ()
    if not closed:
        raise ReelbenchError("There are no closed items to analyse: open ones have no options.")
    answers = answers_of(results)
    return {
        "condition": main,
        "models": list(answers.models),
        "items": [facts.to_record() for facts in item_facts(answers)],
        "distractors": distractors(answers).to_record(),
        "suspects": [suspect.to_record() for suspect in wrong_key_suspects(answers)],
        "suspects_note": suspects_note(answers),
        "irt": fit_2pl(answers.responses()).to_record(),
        "subset": choose_subset(
            answers.responses(), max(1, round(len(closed) * SUBSET)), seed
        ).to_record(),
    }


_ENDS = {
    "refused": "refused",
    "error": "failed",
    "timeout": "timed out",
    "over_budget": "over budget",
}


def unanswered_in_words(row: Mapping[str, Any]) -> str:
    """Return how many questions of a result have no answer, by reason; empty where all have one."""
    words = [
        f"{row['statuses'][status]} {end}"
        for status, end in _ENDS.items()
        if status in row["statuses"]
    ]
    if row["cut_off"]:
        words.append(f"{row['cut_off']} cut off before an answer")
    if row["unread"]:
        words.append(f"{row['unread']} unreadable")
    if row["missing"]:
        words.append(f"{row['missing']} not asked")
    return ", ".join(words)


def video_clusters(items: Sequence[Item]) -> dict[str, int]:
    """Number the clusters of items that share a video, directly or through a pair."""
    leader: dict[str, str] = {}

    def find(path: str) -> str:
        while leader.setdefault(path, path) != path:
            path = leader[path]
        return path

    for item in items:
        for media in item.media[1:]:
            # The first in the alphabet leads, so that the order of items does not matter.
            one, other = sorted([find(item.media[0].path), find(media.path)])
            leader[other] = one
    names = sorted({find(item.media[0].path) for item in items})
    numbers = {name: number for number, name in enumerate(names)}
    return {item.id: numbers[find(item.media[0].path)] for item in items}


def _mean_chance(items: Sequence[Item]) -> float:
    return rounded(sum(item.chance for item in items) / max(1, len(items)))
