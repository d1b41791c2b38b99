"""``reelbench judge``."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.progress import counted
from reelbench.cli.say import command, put, put_table, tell
from reelbench.score.rounding import fixed, percent

if TYPE_CHECKING:
    from reelbench.evaluate.rubric import Rubric

_EXAMPLES = """examples:
  reelbench judge synthesize bench --model openai:gpt-5 --out material --dry-run
  reelbench judge synthesize bench --model openai:gpt-5 --budget 20usd --out material
  reelbench judge train --base Qwen/Qwen3.5-0.8B --data material/train.jsonl \\
      --test material/test.jsonl --out my-judge
  reelbench judge use judge:my-judge --data material/test.jsonl --out mine.jsonl
  reelbench judge compare mine.jsonl material/test.jsonl
  reelbench judge serve my-judge --port 8780
  reelbench run bench --model openai:gpt-4o --judge judge:my-judge --out my-run"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = _EXAMPLES
    actions = parser.add_subparsers(dest="action", metavar="action", required=True)
    _configure_synthesize(
        actions.add_parser("synthesize", help="generate rated responses to train on, with a model")
    )
    _configure_train(actions.add_parser("train", help="train a judge on rated responses"))
    _configure_serve(
        actions.add_parser("serve", help="serve a judge through an OpenAI-compatible API")
    )
    _configure_use(actions.add_parser("use", help="grade responses with any judge"))
    _configure_compare(actions.add_parser("compare", help="measure agreement between two judges"))


def _rubric_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rubric", default="criteria", help="name or folder of the rubric (default: criteria)"
    )


def _configure_synthesize(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("benchmark", type=Path, help="benchmark folder with open items")
    parser.add_argument("--model", required=True, help="model that writes and rates the responses")
    parser.add_argument("--out", type=Path, required=True, help="output folder")
    parser.add_argument(
        "--rounds",
        type=int,
        default=3,
        help="rounds in which rejected responses are generated again (default: 3)",
    )
    parser.add_argument(
        "--test",
        type=float,
        default=0.2,
        help="share of videos held out for testing (default: 0.2)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the train/test split")
    parser.add_argument("--budget", metavar="AMOUNT", help="maximum spend: 5usd or 2000000tokens")
    parser.add_argument(
        "--dry-run", action="store_true", help="estimate requests, tokens and cost; ask nothing"
    )
    _rubric_option(parser)


def _configure_train(parser: argparse.ArgumentParser) -> None:
    from reelbench.judge.train import TrainSettings
    from reelbench.models.judge.folder import MOST_TOKENS, REASON_TOKENS

    usual = TrainSettings()
    parser.add_argument(
        "--base", required=True, help="base model: a folder, or a name on the Hugging Face Hub"
    )
    parser.add_argument("--data", type=Path, required=True, help="training rows")
    parser.add_argument(
        "--test", type=Path, help="test rows, about other videos: their loss is reported"
    )
    parser.add_argument("--out", type=Path, required=True, help="output folder of the judge")
    for name, kind, help_ in (
        ("epochs", int, "passes over the training rows"),
        ("batch", int, "rows per step"),
        ("device-tokens", int, "maximum tokens on the device at once"),
        ("learning-rate", float, "peak learning rate"),
        ("rank", int, "LoRA rank"),
        ("alpha", int, "LoRA alpha"),
        ("dropout", float, "LoRA dropout"),
        ("seed", int, "random seed"),
    ):
        value = getattr(usual, name.replace("-", "_"))
        parser.add_argument(f"--{name}", type=kind, default=value, help=f"{help_} ({value})")
    parser.add_argument(
        "--most-tokens",
        type=int,
        default=MOST_TOKENS,
        help="maximum tokens of a prompt; longer captions are truncated",
    )
    parser.add_argument(
        "--truncate",
        choices=("start", "end"),
        default="end",
        help="side at which captions are truncated",
    )
    parser.add_argument(
        "--reason-tokens", type=int, default=REASON_TOKENS, help="maximum tokens of a reason"
    )
    parser.add_argument(
        "--checkpoint-every", type=int, default=50, help="steps between checkpoints"
    )
    parser.add_argument(
        "--stop-after", type=int, default=0, help="stop after N steps; the same command resumes"
    )
    parser.add_argument(
        "--gradient-checkpointing",
        action="store_true",
        help="use less memory at the cost of about a third more time",
    )
    parser.add_argument("--device", default="", help="cpu or cuda (default: detected)")
    _rubric_option(parser)


def _configure_serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="the judge's folder")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    parser.add_argument("--port", type=int, default=8780, help="the port to listen on")


def _configure_use(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("judge", help="judge: backend:name or a model card, such as judge:my-judge")
    parser.add_argument("--data", type=Path, required=True, help="rows with the responses to grade")
    parser.add_argument("--out", type=Path, required=True, help="output file of scores")
    parser.add_argument("--budget", metavar="AMOUNT", help="maximum spend: 5usd or 2000000tokens")
    _rubric_option(parser)


def _configure_compare(parser: argparse.ArgumentParser) -> None:
    files = "scores of `judge use`, rated rows, judgements.jsonl[#JUDGE] of a run, or a CSV"
    parser.add_argument("first", help=files)
    parser.add_argument("second", help="the same, from a stronger judge or from people")
    parser.add_argument(
        "--benchmark", type=Path, help="benchmark folder, to find items that share a video"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the intervals (default: 0)")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    _rubric_option(parser)


def main(options: argparse.Namespace) -> int:
    """Do what was asked for."""
    actions = {
        "synthesize": _synthesize,
        "train": _train,
        "serve": _serve,
        "use": _use,
        "compare": _compare,
    }
    return actions[options.action](options)


def _rubric(options: argparse.Namespace) -> "Rubric":
    from reelbench.evaluate.rubric import load_rubric

    return load_rubric(options.rubric, getattr(options, "benchmark", None) or Path())


def _synthesize(options: argparse.Namespace) -> int:
    from reelbench.cli.run import tell_ledger
    from reelbench.cli.say import put_forecast
    from reelbench.client.budget import parse_budget
    from reelbench.data.benchmark import Benchmark
    from reelbench.judge.material import forecast_material, write_material
    from reelbench.judge.synthesize import questions_to_grade, without_caption
    from reelbench.models.load import Loader

    budget = None if options.budget is None else parse_budget(options.budget)
    benchmark, model = Benchmark.load(options.benchmark), Loader().load(options.model)
    if bare := without_caption(questions_to_grade(benchmark)):
        tell(
            f"warning: {counted(len(bare), 'question')} without context.caption, such as "
            f"{bare[0]}: what is made up can only be held against the reference there."
        )
    if options.dry_run:
        put_forecast("step", forecast_material(benchmark, model, options.out, budget), budget)
        tell("Only the first round is counted. Token counts are estimates. Nothing was asked.")
        return 0
    try:
        made = write_material(
            benchmark,
            model,
            _rubric(options),
            options.out,
            rounds=options.rounds,
            test_share=options.test,
            seed=options.seed,
            budget=budget,
        )
    except KeyboardInterrupt:
        tell("\nStopped. Nothing is lost: run the same command to resume.")
        return 130
    _put_histograms(made.record)
    tell_ledger(made.ledger)
    for reason in made.incomplete[:10]:
        tell(f"left out: {reason}")
    record = made.record
    tell(
        f"{record['complete']} of {counted(record['questions'], 'question')} complete, "
        f"{counted(record['rejected'], 'response')} rejected. {record['train']['rows']:,} rows to "
        f"train on, {record['test']['rows']:,} of other videos to test on, in {options.out}."
    )
    return 1 if made.incomplete else 0


def _put_histograms(record: Mapping[str, Any]) -> None:
    """Write how often each criterion has each score, in all and by type."""
    rows = []
    groups = {"all": record["scores"], **record["scores_by_type"]}
    for kind, counts in groups.items():
        for name, by_score in counts.items():
            rows.append((kind, name, *(str(by_score.get(str(score), 0)) for score in range(1, 6))))
    put_table(("type", "criterion", "1", "2", "3", "4", "5"), rows)


def _train(options: argparse.Namespace) -> int:
    import msgspec

    from reelbench.judge.train import TrainSettings
    from reelbench.judge.training import train_judge
    from reelbench.models.judge.folder import JudgeFolder

    settings = msgspec.convert(
        {name: getattr(options, name) for name in TrainSettings.__struct_fields__}, TrainSettings
    )
    asked = JudgeFolder(
        base=options.base,
        most_tokens=options.most_tokens,
        truncate=options.truncate,
        reason_tokens=options.reason_tokens,
    )
    try:
        made = train_judge(
            options.base,
            options.data,
            _rubric(options),
            options.out,
            test=options.test,
            settings=settings,
            asked=asked,
            gradient_checkpointing=options.gradient_checkpointing,
            checkpoint_every=options.checkpoint_every,
            stop_after=options.stop_after,
            device=options.device,
        )
    except KeyboardInterrupt:
        tell("\nStopped. The same command resumes from the last checkpoint.")
        return 130
    losses = made.losses
    if losses:
        words = f"{counted(len(losses), 'step')}, loss {losses[0]['loss']:.4f} to "
        tell(f"{words}{losses[-1]['loss']:.4f}. The curve is in {options.out / 'loss.svg'}.")
    if not made.finished:
        tell("Training is not finished: the same command without --stop-after resumes it.")
        return 0
    tell(f"Use it: {command('run', 'BENCHMARK')} --judge judge:{options.out} --out RUN")
    return 0


def _serve(options: argparse.Namespace) -> int:
    import asyncio

    from reelbench.base.progress import without_progress
    from reelbench.judge.serve import serve_judge
    from reelbench.models.load import load_model

    judge = load_model(f"judge:{options.folder}")

    def ready(address: str) -> None:
        put(address)
        tell(f"{options.folder} is served at {address}. Stop it with Ctrl-C.")

    with without_progress():
        asyncio.run(serve_judge(judge, options.host, options.port, ready))
    return 0


def _use(options: argparse.Namespace) -> int:
    from reelbench.cli.run import tell_ledger
    from reelbench.client.budget import parse_budget
    from reelbench.judge.sharegpt import read_rows
    from reelbench.judge.use import grade_rows
    from reelbench.models.load import Loader

    budget = None if options.budget is None else parse_budget(options.budget)
    rubric = _rubric(options)
    rows = read_rows(options.data, rubric)
    found = grade_rows(Loader().load(options.judge), rows, rubric, options.out, budget)
    tell_ledger(found.ledger)
    for failure in found.failures[:10]:
        tell(failure)
    tell(f"{len(found.rows):,} of {counted(len(rows), 'response')} graded, in {options.out}.")
    return 1 if found.failures else 0


def _compare(options: argparse.Namespace) -> int:
    from reelbench.base.files import pretty_json
    from reelbench.data.benchmark import Benchmark
    from reelbench.judge.compare import compare_judges
    from reelbench.judge.scores import read_scores

    rubric = _rubric(options)
    items = Benchmark.load(options.benchmark).items if options.benchmark else ()
    first, second = (read_scores(name, rubric, items) for name in (options.first, options.second))
    found = compare_judges(first, second, rubric, options.seed)
    if options.json:
        put(pretty_json(found).rstrip("\n"))
        return 0
    _put_agreement(found)
    return 0


def _put_agreement(found: Mapping[str, Any]) -> None:
    measures = ("exact", "within_one", "spearman", "quadratic_kappa")
    rows = [
        (row["criterion"], *(_measured(row[name], name in measures[:2]) for name in measures))
        for row in found["criteria"]
    ]
    put_table(("criterion", "exact", "within one", "Spearman", "quadratic kappa"), rows)
    models = found["models"]
    if models:
        put("")
        means = zip(models["names"], *models["means"], *models["ranks"], strict=True)
        table = [(name, fixed(a, 2), fixed(b, 2), str(r), str(s)) for name, a, b, r, s in means]
        put_table(("model", "first", "second", "rank", "rank"), table)
        for name in ("kendall", "spearman"):
            if models[name]:
                put(f"order of models, {name.capitalize()}: {_measured(models[name], False)}")
    tell(
        f"{counted(found['responses'], 'response')} of {counted(found['videos'], 'video')}. "
        f"Intervals: {found['interval']}."
    )


def _measured(value: Mapping[str, Any], share: bool) -> str:
    def shown(number: float) -> str:
        return percent(number) if share else fixed(number, 3)

    if value["value"] is None:
        return "undefined"
    ends = value["interval"]
    return shown(value["value"]) + (f" ({shown(ends[0])} to {shown(ends[1])})" if ends else "")
