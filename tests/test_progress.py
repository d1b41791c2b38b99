"""Progress is shown where there is no terminal too: a line now and then, which says how far."""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from support import wait_until

from reelbench.base import progress as module
from reelbench.base.progress import progress, without_progress, working
from reelbench.cli import main


def test_without_a_terminal_there_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(module, "_LINE_SECONDS", 0.05)
    monkeypatch.setattr(module, "_clock", lambda _: "some time")
    with progress("Labelling", 4, "labels", lambda: "faces") as advance:
        wait_until(lambda: "0/4 labels" in stderr.getvalue())
        advance(0.5)
        advance(0.5)
        advance()
        wait_until(lambda: "2/4 labels" in stderr.getvalue())
    first, last = stderr.getvalue().splitlines()[0], stderr.getvalue().splitlines()[-1]
    assert first == "Labelling: 0/4 labels, some time so far, faces"
    assert last == "Labelling: 2/4 labels, some time so far, about some time left, faces"


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What is done every ten seconds, to be done by hand."""
    found: list[Callable[[], None]] = []

    @contextmanager
    def by_hand(say: Callable[[], None]) -> Iterator[None]:
        found.append(say)
        yield

    monkeypatch.setattr(module, "_repeating", by_hand)
    return found


def test_work_that_nobody_can_count_says_that_it_goes_on(
    ticks: list[Callable[[], None]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    with working("Scoring"):
        clock[0] += 70
        ticks[0]()
    assert capsys.readouterr().err == "Scoring: 0:01:10 so far\n"


@pytest.mark.parametrize("inner", [
    lambda: progress("Counting", 3), lambda: working("Comparing"), without_progress,
], ids=["progress", "working", "without_progress"])  # fmt: skip
def test_it_is_silent_while_something_within_it_speaks_for_itself(
    ticks: list[Callable[[], None]],
    capsys: pytest.CaptureFixture[str],
    inner: Callable[[], AbstractContextManager[Any]],
) -> None:
    with working("reelbench score"):
        with inner():
            ticks[0]()
            assert capsys.readouterr().err == ""
        ticks[0]()
    assert capsys.readouterr().err.startswith("reelbench score: 0:")


def test_every_command_says_that_it_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(module, "_LINE_SECONDS", 0.005)

    def slow(_: object) -> int:
        wait_until(lambda: "reelbench doctor: 0:" in stderr.getvalue())
        return 0

    monkeypatch.setattr("reelbench.cli.doctor.main", slow)
    assert main(["doctor"]) == 0


def test_a_short_job_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    with progress("Reading", 1) as advance:
        advance()
    assert stderr.getvalue() == ""


def test_what_was_known_says_nothing_of_how_long_the_rest_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    count = module._Count("Asking", 100, "questions", lambda: "1 failed, $0.20", _began=100)
    for _ in range(90):
        count.advance(known=True)
    assert count.line == "Asking: 90/100 questions, 0:00:00 so far, 1 failed, $0.20"
    clock[0] += 60
    count.advance()
    left = "about 0:09:00 left, 1 failed, $0.20"
    assert count.line == f"Asking: 91/100 questions, 0:01:00 so far, {left}"
    assert count.rate == f"0.0 questions/s, {left}"
