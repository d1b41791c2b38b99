"""``reelbench weights``."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reelbench.cli.say import put, put_table, tell

if TYPE_CHECKING:
    from reelbench.weights.registry import Weights

_EXAMPLES = """examples:
  reelbench weights list
  reelbench weights pull face whisper_base
  reelbench weights pull --all
  reelbench weights path face"""
_MOST_SHOWN = 4  # packages of one set of weights


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = _EXAMPLES
    actions = parser.add_subparsers(dest="action", metavar="action", required=True)
    actions.add_parser("list", help="list the weights and whether they are installed")
    pull = actions.add_parser("pull", help="download weights with pip and verify them")
    pull.add_argument(
        "names", nargs="*", metavar="NAME", help="name of the weights, as in `weights list`"
    )
    pull.add_argument("--all", action="store_true", help="all weights that can be downloaded")
    pull.add_argument(
        "--offline", action="store_true", help="use no network; report what is missing"
    )
    path = actions.add_parser("path", help="print the path of weights")
    path.add_argument("name", metavar="NAME", help="name of the weights")


def main(options: argparse.Namespace) -> int:
    """Do what was asked for; exit with 1 if weights are missing afterwards."""
    if options.action == "list":
        return _list()
    if options.action == "pull":
        return _pull(options)
    from reelbench.weights import weights_file

    put(str(weights_file(options.name)))
    return 0


def _list() -> int:
    from reelbench.weights.registry import registry

    rows = [
        (
            weights.name,
            _whether_here(weights),
            f"{weights.size / 1e6:.1f} MB" if weights.files else "",
            _packages(weights.requirements) or "none: put it there yourself",
            weights.licence,
            weights.need,
        )
        for weights in registry().values()
    ]
    put_table(("name", "here", "size", "package", "licence", "need"), rows)
    return 0


def _packages(requirements: Sequence[str]) -> str:
    """Return the packages of weights; of one that is cut into many, the first and the last."""
    if len(requirements) <= _MOST_SHOWN:
        return " ".join(requirements)
    return f"{requirements[0]} to {requirements[-1]}, {len(requirements)} packages"


def _whether_here(weights: "Weights") -> str:
    from reelbench.weights.find import kept_path, path_here

    path = path_here(weights)
    if path is None:
        return "no"
    return "yes" if path == kept_path(weights) else "installed"


def _pull(options: argparse.Namespace) -> int:
    from reelbench.base.errors import ReelbenchError
    from reelbench.weights.find import path_here
    from reelbench.weights.pull import pull
    from reelbench.weights.registry import find, registry

    if options.all == bool(options.names):
        raise ReelbenchError(
            "Name the weights to pull, or write --all for all of them; `reelbench weights list` "
            "shows their names."
        )
    named = [find(name) for name in dict.fromkeys(options.names)]
    wanted = named or [weights for weights in registry().values() if weights.files]
    problems = pull(wanted, tell, options.offline)
    here = [weights for weights in wanted if weights.name not in problems]
    if here:
        put_table(("name", "path"), [(each.name, str(path_here(each))) for each in here])
    for name, problem in problems.items():
        tell(f"{name}: {problem}")
    return 1 if problems else 0
