"""Which items: the options that ``run``, ``score``, ``report`` and ``compare`` share."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from reelbench.data.benchmark import Benchmark


def add_selection_options(parser: argparse.ArgumentParser, doing: str, limited: str = "") -> None:
    """Declare the options; ``doing`` is a verb, and ``limited`` says more about the limit."""
    group = parser.add_argument_group("which items")
    group.add_argument("--split", metavar="NAME", help=f"{doing} only the items of this split")
    group.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="TAG=VALUE",
        help=f"{doing} only items with this tag value, or kind=open, id=NAME, video=PATH; "
        "repeatable: different tags must all match, of one tag any value may",
    )
    group.add_argument(
        "--limit",
        type=_limit,
        metavar="N",
        help=f"{doing} only N randomly chosen items (seeded; a larger N includes the same "
        f"items){limited}",
    )


def add_scope_options(parser: argparse.ArgumentParser, doing: str, who: str, where: str) -> None:
    """Declare over which items a model is scored; ``who`` must have answered the common ones."""
    group = parser.add_argument_group("which of them count").add_mutually_exclusive_group()
    ways = {
        "asked": f"{doing} the items that each model was asked, failed calls included (default)",
        "all": f"{doing} all items; one that a model was not asked counts as wrong{where}",
        "common": f"{doing} only items that {who} answered{where}",
    }
    for scope, words in ways.items():
        group.add_argument(
            f"--{scope}",
            action="store_const",
            dest="scope",
            const=scope,
            default="asked",
            help=words,
        )


def select_from(
    benchmark: "Benchmark", options: argparse.Namespace, seed: int | None = None
) -> "Benchmark":
    """Return the part of a benchmark that the options choose; all of it where they choose none."""
    from reelbench.data.selection import EVERY_ITEM, Selection, parse_where

    limit = EVERY_ITEM if options.limit == "all" else options.limit
    where = parse_where(options.where, benchmark.items)
    return benchmark.select(Selection(options.split or "", where, limit, seed))


def select_of_runs(
    benchmark: "Benchmark", records: "Sequence[Mapping[str, Any]]", options: argparse.Namespace
) -> "Benchmark":
    """Return the part of a benchmark that the options choose of several runs."""
    from reelbench.evaluate.selected import of_run, selection_of

    # What runs of the same items are narrowed to is part of these; others may share a part.
    alike = len({selection_of(record) for record in records}) == 1
    part = of_run(benchmark, records[0]) if alike else benchmark.whole
    return select_from(part, options, records[0]["seed"])


def _limit(text: str) -> int | str:
    if text == "all":
        return text
    if not (text.isascii() and text.isdecimal() and len(text) < 19 and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number from 1 on nor `all`")
    return int(text)
