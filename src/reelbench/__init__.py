"""Reelbench makes, checks, runs and reports video-understanding benchmarks.

This is the public Python API, all of it. Names are loaded when first used, so that importing
the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Benchmark",
    "BenchmarkError",
    "Item",
    "Manifest",
    "Media",
    "Protocol",
    "ReelbenchError",
    "lint_benchmark",
    "run_benchmark",
    "score_predictions",
]

if TYPE_CHECKING:
    from reelbench.base.errors import ReelbenchError
    from reelbench.data.benchmark import Benchmark, BenchmarkError
    from reelbench.data.items import Item, Media
    from reelbench.data.manifest import Manifest, Protocol
    from reelbench.evaluate.run import run_benchmark
    from reelbench.lint import lint_benchmark
    from reelbench.score.score import score_predictions

_HOMES = {
    "Benchmark": "data.benchmark",
    "BenchmarkError": "data.benchmark",
    "Item": "data.items",
    "Manifest": "data.manifest",
    "Media": "data.items",
    "Protocol": "data.manifest",
    "ReelbenchError": "base.errors",
    "lint_benchmark": "lint",
    "run_benchmark": "evaluate.run",
    "score_predictions": "score.score",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
