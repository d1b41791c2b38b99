"""How commands talk: data on stdout, everything else on stderr."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any


def tell(text: str = "") -> None:
    """Say something to the person; it never mixes with data."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def put(text: str) -> None:
    """Write data."""
    print(text)  # noqa: T201


def put_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table with aligned columns that also reads well when piped."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    for row in (headings, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        put("  ".join(cells).rstrip())


def put_scores(scores: Mapping[str, Any]) -> None:
    """Write the leaderboard of a ``scores.json``."""
    rows = [
        (
            row["model"],
            row["condition"],
            f"{row['accuracy']:.1%}",
            f"{row['interval'][0]:.1%} to {row['interval'][1]:.1%}",
            f"{row['answered']} of {row['items']}",
        )
        for row in scores["results"]
    ]
    rows.append(("chance", "", f"{scores['chance']['accuracy']:.1%}", "", ""))
    put_table(("model", "condition", "accuracy", "95% interval", "answered"), rows)
