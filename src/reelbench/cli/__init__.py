"""The command line: one module per command, no logic.

The list below is data, so that ``reelbench --help`` imports no command and answers at once.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from reelbench import __version__
from reelbench.errors import ReelbenchError

COMMANDS = {
    "demo": "make a small benchmark, run three baselines on it and write the report",
    "lint": "look for what a careful editor would find in a benchmark",
    "run": "ask models every item of a benchmark, or go on with a run",
    "score": "score a run, or anyone's predictions",
    "report": "write the HTML page of a run",
    "doctor": "say what is installed, what is missing and how to get it",
}
_EPILOG = """examples:
  reelbench demo
  reelbench lint my-benchmark
  reelbench run my-benchmark --model baseline:random --out my-run

exit status: 0 done, 1 finished with failures (named), 2 wrong use
data goes to standard output, talk and progress to standard error
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser(words)
    options = parser.parse_args(words)
    if options.command is None:
        parser.print_help()
        return 2
    try:
        return int(options.main(options))
    except ReelbenchError as error:
        print(f"reelbench {options.command}: {error}", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)  # noqa: T201
        return 130
    except BrokenPipeError:
        # The reader went away, as `| head` does; do not fail again when Python flushes at exit.
        sys.stdout = open("/dev/null", "w")  # noqa: SIM115
        return 1


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
            command.set_defaults(main=module.main)
    return parser
