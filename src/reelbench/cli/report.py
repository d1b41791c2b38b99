"""``reelbench report``."""

import argparse
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import file_part
from reelbench.cli.prediction_options import (
    add_judge_options,
    add_prediction_options,
    added_predictions,
    read_prediction_files,
)
from reelbench.cli.say import printable, put, tell, tell_ungraded
from reelbench.cli.selection_options import (
    add_scope_options,
    add_selection_options,
    select_from,
    select_of_runs,
)
from reelbench.cli.table_options import add_table_options, tiers_of, write_tables_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reelbench.data.benchmark import Benchmark
    from reelbench.score.predictions import AddedPredictions
    from reelbench.score.score import ScoredRuns


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench report my-run --out page.html\n"
        "  reelbench report my-run their-run --out both.html\n"
        "  reelbench report last-month today --out history.html\n"
        "  reelbench report my-run --split dev         # writes report-dev.html in the run\n"
        "  reelbench report --benchmark my-benchmark --predictions theirs.jsonl --out page.html\n"
        "  reelbench report my-run --predictions people.jsonl --judge openai:gpt-4o\n"
        "  reelbench report my-run --tables tables --figures figures --figure-format pdf"
    )
    parser.add_argument("run", type=Path, nargs="*", help="run folder, or several of one benchmark")
    parser.add_argument(
        "--benchmark",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="benchmark folder of --predictions, or of a run that has moved; twice for two "
        "versions",
    )
    parser.add_argument(
        "--predictions",
        type=Path,
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="files of predictions for --benchmark, instead of a run; or to stand beside those of "
        "one run, such as people's",
    )
    add_prediction_options(parser)
    add_judge_options(parser)
    add_table_options(parser)
    parser.add_argument(
        "--embed",
        nargs="?",
        type=_megabytes,
        const=100.0,
        metavar="MB",
        help="embed the videos in the page, up to this total size (default: 100 MB); otherwise "
        "they are played from the benchmark folder",
    )
    parser.add_argument(
        "--since",
        type=Path,
        metavar="RUN",
        help="earlier run of the same models, to filter items whose outcome changed",
    )
    parser.add_argument(
        "--out", type=Path, help="output page (default: report.html in the run folder)"
    )
    parser.add_argument(
        "--figures", type=Path, metavar="FOLDER", help="write all figures to this folder"
    )
    parser.add_argument(
        "--figure-format",
        default="svg",
        metavar="FORMATS",
        help="formats of --figures, comma-separated: svg, pdf, png (default: svg)",
    )
    named = " (default page: named after the choice)"
    add_selection_options(parser, "report", named)
    add_scope_options(parser, "report", "every model", named)


def _megabytes(text: str) -> float:
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not 0 < size <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no size in megabytes, such as 100")
    return size


def main(options: argparse.Namespace) -> int:
    """Write the page, and tables and figures where they are asked for; print where the page is."""
    from reelbench.report.figure_files import figure_formats, write_figures
    from reelbench.report.report import write_report

    formats = figure_formats(options.figure_format) if options.figures else []
    scored, page = _scored(options)
    write_tables_of(scored.scores, options)
    written = write_report(scored, page, embed=options.embed, since=options.since)
    if options.figures:
        write_figures(scored.scores, options.figures, formats)
    put(str(written))
    tell_ungraded(scored.scores)
    return 0


def _scored(options: argparse.Namespace) -> "tuple[ScoredRuns, Path]":
    """Score what is named; return it with where the page goes."""
    if options.judge and not (options.run and options.predictions):
        raise ReelbenchError(
            "--judge grades the --predictions beside a run: name the run and --predictions too. "
            "The judges of a run itself are named to `reelbench run`."
        )
    if options.run:
        return _of_runs(options), options.out or options.run[0] / _default_name(options)
    if options.predictions:
        needs = {"--benchmark": options.benchmark, "--out": options.out}
        if missing := [flag for flag, given in needs.items() if not given]:
            raise ReelbenchError(
                f"A page of --predictions needs {' and '.join(missing)} too, as in --benchmark "
                "my-benchmark --out page.html."
            )
        return _of_predictions(options), options.out
    raise ReelbenchError(
        "Name a run's folder, as in `reelbench report my-run`, or --benchmark, --predictions and "
        "--out."
    )


def _of_runs(options: argparse.Namespace) -> "ScoredRuns":
    from reelbench.evaluate.folder import is_finished
    from reelbench.score.run_names import source_labels
    from reelbench.score.score import score_runs

    if len(options.run) > 1 and options.out is None:
        raise ReelbenchError(
            "Several runs need a page of their own: name it with --out, such as --out all.html."
        )
    labels = source_labels(options.run)
    runs = _past_and_present(labels, options)
    for run in options.run:
        if not is_finished(run):
            tell(f"{run} has not finished: run it again to bring it up to date.")
    added = _added(runs, options)
    scored = score_runs(
        runs.benchmark, runs.present, None, options.scope, tiers_of(options), None, added
    )
    return replace(scored, scores=scored.scores | {"history": runs.past}) if runs.past else scored


def _added(runs: "_Runs", options: argparse.Namespace) -> "AddedPredictions | None":
    """Return the predictions that are to stand beside a run."""
    if not options.predictions:
        return None
    if len(options.run) > 1:
        raise ReelbenchError("--predictions stand beside one run: name one, or leave them out.")
    return added_predictions(options, runs.benchmark, runs.present[0]).predictions


@dataclass(frozen=True)
class _Runs:
    """The runs that a page is about, and the history that others belong to."""

    benchmark: "Benchmark"
    present: list[Path]
    past: "list[dict[str, Any]]"


def _past_and_present(labels: "Mapping[Path, str]", options: argparse.Namespace) -> _Runs:
    from reelbench.score.entries import run_source
    from reelbench.score.history import history, of_the_last_version

    if len(labels) == 1:
        (run,) = labels
        return _of_one_version([run], options)
    choose = partial(select_from, options=options)
    sources = [run_source(run, label, options.benchmark, choose) for run, label in labels.items()]
    present = []
    for source, is_present in zip(sources, of_the_last_version(sources), strict=True):
        about = source.benchmark.manifest
        if is_present and source.path:
            present.append(source.path)
        else:
            tell(
                f"{printable(source.label)} is of {about.name} {about.version} as it was: it is in "
                "the history alone, and the other tables are about the version of the last run."
            )
    return replace(_of_one_version(present, options), past=history(sources))


def _of_one_version(runs: list[Path], options: argparse.Namespace) -> _Runs:
    from reelbench.evaluate.folder import benchmark_among, read_run

    records = [read_run(run) for run in runs]
    benchmark = benchmark_among(runs[-1], records[-1], options.benchmark)
    return _Runs(select_of_runs(benchmark, records, options), runs, [])


def _of_predictions(options: argparse.Namespace) -> "ScoredRuns":
    from reelbench.base.files import digest_of_file
    from reelbench.data.benchmark import Benchmark
    from reelbench.interop.predictions import prediction_files
    from reelbench.score.score import score_rows

    benchmark = select_from(Benchmark.load(options.benchmark[0]), options, 0)
    paths = prediction_files(options.predictions)
    rows = read_prediction_files(paths, benchmark, options)
    files = [f"{path.name}, sha256 {digest_of_file(path)}" for path in paths]
    return score_rows(benchmark, rows, 0, options.scope, tiers_of(options), files)


def _default_name(options: argparse.Namespace) -> str:
    """Name a page of part of the items so that it does not replace that of all of them."""
    chosen = [options.split or "", *options.where, f"{options.limit}" if options.limit else ""]
    parts = ["report", *(file_part(part) for part in chosen if part)]
    parts += [f"with-{file_part(path.stem)}" for path in options.predictions]
    return "-".join([*parts, *([options.scope] if options.scope != "asked" else [])]) + ".html"
