"""``reelbench demo``."""

import argparse
import time
from pathlib import Path

from reelbench.cli.lint import put_report
from reelbench.cli.run import tell_failures
from reelbench.cli.say import command, put_scores, tell

BASELINES = ("baseline:random", "baseline:longest", "baseline:pixels")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "example:\n  reelbench demo --out demo\n\nNeeds no network and no API key."
    parser.add_argument(
        "--out", type=Path, default=Path("demo"), help="output folder (default: demo)"
    )
    parser.add_argument(
        "--videos", type=_count, default=24, help="number of videos to render (default: 24)"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")


def _count(text: str) -> int:
    if not text.isdecimal() or not 2 <= int(text) <= 999:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 2 to 999")
    return int(text)


def main(options: argparse.Namespace) -> int:
    """Make, lint, run, score and report."""
    from reelbench.base.files import check_output_folder
    from reelbench.data.benchmark import Benchmark
    from reelbench.evaluate.run import run_benchmark
    from reelbench.lint import lint_benchmark
    from reelbench.recipes.demo.recipe import make_demo
    from reelbench.report.report import write_report
    from reelbench.score.score import score_run

    began = time.monotonic()
    check_output_folder(options.out, "demo", ("benchmark/items.jsonl", "benchmark/make"))
    root, out = options.out / "benchmark", options.out / "run"
    tell(f"Making {options.videos} videos and their questions in {root} ...")
    make_demo(root, options.videos, options.seed)
    benchmark = Benchmark.load(root)
    tell(f"Checking {len(benchmark.items)} items ...")
    put_report(lint_benchmark(root), most=5)
    tell(f"Asking {len(BASELINES)} baselines ...")
    state = run_benchmark(benchmark, BASELINES, out, options.seed)
    scored = score_run(benchmark, out)
    put_scores(scored.scores)
    write_report(scored, out / "report.html")
    tell_failures(state, out)
    tell(
        f"\nDone in {time.monotonic() - began:.0f} s. Open {out / 'report.html'} in a browser.\n"
        "What next:\n"
        f"  {command('lint', root)}\n"
        f"  {command('run', root, '--model', 'baseline:random', '--out', 'my-run')}\n"
        "To make your own benchmark, see `reelbench new` or docs/make.md."
    )
    return 1 if state.failures else 0
