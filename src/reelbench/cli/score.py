"""``reelbench score``."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.cli.say import put, put_scores, tell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reelbench.data.benchmark import Benchmark
    from reelbench.score.judging import JudgingResult
    from reelbench.score.predictions import Asked, ItemOutcome, Rows


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench score my-run\n"
        "  reelbench score my-run --tables tables --items items.json\n"
        "  reelbench score my-run --common\n"
        "  reelbench score my-run --split dev --out dev.json\n"
        "  reelbench score --benchmark my-benchmark --predictions theirs.jsonl --out scores.json\n"
        "  reelbench score --benchmark my-benchmark --predictions a.jsonl --predictions b.jsonl "
        "--judge openai:gpt-4o --out scores.json"
    )
    parser.add_argument("run", type=Path, nargs="?", help="a run's folder")
    parser.add_argument("--benchmark", type=Path, help="the benchmark's folder, if it has moved")
    parser.add_argument(
        "--predictions",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="anyone's predictions, one JSON a line; as often as there are files",
    )
    parser.add_argument(
        "--judge",
        action="append",
        default=[],
        metavar="MODEL",
        help="a model that reads what rules cannot in --predictions, and grades open replies; what "
        "it says is kept beside --out",
    )
    parser.add_argument(
        "--budget", metavar="AMOUNT", help="the most that judges may take: 5usd or 2000000tokens"
    )
    parser.add_argument(
        "--out", type=Path, help="where to write the scores (default: scores.json of the run)"
    )
    parser.add_argument(
        "--common",
        action="store_true",
        help="score the items alone that every model answered (scores.json of the run stays as it "
        "is unless --out names it)",
    )
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="FILE.py:NAME",
        help="a metric of your own besides (scores.json of the run stays as it is unless --out "
        "names it)",
    )
    parser.add_argument(
        "--split",
        metavar="NAME",
        help="score the items of this split alone (scores.json of a run of all items stays as it "
        "is unless --out names it)",
    )
    parser.add_argument(
        "--tiers",
        type=Path,
        metavar="FILE",
        help="groups of models, over which tables may have means: YAML such as `strong: [a, b]`",
    )
    parser.add_argument(
        "--seed", type=int, help="seed of the ranks' intervals (default: the run's, or 0)"
    )
    parser.add_argument("--json", action="store_true", help="print the scores as JSON")
    parser.add_argument(
        "--tables", type=Path, metavar="FOLDER", help="write every table as CSV, Markdown and LaTeX"
    )
    parser.add_argument(
        "--items",
        type=Path,
        metavar="FILE",
        help="write what the models' answers say about each item: difficulty, discrimination, "
        "options nobody chose, keys that may be wrong, item response theory",
    )


def main(options: argparse.Namespace) -> int:
    """Score predictions and print the table."""
    from reelbench.base.files import pretty_json, write_atomically
    from reelbench.score.metrics import add_metric

    for name in options.metric:
        add_metric(name)
    if options.run and not options.predictions:
        scored = _of_run(options)
    elif options.benchmark and options.predictions and not options.run:
        scored = _of_predictions(options)
    else:
        raise ReelbenchError(
            "Name a run's folder, as in `reelbench score my-run`, or both --benchmark and "
            "--predictions."
        )
    scores = scored.scores
    if scored.out:
        write_atomically(scored.out, pretty_json(scores))
    if options.tables:
        from reelbench.report.tables import write_tables

        write_tables(scores, options.tables)
    if options.items:
        from reelbench.score.score import analyse_items

        found = analyse_items(scored.benchmark, scored.outcomes, scored.seed, options.common)
        write_atomically(options.items, pretty_json(found))
    if options.json:
        put(pretty_json(scores).rstrip("\n"))
    else:
        put_scores(scores)
        tell(f"Here {scores['policy']}. Interval: {scores['interval']}.")
    return scored.status


@dataclass(frozen=True)
class _Scored:
    """What was scored, and what came of it."""

    benchmark: "Benchmark"
    outcomes: "Mapping[Asked, Mapping[str, ItemOutcome]]"
    seed: int
    scores: "dict[str, Any]"
    out: Path | None
    status: int = 0


def _of_run(options: argparse.Namespace) -> _Scored:
    from reelbench.evaluate.folder import benchmark_of, is_finished, read_run, split_of
    from reelbench.score.score import score_runs

    folder, out = options.run, options.out
    if options.judge:
        raise ReelbenchError(
            "The judges of a run are named to `reelbench run`: add --judge to its command, with "
            "the same --out. Nothing that was answered is asked again."
        )
    run = read_run(folder)
    benchmark = benchmark_of(folder, run, options.benchmark)
    if not is_finished(folder):
        tell(f"{folder} has not finished: run it again to bring its predictions up to date.")
    seed = run["seed"] if options.seed is None else options.seed
    if options.split:
        benchmark = benchmark.split(options.split)
    scored = score_runs(benchmark, [folder], seed, options.common, _tiers(options))
    usual = seed == run["seed"] and benchmark.split_name == split_of(run)
    if usual and not (options.json or options.common or options.metric or options.tiers):
        out = out or folder / "scores.json"
    return _Scored(scored.benchmark, scored.outcomes, seed, scored.scores, out)


def _of_predictions(options: argparse.Namespace) -> _Scored:
    from reelbench.data.benchmark import Benchmark
    from reelbench.score.predictions import outcomes_in, read_rows
    from reelbench.score.score import score_outcomes

    benchmark, seed = Benchmark.load(options.benchmark), options.seed or 0
    if options.split:
        benchmark = benchmark.split(options.split)
    rows = read_rows(options.predictions, benchmark)
    judging = _judged(benchmark, rows, options) if options.judge else None
    judgements, judges = ([judging.path], judging.judges) if judging else ([], [])
    outcomes = outcomes_in(rows, benchmark)
    scores = score_outcomes(
        benchmark,
        outcomes,
        seed,
        judgements,
        judges=judges,
        common=options.common,
        tiers=_tiers(options),
    )
    status = 1 if judging and judging.failures else 0
    return _Scored(benchmark, outcomes, seed, scores, options.out, status)


def _tiers(options: argparse.Namespace) -> dict[str, str]:
    from reelbench.score.tiers import read_tiers

    return read_tiers(options.tiers) if options.tiers else {}


def _judged(benchmark: "Benchmark", rows: "Rows", options: argparse.Namespace) -> "JudgingResult":
    from reelbench.cli.run import tell_ledger
    from reelbench.client.budget import parse_budget
    from reelbench.score.judging import judge_rows

    if not options.out:
        raise ReelbenchError(
            "--judge needs --out: what judges reply is paid for, and kept beside that file."
        )
    folder = options.out.with_name(f"{options.out.stem}-judging")
    budget = None if options.budget is None else parse_budget(options.budget)
    judging = judge_rows(benchmark, rows, options.judge, folder, budget)
    for warning in judging.warnings:
        tell(f"warning: {warning}")
    for failure in judging.failures[:10]:
        tell("{id} of {model}: {status}: {error}".format(**failure))
    tell_ledger(judging.ledger)
    tell(f"{len(judging.judgements):,} judgements are in {judging.path}.")
    return judging
