"""Options that say what is what in anyone's predictions, shared by commands that read them."""

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reelbench.base.progress import counted
from reelbench.cli.say import named_values, tell

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reelbench.data.benchmark import Benchmark
    from reelbench.score.judging import JudgingResult
    from reelbench.score.predictions import AddedPredictions, Rows

ADDED_JUDGING = "predictions-judging"  # in a run: what judges gave predictions beside it


def add_prediction_options(parser: argparse.ArgumentParser) -> None:
    """Declare what may be said of files of predictions."""
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help="column with the id, prediction, model or condition, if it is not detected: --column "
        "prediction=my_output; --column row=index: its numbers are those of rows, from 0 unless "
        "the file shows that they are from 1",
    )
    parser.add_argument(
        "--answers-as",
        choices=("reply", "index", "index1", "truth"),
        help="meaning of numbers in --predictions: text of an option, index from 0, index from 1, "
        "or 1 for yes (default: detected)",
    )
    parser.add_argument(
        "--skip-unmatched",
        action="store_true",
        help="ignore predictions for items that are not in the benchmark",
    )


def add_judge_options(parser: argparse.ArgumentParser) -> None:
    """Declare who grades predictions, and for how much."""
    parser.add_argument(
        "--judge",
        action="append",
        default=[],
        metavar="MODEL",
        help="model that grades open answers in --predictions and reads replies that the parser "
        "cannot; its replies are kept beside --out, or in the run: what was graded is not asked "
        "again",
    )
    parser.add_argument(
        "--budget", metavar="AMOUNT", help="maximum spend on judges: 5usd or 2000000tokens"
    )


@dataclass(frozen=True, slots=True)
class Beside:
    """Predictions to score beside a run, and whether a judge failed on them."""

    predictions: "AddedPredictions"
    failed: bool = False


def added_predictions(options: argparse.Namespace, benchmark: "Benchmark", run: "Path") -> "Beside":
    """Read the predictions that are to stand beside a run, and have its judges grade them."""
    from reelbench.base.files import digest_of_file
    from reelbench.evaluate.folder import read_run
    from reelbench.evaluate.selected import of_runs
    from reelbench.interop.predictions import prediction_files
    from reelbench.score.predictions import AddedPredictions, has_reply

    record = read_run(run)
    benchmark = of_runs(benchmark, {run: record}, options.scope == "common")
    paths = prediction_files(options.predictions)
    rows = read_prediction_files(paths, benchmark, options)
    files = [f"{path.name}, sha256 {digest_of_file(path)}" for path in paths]
    names = [each["name"] for each in record.get("judges", ())]
    if options.judge:
        judging = judged(benchmark, rows, options, run / ADDED_JUDGING, names)
        added = AddedPredictions(rows, [judging.path], judging.judges, files)
        return Beside(added, bool(judging.failures))
    opened = {item.id for item in benchmark.items if item.kind == "open"}
    replies = [
        turn
        for by_item in rows.values()
        for item, turns in by_item.items()
        for turn in turns.values()
        if item in opened and has_reply(turn)
    ]
    if replies:
        tell(
            f"{counted(len(replies), 'open answer')} in --predictions without a grade: add --judge "
            f"{names[0] if names else 'NAME'}."
        )
    return Beside(AddedPredictions(rows, files=files))


def judged(
    benchmark: "Benchmark",
    rows: "Rows",
    options: argparse.Namespace,
    folder: "Path",
    same_as: "Sequence[str]" = (),
) -> "JudgingResult":
    """Have the judges that were named read predictions, and tell what came of it."""
    from reelbench.cli.run import tell_ledger
    from reelbench.client.budget import parse_budget
    from reelbench.score.judging import judge_rows

    budget = None if options.budget is None else parse_budget(options.budget)
    judging = judge_rows(benchmark, rows, options.judge, folder, budget, same_as)
    for warning in judging.warnings:
        tell(f"warning: {warning}")
    for failure in judging.failures[:10]:
        tell("{id} of {model}: {status}: {error}".format(**failure))
    tell_ledger(judging.ledger)
    tell(f"{len(judging.judgements):,} judgements are in {judging.path}.")
    return judging


def read_prediction_files(
    paths: "Sequence[Path]", benchmark: "Benchmark", options: argparse.Namespace
) -> "Rows":
    """Return the predictions in files, and tell how they were read."""
    from reelbench.interop.predictions import read_anyones

    rows, notes = read_anyones(
        paths,
        benchmark,
        answers_as=options.answers_as or "",
        columns=named_values(options.column, "--column ROLE=NAME"),
        skip_unmatched=options.skip_unmatched,
    )
    for note in notes:
        tell(note)
    return rows
