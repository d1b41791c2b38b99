"""Rates of earlier makes that a forecast uses: rows let through, and replies repaired."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from reelbench.base.files import pretty_json, write_atomically
from reelbench.make.pipeline.run import StageResult
from reelbench.make.pipeline.store import RowResult

ENOUGH = 10  # rows that must have been decided before their rate counts
_FILE = "rates.json"


class StageRates(msgspec.Struct, frozen=True):
    """Counts of one stage: rows of the last make, replies of all makes."""

    decided: int = 0
    passed: int = 0
    replies: int = 0  # as JSON
    calls: int = 0  # that it took to get them

    @property
    def pass_rate(self) -> float | None:
        """The share of rows that was let through; None where too few were decided to tell."""
        return self.passed / self.decided if self.decided >= ENOUGH else None

    @property
    def calls_per_reply(self) -> float:
        """How many calls a reply took: more than 1 where some had to be repaired."""
        return max(1.0, self.calls / self.replies) if self.replies else 1.0


def read_rates(work: Path) -> dict[str, StageRates]:
    """Return the rates by stage; empty where nothing was made yet."""
    try:
        return msgspec.json.decode((work / _FILE).read_bytes(), type=dict[str, StageRates])
    except (OSError, msgspec.DecodeError):
        return {}


def write_rates(
    work: Path, passed: Sequence[StageResult], replies: Mapping[str, Sequence[int]]
) -> None:
    """Add the counts of a make; ``replies`` has the JSON replies and their calls by stage."""
    known = read_rates(work)
    for each in passed:
        before = known.get(each.stage.name, StageRates())
        decided = [result for result in each.results if isinstance(result, RowResult)]
        got, calls = replies.get(each.stage.name, (0, 0))
        known[each.stage.name] = StageRates(
            len(decided),
            sum(result.rejected is None for result in decided),
            before.replies + got,
            before.calls + calls,
        )
    record: Any = msgspec.to_builtins(known)
    write_atomically(work / _FILE, pretty_json(record))
