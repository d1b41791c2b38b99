"""``reelbench annotate``."""

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.cli.engine_options import add_engine_options, engine_in
from reelbench.cli.say import put_table, tell

if TYPE_CHECKING:
    from reelbench.annotate.outcomes import Annotated
    from reelbench.client.budget import Budget
    from reelbench.models.base import ChatModel


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from reelbench.annotate.registry import OPERATORS

    known = "\n".join(
        f"  {name:20}{description}" for name, (_, _, description) in OPERATORS.items()
    )
    parser.epilog = (
        f"labels:\n{known}\n\n"
        "examples:\n"
        "  reelbench annotate clips --labels tracks,speaker,transcript --out labels --preview\n"
        "  reelbench annotate clips --labels all --out labels --parquet\n"
        "  reelbench annotate clips --labels shots --set shots.detector=adaptive --out labels\n"
        "  reelbench annotate clips --labels tracks --out labels --engine ray --address HOST:6379\n"
        "  reelbench annotate clips --labels caption --out labels --model captioner=openai:gpt-4o "
        "--dry-run"
    )
    parser.add_argument("clips", type=Path, help="a folder of clips, or one clip")
    parser.add_argument(
        "--labels", required=True, help="comma-separated labels: any of those listed below, all, "
        "or FILE.py:NAME of your own; labels they depend on are added"
    )  # fmt: skip
    parser.add_argument("--out", type=Path, required=True, help="output folder")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="LABEL.NAME=VALUE",
        help="set a parameter of an operator, such as faces.rate=12; repeatable",
    )
    parser.add_argument(
        "--model",
        metavar="captioner=MODEL",
        help="model for the labels caption, appearance and expression",
    )
    parser.add_argument(
        "--budget",
        metavar="AMOUNT",
        help="maximum spend on the model for this folder: 5usd or 2000000tokens",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="estimate the model's requests, tokens and cost; run nothing",
    )
    parser.add_argument(
        "--preview", action="store_true", help="write a copy of each clip with its labels drawn in"
    )
    parser.add_argument("--parquet", action="store_true", help="also write Parquet tables")
    add_engine_options(parser)
    parser.add_argument(
        "--offline",
        action="store_true",
        help="do not download weights; list those that are missing",
    )


def main(options: argparse.Namespace) -> int:
    """Annotate, and draw what was found."""
    from reelbench.annotate.annotate import annotate
    from reelbench.annotate.registry import in_order, load_operator, with_all
    from reelbench.weights import import_extra, provide

    labels = [word.strip() for word in options.labels.split(",") if word.strip()]
    if not labels:
        raise ReelbenchError(
            "--labels names none: write some with commas between, such as --labels shots,faces. "
            "`reelbench annotate --help` lists them."
        )
    settings = _settings(options.set)
    labels, skipped = with_all(labels, settings, options.model is not None)
    for label, reason in skipped.items():
        tell(f"skipped: {label}: {reason}.")
    names = in_order(labels, settings)
    # What cannot be is told before anything is fetched or worked at.
    if not options.clips.exists():
        raise ReelbenchError(
            f"{options.clips} does not exist: name a clip, or a folder with clips."
        )
    if options.parquet:
        import_extra("pyarrow", "annotate")
    captioner, budget = _captioner(options), _budget(options)
    if options.dry_run:
        return _forecast(options, labels, settings, captioner, budget)
    operators = [load_operator(name, **settings.get(name, {})) for name in names]
    provide({each for operator in operators for each in operator.loads.values()}, options.offline)
    engine = engine_in(options)()
    try:
        found = annotate(
            options.clips,
            labels,
            options.out,
            engine,
            settings,
            captioner=captioner,
            budget=budget,
        )
    except KeyboardInterrupt:
        tell("\nStopped. Nothing is lost: run the same command to resume.")
        return 130
    finally:
        engine.close()
    if options.parquet:
        from reelbench.annotate.parquet import write_parquet

        write_parquet(found)
    if options.preview:
        _previews(found)
    return _summarise(found, names)


def _captioner(options: argparse.Namespace) -> "ChatModel | None":
    word = options.model
    if word is None:
        for flag in ("budget", "dry-run"):
            if getattr(options, flag.replace("-", "_")):
                raise ReelbenchError(
                    f"--{flag} is about what a model is asked: name one with --model "
                    "captioner=MODEL."
                )
        return None
    role, equals, name = word.partition("=")
    if role != "captioner" or not equals:
        raise ReelbenchError(
            f"--model {word} names no captioner: write --model captioner=MODEL, such as "
            "--model captioner=openai:gpt-4o."
        )
    from reelbench.models.load import Loader

    return Loader().load(name)


def _budget(options: argparse.Namespace) -> "Budget | None":
    from reelbench.client.budget import parse_budget

    return None if options.budget is None else parse_budget(options.budget)


def _forecast(
    options: argparse.Namespace,
    labels: list[str],
    parameters: dict[str, dict[str, Any]],
    captioner: "ChatModel | None",
    budget: "Budget | None",
) -> int:
    """Say what would be asked and cost."""
    from reelbench.annotate.annotate import forecast
    from reelbench.cli.say import put_forecast

    assert captioner is not None
    found = forecast(options.clips, labels, options.out, captioner, parameters)
    put_forecast("label", found.rows, budget)
    for label, count in found.unknown.items():
        tell(
            f"{label}: {counted(count, 'clip')} not counted, because labels they depend on do "
            "not exist yet: annotate without --model first."
        )
    for name, reason in list(found.broken.items())[:10]:
        tell(f"rejected: {reason}" if name in reason else f"rejected: {name}: {reason}")
    tell("Answers from earlier calls are reused. Token counts are estimates. Nothing was asked.")
    return 0


def _settings(words: list[str]) -> dict[str, dict[str, Any]]:
    from reelbench.cli.say import settings

    found: dict[str, dict[str, Any]] = {}
    for name, value in settings(words, "LABEL.NAME=VALUE").items():
        label, _, parameter = name.partition(".")
        if not parameter:
            raise ReelbenchError(
                f"--set {name} names no parameter: write --set LABEL.NAME=VALUE, such as "
                "--set faces.rate=12."
            )
        found.setdefault(label, {})[parameter] = value
    return found


def _previews(found: "Annotated") -> None:
    from reelbench.annotate.annotate import PREVIEWS
    from reelbench.annotate.outcomes import values_of
    from reelbench.annotate.preview.preview import write_preview
    from reelbench.base.progress import track
    from reelbench.media.errors import MediaError

    for name, clip in track(found.clips.items(), "Drawing", len(found.clips), "clips"):
        stem = found.out / PREVIEWS / name
        stem.parent.mkdir(parents=True, exist_ok=True)
        try:
            write_preview(
                clip.path,
                values_of(found, name),
                stem.with_name(f"{stem.name}.mp4"),
                stem.with_name(f"{stem.name}.png"),
            )
        except MediaError as error:
            tell(f"no preview: {error}")


def _summarise(found: "Annotated", names: list[str]) -> int:
    """Say what was labelled, and what was not."""
    from reelbench.cli.run import tell_ledger

    rows = []
    for label in names:
        fates = Counter(next(iter(labels[label])) for labels in found.outcomes.values())
        rows.append((label, str(fates["value"]), str(fates["none"]), str(fates["failed"])))
    put_table(("label", "clips", "nothing to say", "failed"), rows)
    tell(f"{counted(found.worked, 'piece')} of work done now.")
    tell_ledger(found.ledger)
    for name, reason in list(found.broken.items())[:10]:
        tell(f"rejected: {reason}" if name in reason else f"rejected: {name}: {reason}")
    failures = found.failures
    for clip, label, reason in failures[:10]:
        tell(f"{clip}: {label}: {reason}")
    if failures:
        tell(f"{counted(len(failures), 'label')} failed: {found.out / 'annotate.json'} names them.")
    tell(f"The labels are in {found.out / 'labels'}.")
    return 1 if failures or found.broken else 0
