"""``reelbench score``."""

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.cli.prediction_options import (
    add_judge_options,
    add_prediction_options,
    added_predictions,
    judged,
    read_prediction_files,
)
from reelbench.cli.say import put, put_scores, put_table, tell
from reelbench.cli.selection_options import (
    add_scope_options,
    add_selection_options,
    select_from,
)
from reelbench.cli.table_options import add_table_options, tiers_of, write_tables_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reelbench.data.benchmark import Benchmark
    from reelbench.score.judging import JudgingResult
    from reelbench.score.parser_differences import ParserComparison
    from reelbench.score.predictions import Asked, ItemOutcome, Rows
    from reelbench.score.score import ReadAgain


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench score my-run\n"
        "  reelbench score my-run --tables tables --items items.json\n"
        "  reelbench score my-run --all\n"
        "  reelbench score my-run --common\n"
        "  reelbench score my-run --split dev --out dev.json\n"
        "  reelbench score my-run --where category=motion --where kind=single\n"
        "  reelbench score --benchmark my-benchmark --predictions theirs.jsonl --out scores.json\n"
        "  reelbench score --benchmark my-benchmark --predictions model_results.xlsx\n"
        "  reelbench score --benchmark my-benchmark --predictions a.jsonl --predictions b.jsonl "
        "--judge openai:gpt-4o --out scores.json\n"
        "  reelbench score my-run --predictions people.jsonl --judge openai:gpt-4o\n"
        "  reelbench score my-run --parser all --differences differences.csv"
    )
    parser.add_argument("run", type=Path, nargs="?", help="run folder")
    parser.add_argument("--benchmark", type=Path, help="benchmark folder, if it has moved")
    parser.add_argument(
        "--predictions",
        type=Path,
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="anyone's predictions of --benchmark, or to stand beside those of the run, such as "
        "people's: JSON lines, JSON, CSV, TSV, Excel, Parquet, results of VLMEvalKit, logs of "
        "lmms-eval",
    )
    add_prediction_options(parser)
    add_judge_options(parser)
    parser.add_argument("--out", type=Path, help="output file (default: scores.json of the run)")
    parser.add_argument(
        "--parser",
        action="append",
        default=[],
        metavar="NAME",
        help="score with a published parser (listed below), or with your own as FILE.py:NAME, and "
        "report where it differs from ours; `all` shows every parser beside ours (does not change "
        "the run's scores.json unless --out names it)",
    )
    parser.add_argument(
        "--differences",
        type=Path,
        metavar="FILE",
        help="write the replies that --parser reads differently from ours, as CSV",
    )
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="FILE.py:NAME",
        help="add a metric of your own; repeatable (does not change the run's scores.json unless "
        "--out names it)",
    )
    add_table_options(parser)
    parser.add_argument(
        "--seed", type=int, help="seed of the intervals of ranks (default: the run's own, or 0)"
    )
    parser.add_argument("--json", action="store_true", help="print the scores as JSON")
    parser.add_argument(
        "--items",
        type=Path,
        metavar="FILE",
        help="write an item analysis: difficulty, discrimination, unused distractors, keys that "
        "may be wrong, item response theory",
    )
    kept = " (scores.json of the run stays as it is unless --out names it)"
    add_selection_options(parser, "score", kept)
    add_scope_options(parser, "score", "every model", kept)


def configure_for(parser: argparse.ArgumentParser, words: "Sequence[str]") -> None:
    """List the published parsers, which only --help shows."""
    if {"-h", "--help"} & set(words):
        from reelbench.evaluate.published_parsers import PUBLISHED

        named = [f"  {name:34}{found.used_by}" for name, found in PUBLISHED.items()]
        about = "parsers (a name without its version is the first of that name):"
        parser.epilog = "\n".join([f"{parser.epilog}\n", about, *named])


def main(options: argparse.Namespace) -> int:
    """Score predictions and print the table."""
    from reelbench.base.files import pretty_json, write_atomically
    from reelbench.score.metrics import add_metric

    for name in options.metric:
        add_metric(name)
    _check_parsers(options)
    if options.run:
        scored = _of_run(options)
    elif options.benchmark and options.predictions:
        scored = _of_predictions(options)
    else:
        raise ReelbenchError(
            "Name a run's folder, as in `reelbench score my-run`, or both --benchmark and "
            "--predictions."
        )
    scores = scored.scores
    compared = _compared(options, scored) if options.parser else None
    if scored.out:
        write_atomically(scored.out, pretty_json(scores))
    write_tables_of(scores, options)
    if options.items:
        from reelbench.score.score import analyse_items

        found = analyse_items(scored.benchmark, scored.outcomes, scored.seed, options.scope)
        write_atomically(options.items, pretty_json(found))
    if options.json:
        put(pretty_json(scores).rstrip("\n"))
    else:
        put_scores(scores)
        tell(f"Scoring: {scores['policy']}. Interval: {scores['interval']}.")
    if compared:
        _put_parsers(options, compared)
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
    rows: "Rows" = field(default_factory=dict)  # where they are read again


def _of_run(options: argparse.Namespace) -> _Scored:
    from reelbench.evaluate.folder import benchmark_of, is_finished, read_run
    from reelbench.evaluate.selected import selection_of
    from reelbench.score.predictions import read_rows
    from reelbench.score.score import score_runs

    folder, out = options.run, options.out
    if options.judge and not options.predictions:
        raise ReelbenchError(
            "The judges of a run are named to `reelbench run`: add --judge to its command, with "
            "the same --out. Nothing that was answered is asked again."
        )
    run = read_run(folder)
    benchmark = benchmark_of(folder, run, options.benchmark)
    if not is_finished(folder):
        tell(f"{folder} has not finished: run it again to bring its predictions up to date.")
    seed = run["seed"] if options.seed is None else options.seed
    benchmark = select_from(benchmark, options, run["seed"])
    again = _read_again(options, seed)
    beside = added_predictions(options, benchmark, folder) if options.predictions else None
    added = beside.predictions if beside else None
    scored = score_runs(benchmark, [folder], seed, options.scope, tiers_of(options), again, added)
    usual = seed == run["seed"] and benchmark.selection == selection_of(run)
    own = options.json or options.metric or options.tiers or options.parser
    if usual and options.scope == "asked" and not own and not added:
        out = out or folder / "scores.json"
    rows = read_rows(folder / "predictions.jsonl", scored.benchmark) if options.parser else {}
    status = 1 if beside and beside.failed else 0
    return _Scored(scored.benchmark, scored.outcomes, seed, scored.scores, out, status, rows)


def _of_predictions(options: argparse.Namespace) -> _Scored:
    from reelbench.data.benchmark import Benchmark
    from reelbench.score.predictions import outcomes_in
    from reelbench.score.score import score_outcomes

    benchmark, seed = Benchmark.load(options.benchmark), options.seed or 0
    benchmark = select_from(benchmark, options, seed)
    rows = read_prediction_files(options.predictions, benchmark, options)
    judging = _judged(benchmark, rows, options) if options.judge else None
    judgements, judges = ([judging.path], judging.judges) if judging else ([], [])
    again = _read_again(options, seed)
    outcomes = outcomes_in(again(rows, benchmark) if again else rows, benchmark)
    scores = score_outcomes(
        benchmark,
        outcomes,
        seed,
        judgements,
        judges=judges,
        scope=options.scope,
        tiers=tiers_of(options),
    )
    status = 1 if judging and judging.failures else 0
    return _Scored(benchmark, outcomes, seed, scores, options.out, status, rows)


def _check_parsers(options: argparse.Namespace) -> None:
    """Refuse unknown parsers, and what does not go with them, before anything is read."""
    if options.differences and not options.parser:
        raise ReelbenchError(
            "--differences lists what another parser reads otherwise: name one with --parser, or "
            "`--parser all`."
        )
    if not options.parser:
        return
    from reelbench.evaluate.published_parsers import parsers_named

    parsers_named(options.parser)
    if options.judge:
        raise ReelbenchError(
            "--judge reads what our parser cannot, and --parser replaces ours: leave one of them "
            "out."
        )


def _read_again(options: argparse.Namespace, seed: int) -> "ReadAgain | None":
    """What reads the replies for the scores: None for our parser."""
    if not options.parser:
        return None
    from reelbench.evaluate.published_parsers import parsers_named
    from reelbench.score.parser_differences import reread

    parser, *others = parsers_named(options.parser)
    if others:
        return None
    tell(f"The scores are by the parser {parser.name} ({parser.used_by}), not by ours.")
    return lambda rows, benchmark: reread(rows, benchmark, parser, seed).rows


def _compared(options: argparse.Namespace, scored: _Scored) -> "ParserComparison":
    """Read the replies by all parsers that were named, and add to the scores what came of it."""
    from reelbench.evaluate.published_parsers import parsers_named
    from reelbench.score.parser_differences import OURS, compare_parsers

    parsers = parsers_named(options.parser)
    compared = compare_parsers(scored.benchmark, scored.rows, parsers, scored.seed)
    scored.scores["parser"] = parsers[0].name if len(parsers) == 1 else OURS
    scored.scores["parsers"] = [each.to_record() for each in compared.scores]
    return compared


def _put_parsers(options: argparse.Namespace, compared: "ParserComparison") -> None:
    from reelbench.base.files import write_atomically
    from reelbench.pages.table import Table
    from reelbench.score.parser_differences import COLUMNS, DIFFERENCE_COLUMNS

    if compared.scores and not options.json:
        put("")
        put_table(COLUMNS, compared.table())
    for sentence in compared.sentences():
        tell(sentence)
    if options.differences:
        rows = list(compared.differences())
        table = Table("differences", "Replies read otherwise", DIFFERENCE_COLUMNS, rows)
        write_atomically(options.differences, table.to_csv())
        tell(f"{len(rows):,} readings that are not ours are in {options.differences}.")


def _judged(benchmark: "Benchmark", rows: "Rows", options: argparse.Namespace) -> "JudgingResult":
    if not options.out:
        raise ReelbenchError(
            "--judge needs --out: what judges reply is paid for, and kept beside that file."
        )
    return judged(benchmark, rows, options, options.out.with_name(f"{options.out.stem}-judging"))
