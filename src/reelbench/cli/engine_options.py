"""Where work runs: the options that ``annotate``, ``make`` and ``run`` share."""

import argparse
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reelbench.base.errors import ReelbenchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reelbench.engine.base import Engine
    from reelbench.models.local.engines import EngineSource


def add_engine_options(parser: argparse.ArgumentParser, what: str = "operators") -> None:
    """Declare the options."""
    parser.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help=f"where {what} run: on this machine, or on a Ray cluster (default: local)",
    )
    parser.add_argument(
        "--address", help="address of the Ray cluster (default: one on this machine)"
    )
    if what == "operators":
        parser.add_argument(
            "--workers", type=int, help="number of processes (default: one per core)"
        )


def engine_in(options: argparse.Namespace) -> "Callable[[], Engine]":
    """Return what opens the engine that was named; raise a sentence for what cannot be."""
    if options.engine == "ray":
        from reelbench.engine.cluster import RayEngine

        return lambda: RayEngine(options.address)
    _check_address(options)
    if options.workers is not None and options.workers < 1:
        raise ReelbenchError(f"--workers is {options.workers}: write 1 or more.")
    from reelbench.engine.local import LocalEngine

    return lambda: LocalEngine(options.workers)


@contextmanager
def inference_in(options: argparse.Namespace) -> "Iterator[EngineSource | None]":
    """Yield where local models run; None for this machine."""
    _check_address(options)
    if options.engine != "ray":
        yield None
        return
    from reelbench.engine.inference import RayEngines

    engines = RayEngines(options.address)
    try:
        yield engines
    finally:
        engines.close()


def _check_address(options: argparse.Namespace) -> None:
    if options.address and options.engine != "ray":
        raise ReelbenchError(
            "--address is that of a Ray cluster: add --engine ray, or leave --address out."
        )
