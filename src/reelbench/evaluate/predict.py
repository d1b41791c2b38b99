"""Predictions: what became of each question that was asked, as lines that anyone can score."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.evaluate.ask import Ask
from reelbench.evaluate.judge import Judgement, decided, letters_of
from reelbench.evaluate.parse import parse_answer
from reelbench.files import json_line
from reelbench.journal import Journal
from reelbench.models.base import Response


def prediction_lines(
    asks: Sequence[Ask],
    journal: Journal,
    unasked: Mapping[str, Response],
    judgements: Sequence[Judgement],
) -> Iterator[str]:
    """Yield a line for each question that came to an end, good or bad."""
    judged = decided(judgements)
    for ask in asks:
        response = journal.answer(ask.key) or unasked.get(ask.key) or journal.outcome(ask.key)
        if response is not None:
            yield json_line(_prediction(ask, response, judged.get(id(ask))))


def _prediction(ask: Ask, response: Response, judged: Judgement | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": ask.item.id,
        "model": ask.model.card.name,
        "condition": ask.condition.name,
        "order": ask.number,
        "status": response.status,
        "response": response.text,
        "parsed": None,
    }
    if ask.condition.protocol.rounds > 1:
        row["round"] = ask.round
    if ask.number:
        row["permutation"] = list(ask.order)
    if response.status != "ok":
        return row | {"error": response.error}
    if ask.item.kind == "open":
        return row
    parsed = parse_answer(response.text or "", ask.item.kind, ask.options)
    # Letters of the benchmark's own order, so that a file of predictions can be scored alone.
    if parsed.places is not None:
        return row | {"parsed": letters_of(ask, sorted(parsed.places))}
    row["parse_failure"] = parsed.failure
    if judged is None:
        return row
    row["judge"] = judged.judge
    return row if judged.choice is None else row | {"parsed": letters_of(ask, judged.choice)}
