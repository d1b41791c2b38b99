"""``reelbench report``."""

import argparse
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.cli.say import put, tell


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench report my-run --out page.html\n"
        "  reelbench report my-run their-run --out both.html"
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
    parser.add_argument("--out", type=Path, help="the page (default: report.html in the run)")


def main(options: argparse.Namespace) -> int:
    """Write the page and print where it is."""
    from reelbench.evaluate.folder import benchmark_of, is_finished, read_run
    from reelbench.report.report import report_runs

    if len(options.run) > 1 and options.out is None:
        raise ReelbenchError("Where to? Name the page of several runs with --out.")
    for run in options.run:
        benchmark = benchmark_of(run, read_run(run), options.benchmark)
        if not is_finished(run):
            tell(f"{run} has not finished: run it again to bring it up to date.")
    page = options.out or options.run[0] / (
        "report-common.html" if options.common else "report.html"
    )
    put(str(report_runs(benchmark, options.run, page, options.common)))
    return 0
