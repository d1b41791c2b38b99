"""Progress on stderr: a bar with a rate and an ETA once a job takes over two seconds."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Element = TypeVar("Element")
_PATIENCE_SECONDS = 2.0


Advance = Callable[[], None]  # to call after each finished unit of work


@contextmanager
def progress(label: str, total: int, unit: str = "items") -> Iterator[Advance]:
    """Show how far a job is; silent when stderr is not a terminal or the job is short."""
    if not sys.stderr.isatty():
        yield lambda: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        Remaining(),
        console=Console(stderr=True),
        transient=True,
    )
    began = time.monotonic()
    task = bar.add_task(label, total=total, rate="")
    done = 0

    def advance() -> None:
        nonlocal done
        done += 1
        elapsed = time.monotonic() - began
        if elapsed >= _PATIENCE_SECONDS:
            bar.start()
        bar.update(task, completed=done, rate=f"{done / max(elapsed, 1e-9):.1f} {unit}/s")

    try:
        yield advance
    finally:
        bar.stop()


def track(elements: Iterable[Element], label: str, total: int, unit: str) -> Iterator[Element]:
    """Yield each element, and count it as done when the next one is asked for."""
    with progress(label, total, unit) as advance:
        for element in elements:
            yield element
            advance()
