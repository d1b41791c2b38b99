"""``reelbench compare``."""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.base.errors import ReelbenchError
from reelbench.cli.prediction_options import add_prediction_options, read_prediction_files
from reelbench.cli.say import printable, put, put_table, tell
from reelbench.cli.selection_options import (
    add_scope_options,
    add_selection_options,
    select_from,
)

if TYPE_CHECKING:
    from reelbench.score.comparing import ComparedEntries
    from reelbench.score.entries import ResultSource


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench compare run-a run-b               # the same models, or one model each\n"
        "  reelbench compare my-run --model a --model b\n"
        "  reelbench compare my-run --condition protocol --condition silent\n"
        "  reelbench compare old.jsonl new.csv --benchmark my-benchmark --items changed.csv"
    )
    parser.add_argument("source", type=Path, nargs="*", help="run folder, or a file of predictions")
    parser.add_argument(
        "--predictions",
        type=Path,
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="files of predictions; the same as naming them without this flag",
    )
    parser.add_argument(
        "--benchmark",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="benchmark folder of predictions, or of a run that has moved; twice for two versions",
    )
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="NAME",
        help="compare only this model; repeatable",
    )
    parser.add_argument(
        "--condition",
        action="append",
        default=[],
        metavar="NAME",
        help="compare under this condition; name two to compare them",
    )
    parser.add_argument(
        "--by", metavar="TAG", help="also compare by the values of a tag, such as category"
    )
    parser.add_argument(
        "--items", type=Path, metavar="FILE", help="write the items that differ as CSV"
    )
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    add_prediction_options(parser)
    add_selection_options(parser, "compare")
    add_scope_options(parser, "compare", "both", "")


def main(options: argparse.Namespace) -> int:
    """Compare pair by pair on the same items, and print the table."""
    from reelbench.base.files import pretty_json, write_atomically
    from reelbench.report.compared import changed_items
    from reelbench.score.comparing import compare_sources

    compared = compare_sources(
        _sources(options),
        models=options.model,
        conditions=options.condition,
        scope=options.scope,
        by=options.by or "",
    )
    if options.items:
        write_atomically(options.items, changed_items(compared).to_csv())
    if options.json:
        put(pretty_json(compared.to_record()).rstrip("\n"))
    else:
        _put(compared)
    return 0


def _put(compared: "ComparedEntries") -> None:
    from reelbench.report.compared import compared_by_tag, compared_table
    from reelbench.score.paired import PAIRED_METHOD

    for table in (compared_table(compared), compared_by_tag(compared)):
        if table.rows:
            put_table([name[0].lower() + name[1:] for name in table.columns], table.rows)
    for note in compared.notes:
        tell(f"warning: {printable(note)}")
    tell(
        f"Scoring: {compared.policy}. The difference is in points: {PAIRED_METHOD}. Right to wrong "
        "are the items that the first got right and the second got wrong."
    )


def _sources(options: argparse.Namespace) -> "list[ResultSource]":
    """Read the runs and the files of predictions that are named."""
    from reelbench.score.run_names import source_labels

    named = [*options.source, *options.predictions]
    if not named:
        raise ReelbenchError("Name what to compare: run folders, or files of predictions.")
    labels = source_labels(named)
    return [
        _of_predictions(path, label, options) if path.is_file() else _of_run(path, label, options)
        for path, label in labels.items()
    ]


def _of_run(path: Path, label: str, options: argparse.Namespace) -> "ResultSource":
    from reelbench.evaluate.folder import is_finished
    from reelbench.score.entries import run_source

    source = run_source(path, label, options.benchmark, partial(select_from, options=options))
    if not is_finished(path):
        tell(f"{path} has not finished: run it again to bring its predictions up to date.")
    return source


def _of_predictions(path: Path, label: str, options: argparse.Namespace) -> "ResultSource":
    from reelbench.data.benchmark import Benchmark
    from reelbench.score.entries import ResultSource
    from reelbench.score.predictions import outcomes_in

    if not options.benchmark:
        raise ReelbenchError(
            f"{path} is a file of predictions: name the benchmark that they are about with "
            "--benchmark."
        )
    benchmark = select_from(Benchmark.load(options.benchmark[0]), options, 0)
    rows = read_prediction_files([path], benchmark, options)
    return ResultSource(label, benchmark, outcomes_in(rows, benchmark))
