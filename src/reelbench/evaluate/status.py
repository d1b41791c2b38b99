"""The progress of a run: ``status.json``, updated while it goes on."""

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reelbench.base.files import pretty_json, write_atomically
from reelbench.base.limits import bounded_bytes, decode_json
from reelbench.client.budget import Ledger
from reelbench.client.client import Counts
from reelbench.models.base import Response

_EVERY = 1.0  # seconds between two writes
_SHOWN = 100  # failures, while it runs


@dataclass
class RunState:
    """The progress of a run, as in ``status.json``."""

    total: int
    done: int = 0  # have a reply
    truncated: Counter[str] = field(default_factory=Counter)  # replies cut off, by model
    limits: dict[str, str] = field(default_factory=dict)  # what to raise, by model
    counts: Counts = field(default_factory=Counts)
    judged: int = 0  # replies
    judging: Counts = field(default_factory=Counts)  # calls to judges
    ledger: Ledger = field(default_factory=Ledger)
    unasked: dict[str, Response] = field(default_factory=dict)  # by key: why it was not
    failures: list[dict[str, Any]] = field(default_factory=list)
    warnings: set[str] = field(
        default_factory=set
    )  # about media that differ from what was asked for
    announced: frozenset[str] = frozenset()  # warnings printed before anything was asked

    def in_short(self) -> str:
        """Return the failures and the cost so far, for the progress bar."""
        failed = f"{len(self.failures):,} failed"
        return ", ".join(filter(None, [failed, self.ledger.in_words()]))


def started_at(out: Path) -> str:
    """Return when a run began, in UTC; empty where an earlier version did not write it down."""
    try:
        return str(decode_json(bounded_bytes(out / "status.json"))["started"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


class StatusFile:
    """Writes ``status.json``."""

    def __init__(self, path: Path, state: RunState) -> None:
        self._path, self._state = path, state
        # Not in run.json, which is the same for two runs that are.
        self._started = started_at(path.parent) or datetime.now(UTC).isoformat(timespec="seconds")
        self._written = float("-inf")

    def __enter__(self) -> "StatusFile":
        try:
            self._write("running")
        except BaseException:
            # Ctrl-C while the file is written: nothing leaves this block that was never entered.
            self._mark_stopped()
            raise
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self._write("stopped" if kind else "done")
        except OSError:
            self._mark_stopped()
            if not kind:
                raise

    def _mark_stopped(self) -> None:
        """Replace one word by another of its length, which works on a full disk."""
        with suppress(OSError), self._path.open("r+b") as file:
            place = file.read().find(b'"state": "running"')
            if place >= 0:
                file.seek(place)
                file.write(b'"state": "stopped"')

    def refresh(self) -> None:
        """Write the file, unless it was written a moment ago."""
        if time.monotonic() - self._written >= _EVERY:
            self._write("running")

    def _write(self, word: str) -> None:
        self._written = time.monotonic()
        state = self._state
        content = {
            "state": word,
            "started": self._started,
            "total": state.total,
            "done": state.done,
            "truncated": dict(sorted(state.truncated.items())),
            "asked_now": state.counts.asked,
            "judged": state.judged,
            "spent": {
                name: spent.to_record() for name, spent in sorted(state.ledger.spent.items())
            },
            "failed": len(state.failures),
            # In an order that does not depend on who answered first; while it runs, the first ones.
            "failures": sorted(state.failures[: _SHOWN if word == "running" else None], key=_place),
            "warnings": sorted(state.warnings),
        }
        write_atomically(self._path, pretty_json(content))


def _place(failure: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(failure[name] for name in ("id", "model", "condition", "order", "round"))
