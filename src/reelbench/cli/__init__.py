"""The command line: one module per command, no logic.

The list below is data, so that ``reelbench --help`` imports no command and answers at once.
"""

import argparse
import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from reelbench import __version__
from reelbench.base.errors import ReelbenchError, extension_error

__all__ = ["COMMANDS", "main"]

INTERNAL_ERROR = 70  # exit status, as in sysexits.h
COMMANDS = {
    "demo": "make a small benchmark, run three baselines on it and write the report",
    "make": "make a benchmark from sources with a recipe, or filter an existing one",
    "annotate": "label clips: shots, people, speech, on-screen text, quality",
    "lint": "check a benchmark for errors, duplicates and shortcuts",
    "run": "run models on a benchmark, or resume a run",
    "score": "score a run, or predictions from elsewhere",
    "report": "write the HTML report of a run, or of several",
    "review": "open the pages where people write, verify, rate and answer items",
    "judge": "train, serve, use and compare a judge of your own for open answers",
    "agree": "measure inter-rater agreement",
    "weights": "list, download and locate the weights that operators use",
    "doctor": "check the installation: what is missing, and how to get it",
}
RENAMED = {"models": "weights"}  # these work under their old name until the next version
_EPILOG = """examples:
  reelbench demo
  reelbench lint my-benchmark
  reelbench run my-benchmark --model baseline:random --out my-run

exit status: 0 done, 1 finished with failures (named), 2 wrong use, 70 internal error
data goes to standard output, talk and progress to standard error
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = _renamed(list(sys.argv[1:] if arguments is None else arguments))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # rather than fail at a foreign letter
    signal.signal(signal.SIGTERM, _stop)
    options = parsed(words)
    if options.command is None:
        _parser(words).print_help()
        return 2
    try:
        status = int(options.main(options))
        sys.stdout.flush()
    except (ReelbenchError, BrokenPipeError, OSError) as error:
        return _failed(options.command, error)
    except KeyboardInterrupt:
        _say("\nStopped.")
        return 130
    except Exception as error:
        own = extension_error(error)
        return _failed(options.command, own) if own else _broke(options.command, error)
    return status


def _renamed(words: list[str]) -> list[str]:
    """Take an old name of a command for its new one, and say so."""
    if not words or words[0] not in RENAMED:
        return words
    new = RENAMED[words[0]]
    _say(f"reelbench {words[0]} is now called reelbench {new}; the next version knows only that.")
    return [new, *words[1:]]


def _stop(*_: object) -> NoReturn:
    """Take a polite request to end as Ctrl-C."""
    raise KeyboardInterrupt


def _failed(command: str, error: Exception) -> int:
    """Say in a sentence what went wrong outside of us."""
    if isinstance(error, BrokenPipeError):
        # The reader went away, as `| head` does; do not fail again when Python flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    if isinstance(error, OSError):
        where = f"{error.filename2 or error.filename}: " if error.filename else ""
        _say(f"reelbench {command}: {where}{error.strerror or error}.")
        return 2
    _say(f"reelbench {command}: {error}")
    return 2


def _broke(command: str, error: Exception) -> int:
    """Say that we made a mistake, where it is, and what to do about it."""
    _say("".join(traceback.format_exception(error)))
    _say(
        f"reelbench {command}: internal error: {type(error).__name__}: {error}\n"
        "This is a mistake in Reelbench (or in a plug-in that the lines above name), not in your "
        "files. Please report it with these lines and what `reelbench doctor` prints. What was "
        "finished is kept: the same command goes on from there."
    )
    return INTERNAL_ERROR


def _say(text: str) -> None:
    if sys.stderr is not None:
        print(text, file=sys.stderr)  # noqa: T201


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """Return the options that words spell; end with status 2 where one is unknown."""
    parser = _parser(words)
    options, unknown = parser.parse_known_args(words)
    if unknown:
        has = getattr(options, "has", "")
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{has}")
    return options


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser; only the command that was named is imported."""
    parser = argparse.ArgumentParser(
        prog="reelbench",
        description="Make, check, run and report video-understanding benchmarks.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"reelbench {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    named = next((word for word in words if word in COMMANDS), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == named:
            module = import_module(f"reelbench.cli.{name}")
            module.configure(command)
            if hasattr(module, "configure_for"):  # what other words decide
                module.configure_for(command, words[words.index(name) + 1 :])
            command.set_defaults(main=module.main)
    return parser
