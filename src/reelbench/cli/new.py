"""``reelbench new``."""

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted, without_progress
from reelbench.cli.say import command, printable, tell

if TYPE_CHECKING:
    from reelbench.data.items import Kind
    from reelbench.recipes.starter import StarterOptions, StarterResult, TypedQuestion

WRITE, EXAMPLE = "write", "example"
T = TypeVar("T")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench new                     # asks five questions\n"
        "  reelbench new my-benchmark --yes  # asks nothing: one example video and its questions\n"
        "  reelbench new cats --videos ~/cats --questions cats.csv --frames 32 --yes"
    )
    parser.add_argument(
        "folder", type=Path, nargs="?", help="the folder to make (default: named after the name)"
    )
    parser.add_argument("--name", help="what the benchmark is called")
    parser.add_argument(
        "--videos",
        metavar="FOLDER",
        help="your videos: a folder, or one file; `example` renders a small one",
    )
    parser.add_argument(
        "--questions",
        metavar="FILE",
        help="a file to import (CSV, Excel, JSON, Parquet); `write` asks for them now; `example` "
        "leaves some to replace",
    )
    parser.add_argument("--kind", help="of questions: single, multi, yesno or open")
    parser.add_argument(
        "--frames", metavar="N", help="that a model sees of each video: 16, or fps:2 and the like"
    )
    parser.add_argument("--licence", default="", help="of the benchmark (default: none)")
    parser.add_argument(
        "--yes", action="store_true", help="take the answers in brackets for what no flag names"
    )


def main(options: argparse.Namespace) -> int:
    """Ask, make the folder, and print what to do next."""
    from reelbench.recipes.starter import check_folder, make_starter

    if options.folder:
        options.folder = check_folder(Path(os.path.normpath(options.folder)))
    plan = _asked(options)
    made = make_starter(plan)
    _tell_made(plan, made)
    return 1 if made.imported and made.imported.odd_rows else 0


@dataclass(frozen=True)
class _Form:
    """The answers so far: flags, and what is typed."""

    options: argparse.Namespace

    def ask(self, flag: str, prompt: str, default: str, check: Callable[[str], Any]) -> Any:
        """Return the checked answer to a question; a wrong one is asked for again."""
        given = getattr(self.options, flag)
        if given is not None:
            return self._check(check, given, f"--{flag} ")
        if self.options.yes:
            return self._check(check, default, f"--{flag} ")
        while True:
            try:
                return check(typed(f"{prompt} [{default}]: ") or default)
            except ReelbenchError as error:
                tell(f"  {printable(str(error))}")

    @staticmethod
    def _check(check: Callable[[str], Any], text: str, flag: str) -> Any:
        try:
            return check(text)
        except ReelbenchError as error:
            raise ReelbenchError(f"{flag}{text}: {error}") from None


def typed(prompt: str) -> str:
    """Return the line that a person types; the end of the input stops the command."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    with without_progress():
        line = sys.stdin.readline()
    if not line:
        raise KeyboardInterrupt
    return line.strip()


def _asked(options: argparse.Namespace) -> "StarterOptions":
    from reelbench.recipes import starter

    form = _Form(options)
    _check_terminal(options)
    usual = options.folder.name if options.folder else "my-benchmark"
    name, root = form.ask("name", "1. Name of the benchmark", usual, _named(options.folder))
    place, videos = form.ask(
        "videos", "2. Your videos: a folder or a file, or `example`", EXAMPLE, _found_videos
    )
    questions = form.ask(
        "questions",
        "3. Questions: a file to import (CSV, Excel, JSON), `write` them now, or `example`",
        EXAMPLE,
        lambda text: text if text in (WRITE, EXAMPLE) else starter.check_questions(text, place),
    )
    kind: Kind = "single"
    if isinstance(questions, str):
        kinds = "4. Kind of questions: single, multi, yesno or open"
        kind = form.ask("kind", kinds, "single", starter.check_kind)
    elif options.kind is not None:
        raise ReelbenchError("--kind is for questions yet to be written: a file has its own kinds.")
    elif not options.yes:
        tell("4. Kind of questions: as the file has them.")
    sampling = form.ask(
        "frames", "5. Frames that a model sees of each video", "16", starter.check_frames
    )
    plan = starter.StarterOptions(name, root, videos, place, None, kind, sampling, options.licence)
    if questions == WRITE:
        return replace(plan, written=_written(plan))
    return plan if questions == EXAMPLE else replace(plan, questions=questions)


def _check_terminal(options: argparse.Namespace) -> None:
    """Refuse to ask where nobody can answer."""
    flags = [
        flag for flag in ("name", "videos", "questions", "frames") if not getattr(options, flag)
    ]
    if options.kind is None and options.questions in (None, WRITE, EXAMPLE):
        flags.append("kind")
    missing = [] if options.yes else flags
    if (missing or options.questions == WRITE) and not (sys.stdin and sys.stdin.isatty()):
        named = " ".join(f"--{flag} ..." for flag in missing) or "--questions FILE"
        raise ReelbenchError(
            f"There is no terminal to ask on: add {named}, or --yes for the usual answers."
        )


def _named(folder: Path | None) -> Callable[[str], tuple[str, Path]]:
    from reelbench.base.files import file_part
    from reelbench.recipes.starter import check_folder, check_name

    def check(text: str) -> tuple[str, Path]:
        name = check_name(text)
        return name, folder or check_folder(Path(file_part(name)))

    return check


def _found_videos(text: str) -> tuple[Path | None, list[Path]]:
    from reelbench.recipes.starter import find_videos

    return (None, []) if text == EXAMPLE else find_videos(text)


def _written(plan: "StarterOptions") -> "list[TypedQuestion]":
    """Ask for questions, one video after the other, until a blank line or the end of the input."""
    from reelbench.recipes.starter import EXAMPLE as RENDERED

    names = [video.name for video in plan.videos] or [f"the {RENDERED} video"]
    if len(names) > 1:
        tell(f"Questions go round your {counted(len(names), 'video')}, one each time.")
    found: list[TypedQuestion] = []
    try:
        while True:
            about = printable(names[len(found) % len(names)])
            question = typed(f"Question {len(found) + 1}, about {about} (blank to end): ")
            if question:
                found.append(_question(plan.kind, question))
            elif found:
                return found
            else:
                tell("  Write at least one.")
    except KeyboardInterrupt:  # or the end of the input: what was typed is not lost
        if not found:
            raise
        tell(f"\nEnded; {counted(len(found), 'question')} kept.")
        return found


def _question(kind: "Kind", question: str) -> "TypedQuestion":
    """Ask for the options and the answer; what is wrong is asked for again, and nothing else."""
    from reelbench.recipes.starter import check_options, typed_question

    options = ""
    if kind in ("single", "multi"):
        options = "; ".join(_until("Options, with ; between them", check_options))
    wanted = {"open": "Reference answer", "yesno": "Answer, yes or no"}
    prompt = wanted.get(kind, "Right answer, as a letter")
    return _until(prompt, lambda answer: typed_question(kind, question, options, answer))


def _until(prompt: str, check: Callable[[str], T]) -> T:
    """Ask until the check takes what is typed, or the input ends, which ends the questions."""
    while True:
        try:
            return check(typed(f"  {prompt}: "))
        except ReelbenchError as error:
            tell(f"  {printable(str(error))} Once more, or Ctrl-D to end without this question:")


def _tell_made(plan: "StarterOptions", made: "StarterResult") -> None:
    from importlib import import_module

    root, items = plan.root, made.benchmark.items
    if made.imported:
        import_module("reelbench.cli.import").tell_result(made.imported, root)
    for note in made.notes[:10]:
        tell(printable(note))
    if len(made.notes) > 10:
        tell(f"and {len(made.notes) - 10:,} more like it")
    videos = {medium.path for item in items for medium in item.media}
    tell(
        f"{root} is a benchmark: {counted(len(items), 'item')} about "
        f"{counted(len(videos), 'video')}. Questions are in {root / 'items.jsonl'}, one a line."
    )
    if not made.imported and not plan.written:
        tell("These questions are examples: replace them by your own.")
    if any(not (root / path).is_file() for path in videos):
        tell(f"Put the videos into {root / 'media'}, under the names that items.jsonl has.")
    models = ["--model", "baseline:random"]
    if all(item.kind == "open" for item in items):
        models = ["--model", "openai:MODEL", "--judge", "openai:MODEL"]
    run = command("run", root, *models, "--out", f"{root}-run")
    tell(f"Next:\n  {command('lint', root)}\n  {run}")
