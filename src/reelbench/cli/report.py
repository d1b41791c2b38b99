"""``reelbench report``."""

import argparse
import re
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.cli.say import put, tell


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench report my-run --out page.html\n"
        "  reelbench report my-run their-run --out both.html\n"
        "  reelbench report my-run --split dev         # writes report-dev.html in the run"
    )
    parser.add_argument(
        "run", type=Path, nargs="+", help="a run's folder, or several of one benchmark"
    )
    parser.add_argument("--benchmark", type=Path, help="the benchmark's folder, if it has moved")
    parser.add_argument(
        "--common",
        action="store_true",
        help="score the items alone that every model answered (default page: report-common.html)",
    )
    parser.add_argument(
        "--split",
        metavar="NAME",
        help="report the items of this split alone (default page: report-NAME.html)",
    )
    parser.add_argument(
        "--tiers",
        type=Path,
        metavar="FILE",
        help="groups of models, over which tables may have means: YAML such as `strong: [a, b]`",
    )
    parser.add_argument("--out", type=Path, help="the page (default: report.html in the run)")


def main(options: argparse.Namespace) -> int:
    """Write the page and print where it is."""
    from reelbench.evaluate.folder import benchmark_of, is_finished, read_run
    from reelbench.report.report import write_report
    from reelbench.score.score import score_runs
    from reelbench.score.tiers import read_tiers

    if len(options.run) > 1 and options.out is None:
        raise ReelbenchError(
            "Several runs need a page of their own: name it with --out, such as --out all.html."
        )
    for run in options.run:
        benchmark = benchmark_of(run, read_run(run), options.benchmark)
        if not is_finished(run):
            tell(f"{run} has not finished: run it again to bring it up to date.")
    benchmark = benchmark.split(options.split) if options.split else benchmark.whole
    tiers = read_tiers(options.tiers) if options.tiers else {}
    scored = score_runs(benchmark, options.run, common=options.common, tiers=tiers)
    put(str(write_report(scored, options.out or options.run[0] / _default_name(options))))
    return 0


def _default_name(options: argparse.Namespace) -> str:
    """Name a page of part of the items so that it does not replace that of all of them."""
    split = re.sub(r"\W+", "-", options.split or "").strip("-")
    parts = ["report", split, "common" if options.common else ""]
    return "-".join(filter(None, parts)) + ".html"
