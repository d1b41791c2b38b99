"""``reelbench score``."""

import argparse
from pathlib import Path

from reelbench.cli.say import put, put_scores
from reelbench.errors import ReelbenchError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench score my-run\n"
        "  reelbench score --benchmark my-benchmark --predictions theirs.jsonl --out scores.json"
    )
    parser.add_argument("run", type=Path, nargs="?", help="a run's folder")
    parser.add_argument("--benchmark", type=Path, help="the benchmark's folder, if it has moved")
    parser.add_argument("--predictions", type=Path, help="anyone's predictions, one JSON a line")
    parser.add_argument("--out", type=Path, help="where to write scores.json")
    parser.add_argument("--seed", type=int, default=0, help="seed of the intervals")
    parser.add_argument("--json", action="store_true", help="print scores.json instead of a table")


def main(options: argparse.Namespace) -> int:
    """Score predictions and print the table."""
    from reelbench.benchmark import Benchmark
    from reelbench.evaluate.run import benchmark_of, read_run
    from reelbench.files import pretty_json, write_atomically
    from reelbench.score.score import score_predictions

    predictions, out = options.predictions, options.out
    if options.run:
        benchmark = benchmark_of(options.run, read_run(options.run), options.benchmark)
        predictions = predictions or options.run / "predictions.jsonl"
        out = out or options.run / "scores.json"
    elif options.benchmark and predictions:
        benchmark = Benchmark.load(options.benchmark)
    else:
        raise ReelbenchError("Name a run's folder, or both --benchmark and --predictions.")
    scores = score_predictions(benchmark, predictions, options.seed)
    if out:
        write_atomically(out, pretty_json(scores))
    if options.json:
        put(pretty_json(scores).rstrip("\n"))
    else:
        put_scores(scores)
        put(f"{scores['policy']}; interval: {scores['interval']}")
    return 0
