"""The results that figures and tables are about, and their names."""

from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.score.coverage import no_score

Scores = Mapping[str, Any]
NO_TIER = "Other models"  # the heading of those in no tier, where others have one


def main_rows(scores: Scores) -> list[Mapping[str, Any]]:
    """The results under the condition where models are compared, one for each that has a score."""
    rows = [row for row in scores["results"] if row["condition"] == scores["main_condition"]]
    return [row for row in rows if not no_score(row)]


def numbers(scores: Scores) -> dict[str, int]:
    """Number the models from the best on: a model has one colour in the whole page."""
    return {m: n for n, m in enumerate(dict.fromkeys(row["model"] for row in scores["results"]))}


def label(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Name a result: by its condition too, where there are several."""
    several = len({each["condition"] for each in rows}) > 1
    return f"{row['model']}, {row['condition']}" if several else str(row["model"])
