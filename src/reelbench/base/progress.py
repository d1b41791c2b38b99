"""Progress on stderr: a bar with a rate and an ETA once a job takes over two seconds.

Where stderr is no terminal, such as a file or the log of a cluster, a line every ten seconds.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

Element = TypeVar("Element")
_PATIENCE_SECONDS = 2.0
_LINE_SECONDS = 10.0  # between two lines where there is no terminal


class Advance(Protocol):
    """To be called after each finished unit of work, or part of one."""

    def __call__(self, amount: float = 1.0) -> None:
        """Count more as done."""


def counted(number: int, thing: str, things: str = "") -> str:
    """Return a number with its noun, such as "1 item" or "2,000 items"."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


@contextmanager
def progress(
    label: str, total: int, unit: str = "items", more: Callable[[], str] = str
) -> Iterator[Advance]:
    """Show a progress bar on stderr, or lines if that is no terminal, unless the job is short.

    Yields the function to call after each finished unit of work. ``more`` returns further text to
    show beside the bar.
    """
    count = _Count(label, total, unit, more)
    if sys.stderr is None:
        yield count.advance
        return
    with _bar(count) if sys.stderr.isatty() else _lines(count):
        yield count.advance


@dataclass
class _Count:
    """How much of a job is done, and how fast."""

    label: str
    total: int
    unit: str
    more: Callable[[], str]
    done: float = 0.0
    shown: Callable[[], None] = lambda: None  # called when there is news
    _began: float = field(default_factory=time.monotonic)

    def advance(self, amount: float = 1.0) -> None:
        self.done += amount
        self.shown()

    @property
    def rate(self) -> str:
        rate = self.done / max(time.monotonic() - self._began, 1e-9)
        return f"{rate:.1f} {self.unit}/s {self.more()}".rstrip()

    @property
    def line(self) -> str:
        """All of it in words."""
        seconds = time.monotonic() - self._began
        left = seconds / self.done * (self.total - self.done) if self.done else 0.0
        parts = [
            f"{self.label}: {int(self.done + 1e-6):,}/{self.total:,} {self.unit}",
            f"{_clock(seconds)} so far",
            f"about {_clock(left)} left" if self.done else "",
            self.more(),
        ]
        return ", ".join(filter(None, parts))


@contextmanager
def _bar(count: _Count) -> Iterator[None]:
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
    task = bar.add_task(count.label, total=count.total, rate="")
    count.shown = lambda: bar.update(task, completed=count.done, rate=count.rate)
    # By the clock, not by the first unit: that one may take long.
    starter = threading.Timer(_PATIENCE_SECONDS, bar.start)
    starter.daemon = True
    starter.start()
    try:
        yield
    finally:
        starter.cancel()
        starter.join()
        bar.stop()


@contextmanager
def _lines(count: _Count) -> Iterator[None]:
    is_over = threading.Event()

    def repeat() -> None:
        while not is_over.wait(_LINE_SECONDS):
            announce(count.line)

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _clock(seconds: float) -> str:
    """A time as hours, minutes and seconds: 0:00:07."""
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


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
