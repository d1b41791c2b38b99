"""Have any judge grade rated responses, to hold its scores against those that they have."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.files import json_line, write_atomically
from reelbench.base.progress import progress
from reelbench.client.budget import Budget, Ledger
from reelbench.client.client import Client, Stopped
from reelbench.client.session import open_session
from reelbench.client.structured import ask_json
from reelbench.evaluate.rubric import Rubric
from reelbench.judge.sharegpt import RatedResponse, criterion_scores
from reelbench.models.base import ChatModel

_PURPOSE = "judge use"
_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class UseResult:
    """What a judge gave."""

    rows: Sequence[dict[str, Any]]
    failures: Sequence[str]
    ledger: Ledger


def grade_rows(
    judge: ChatModel,
    rows: Sequence[RatedResponse],
    rubric: Rubric,
    out: Path,
    budget: Budget | None = None,
) -> UseResult:
    """Ask a judge about each row, once, and write its scores as lines of ``out``."""
    journal = out.with_suffix(".journal.sqlite")
    with open_session(journal, [judge], budget) as session:
        found = session.run(lambda client: _grade_all(client, judge, rows, rubric))
    graded = [record for record in found if "scores" in record]
    write_atomically(out, "".join(json_line(record) for record in graded))
    failures = [f"{each['id']}: {each['failure']}" for each in found if "failure" in each]
    return UseResult(graded, failures, session.ledger)


async def _grade_all(
    client: Client, judge: ChatModel, rows: Sequence[RatedResponse], rubric: Rubric
) -> list[dict[str, Any]]:
    waiting = iter(enumerate(rows))
    done: dict[int, dict[str, Any]] = {}
    with progress("Judging", len(rows), "responses") as advance:

        async def worker() -> None:
            for number, row in waiting:
                try:
                    done[number] = await _grade(client, judge, row, rubric)
                except Stopped:
                    continue
                advance()

        await asyncio.gather(*(worker() for _ in range(min(_AT_ONCE, len(rows)))))
    return [done[number] for number in sorted(done)]


async def _grade(
    client: Client, judge: ChatModel, row: RatedResponse, rubric: Rubric
) -> dict[str, Any]:
    reply = await ask_json(client, judge, row.prompt, rubric.schema, _PURPOSE)
    record: dict[str, Any] = {"id": row.id, "video": row.video, "judge": judge.card.name}
    if row.model:
        record["model"] = row.model
    if reply.data is None:
        return {**record, "failure": reply.failure}
    return {**record, "scores": criterion_scores(rubric, reply.data), "reply": reply.data}
