"""The history of models over several runs."""

from collections.abc import Mapping
from typing import Any

from reelbench.pages.table import Table
from reelbench.report.comparison import p_value
from reelbench.score.rounding import percent, signed

_COLUMNS = ("Accuracy", "95% interval", "Change, points", "95% interval of the change", "p (Holm)")
_COUNTS = ("Right to wrong", "Wrong to right", "Items compared")


def history_table(scores: Mapping[str, Any]) -> Table:
    """Each run of a model that several runs have, with its change since the run before."""
    found = scores.get("history", ())
    several = len({row["condition"] for row in found}) > 1
    columns = ["Model", *(["Condition"] if several else []), "Run", "Started (UTC)", "Version"]
    columns += ["Items", *_COLUMNS, *_COUNTS]
    rows = [
        [
            row["model"],
            *([row["condition"]] if several else []),
            row["run"],
            row["when"].replace("T", " ").removesuffix("+00:00")[:16],
            row["version"],
            str(row["items"]),
            percent(row["correct"] / row["items"]) if row["items"] else "",
            " to ".join(map(percent, row["interval"])) if row["interval"] else "",
            *_change(row.get("change")),
        ]
        for row in found
    ]
    return Table("history", "History", columns, rows)


def _change(change: Mapping[str, Any] | None) -> list[str]:
    """Write a change since the run before; nothing for the first run."""
    if change is None:
        return [""] * 6
    return [
        signed(change["difference"]),
        " to ".join(map(signed, change["interval"])),
        p_value(change["p_holm"]),
        str(change["right_to_wrong"]),
        str(change["wrong_to_right"]),
        str(change["items"]),
    ]
