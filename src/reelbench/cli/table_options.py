"""Options of the tables of scores, which ``score`` and ``report`` share."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.cli.say import printable, tell

if TYPE_CHECKING:
    from reelbench.report.tables import Scores


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--tiers",
        type=Path,
        metavar="FILE",
        help="groups of models for averages in tables, in YAML: `strong: [a, b]`",
    )
    parser.add_argument(
        "--tables",
        type=Path,
        metavar="FOLDER",
        help="write all tables as CSV, Markdown and LaTeX to this folder",
    )
    parser.add_argument(
        "--intervals", action="store_true", help="include 95%% intervals in those tables"
    )


def write_tables_of(scores: "Scores", options: argparse.Namespace) -> None:
    """Write the tables where ``--tables`` names a folder, and tell which they are."""
    from reelbench.report.tables import write_tables

    if not options.tables:
        return
    files = write_tables(scores, options.tables, options.intervals)
    names = ", ".join(printable(file.stem) for file in files if file.suffix == ".tex")
    tell(f"Tables in {options.tables}, each as .csv, .md and .tex: {names or 'none'}.")


def tiers_of(options: argparse.Namespace) -> dict[str, str]:
    """Return the groups that ``--tiers`` names, by model; none without it."""
    from reelbench.score.tiers import read_tiers

    return read_tiers(options.tiers) if options.tiers else {}
