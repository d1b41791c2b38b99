"""From predictions to numbers: every number with its coverage and its interval."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "METRICS",
    "Estimate",
    "ItemOutcome",
    "Metric",
    "ScoredRuns",
    "add_metric",
    "analyse_items",
    "fixed",
    "percent",
    "points",
    "read_predictions",
    "rounded",
    "score_outcomes",
    "score_predictions",
    "score_run",
    "score_runs",
]

if TYPE_CHECKING:
    from reelbench.score.intervals import Estimate
    from reelbench.score.metrics import METRICS, Metric, add_metric
    from reelbench.score.predictions import ItemOutcome, read_predictions
    from reelbench.score.rounding import fixed, percent, points, rounded
    from reelbench.score.score import (
        ScoredRuns,
        analyse_items,
        score_outcomes,
        score_predictions,
        score_run,
        score_runs,
    )

_HOMES = {
    "Estimate": "intervals",
    "ItemOutcome": "predictions",
    "METRICS": "metrics",
    "Metric": "metrics",
    "ScoredRuns": "score",
    "add_metric": "metrics",
    "analyse_items": "score",
    "fixed": "rounding",
    "percent": "rounding",
    "points": "rounding",
    "read_predictions": "predictions",
    "rounded": "rounding",
    "score_outcomes": "score",
    "score_predictions": "score",
    "score_run": "score",
    "score_runs": "score",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
