"""Progress on stderr: a bar with a rate and an ETA once a job takes over two seconds."""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Element = TypeVar("Element")
Advance = Callable[[], None]  # to call after each finished unit of work
_PATIENCE_SECONDS = 2.0


def counted(number: int, thing: str, things: str = "") -> str:
    """Return a number with its noun, such as "1 item" or "2,000 items"."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


@contextmanager
def progress(
    label: str, total: int, unit: str = "items", more: Callable[[], str] = str
) -> Iterator[Advance]:
    """Show a progress bar on stderr, unless that is no terminal or the job is short.

    Yields the function to call after each finished unit of work. ``more`` returns further text to
    show beside the bar.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    bar = Progress(
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        Remaining(),
        console=Console(stderr=True),
        transient=True,
    )
    began = time.monotonic()
    task = bar.add_task(label, total=total, rate="")
    done = 0
    # By the clock, not by the first unit: that one may take long.
    starter = threading.Timer(_PATIENCE_SECONDS, bar.start)
    starter.daemon = True
    starter.start()

    def advance() -> None:
        nonlocal done
        done += 1
        rate = done / max(time.monotonic() - began, 1e-9)
        bar.update(task, completed=done, rate=f"{rate:.1f} {unit}/s {more()}".rstrip())

    try:
        yield advance
    finally:
        starter.cancel()
        starter.join()
        bar.stop()


def track(elements: Iterable[Element], label: str, total: int, unit: str) -> Iterator[Element]:
    """Yield each element, and count it as done when the next one is asked for."""
    with progress(label, total, unit) as advance:
        for element in elements:
            yield element
            advance()


def note(text: str) -> None:
    """Print a line to stderr if it is a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        announce(f"\n{text}")


def announce(text: str) -> None:
    """Print a line to stderr at once, also where that is a file."""
    if sys.stderr is not None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
