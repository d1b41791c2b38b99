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
    names = distinct_conditions([condition["name"] for condition in conditions], conditions)
    for field, together in _alike([each for each in conditions if each["name"] in names]):
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
            rest = {n: v for n, v in _settings(condition).items() if n != field}
            groups[json.dumps(rest, sort_keys=True, default=str)].append(condition)
        for together in groups.values():
            if len({str(condition.get(field)) for condition in together}) > 1:
                yield field, sorted(together, key=lambda c: natural_order(str(c.get(field))))


def fields_that_differ(one: str, other: str, conditions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the fields in which two conditions ask in different ways; none where unknown."""
    found = {condition["name"]: condition for condition in conditions}
    if one not in found or other not in found:
        return []
    return list(settings_that_differ(found[one], found[other]))


def settings_that_differ(
    one: Mapping[str, Any], other: Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return the values of the fields in which two conditions ask in different ways."""
    first, second = settings_as_asked(one), settings_as_asked(other)
    return {
        field: (first.get(field), second.get(field))
        for field in sorted({*first, *second})
        if first.get(field) != second.get(field)
    }


def distinct_conditions(names: Sequence[str], conditions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names without those whose condition asks as an earlier one does."""
    settings = {condition["name"]: settings_as_asked(condition) for condition in conditions}
    kept: dict[str, str] = {}
    for name in names:
        kept.setdefault(json.dumps(settings.get(name, name), sort_keys=True, default=str), name)
    return list(kept.values())


def _settings(condition: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in condition.items() if name not in _NOT_ASKED}


def settings_as_asked(condition: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that a condition says of how to ask, the content of its prompt included."""
    digest = str(condition.get("prompt_digest", ""))[:12]
    return _settings(condition) | {"prompt": f"{condition.get('prompt')} {digest}".strip()}


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
    given = [answers[model, name] for name in names]
    same_items = all(each.keys() == given[0].keys() for each in given)
    best = max(rows, key=lambda row: row["accuracy"])
    return {
        "model": model,
        "accuracy": [row["accuracy"] for row in rows],
        "interval": [row["interval"] for row in rows],
        # Where they were asked different items, no condition is the best.
        **({} if same_items else {"items": [row["items"] for row in rows]}),
        "best": best["condition"] if same_items else None,
        "same_answers": _same(given),
    }


def _same(answers: Sequence[Mapping[str, Answer | None]]) -> float | None:
    """Return the share of items with the same answer under all conditions, where all have one."""
    ids = set.intersection(*(set(each) for each in answers))
    given = [[each[item] for each in answers] for item in sorted(ids)]
    given = [each for each in given if None not in each]
    if not given:
        return None
    return rounded(sum(len(set(each)) == 1 for each in given) / len(given))
