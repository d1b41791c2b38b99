"""Compute the content of ``scores.json``."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import pretty_json, write_atomically
from reelbench.base.progress import working
from reelbench.data.benchmark import Benchmark
from reelbench.data.clusters import video_clusters
from reelbench.data.items import NOTHING, Item
from reelbench.evaluate.condition import PROTOCOL
from reelbench.evaluate.folder import read_run
from reelbench.evaluate.selected import asked_alike, of_runs
from reelbench.evaluate.usage import read_usage
from reelbench.evaluate.vote import TIE_RULE
from reelbench.score.ablation import ablations
from reelbench.score.compare import compare
from reelbench.score.condition_pairs import condition_pairs
from reelbench.score.coverage import (
    ALL_POLICY,
    ASKED_POLICY,
    COMMON_PAIR_POLICY,
    COMMON_POLICY,
    POLICY,
    Scope,
)
from reelbench.score.declared import declared_tables
from reelbench.score.given import Given, given_in
from reelbench.score.grades import Graded, Grades, read_grades, with_failed
from reelbench.score.groups import grouped
from reelbench.score.helped import models_that_helped
from reelbench.score.intervals import METHOD
from reelbench.score.irt import fit_2pl
from reelbench.score.item_analysis import ANSWERS_POLICY, distractors, item_facts
from reelbench.score.item_summary import answers_of, item_summary
from reelbench.score.judge_order import first_judge, judge_orders
from reelbench.score.judged import summed_up
from reelbench.score.metrics import guessing
from reelbench.score.origins import wrong_by_origin
from reelbench.score.people import (
    humans,
    is_person,
    on_what_people_answered,
    without_partial_people,
)
from reelbench.score.predictions import (
    AddedPredictions,
    Asked,
    ItemOutcome,
    Rows,
    outcomes_in,
    read_predictions,
    read_rows,
)
from reelbench.score.results import (
    ModelResult,
    on_common_items,
    result_rows,
    with_answers,
)
from reelbench.score.rounding import rounded
from reelbench.score.run_names import RunNames, names_apart, source_labels
from reelbench.score.subset import choose_subset
from reelbench.score.table_rows import RowFacts
from reelbench.score.tiers import tiers_in
from reelbench.score.wrong_keys import suspects_note, wrong_key_suspects

ReadAgain = Callable[[Rows, Benchmark], Rows]
SUBSET = 0.1  # of the items, to foretell the score on all of them


def score_predictions(
    benchmark: Benchmark,
    predictions: Path | str | Sequence[Path | str],
    seed: int = 0,
    judgements: Path | None = None,
    conditions: Sequence[Mapping[str, Any]] = (),
    scope: Scope = "asked",
) -> dict[str, Any]:
    """Score a file of predictions, or several; the result is the content of ``scores.json``.

    ``judgements`` is the file of what judges gave the replies to open questions, and ``conditions``
    are those of ``run.json``, where there is one. Each model is scored on the items that it was
    asked, on all, or on those that every model answered, by ``scope``. ``benchmark.split("dev")``
    in place of the benchmark scores that split alone; see also ``Benchmark.select``.
    """
    paths = [predictions] if isinstance(predictions, Path | str) else predictions
    outcomes = read_predictions([Path(path) for path in paths], benchmark)
    judged = [judgements] if judgements else []
    return score_outcomes(benchmark, outcomes, seed, judged, conditions, scope=scope)


@working("Scoring")
def score_outcomes(
    benchmark: Benchmark,
    outcomes: Mapping[Asked, Mapping[str, ItemOutcome]],
    seed: int,
    judgements: Sequence[Path] | Mapping[Graded, Grades] = (),
    conditions: Sequence[Mapping[str, Any]] = (),
    judges: Sequence[str] = (),
    scope: Scope = "asked",
    tiers: Mapping[str, str] = NOTHING,
    usage: Mapping[Asked, Mapping[str, float]] = MappingProxyType({}),
    given: Mapping[Asked, Given] = MappingProxyType({}),
) -> dict[str, Any]:
    """Score outcomes, of one run or of several together.

    ``judgements`` are files of what judges gave, or what was read of them.
    ``judges`` are the names of ``run.json``: tables have the grades of the first. ``scope`` is that
    of ``score_predictions``. Declared tables have means over ``tiers``, groups of models by the
    model's name, what models took (``usage``) and what they were ``given``.
    """
    results, scored = _results(benchmark, outcomes, scope)
    closed = [item for item in scored if item.kind != "open"]
    # One clustering for all: a number that stands in two places has one interval.
    clusters = video_clusters(benchmark.items)
    groups = grouped(benchmark, closed)
    ranked_results = without_partial_people(results)
    rows = result_rows(ranked_results, closed, groups, clusters)
    answers = {(result.model, result.condition): result.answers for result in results}
    main = main_condition(results)
    held = with_answers([r for r in ranked_results if r.condition == main])
    replied = on_what_people_answered(results)
    graded = with_failed(_grades(judgements, benchmark), replied)
    ranked = list(dict.fromkeys([*((row["model"], row["condition"]) for row in rows), *answers]))
    judge = first_judge(graded, judges)
    selection = benchmark.selection
    opened = sum(item.kind == "open" for item in benchmark.items)
    clips = {clip for item in benchmark.items for clip in item.source_clips}
    return {
        "benchmark": {
            "name": benchmark.manifest.name,
            "version": benchmark.manifest.version,
            **({"selection": selection.to_record()} if selection else {}),
            "digest": benchmark.digest,
            "items": len(benchmark.items),
            **({"all_items": len(benchmark.whole.items)} if selection else {}),
            "scored_items": len(closed),
            **({"ungraded_items": opened} if opened and not graded else {}),  # of open ones
            "videos": len({media.path for item in benchmark.items for media in item.media}),
            **({"source_clips": len(clips)} if clips else {}),
        },
        "policy": _policy(scope, benchmark, scored, results, outcomes),
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
        "humans": humans(results, groups, clusters),
        "comparison": compared(held, closed, clusters, seed, scope),
        "condition_pairs": condition_pairs(
            with_answers(ranked_results), conditions, clusters, main
        ),
        "items": item_summary(held, closed),
        **({"origins": origins} if (origins := wrong_by_origin(results)) else {}),
        "ablations": ablations(conditions, rows, answers),
        **summed_up(graded, scored[len(closed) :], replied, clusters),
        "judge_orders": judge_orders(graded, judges, results, clusters),
        "tables": declared_tables(
            benchmark,
            scored,
            results,
            ranked,
            judge,
            graded,
            clusters,
            RowFacts(tiers, models_that_helped(benchmark), usage, given),
        ),
        **({"tiers": dict(tiers)} if tiers else {}),
    }


@dataclass(frozen=True, slots=True)
class ScoredRuns:
    """Runs of one benchmark, scored together: the outcome of every item, and the scores."""

    benchmark: Benchmark  # or the part of it that the runs are about
    runs: Mapping[Path, dict[str, Any]]  # the content of each ``run.json``, by the run's folder
    outcomes: Mapping[Asked, Mapping[str, ItemOutcome]]
    scores: dict[str, Any]  # the content of ``scores.json``
    # What models and conditions are called here, where several runs have the same.
    names: Mapping[Path, RunNames] = field(default_factory=dict)
    files: Sequence[str] = ()  # of predictions beside runs, or without one: names and digests


def score_run(benchmark: Benchmark, out: Path) -> ScoredRuns:
    """Score a run, and write its ``scores.json``."""
    scored = score_runs(benchmark, [out])
    write_atomically(out / "scores.json", pretty_json(scored.scores))
    return scored


def score_runs(
    benchmark: Benchmark,
    outs: Sequence[Path],
    seed: int | None = None,
    scope: Scope = "asked",
    tiers: Mapping[str, str] = NOTHING,
    read_again: ReadAgain | None = None,
    added: AddedPredictions | None = None,
) -> ScoredRuns:
    """Score runs of one benchmark together; the seed of the intervals is that of the first.

    ``tiers`` are groups of models beside those that their cards name. ``read_again`` replaces the
    letters of the runs' predictions, such as by those that another parser reads. ``added`` are
    predictions of others, scored as if they were the runs'.
    """
    added = added or AddedPredictions({})
    labels = source_labels(outs)
    runs = {out: read_run(out) for out in outs}
    benchmark = of_runs(benchmark, runs, scope == "common")
    found = {out: outcomes_of(benchmark, out, read_again) for out in outs}
    names = names_apart(labels, runs, found, partial(asked_alike, benchmark, runs))
    runs = {out: names[out].record(run) for out, run in runs.items()}
    seed = runs[outs[0]]["seed"] if seed is None else seed
    outcomes = {names[out].of(asked): each for out in outs for asked, each in found[out].items()}
    usage = {names[out].of(asked): t for out in outs for asked, t in read_usage(out).items()}
    grades = {
        (*names[out].of((key[0], key[1])), *key[2:]): given
        for out in outs
        for key, given in _grades([out / "judgements.jsonl"], benchmark).items()
    }
    _check_apart(outcomes, added.rows)
    grades |= _grades(added.judgements, benchmark)
    outcomes = dict(sorted((outcomes | outcomes_in(added.rows, benchmark)).items()))
    judges = [each["name"] for run in runs.values() for each in run.get("judges", ())]
    scores = score_outcomes(
        benchmark,
        outcomes,
        seed,
        grades,
        list({each["name"]: each for run in runs.values() for each in run["conditions"]}.values()),
        list(dict.fromkeys([*judges, *added.judges])),
        scope,
        {**tiers_in(runs.values()), **tiers},
        usage,
        given_in(runs.values()),
    )
    return ScoredRuns(benchmark, runs, outcomes, scores, names, added.files)


def _check_apart(outcomes: Mapping[Asked, Any], rows: Rows) -> None:
    """Refuse predictions of what a run has itself."""
    if twice := sorted(outcomes.keys() & rows.keys()):
        names = ", ".join(f"{model} under {condition}" for model, condition in twice)
        raise ReelbenchError(
            f"The run has predictions of {names} already: give the model in --predictions another "
            "name, or leave it out."
        )


def outcomes_of(
    benchmark: Benchmark, out: Path, read_again: ReadAgain | None = None
) -> dict[Asked, dict[str, ItemOutcome]]:
    """Return the outcomes of the items in a run."""
    rows = read_rows(out / "predictions.jsonl", benchmark)
    rows = read_again(rows, benchmark) if read_again else rows
    found: dict[Asked, dict[str, ItemOutcome]] = {}
    for asked in list(rows):  # which are not in memory twice
        found |= outcomes_in({asked: rows.pop(asked)}, benchmark)
    return found


def score_rows(
    benchmark: Benchmark,
    rows: Rows,
    seed: int = 0,
    scope: Scope = "asked",
    tiers: Mapping[str, str] = NOTHING,
    files: Sequence[str] = (),
) -> ScoredRuns:
    """Score predictions that anyone produced: there is no run, and so no record of one."""
    outcomes = outcomes_in(rows, benchmark)
    scores = score_outcomes(benchmark, outcomes, seed, scope=scope, tiers=tiers)
    return ScoredRuns(benchmark, {}, outcomes, scores, files=files)


def _grades(
    judgements: Sequence[Path] | Mapping[Graded, Grades], benchmark: Benchmark
) -> Mapping[Graded, Grades]:
    if isinstance(judgements, Mapping):
        return judgements
    return read_grades([path for path in judgements if path.exists()], benchmark)


def _results(
    benchmark: Benchmark, outcomes: Mapping[Asked, Mapping[str, ItemOutcome]], scope: Scope
) -> tuple[list[ModelResult], list[Item]]:
    """Return the results, each on its own scored items, and all items that may be scored."""
    closed = [item for item in benchmark.items if item.kind != "open"]
    opened = [item for item in benchmark.items if item.kind == "open"]
    results = [
        ModelResult(*asked, closed, opened, benchmark.items, outcome)
        for asked, outcome in outcomes.items()
    ]
    if scope == "common":
        results = on_common_items(results)
    scored = [*results[0].items, *results[0].opened] if results else []
    if scope == "asked":  # people are scored on what they answered, see `people`
        results = [r if is_person(r.model) else r.on(r.answers) for r in results]
    return results, scored


def _policy(
    scope: Scope,
    benchmark: Benchmark,
    scored: Sequence[Item],
    results: Sequence[ModelResult],
    outcomes: Iterable[Asked],
) -> str:
    if scope == "common":
        scored_too = {(each.model, each.condition) for each in results}
        silent = [" under ".join(asked) for asked in outcomes if asked not in scored_too]
        left = f"; left out: {', '.join(silent)}, without any answer" if silent else ""
        return COMMON_POLICY.format(len(scored), len(benchmark.items)) + left
    if scope == "all":
        return ALL_POLICY
    whole = all(len(each.items) + len(each.opened) == len(scored) for each in results)
    return POLICY if whole else ASKED_POLICY


def main_condition(results: Sequence[ModelResult]) -> str:
    """The condition that most models were asked under: there they are compared."""
    counts = Counter(result.condition for result in results)
    return min(counts, key=lambda name: (-counts[name], name != PROTOCOL, name), default=PROTOCOL)


def compared(
    results: Sequence[ModelResult],
    items: Sequence[Item],
    clusters: Mapping[str, int],
    seed: int,
    scope: Scope,
) -> dict[str, Any] | None:
    """Return the comparison of the models of one condition; None where there are too few."""
    if len(results) < 2:
        return None
    place = {item.id: number for number, item in enumerate(items)}
    scores = np.full((len(results), len(items)), np.nan)
    asked = np.zeros(scores.shape, np.bool_)
    for number, result in enumerate(results):
        own = [place[item.id] for item in result.items]
        asked[number, own] = True
        scores[number, own] = result.exact()
    videos = [clusters[item.id] for item in items]
    found = compare([each.model for each in results], scores, videos, seed, asked).to_record()
    policy = {"policy": COMMON_PAIR_POLICY} if scope == "common" else {}
    return {"condition": results[0].condition, **found, **policy}


def analyse_items(
    benchmark: Benchmark,
    outcomes: Mapping[Asked, Mapping[str, ItemOutcome]],
    seed: int,
    scope: Scope = "asked",
) -> dict[str, Any]:
    """Return the analysis of each item from several models' answers, for its editors."""
    results, scored = _results(benchmark, outcomes, scope)
    closed = [item for item in scored if item.kind != "open"]
    main = main_condition(results)
    results = without_partial_people([r for r in results if r.condition == main])
    if not closed:
        raise ReelbenchError("There are no closed items to analyse: open ones have no options.")
    answers = answers_of(with_answers(results), closed)
    return {
        "condition": main,
        "policy": ANSWERS_POLICY,
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


def _mean_chance(items: Sequence[Item]) -> float:
    return rounded(sum(item.chance for item in items) / max(1, len(items)))
