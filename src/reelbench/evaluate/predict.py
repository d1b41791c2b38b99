"""Predictions: one line for each question that was asked, in a format that anyone can score."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.base.files import json_line
from reelbench.client.journal import Journal
from reelbench.evaluate.ask import Ask
from reelbench.evaluate.judge import Judgement, Reply, decided
from reelbench.models.base import Response


def replies(asks: Sequence[Ask], journal: Journal) -> Iterator[Reply]:
    """Yield the replies that are in the journal."""
    for ask in asks:
        response = journal.answer(ask.key)
        if response is not None:
            yield _reply(ask, response)


def _reply(ask: Ask, response: Response) -> Reply:
    return Reply(
        ask.item,
        ask.model.card.name,
        ask.condition.name,
        ask.number,
        ask.order,
        ask.round,
        response.text or "",
        response.status == "truncated",
    )


def prediction_lines(
    asks: Sequence[Ask],
    journal: Journal,
    unasked: Mapping[str, Response],
    judgements: Sequence[Judgement],
) -> Iterator[str]:
    """Yield a line for each question with a reply or a failure."""
    judged = decided(judgements)
    for ask in asks:
        response = journal.answer(ask.key) or unasked.get(ask.key) or journal.outcome(ask.key)
        if response is not None:
            reply = _reply(ask, response)
            yield json_line(_prediction(ask, reply, response, judged.get(reply.key)))


def _prediction(
    ask: Ask, reply: Reply, response: Response, judged: Judgement | None
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": reply.item.id,
        "model": reply.model,
        "condition": reply.condition,
        "order": reply.number,
        "status": response.status,
        "response": response.text,
        "parsed": None,
    }
    if ask.condition.protocol.rounds > 1:
        row["round"] = reply.round
    if reply.number:
        row["permutation"] = list(reply.order)
    if response.status != "ok":
        row["error"] = response.error
    if reply.item.kind == "open" or not response.replied:
        return row
    return row | answer_fields(reply, judged)


def answer_fields(reply: Reply, judged: Judgement | None) -> dict[str, Any]:
    """Return the fields of a prediction about the answer: its letters, or why there are none."""
    parsed = reply.parsed()
    # Letters of the benchmark's own order, so that a file of predictions can be scored alone.
    if parsed.places is not None:
        return {"parsed": reply.letters(parsed.places)}
    fields: dict[str, Any] = {"parsed": None, "parse_failure": parsed.failure}
    if judged is None:
        return fields
    fields["judge"] = judged.judge
    return fields if judged.choice is None else fields | {"parsed": reply.letters(judged.choice)}
