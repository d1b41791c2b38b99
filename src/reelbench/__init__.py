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
    from reelbench.benchmark import Benchmark, BenchmarkError
    from reelbench.errors import ReelbenchError
    from reelbench.evaluate.run import run_benchmark
    from reelbench.items import Item, Media
    from reelbench.make.lint import lint_benchmark
    from reelbench.manifest import Manifest, Protocol
    from reelbench.score.score import score_predictions

_HOMES = {
    "Benchmark": "benchmark",
    "BenchmarkError": "benchmark",
    "Item": "items",
    "Manifest": "manifest",
    "Media": "items",
    "Protocol": "manifest",
    "ReelbenchError": "errors",
    "lint_benchmark": "make.lint",
    "run_benchmark": "evaluate.run",
    "score_predictions": "score.score",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
