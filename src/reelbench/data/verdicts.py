"""Verdicts: what people decided about items, one JSON object per line.

``{"item": "q-1", "who": "ann", "decision": "accept"}`` is a whole verdict. ``decision`` is
``accept``, ``reject`` or ``change``. Beside it there may be ``tags`` (why, such as
``["ambiguous stem"]``), ``answer`` (the letters that this person holds right), ``changes`` (fields
of the item with other content), ``rating`` (numbers by name) and ``comment``. What else a line
holds is left alone. Of several lines by one person about one item, the last counts.

A line with ``"settled": true`` says what came of it where people decided by a protocol, with a
further reviewer or a discussion: it counts alone, and the others are there to be read. A line with
a ``digest`` is about the item with that hash: where another item has its id by now, it is not used.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import NOTHING

VERDICTS_FILE = "verdicts.jsonl"  # of a benchmark's folder, which a review writes
CHANGEABLE = ("question", "options", "answer", "reference", "evidence", "tags")


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one person decided about one item."""

    item: str
    who: str
    decision: Literal["accept", "reject", "change"]
    tags: tuple[str, ...] = ()
    answer: tuple[str, ...] | None = None
    changes: Mapping[str, Any] = NOTHING
    rating: Mapping[str, float] = NOTHING
    comment: str = ""
    settled: bool = False  # whether it is what a protocol's reviewers came to
    digest: str = ""  # of the item as this person saw it; empty: of whatever has this id

    @property
    def new_fields(self) -> dict[str, Any]:
        """The fields of the item to replace, with their new values."""
        if self.decision != "change":
            return {}
        answer = {} if self.answer is None else {"answer": list(self.answer)}
        return {**self.changes, **answer}


def read_verdicts(path: Path) -> Mapping[str, Sequence[Verdict]]:
    """Return the verdicts of a file by item, sorted by person; none where there is no file.

    One that is settled comes last.
    """
    try:
        state = path.stat()
    except FileNotFoundError:
        return {}
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, _changed: int, _size: int) -> Mapping[str, Sequence[Verdict]]:
    found: dict[tuple[str, bool, str], Verdict] = {}
    faults = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            verdict = msgspec.json.decode(line, type=Verdict)
        except msgspec.DecodeError as error:
            faults.append(f"{path}, line {number}: {error}")
            continue
        if unknown := [name for name in verdict.changes if name not in CHANGEABLE]:
            faults.append(
                f"{path}, line {number}: changes: {', '.join(unknown)} cannot be changed, only "
                f"{', '.join(CHANGEABLE)}"
            )
        who = "" if verdict.settled else verdict.who  # one settled verdict an item
        found[verdict.item, verdict.settled, who] = verdict
    if faults:
        raise ReelbenchError("\n".join(faults))
    verdicts: dict[str, list[Verdict]] = {}
    for key in sorted(found):
        verdicts.setdefault(key[0], []).append(found[key])
    return verdicts
