"""``reelbench report``."""

import argparse
from pathlib import Path

from reelbench.cli.say import put, tell


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "example:\n  reelbench report my-run --out page.html"
    parser.add_argument("run", type=Path, help="a run's folder")
    parser.add_argument("--benchmark", type=Path, help="the benchmark's folder, if it has moved")
    parser.add_argument("--out", type=Path, help="the page (default: report.html in the run)")


def main(options: argparse.Namespace) -> int:
    """Write the page and print where it is."""
    from reelbench.evaluate.folder import benchmark_of, is_finished, read_run
    from reelbench.report.report import report_run

    benchmark = benchmark_of(options.run, read_run(options.run), options.benchmark)
    if not is_finished(options.run):
        tell(f"{options.run} has not finished: run it again to bring it up to date.")
    put(str(report_run(benchmark, options.run, options.out)))
    return 0
