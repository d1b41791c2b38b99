"""``reelbench run``."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.cli.say import put_scores, tell

if TYPE_CHECKING:
    from reelbench.benchmark import Benchmark


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench run my-benchmark --model baseline:pixels --out my-run\n"
        "  reelbench run my-benchmark --out my-run     # goes on with what is not yet answered"
    )
    parser.add_argument("benchmark", type=Path, help="the benchmark's folder")
    parser.add_argument(
        "--model", action="append", default=[], help="backend:name, as often as you like"
    )
    parser.add_argument("--out", type=Path, required=True, help="the run's folder")
    parser.add_argument("--seed", type=int, default=0, help="seed of option orders and intervals")


def main(options: argparse.Namespace) -> int:
    """Run, score and report."""
    from reelbench.benchmark import Benchmark
    from reelbench.evaluate.run import run_benchmark

    benchmark = Benchmark.load(options.benchmark)
    for warning in benchmark.warnings:
        tell(f"warning: {warning}")
    try:
        state = run_benchmark(benchmark, options.model, options.out, options.seed)
    except KeyboardInterrupt:
        tell(f"\nStopped. Nothing is lost: `reelbench run {options.benchmark} --out "
             f"{options.out}` goes on from here.")  # fmt: skip
        return 130
    put_scores(finish(benchmark, options.out, options.seed))
    tell(f"{state.asked} of {state.total} questions were asked now; the rest was in the journal.")
    for failure in state.failures[:10]:
        tell("{id} to {model}: {status}: {error}".format(**failure))
    if state.failures:
        tell(f"{len(state.failures)} questions have no answer (all in {options.out}/status.json).")
    tell(f"Open {options.out / 'report.html'} in a browser.")
    return 1 if state.failures else 0


def finish(benchmark: "Benchmark", out: Path, seed: int) -> dict[str, Any]:
    """Score a run and write its report."""
    from reelbench.evaluate.run import read_run
    from reelbench.files import pretty_json, write_atomically
    from reelbench.report.report import write_report
    from reelbench.score.score import score_predictions

    predictions = out / "predictions.jsonl"
    scores = score_predictions(benchmark, predictions, seed)
    write_atomically(out / "scores.json", pretty_json(scores))
    write_report(benchmark, read_run(out), scores, predictions, out / "report.html")
    return scores
