"""Reelbench makes, checks, runs and reports video-understanding benchmarks.

This is the public Python API; recipes are composed of what ``reelbench.make`` names, and
``reelbench.media`` works on files. Names are loaded when first used, so that importing the package
costs nothing.
"""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__version__ = "0.1.0"

__all__ = [
    "Benchmark",
    "BenchmarkError",
    "Card",
    "Clip",
    "Item",
    "Labels",
    "Manifest",
    "Media",
    "Metric",
    "NotApplicable",
    "Operator",
    "Protocol",
    "ReelbenchError",
    "Request",
    "Response",
    "Selection",
    "SimpleModel",
    "lint_benchmark",
    "run_benchmark",
    "score_predictions",
]

if TYPE_CHECKING:
    from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator
    from reelbench.base.errors import ReelbenchError
    from reelbench.data.benchmark import Benchmark, BenchmarkError
    from reelbench.data.items import Item, Media
    from reelbench.data.manifest import Manifest, Protocol
    from reelbench.data.selection import Selection
    from reelbench.evaluate.run import run_benchmark
    from reelbench.lint import lint_benchmark
    from reelbench.models.base import Request, Response
    from reelbench.models.card import Card
    from reelbench.models.simple import SimpleModel
    from reelbench.score.metrics import Metric
    from reelbench.score.score import score_predictions

_HOMES = {
    "Benchmark": "data.benchmark",
    "BenchmarkError": "data.benchmark",
    "Card": "models.card",
    "Clip": "annotate.operator",
    "Item": "data.items",
    "Labels": "annotate.operator",
    "Manifest": "data.manifest",
    "Media": "data.items",
    "Metric": "score.metrics",
    "NotApplicable": "annotate.operator",
    "Operator": "annotate.operator",
    "Protocol": "data.manifest",
    "ReelbenchError": "base.errors",
    "Request": "models.base",
    "Response": "models.base",
    "Selection": "data.selection",
    "SimpleModel": "models.simple",
    "lint_benchmark": "lint",
    "run_benchmark": "evaluate.run",
    "score_predictions": "score.score",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
