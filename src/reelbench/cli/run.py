"""``reelbench run``."""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.cli.say import command, counted, put_scores, tell

if TYPE_CHECKING:
    from reelbench.evaluate.status import RunState
    from reelbench.items import Problem


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench run my-benchmark --model baseline:pixels --out my-run\n"
        "  reelbench run my-benchmark --model openai:gpt-4o --out my-run\n"
        "  reelbench run my-benchmark --out my-run     # goes on with what is not yet answered"
    )
    parser.add_argument("benchmark", type=Path, help="the benchmark's folder")
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        help="backend:name or a card, as often as you like: baseline:random, "
        "baseline:longest-option, baseline:pixels, openai:NAME, my-model.yaml",
    )
    parser.add_argument("--out", type=Path, required=True, help="the run's folder")
    parser.add_argument(
        "--seed",
        type=int,
        help="seed of option orders, draws and intervals (default: the run's own, or 0)",
    )


def main(options: argparse.Namespace) -> int:
    """Run, score and report."""
    from reelbench.benchmark import Benchmark
    from reelbench.evaluate.run import run_benchmark
    from reelbench.report.report import report_run
    from reelbench.score.score import score_run

    benchmark = Benchmark.load(options.benchmark)
    _warn(benchmark.warnings)
    try:
        state = run_benchmark(benchmark, options.model, options.out, options.seed)
    except KeyboardInterrupt:
        again = command("run", options.benchmark, "--out", options.out)
        tell(f"\nStopped. Nothing is lost: `{again}` goes on from here.")
        return 130
    put_scores(score_run(benchmark, options.out))
    tell(_asked(state))
    tell_failures(state, options.out)
    report_run(benchmark, options.out)
    tell(f"Open {options.out / 'report.html'} in a browser.")
    return 1 if state.failures else 0


def _asked(state: "RunState") -> str:
    """Say where the answers came from."""
    words = [f"{state.asked:,} asked now"]
    if state.known:
        words.append(f"{state.known:,} answered before")
    if state.repeated:
        words.append(f"{state.repeated:,} the same as another, word for word")
    return f"{counted(state.total, 'question')}: {', '.join(words)}."


def tell_failures(state: "RunState", out: Path) -> None:
    """Name the first failures and warnings, and say where all of them are."""
    for warning in state.warnings[:10]:
        tell(f"warning: {warning}")
    if len(state.warnings) > 10:
        tell(f"{len(state.warnings)} such warnings; all of them are in {out / 'status.json'}.")
    for failure in state.failures[:10]:
        tell("{id} to {model}: {status}: {error}".format(**failure))
    if state.failures:
        number = counted(len(state.failures), "question")
        tell(f"{number} without an answer; all of them are in {out / 'status.json'}.")


def _warn(warnings: Sequence["Problem"]) -> None:
    """Tell each kind of warning once, however many lines have it."""
    counts = Counter(warning.code for warning in warnings)
    for code, count in counts.items():
        first = next(warning for warning in warnings if warning.code == code)
        more = f" (and {count - 1} more like it)" if count > 1 else ""
        tell(f"warning: {first}{more}")
