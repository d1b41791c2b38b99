"""``reelbench run``."""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.base.progress import counted
from reelbench.cli.say import command, put, put_scores, put_table, tell

if TYPE_CHECKING:
    from reelbench.client.budget import Budget, Ledger
    from reelbench.data.benchmark import Benchmark
    from reelbench.data.items import Problem
    from reelbench.evaluate.status import RunState


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench run my-benchmark --model baseline:pixels --out my-run\n"
        "  reelbench run my-benchmark --model openai:gpt-4o --out my-run --dry-run\n"
        "  reelbench run my-benchmark --model gpt.yaml --budget 5usd --out my-run\n"
        "  reelbench run my-benchmark --model openai:gpt-4o --split dev --out dev-run\n"
        '  reelbench run my-benchmark --condition "blind modalities=T" --out my-run\n'
        "  reelbench run my-benchmark --out my-run     # goes on with what is not yet answered"
    )
    parser.add_argument("benchmark", type=Path, help="the benchmark's folder")
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        help="backend:name or a card, as often as you like: baseline:random, openai:gpt-4o, "
        "anthropic:NAME, google:NAME, hf:PATH, inspect:NAME, my-model.yaml",
    )
    parser.add_argument("--out", type=Path, required=True, help="the run's folder")
    parser.add_argument(
        "--condition",
        action="append",
        default=[],
        metavar="NAME [FIELD=VALUE ...]",
        help="another way of asking, as often as you like: one that the benchmark names, or a name "
        'and what it changes in the protocol; a field said twice spans a grid: "few '
        'sampling=uniform:4 sampling=uniform:8"; "protocol" is the benchmark\'s own',
    )
    parser.add_argument("--conditions", type=Path, metavar="FILE", help="the same, in YAML")
    parser.add_argument(
        "--judge",
        action="append",
        default=[],
        help="a model that reads what the parser cannot, and grades open replies (judge:FOLDER is "
        "one that `judge train` made); a second one is compared with it",
    )
    parser.add_argument(
        "--split",
        metavar="NAME",
        help="ask the items of this split alone; the run keeps it",
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="NAME",
        help="a model, judge or condition of an earlier call into this folder to leave out",
    )
    parser.add_argument(
        "--budget",
        metavar="AMOUNT",
        help="the most that all of the run may take: 5usd, 2000000tokens; the run keeps it until "
        "you name another, or none",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be asked and cost, and ask nothing"
    )
    parser.add_argument(
        "--seed",
        type=int,
        help="seed of option orders, draws and intervals (default: the run's own, or 0)",
    )


def main(options: argparse.Namespace) -> int:
    """Run, score and report."""
    from reelbench.client.budget import parse_budget
    from reelbench.data.benchmark import Benchmark
    from reelbench.evaluate.run import run_benchmark
    from reelbench.report.report import write_report
    from reelbench.score.score import score_run

    budget = None if options.budget is None else parse_budget(options.budget)
    benchmark = Benchmark.load(options.benchmark)
    benchmark = benchmark.split(options.split) if options.split else benchmark
    _warn(benchmark.warnings)
    if options.dry_run:
        return _forecast(benchmark, options, budget)
    try:
        state = run_benchmark(
            benchmark,
            options.model,
            options.out,
            options.seed,
            conditions=options.condition,
            condition_file=options.conditions,
            judges=options.judge,
            without=options.without,
            budget=budget,
        )
    except KeyboardInterrupt:
        again = command("run", options.benchmark, "--out", options.out)
        tell(f"\nStopped. Nothing is lost: `{again}` goes on from here.")
        return 130
    scored = score_run(benchmark, options.out)
    put_scores(scored.scores)
    tell(_asked(state))
    tell_ledger(state.ledger)
    tell_failures(state, options.out)
    page = write_report(scored, options.out / "report.html")
    tell(f"Open {page} in a browser.")
    return 1 if state.failures else 0


def _forecast(benchmark: "Benchmark", options: argparse.Namespace, budget: "Budget | None") -> int:
    from reelbench.evaluate.forecast import forecast
    from reelbench.evaluate.prepare import RunOptions

    wanted = RunOptions(
        options.model,
        options.condition,
        options.conditions,
        options.judge,
        options.without,
        options.seed,
        budget,
    )
    found = forecast(benchmark, wanted, options.out)
    table = [
        (
            row.card.name,
            row.step,
            f"{row.requests:,}",
            f"{row.known:,}",
            f"{row.input_tokens:,}",
            f"{row.output_tokens:,}",
            "no price" if row.usd is None else f"${row.usd:,.4f}",
        )
        for row in found.rows
    ]
    headings = ("model", "condition", "to ask", "answered", "tokens in", "tokens out", "cost")
    put_table(headings, table)
    if found.usd is not None:
        put(f"in all: ${found.usd:,.4f}")
        if found.usd > found.budget.usd:
            tell(f"That is over the budget of ${found.budget.usd:,.2f}.")
    if found.tokens > found.budget.tokens:
        tell(f"That is over the budget of {found.budget.tokens:,.0f} tokens.")
    for name, reason in list(found.broken.items())[:10]:
        tell(f"{name}: {reason}")
    if found.broken:
        number = counted(len(found.broken), "question")
        tell(f"{number} cannot be asked: their media cannot be shown.")
    tell(
        "Tokens are estimated; a reply is taken to be short unless a card says reply_tokens. "
        "Nothing was asked."
    )
    return 0


def _asked(state: "RunState") -> str:
    """Say where the answers came from."""
    counts = state.counts
    words = [f"{counts.asked:,} asked now"]
    if counts.known:
        words.append(f"{counts.known:,} answered before")
    if counts.repeated:
        words.append(f"{counts.repeated:,} the same as another, word for word")
    message = f"{counted(state.total, 'question')}: {', '.join(words)}."
    if state.judged:
        calls = counted(state.judging.asked, "call")
        message += f" {counted(state.judged, 'reply', 'replies')} judged, with {calls} now."
    return message


def tell_ledger(ledger: "Ledger") -> None:
    """Say what each model has taken in all, where it took anything."""
    for name, spent in sorted(ledger.spent.items()):
        if not spent.input_tokens and not spent.output_tokens:
            continue
        cost = "" if spent.usd is None else f", ${spent.usd:,.4f}"
        about = "about " if spent.estimated else ""
        tell(
            f"{name}: {counted(spent.requests, 'request')}, {about}{spent.input_tokens:,} tokens "
            f"in and {spent.output_tokens:,} out{cost}."
        )


def tell_failures(state: "RunState", out: Path) -> None:
    """Name the first failures and warnings, and say where all of them are."""
    for name, count in sorted(state.truncated.items()):
        tell(
            f"{name}: {counted(count, 'reply', 'replies')} cut off at the limit of tokens; what "
            f"holds no complete answer counts as none. Raise {state.limits[name]} under "
            "parameters: in its card; all its questions are then asked again."
        )
    warnings = sorted(state.warnings - state.announced)
    for warning in warnings[:10]:
        tell(f"warning: {warning}")
    if len(warnings) > 10:
        tell(f"{len(warnings)} such warnings; all of them are in {out / 'status.json'}.")
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
