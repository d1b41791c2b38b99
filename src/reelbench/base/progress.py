"""Progress on stderr: a bar with a rate and an ETA once a job takes over two seconds.

Where stderr is no terminal, such as a file or the log of a cluster, a line every ten seconds. So
there is, anywhere, of work that nobody can count: every command says at least that it is at work.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

Element = TypeVar("Element")
_PATIENCE_SECONDS = 2.0
_LINE_SECONDS = 10.0  # between two lines where there is no terminal


class Advance(Protocol):
    """To be called after each finished unit of work, or part of one."""

    def __call__(self, amount: float = 1.0, *, known: bool = False) -> None:
        """Count more as done; what was ``known`` took no time, and says nothing of the rest."""


def counted(number: int, thing: str, things: str = "") -> str:
    """Return a number with its noun, such as "1 item" or "2,000 items"."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def some_of(names: Sequence[str], most: int = 10) -> str:
    """Return the first few names as text, with the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def megabytes(size: int) -> str:
    """Return a number of bytes in words, such as "1,234.5 MB"."""
    return f"{size / 1e6:,.1f} MB"


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
    shown = _bar(count) if sys.stderr.isatty() else _repeating(lambda: announce(count.line))
    with _under_way(), shown:
        yield count.advance


@contextmanager
def working(label: str) -> Iterator[None]:
    """Print a line every ten seconds in which nothing within the block shows its own progress."""
    began = time.monotonic()

    def say() -> None:
        if _showing[-1] is this:
            announce(f"{label}: {_clock(time.monotonic() - began)} so far")

    with _under_way() as this, _repeating(say):
        yield


@contextmanager
def without_progress() -> Iterator[None]:
    """Print nothing while something lasts as long as a person likes, such as a server."""
    with _under_way():
        yield


_showing: list[object] = []  # what is under way, the latest last: that one speaks


@contextmanager
def _under_way() -> Iterator[object]:
    this = object()
    _showing.append(this)
    try:
        yield this
    finally:
        _showing.remove(this)


@dataclass
class _Count:
    """How much of a job is done, and how fast."""

    label: str
    total: int
    unit: str
    more: Callable[[], str]
    done: float = 0.0
    known: float = 0.0  # of what is done, that took no time
    shown: Callable[[], None] = lambda: None  # called when there is news
    _began: float = field(default_factory=time.monotonic)

    def advance(self, amount: float = 1.0, *, known: bool = False) -> None:
        self.done += amount
        self.known += amount if known else 0.0
        self.shown()

    @property
    def rate(self) -> str:
        """How fast it goes, how long it will take, and what else there is to say."""
        rate = (self.done - self.known) / max(time.monotonic() - self._began, 1e-9)
        parts = [f"{rate:.1f} {self.unit}/s", self.left, self.more()]
        return ", ".join(filter(None, parts))

    @property
    def left(self) -> str:
        """How long the rest will take, as what took time did; empty before anything did."""
        worked = self.done - self.known
        if worked <= 0:
            return ""
        seconds = time.monotonic() - self._began
        return f"about {_clock(seconds / worked * (self.total - self.done))} left"

    @property
    def line(self) -> str:
        """All of it in words."""
        parts = [
            f"{self.label}: {int(self.done + 1e-6):,}/{self.total:,} {self.unit}",
            f"{_clock(time.monotonic() - self._began)} so far",
            self.left,
            self.more(),
        ]
        return ", ".join(filter(None, parts))


@contextmanager
def _bar(count: _Count) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    bar = Progress(
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
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
def _repeating(say: Callable[[], None]) -> Iterator[None]:
    """Call a function every ten seconds, beside what is done in the block."""
    is_over = threading.Event()

    def repeat() -> None:
        while not is_over.wait(_LINE_SECONDS):
            say()

    thread = threading.Thread(target=repeat, daemon=True)
    try:
        thread.start()
        yield
    finally:
        is_over.set()
        if thread.ident is not None:
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
