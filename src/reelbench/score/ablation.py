"""The effect of one field of the protocol: conditions that differ in that field alone."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reelbench.evaluate.vote import Answer
from reelbench.score.coverage import no_score
from reelbench.score.rounding import rounded

# What does not tell ways of asking apart.
_NOT_ASKED = ("name", "changes", "prompt_digest", "rubric")

Answers = Mapping[tuple[str, str], Mapping[str, Answer | None]]  # by model and condition, by item


def ablations(
    conditions: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], answers: Answers
) -> list[dict[str, Any]]:
    """Return, for each field in which alone some conditions differ, each model's results by value.

    ``conditions`` are those of ``run.json``, ``rows`` the results. The best prompt of a model is
    the best in the ablation of ``prompt``, with all the others beside it.
    """
    scored = {(row["model"], row["condition"]): row for row in rows if not no_score(row)}
    models = sorted({model for model, _ in scored})
    found = []
    for field, together in _alike(conditions):
        values = [(str(condition[field]), condition["name"]) for condition in together]
        found.append(
            {
                "field": field,
                "conditions": [name for _, name in values],
                "values": [value for value, _ in values],
                "models": [
                    _model(model, [name for _, name in values], scored, answers)
                    for model in models
                    if all((model, name) in scored for _, name in values)
                ],
            }
        )
    return found


def _alike(
    conditions: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Yield each field with the conditions that are equal in all other fields."""
    fields = sorted({field for condition in conditions for field in condition})
    for field in fields:
        if field in _NOT_ASKED:
            continue
        groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for condition in conditions:
            rest = {n: v for n, v in condition.items() if n != field and n not in _NOT_ASKED}
            groups[json.dumps(rest, sort_keys=True, default=str)].append(condition)
        for together in groups.values():
            if len({str(condition.get(field)) for condition in together}) > 1:
                yield field, sorted(together, key=lambda c: natural_order(str(c.get(field))))


def natural_order(text: str) -> list[tuple[int, float, str]]:
    """Return a key by which ``uniform:8`` comes before ``uniform:16``."""
    pieces = re.split(r"(\d+(?:\.\d+)?)", text)
    return [(0, float(p), "") if n % 2 else (1, 0.0, p) for n, p in enumerate(pieces)]


def _model(
    model: str,
    names: Sequence[str],
    scored: Mapping[tuple[str, str], Mapping[str, Any]],
    answers: Answers,
) -> dict[str, Any]:
    rows = [scored[model, name] for name in names]
    best = max(rows, key=lambda row: row["accuracy"])
    return {
        "model": model,
        "accuracy": [row["accuracy"] for row in rows],
        "interval": [row["interval"] for row in rows],
        "best": best["condition"],
        "same_answers": _same([answers[model, name] for name in names]),
    }


def _same(answers: Sequence[Mapping[str, Answer | None]]) -> float | None:
    """Return the share of items with the same answer under all conditions, where all have one."""
    ids = set.intersection(*(set(each) for each in answers))
    given = [[each[item] for each in answers] for item in sorted(ids)]
    given = [each for each in given if None not in each]
    if not given:
        return None
    return rounded(sum(len(set(each)) == 1 for each in given) / len(given))
