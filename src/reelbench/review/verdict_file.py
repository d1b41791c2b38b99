"""The files that a recipe reads in a benchmark's folder: verdicts, and questions that people wrote.

They are written while people work. The verdicts are what is settled by the protocol. The lines of a
review carry the name of their queue; those that people wrote by hand carry none and stay.
"""

import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import json_line, write_atomically
from reelbench.base.limits import decode_json
from reelbench.base.progress import announce
from reelbench.data.benchmark import items_text
from reelbench.data.verdicts import VERDICTS_FILE, Verdict
from reelbench.data.written import WRITTEN_FILE, task_of
from reelbench.review.decisions import Decision, settled_decisions, verify_queues
from reelbench.review.review import Review

_WAIT = 0.5  # seconds in which further decisions are gathered


def verdict_lines(review: Review) -> list[str]:
    """Return the lines of a review for all items that are settled."""
    return VerdictLines(review).all()


class VerdictLines:
    """The lines of a review, of every version of an item that was settled.

    What has not changed since the last time is not looked at again.
    """

    def __init__(self, review: Review) -> None:
        self._review = review
        self._kept: dict[tuple[str, str], tuple[int, list[str]]] = {}

    def all(self) -> list[str]:
        """Return all lines as they are now."""
        found: list[str] = []
        with self._review.reading():
            for queue in verify_queues(self._review):
                for item in queue.items():
                    events = len(queue.history(item).events)
                    count, lines = self._kept.get((queue.name, item), (0, []))
                    if count != events:
                        settled = settled_decisions(queue, item)
                        lines = [line for each in settled for line in _lines(each)]
                        self._kept[queue.name, item] = events, lines
                    found += lines
        return found


def _lines(decision: Decision) -> Iterator[str]:
    verdict = decision.verdict
    if verdict is None:
        return
    facts = {"queue": decision.protocol.name, "digest": decision.seen}
    for who, each in sorted(decision.progress.verdicts.items()):
        time = decision.progress.finished[who].time
        yield json_line({"item": decision.item, "who": who, **_fields(each), "time": time, **facts})
    end = {**_fields(verdict), "settled": True, "time": decision.time, **facts}
    yield json_line({"item": decision.item, "who": decision.who, **end})


def _fields(verdict: Verdict) -> dict[str, Any]:
    record: dict[str, Any] = {"decision": verdict.decision}
    record |= {"tags": list(verdict.tags)} if verdict.tags else {}
    record |= {"answer": list(verdict.answer)} if verdict.answer is not None else {}
    record |= {"changes": dict(verdict.changes)} if verdict.changes else {}
    return record | ({"comment": verdict.comment} if verdict.comment else {})


def write_verdicts(path: Path, lines: list[str]) -> bool:
    """Put the lines of a review in place of its earlier ones; return whether that changed a file.

    Where nothing was ever settled, no file is made.
    """
    before = path.read_text("utf-8") if path.exists() else ""
    others = [line for line in before.split("\n") if line.strip() and not _is_ours(line)]
    text = "".join([*(f"{line}\n" for line in others), *lines])
    if text == before:
        return False
    write_atomically(path, text)
    return True


def write_questions(review: Review) -> None:
    """Put what people wrote for tasks of a recipe where it reads it; no file where that is none."""
    with review.reading() as state:
        subjects = sorted(state.written.items())
        items = [each.item for _, each in subjects if each.item and task_of(each.item)]
    path = review.root / WRITTEN_FILE
    text = items_text(items)
    if text != (path.read_text("utf-8") if path.exists() else ""):
        write_atomically(path, text)


def _is_ours(line: str) -> bool:
    try:
        record = decode_json(line)
    except ValueError:
        return False
    return isinstance(record, dict) and "queue" in record


class VerdictWriter:
    """Writes the file in the background, soon after something was settled, and at the end."""

    def __init__(self, review: Review) -> None:
        self._review, self._lines = review, VerdictLines(review)
        self._path = review.root / VERDICTS_FILE
        self._due, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="verdicts", daemon=True)

    def __enter__(self) -> "VerdictWriter":
        self._review.on_change = self._due.set
        self._due.set()  # what was decided before the server was stopped the hard way
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._due.set()
        self._thread.join()
        self._write()

    def _work(self) -> None:
        while not self._ended.is_set():
            self._due.wait()
            self._ended.wait(_WAIT)
            self._due.clear()
            self._write()

    def _write(self) -> None:
        try:
            write_verdicts(self._path, self._lines.all())
            write_questions(self._review)
        # A full disk, or a file that is no text: the database has it all.
        except (OSError, ReelbenchError, UnicodeDecodeError) as error:
            announce(
                f"{self._path}, or {WRITTEN_FILE} beside it, could not be written ({error}); the "
                "next decision tries again."
            )
