"""What the answers of several models say about the items, as ``scores.json`` has it."""

from collections.abc import Sequence
from typing import Any

from reelbench.data.items import Item
from reelbench.score.item_analysis import Answers, distractors
from reelbench.score.results import ModelResult
from reelbench.score.wrong_keys import suspects_note, wrong_key_suspects


def item_summary(results: Sequence[ModelResult], items: Sequence[Item]) -> dict[str, Any] | None:
    """Return the item analysis of several models' answers; None where there are too few."""
    if len(results) < 2:
        return None
    answers = answers_of(results, items)
    wrong = distractors(answers).to_record()
    return {
        "condition": results[0].condition,
        "models": list(answers.models),
        "distractors": {name: value for name, value in wrong.items() if name != "never"},
        "suspects": [suspect.to_record() for suspect in wrong_key_suspects(answers)],
        "suspects_note": suspects_note(answers),
    }


def answers_of(results: Sequence[ModelResult], items: Sequence[Item]) -> Answers:
    """The answers of models under one condition, as the analysis of items takes them."""
    answers = {
        result.model: {item.id: given.get(item.id) for item in result.items}
        for result in results
        for given in [result.answers]
    }
    return Answers.of(items, answers)
