"""How many of the models chose each wrong option, by the columns of a table.

HumanVBench, appendix E: few options that no model chooses, and most chosen by some. Numbers of
models are shares here, so that the bands mean the same whatever their number.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from reelbench.data.items import Item
from reelbench.score.estimates import estimate_record
from reelbench.score.intervals import Cell, intervals
from reelbench.score.item_analysis import BAND
from reelbench.score.people import HUMAN
from reelbench.score.predictions import Asked
from reelbench.score.results import ModelResult
from reelbench.score.rounding import percent, rounded
from reelbench.score.table_columns import DeclaredTable, TableColumn, column_records
from reelbench.score.table_rows import place_of

BANDS = (0.04, 0.08, 0.16, BAND, 0.5, 1.0)  # upper ends; of 25 models 1, 2, 4, 8, 12 and all
_NEAR = 1e-9  # shares such as 8 / 25 are no exact floats

Wrong = tuple[str, float]  # the item of a wrong option, and the share of models that chose it


def distractor_table(
    declared: DeclaredTable,
    results: Sequence[ModelResult],
    ranked: Sequence[Asked],
    clusters: Mapping[str, int],
) -> dict[str, Any]:
    """Return rows with the shares of wrong options: chosen at all, by some, and by each band.

    Every model counts once, under the first of the table's conditions in which it answered.
    """
    models = _models(declared, results, ranked)
    wrong = {
        name: _wrong_options(column.items, models) if models else []
        for name, column in declared.columns.items()
    }
    records = [
        {**record, "chance": None, "distractors": len(wrong[record["name"]])}
        for record in column_records(declared)
    ]
    return {
        "judge": None,
        "kind": "distractors",
        "models": [result.model for result in models],
        "columns": records,
        "rows": [
            {
                "model": label,
                "condition": "",
                "cells": [
                    _cell(column, wrong[name], within, clusters)
                    for name, column in declared.columns.items()
                ],
            }
            for label, within in (_rows(declared.table.get("bands", BANDS)) if models else ())
        ],
    }


def _models(
    declared: DeclaredTable, results: Sequence[ModelResult], ranked: Sequence[Asked]
) -> list[ModelResult]:
    known = {(result.model, result.condition): result for result in results}
    wanted = declared.conditions or tuple(dict.fromkeys(condition for _, condition in ranked))
    chosen: dict[str, tuple[int, Asked]] = {}
    for asked in ranked:
        place = place_of(asked[1], wanted)
        answered = any(answer for answer in known[asked].answers.values())
        if place is not None and answered and not asked[0].startswith(HUMAN):
            earlier = chosen.setdefault(asked[0], (place, asked))
            chosen[asked[0]] = min(earlier, (place, asked))
    return [known[asked] for _, asked in chosen.values()]


def _wrong_options(items: Sequence[Item], models: Sequence[ModelResult]) -> list[Wrong]:
    """Return each wrong option of the items that any model answered."""
    answers = [result.answers for result in models]
    found = []
    for item in items:
        given = [each[item.id] for each in answers if each.get(item.id) is not None]
        for letter in item.letters if given else "":
            if letter not in item.answer:
                chosen = sum(letter in (answer or ()) for answer in given)
                found.append((item.id, chosen / len(given)))
    return found


def _rows(bands: Sequence[float]) -> list[tuple[str, Callable[[float], bool]]]:
    """Return the rows of the table: a name, and which shares of the models are in it."""
    rows: list[tuple[str, Callable[[float], bool]]] = [
        ("chosen by at least one model", lambda share: share > 0),
        (f"chosen by some, at most {percent(BAND, 0)}", lambda s: 0 < s <= BAND + _NEAR),
        ("chosen by none", lambda share: share == 0),
    ]
    for low, high in pairwise((0.0, *bands)):
        name = f"{percent(low, 0)} to {percent(high, 0)} of the models"
        rows.append((name, _between(low, high)))
    return rows


def _between(low: float, high: float) -> Callable[[float], bool]:
    return lambda share: low + _NEAR < share <= high + _NEAR


def _cell(
    column: TableColumn,
    wrong: Sequence[Wrong],
    within: Callable[[float], bool],
    clusters: Mapping[str, int],
) -> dict[str, Any]:
    units = [float(within(share)) for _, share in wrong]
    estimate = None
    if units:
        cell = Cell([clusters[item] for item, _ in wrong], units)
        estimate = intervals([cell], max(clusters.values()) + 1)[0]
    return {
        "items": len(column.items),
        "covered": len({item for item, _ in wrong}),
        "value": rounded(sum(units) / len(units)) if units else None,
        **estimate_record(estimate),
    }
