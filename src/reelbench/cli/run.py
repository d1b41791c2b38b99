"""``reelbench run``."""

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.progress import counted
from reelbench.cli.engine_options import add_engine_options, inference_in
from reelbench.cli.say import command, put, put_scores, put_table, tell
from reelbench.cli.selection_options import add_selection_options, select_from
from reelbench.cli.serving_words import serving_words
from reelbench.score.rounding import percent

if TYPE_CHECKING:
    from reelbench.client.budget import Budget, Ledger
    from reelbench.data.benchmark import Benchmark
    from reelbench.data.items import Problem
    from reelbench.evaluate.status import RunState

_NO_PICTURES = re.compile(
    r"(image|vision|multimodal|picture)\b.{0,40}\b(not|un)\s?support"
    r"|not support\w*.{0,40}(image|vision|multimodal)"
    r"|at most 0 image|not a multimodal model|required for image input",
    re.IGNORECASE,
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench run my-benchmark --model baseline:pixels --out my-run\n"
        "  reelbench run my-benchmark --model openai:gpt-4o --out my-run --dry-run\n"
        "  reelbench run my-benchmark --model gpt.yaml --budget 5usd --out my-run\n"
        "  reelbench run my-benchmark --model openai:gpt-4o --limit 10 --out my-run\n"
        "  reelbench run my-benchmark --limit all --out my-run     # then the rest\n"
        "  reelbench run my-benchmark --model openai:gpt-4o --where kind=open --out open-run\n"
        '  reelbench run my-benchmark --condition "blind modalities=T" --out my-run\n'
        "  reelbench run my-benchmark --out my-run     # resumes"
    )
    parser.add_argument("benchmark", type=Path, help="benchmark folder")
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        help="model to evaluate, as backend:name or a model card; repeatable: baseline:random, "
        "openai:gpt-4o, anthropic:NAME, google:NAME, hf:PATH, inspect:NAME, my-model.yaml",
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help="output folder of the run; an earlier run in it is resumed",
    )
    parser.add_argument(
        "--condition",
        action="append",
        default=[],
        metavar="NAME [FIELD=VALUE ...]",
        help="evaluation condition: one that the benchmark defines, or a name and the protocol "
        'fields it changes; repeatable; a repeated field makes a grid: "few sampling=uniform:4 '
        'sampling=uniform:8"; "protocol" is the unchanged protocol',
    )
    parser.add_argument("--conditions", type=Path, metavar="FILE", help="conditions in a YAML file")
    parser.add_argument(
        "--judge",
        action="append",
        default=[],
        help="model that grades open answers and reads replies that the parser cannot "
        "(judge:FOLDER is one from `judge train`); agreement with a second judge is reported",
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="NAME",
        help="drop a model, judge or condition that is in this run; repeatable",
    )
    parser.add_argument(
        "--budget",
        metavar="AMOUNT",
        help="maximum spend of the whole run: 5usd or 2000000tokens; kept until you name "
        "another, or none",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="estimate requests, tokens and cost; ask nothing"
    )
    parser.add_argument(
        "--seed",
        type=int,
        help="seed of option orders, item selection and intervals (default: the run's own, or 0)",
    )
    add_engine_options(parser, "local models (hf:)")
    more = "; a later call may raise it, and `--limit all` removes it"
    add_selection_options(parser, "ask", more)


def main(options: argparse.Namespace) -> int:
    """Run, score and report."""
    from reelbench.client.budget import parse_budget
    from reelbench.data.benchmark import Benchmark
    from reelbench.evaluate.run import run_benchmark
    from reelbench.evaluate.selected import left_by_limit
    from reelbench.report.report import write_report
    from reelbench.score.score import score_run

    budget = None if options.budget is None else parse_budget(options.budget)
    benchmark = Benchmark.load(options.benchmark)
    benchmark = select_from(benchmark, options)
    _warn(benchmark.warnings)
    if options.dry_run:
        return _forecast(benchmark, options, budget)
    try:
        with inference_in(options) as engines:
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
                engines=engines,
            )
    except KeyboardInterrupt:
        served = serving_words({"--model": options.model, "--judge": options.judge})
        again = command("run", options.benchmark, *served, "--out", options.out)
        tell(f"\nStopped. Nothing is lost: `{again}` resumes.")
        return 130
    scored = score_run(benchmark.whole, options.out)
    put_scores(scored.scores)
    tell(_asked(state))
    tell_ledger(state.ledger)
    tell_failures(state, options.out)
    _tell_silent(scored.scores["results"], options)
    if left := left_by_limit(scored.benchmark):
        more = command("run", options.benchmark, "--out", options.out, "--limit", "all")
        tell(f"{counted(left, 'item')} not asked because of --limit: `{more}` asks only these.")
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
    tell(f"{found.items}.")
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
        put(f"total: ${found.usd:,.4f}")
        if found.usd > found.budget.usd:
            tell(f"That is over the budget of ${found.budget.usd:,.2f}.")
    if found.tokens > found.budget.tokens:
        tell(f"That is over the budget of {found.budget.tokens:,.0f} tokens.")
    for name, reason in list(found.broken.items())[:10]:
        tell(f"{name}: {reason}")
    if found.broken:
        number = counted(len(found.broken), "question")
        tell(f"{number} cannot be asked: their media cannot be read.")
    tell(
        "Token counts are estimates: replies are assumed to be short unless the card sets "
        "reply_tokens. Nothing was asked."
    )
    return 0


def _asked(state: "RunState") -> str:
    """Say where the answers came from."""
    counts = state.counts
    words = [f"{counts.asked:,} asked now"]
    if counts.known:
        words.append(f"{counts.known:,} answered before")
    if counts.repeated:
        words.append(f"{counts.repeated:,} identical to another request")
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
        rate = spent.cache_hit_rate
        cached = f" ({percent(rate, 0)} from its server's cache)" if rate else ""
        tell(
            f"{name}: {counted(spent.requests, 'request')}, {about}{spent.input_tokens:,} tokens "
            f"in{cached} and {spent.output_tokens:,} out{cost}."
        )


def tell_failures(state: "RunState", out: Path) -> None:
    """Name the first failures and warnings, and say where all of them are."""
    for name, count in sorted(state.truncated.items()):
        tell(
            f"{name}: {counted(count, 'reply', 'replies')} cut off at the token limit; without a "
            f"complete answer they count as unanswered. Raise {state.limits[name]} under "
            "parameters: in its card; all its questions are then asked again."
        )
    warnings = sorted(state.warnings - state.announced)
    for warning in warnings[:10]:
        tell(f"warning: {warning}")
    if len(warnings) > 10:
        tell(f"{len(warnings)} such warnings; the full list is in {out / 'status.json'}.")
    _tell_kinds(state.failures)
    if state.failures:
        number = counted(len(state.failures), "question")
        tell(f"{number} without an answer; the full list is in {out / 'status.json'}.")


def _tell_kinds(failures: Sequence[Mapping[str, Any]]) -> None:
    """Name each reason once, with the first questions that have it, and what may help."""
    reasons: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for failure in failures:
        reason = (failure["model"], failure["status"], str(failure["error"]))
        reasons[reason].append(failure["id"])
    for (model, status, error), ids in list(reasons.items())[:10]:
        number = "" if len(ids) == 1 else f" ({counted(len(ids), 'question')})"
        names = list(dict.fromkeys(ids))
        first = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        tell(f"{first} to {model}{number}: {status}: {error}")
    if any(_NO_PICTURES.search(error) for _, _, error in reasons):
        tell(
            "A model that takes no pictures can be asked with the text alone: "
            '--condition "blind modalities=T".'
        )


def _tell_silent(results: Sequence[Mapping[str, Any]], options: argparse.Namespace) -> None:
    """Say how a model that never answered, perhaps by a wrong name, is taken out of the run."""
    from reelbench.score.coverage import no_score

    heard = {row["model"] for row in results if row["answered"] or not no_score(row)}
    silent = sorted({row["model"] for row in results} - heard)
    if heard and silent:
        words = [word for name in silent for word in ("--without", name)]
        again = command("run", options.benchmark, "--out", options.out, *words)
        tell(f"{', '.join(silent)} answered nothing: `{again}` takes it out of this run.")


def _warn(warnings: Sequence["Problem"]) -> None:
    """Tell each kind of warning once, however many lines have it."""
    counts = Counter(warning.code for warning in warnings)
    for code, count in counts.items():
        first = next(warning for warning in warnings if warning.code == code)
        more = f" (and {count - 1} more like it)" if count > 1 else ""
        tell(f"warning: {first}{more}")
