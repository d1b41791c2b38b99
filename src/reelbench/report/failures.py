"""The table of what has no answer: replies that cannot be read, refusals, calls that failed."""

from collections.abc import Mapping
from typing import Any

from reelbench.pages.table import Table
from reelbench.report.rows import Scores, label
from reelbench.score.rounding import percent

NOTE = (
    "Shares are of the replies that were asked for, each order and round counted. Unreadable are "
    "replies in which no answer was found; cut off are those that the limit of tokens ended before "
    "an answer; refused are calls that the server or its content filter refused, and replies that "
    "decline in words (I cannot tell); failed are errors and timeouts."
)


def failures(scores: Scores) -> Table:
    """How many replies could not be read, were refused, or never came."""
    ends = ("Unreadable", "Cut off", "Refused", "Failed")
    columns = ["Model", "Asked", *ends, "Not asked", "Read by a judge"]
    rows = [
        [
            label(row, scores["results"]),
            str(row["asked"]),
            *_ends(row),
            str(row["missing"] + row["statuses"].get("over_budget", 0)),
            str(row["read_by_judge"]),
        ]
        for row in scores["results"]
    ]
    return Table("failures", "Without an answer", columns, rows, note=NOTE)


def _ends(row: Mapping[str, Any]) -> list[str]:
    statuses, rates = row["statuses"], row["rates"]
    counts = {
        "parse_failure": row["unread"],
        "cut_off": row["cut_off"],
        "refused": statuses.get("refused", 0) + row["refused_in_words"],
        "error": statuses.get("error", 0) + statuses.get("timeout", 0),
    }
    return [f"{count} ({percent(rates[name])})" for name, count in counts.items()]
