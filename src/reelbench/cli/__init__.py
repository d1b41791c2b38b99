"""The command line: one module per command, no logic.

The list below is data, so that ``reelbench --help`` imports no command and answers at once.
"""

import argparse
import errno
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from reelbench import __version__
from reelbench.base.errors import ReelbenchError, extension_error
from reelbench.base.spelling import perhaps

__all__ = ["COMMANDS", "main"]

INTERNAL_ERROR = 70  # exit status, as in sysexits.h
COMMANDS = {
    "new": "start a new benchmark by answering five questions",
    "import": "convert a file or folder of questions into a benchmark",
    "make": "build a benchmark with a recipe, or filter an existing one",
    "annotate": "label clips: shots, people, speech, on-screen text, quality",
    "lint": "check a benchmark for errors, duplicates and shortcuts",
    "review": "open a web app where people write, verify, rate and answer items",
    "agree": "measure inter-rater agreement",
    "demo": "try it: make a small benchmark, run three baselines, write the report",
    "run": "evaluate models on a benchmark, or resume a run",
    "score": "score a run, or predictions made elsewhere",
    "compare": "compare runs, models or conditions on the same items",
    "report": "write an HTML report of one run or several",
    "judge": "train, serve and compare your own judge for open answers",
    "weights": "list and download the weights that operators use",
    "doctor": "check the installation and say how to install what is missing",
}
GROUPS = {  # how --help lists them; what is in none of these comes last
    "make and check benchmarks": ("new", "import", "make", "annotate", "lint", "review", "agree"),
    "run and report": ("demo", "run", "score", "compare", "report", "judge"),
    "set up": ("weights", "doctor"),
}
_A_FOLDER = "is a file: name a folder"
_WRONG_KIND = {
    errno.EEXIST: _A_FOLDER,
    errno.ENOTDIR: _A_FOLDER,
    errno.EISDIR: "is a folder: name a file",
}
_FLAG = re.compile(r"--[a-z][a-z-]*")
RENAMED = {"models": "weights"}  # these work under their old name until the next version
_EPILOG = """examples:
  reelbench demo
  reelbench import questions.csv --media videos --out my-benchmark
  reelbench lint my-benchmark
  reelbench run my-benchmark --model baseline:random --out my-run

`reelbench COMMAND --help` shows the options of a command and examples.
exit status: 0 success, 1 finished with failures (listed), 2 wrong usage, 70 internal error
results go to standard output, messages and progress to standard error
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
    from reelbench.base.progress import working  # which --help needs not

    try:
        with working(f"reelbench {options.command}"):
            status = int(options.main(options))
        sys.stdout.flush()
    except (ReelbenchError, BrokenPipeError, OSError) as error:
        return _failed(options, error)
    except KeyboardInterrupt:
        _say("\nStopped.")
        return 130
    except Exception as error:
        own = extension_error(error)
        return _failed(options, own) if own else _broke(options.command, error)
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


def _failed(options: argparse.Namespace, error: Exception) -> int:
    """Say in a sentence what went wrong outside of us."""
    command = options.command
    if isinstance(error, BrokenPipeError):
        # The reader went away, as `| head` does; do not fail again when Python flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    message = _os_error(options, error) if isinstance(error, OSError) else str(error)
    _say(f"reelbench {command}: {message}")
    return 2


def _os_error(options: argparse.Namespace, error: OSError) -> str:
    """Return a sentence about a file that cannot be used, with the flag that named it."""
    name, reason = error.filename2 or error.filename, error.strerror or str(error)
    if not isinstance(name, str | Path):
        return f"{reason}."
    path, kind = Path(name), _WRONG_KIND.get(error.errno or 0)
    if kind is None:
        return f"{path}: {reason}."
    if kind == _A_FOLDER:  # which of its parts is a file
        path = next((part for part in (path, *path.parents) if part.is_file()), path)
    flags = {
        f"--{option.replace('_', '-')}"
        for option, value in vars(options).items()
        if isinstance(value, Path) and value.resolve().is_relative_to(path.resolve())
    }
    known = _FLAG.findall(options.command_parser.format_help())
    flag = next((f" in {flag}" for flag in known if flag in flags), "")
    return f"{path} {kind}{flag}."


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
    from reelbench.cli.say import tell  # which few commands need before they do their work

    tell(text)


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """Return the options that words spell; end with status 2 where one is unknown."""
    parser = _parser(words)
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        parser.error(f"there is no command {words[0]!r}{perhaps(words[0], COMMANDS)}")
    options, unknown = parser.parse_known_args(words)
    if unknown:
        has = getattr(options, "has", "")
        command = getattr(options, "command_parser", parser)
        flags = _FLAG.findall(command.format_help())
        words = [f"{word}{perhaps(word.partition('=')[0], flags)}" for word in unknown]
        command.error(f"unrecognized arguments: {' '.join(words)}{has}")
    return options


def _listed() -> str:
    """Return the commands with a line each, by group."""
    named = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, "more": tuple(name for name in COMMANDS if name not in named)}
    return "\n\n".join(
        "\n".join([f"{title}:", *(f"  {name:10}{COMMANDS[name]}" for name in there)])
        for title, names in groups.items()
        if (there := [name for name in names if name in COMMANDS])
    )


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser; only the command that was named is imported."""
    parser = argparse.ArgumentParser(
        prog="reelbench",
        usage="reelbench [-h] [--version] COMMAND ...",
        description="Make, check, run and report video-understanding benchmarks.\n\n" + _listed(),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"reelbench {__version__}")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", help=argparse.SUPPRESS, prog="reelbench"
    )
    named = next((word for word in words if word in COMMANDS), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name,
            description=summary[0].upper() + summary[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == named:
            module = import_module(f"reelbench.cli.{name}")
            module.configure(command)
            if hasattr(module, "configure_for"):  # what other words decide
                module.configure_for(command, words[words.index(name) + 1 :])
            command.set_defaults(main=module.main, command_parser=command)
    return parser
