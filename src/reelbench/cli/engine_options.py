"""Where operators run: the options that ``annotate`` and ``make`` share."""

import argparse
from typing import TYPE_CHECKING

from reelbench.base.errors import ReelbenchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reelbench.engine.base import Engine


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="where operators run: on this machine, or on a Ray cluster (default: local)",
    )
    parser.add_argument("--address", help="of a Ray cluster (default: one on this machine)")
    parser.add_argument("--workers", type=int, help="processes (default: as many as cores)")


def engine_in(options: argparse.Namespace) -> "Callable[[], Engine]":
    """Return what opens the engine that was named; raise a sentence for what cannot be."""
    if options.engine == "ray":
        from reelbench.engine.cluster import RayEngine

        return lambda: RayEngine(options.address)
    if options.address:
        raise ReelbenchError(
            "--address is that of a Ray cluster: add --engine ray, or leave --address out."
        )
    if options.workers is not None and options.workers < 1:
        raise ReelbenchError(f"--workers is {options.workers}: write 1 or more.")
    from reelbench.engine.local import LocalEngine

    return lambda: LocalEngine(options.workers)
