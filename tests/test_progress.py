"""Progress is shown where there is no terminal too: a line now and then, which says how far."""

import io
import sys

import pytest
from support import wait_until

from reelbench.base import progress as module
from reelbench.base.progress import progress


def test_without_a_terminal_there_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(module, "_LINE_SECONDS", 0.05)
    with progress("Labelling", 4, "labels", lambda: "faces") as advance:
        wait_until(lambda: "0/4 labels" in stderr.getvalue())
        advance(0.5)
        advance(0.5)
        advance()
        wait_until(lambda: "2/4 labels" in stderr.getvalue())
    first, last = stderr.getvalue().splitlines()[0], stderr.getvalue().splitlines()[-1]
    assert first == "Labelling: 0/4 labels, 0:00:00 so far, faces"
    assert last.startswith("Labelling: 2/4 labels, 0:00:0")
    assert " left, faces" in last


def test_a_short_job_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    with progress("Reading", 1) as advance:
        advance()
    assert stderr.getvalue() == ""
