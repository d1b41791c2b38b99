"""``reelbench report``."""

import argparse
from pathlib import Path

from reelbench.cli.say import put


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "example:\n  reelbench report my-run --out page.html"
    parser.add_argument("run", type=Path, help="a run's folder")
    parser.add_argument("--benchmark", type=Path, help="the benchmark's folder, if it has moved")
    parser.add_argument("--out", type=Path, help="the page (default: report.html in the run)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the intervals")


def main(options: argparse.Namespace) -> int:
    """Write the page and print where it is."""
    from reelbench.evaluate.run import benchmark_of, read_run
    from reelbench.report.report import write_report
    from reelbench.score.score import score_predictions

    record = read_run(options.run)
    benchmark = benchmark_of(options.run, record, options.benchmark)
    predictions = options.run / "predictions.jsonl"
    page = options.out or options.run / "report.html"
    scores = score_predictions(benchmark, predictions, options.seed)
    write_report(benchmark, record, scores, predictions, page)
    put(str(page))
    return 0
