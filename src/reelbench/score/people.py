"""Human participants who answered the items: their mean and spread."""

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

from reelbench.score.rounding import rounded

HUMAN = "human:"  # how the names of people among the models begin


def humans(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the mean and spread of human participants, who are models named ``human:...``."""
    found = []
    for condition in sorted({row["condition"] for row in rows}):
        shares = [
            row["correct"] / row["items"]  # not what is rounded already
            for row in rows
            if row["condition"] == condition and row["model"].startswith(HUMAN)
        ]
        if shares:
            found.append(
                {
                    "condition": condition,
                    "participants": len(shares),
                    "accuracy": rounded(mean(shares)),
                    "sd": rounded(stdev(shares)) if len(shares) > 1 else None,
                    "range": [rounded(min(shares)), rounded(max(shares))],
                }
            )
    return found
