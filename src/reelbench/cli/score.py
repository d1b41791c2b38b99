"""``reelbench score``."""

import argparse
from pathlib import Path

from reelbench.cli.say import put, put_scores, tell
from reelbench.errors import ReelbenchError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench score my-run\n"
        "  reelbench score my-run --tables tables --items items.json\n"
        "  reelbench score my-run --common\n"
        "  reelbench score --benchmark my-benchmark --predictions theirs.jsonl --out scores.json"
    )
    parser.add_argument("run", type=Path, nargs="?", help="a run's folder")
    parser.add_argument("--benchmark", type=Path, help="the benchmark's folder, if it has moved")
    parser.add_argument("--predictions", type=Path, help="anyone's predictions, one JSON a line")
    parser.add_argument(
        "--out", type=Path, help="where to write the scores (default: scores.json of the run)"
    )
    parser.add_argument(
        "--common",
        action="store_true",
        help="score the items alone that every model answered (scores.json of the run stays as it "
        "is unless --out names it)",
    )
    parser.add_argument("--seed", type=int, help="seed of the intervals (default: the run's, or 0)")
    parser.add_argument("--json", action="store_true", help="print the scores as JSON")
    parser.add_argument(
        "--tables", type=Path, metavar="FOLDER", help="write every table as CSV, Markdown and LaTeX"
    )
    parser.add_argument(
        "--items",
        type=Path,
        metavar="FILE",
        help="write what the models' answers say about each item: difficulty, discrimination, "
        "options nobody chose, keys that may be wrong, item response theory",
    )


def main(options: argparse.Namespace) -> int:
    """Score predictions and print the table."""
    from reelbench.benchmark import Benchmark
    from reelbench.evaluate.folder import benchmark_of, is_finished, read_run
    from reelbench.files import pretty_json, write_atomically
    from reelbench.score.score import score_folder, score_predictions

    predictions, out, seed = options.predictions, options.out, options.seed
    if options.run and predictions is None:
        run = read_run(options.run)
        benchmark = benchmark_of(options.run, run, options.benchmark)
        if not is_finished(options.run):
            tell(
                f"{options.run} has not finished: run it again to bring its predictions up to date."
            )
        if seed in (None, run["seed"]) and not options.json and not options.common:
            out = out or options.run / "scores.json"
        seed = run["seed"] if seed is None else seed
    elif options.benchmark and predictions and not options.run:
        benchmark = Benchmark.load(options.benchmark)
    else:
        raise ReelbenchError("Name either a run's folder, or both --benchmark and --predictions.")
    if predictions is None:
        scores = score_folder(benchmark, options.run, seed or 0, options.common)
    else:
        scores = score_predictions(benchmark, predictions, seed or 0, common=options.common)
    if options.json:
        put(pretty_json(scores).rstrip("\n"))
    else:
        put_scores(scores)
        tell(f"Here {scores['policy']}. Interval: {scores['interval']}.")
    if out:
        write_atomically(out, pretty_json(scores))
    if options.tables:
        from reelbench.report.tables import write_tables

        write_tables(scores, options.tables)
    if options.items:
        from reelbench.score.score import analyse_items

        path = predictions or options.run / "predictions.jsonl"
        write_atomically(options.items, pretty_json(analyse_items(benchmark, path, seed or 0)))
    return 0
