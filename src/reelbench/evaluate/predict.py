"""Predictions: one line for each question that was asked, in a format that anyone can score."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reelbench.base.files import json_line
from reelbench.client.journal import Journal
from reelbench.evaluate.ask import Ask
from reelbench.evaluate.judge import JudgedChoice, Reply
from reelbench.models.base import Response


def replies(asks: Iterable[Ask], journal: Journal) -> Iterator[Reply]:
    """Yield the replies that are in the journal."""
    for ask in asks:
        response = journal.answer(ask.key)
        if response is not None:
            yield reply_of(ask, response)


def reply_of(ask: Ask, response: Response) -> Reply:
    """Return the reply in a response to a question."""
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


def outcomes(
    asks: Iterable[Ask], journal: Journal, unasked: Mapping[str, Response]
) -> Iterator[tuple[Ask, Response]]:
    """Yield each question with its reply or its failure, where it has one."""
    for ask in asks:
        response = journal.answer(ask.key) or unasked.get(ask.key) or journal.outcome(ask.key)
        if response is not None:
            yield ask, response


def prediction_line(ask: Ask, reply: Reply, response: Response, judged: JudgedChoice | None) -> str:
    """Return the line of a question with a reply or a failure."""
    return json_line(_prediction(ask, reply, response, judged))


def _prediction(
    ask: Ask, reply: Reply, response: Response, judged: JudgedChoice | None
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


def answer_fields(reply: Reply, judged: JudgedChoice | None) -> dict[str, Any]:
    """Return the fields of a prediction about the answer: its letters, or why there are none."""
    parsed = reply.parsed()
    # Letters of the benchmark's own order, so that a file of predictions can be scored alone.
    if parsed.places is not None:
        return {"parsed": reply.letters(parsed.places)}
    fields: dict[str, Any] = {"parsed": None, "parse_failure": parsed.failure}
    if judged is None:
        return fields
    fields["judge"] = judged.judge
    return fields if judged.letters is None else fields | {"parsed": judged.letters}
