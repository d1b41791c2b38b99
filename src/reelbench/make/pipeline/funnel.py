"""The funnel: how many rows went into each stage, and what became of them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from reelbench.base.files import json_line
from reelbench.data.items import Item
from reelbench.make.pipeline.run import StageResult
from reelbench.make.pipeline.stage import Rejected, Stage, Undecided
from reelbench.make.pipeline.store import RowResult, record_of, rejected_record
from reelbench.score.estimates import estimate_record
from reelbench.score.intervals import Cell, intervals
from reelbench.score.rounding import rounded

CATEGORY = "category"  # the tag by which rows are counted
FLAGGED = "flagged"  # in what a filter notes on an item that fails it and is let through: why


@dataclass(frozen=True, slots=True)
class RowOutcome:
    """The outcome of one row in one stage."""

    stage: Stage
    row: Any
    made: int  # rows that it gave
    rejected: Rejected | None = None
    undecided: Undecided | None = None
    flagged: str = ""  # why it fails a filter that lets it through
    answered: tuple[int, int] | None = None  # of answers that models gave: right ones, and all

    @property
    def failed(self) -> bool:
        """Whether it fails the stage's filter, and was left out or flagged for it."""
        return self.rejected is not None or bool(self.flagged)

    @property
    def category(self) -> str:
        """The category of the row, where it has one."""
        return category_of(self.row)


def category_of(row: Any) -> str:
    """Return the category of a row; empty where it has none."""
    if isinstance(row, Item):
        return ", ".join(row.tag(CATEGORY))
    return str(getattr(row, CATEGORY, ""))


def row_outcomes(passed: StageResult) -> list[RowOutcome]:
    """Return the outcome of each row of a stage."""
    return [
        RowOutcome(passed.stage, row, 0, undecided=result)
        if isinstance(result, Undecided)
        else RowOutcome(
            passed.stage,
            row,
            len(result.rows),
            result.rejected,
            flagged=_flagged(result.rows, passed.stage.name),
            answered=answers_of(stage_facts(result, passed.stage.name)),
        )
        for row, result in zip(passed.rows, passed.results, strict=True)
    ]


def _flagged(rows: Sequence[Any], stage: str) -> str:
    """Why a filter would have dropped a row; nothing where it would not."""
    return str(_note(rows, stage).get(FLAGGED, ""))


def _note(rows: Sequence[Any], stage: str) -> Mapping[str, Any]:
    """Return what a stage noted on the row that it let through."""
    notes = getattr(rows[0], "provenance", None) if rows else None
    note = notes.get(stage) if isinstance(notes, Mapping) else None
    return note if isinstance(note, Mapping) else {}


def stage_facts(result: RowResult, stage: str) -> Mapping[str, Any]:
    """Return what a stage measured: from a reject, or from the note on a row that was kept."""
    return result.rejected.facts if result.rejected else _note(result.rows, stage)


def answers_of(facts: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return how many answers of models a stage counted as right, and of how many."""
    right, of = facts.get("right"), facts.get("of")
    if type(right) is int and type(of) is int and 0 <= right <= of and of > 0:
        return right, of
    return None


LeftOut = Sequence[tuple[str, str]]  # what cannot be used of the sources: names and reasons


def funnel_record(passed: Sequence[StageResult], broken: LeftOut, without: LeftOut = ()) -> Any:
    """Return the content of ``funnel.json``; see ``Sources`` for what was left out."""
    return {
        "sources": {
            "in": len(passed[0].rows) + len(broken) if passed else len(broken),
            "out": len(passed[0].rows) if passed else 0,
            "rejected": len(broken),
            **({"without": len(without)} if without else {}),
        },
        "stages": [_stage_record(each) for each in passed],
        "undecided": [
            {"stage": outcome.stage.name, "id": outcome.row.id, **_why(outcome.undecided)}
            for each in passed
            for outcome in row_outcomes(each)
            if outcome.undecided
        ],
    }


def _why(undecided: Undecided) -> dict[str, str]:
    return {"status": undecided.status, "error": undecided.error}


def _stage_record(passed: StageResult) -> dict[str, Any]:
    every = row_outcomes(passed)
    groups = {outcome.category: None for outcome in every if outcome.category}
    out = Counter(category_of(row) for row in passed.out)
    by_category: dict[str, dict[str, Any]] = {
        name: _counts([outcome for outcome in every if outcome.category == name])
        | {"out": out[name]}
        for name in groups
    }
    # Where a stage makes rows of another kind, only those have categories.
    for name in out:
        if name and name not in by_category:
            by_category[name] = {"out": out[name]}
    record: dict[str, Any] = {
        "stage": passed.stage.name,
        "input": _row_name(passed.stage.input),
        "output": _row_name(passed.stage.output),
        **_counts(every),
        "out": len(passed.out),
        "reasons": _reasons(every),
    }
    if flagged := Counter(outcome.flagged for outcome in every if outcome.flagged):
        record["flagged"] = _by_number(flagged)
    if by_category:
        record["by_category"] = by_category
    if passed.stage.filters:
        cells = [
            every,
            *([outcome for outcome in every if outcome.category == name] for name in groups),
        ]
        records: list[dict[str, Any]] = [record, *(by_category[name] for name in groups)]
        for part, rates, cell in zip(records, _rates(cells), cells, strict=True):
            part |= rates
            if right := right_rate([(each.row, each.answered) for each in cell if each.answered]):
                part["answers"] = right
    return record


def _row_name(kind: type) -> str:
    """What to call rows of a type: ``writing task`` for ``WritingTask``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).lower()


def _counts(every: Sequence[RowOutcome]) -> dict[str, int]:
    """What went in is what was let through, what was rejected and what is undecided."""
    return {
        "in": len(every),
        "passed": sum(not outcome.rejected and not outcome.undecided for outcome in every),
        "rejected": sum(outcome.rejected is not None for outcome in every),
        "undecided": sum(outcome.undecided is not None for outcome in every),
    }


def _reasons(every: Iterable[RowOutcome]) -> dict[str, int]:
    return _by_number(Counter(outcome.rejected.reason for outcome in every if outcome.rejected))


def _by_number(found: Counter[str]) -> dict[str, int]:
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def _rates(groups: Sequence[Sequence[RowOutcome]]) -> Iterator[dict[str, Any]]:
    """The share that fails a filter of what it decided, and how sure that is, by videos."""
    decided = [[outcome for outcome in group if not outcome.undecided] for group in groups]
    media = {_media(outcome.row): None for group in decided for outcome in group}
    numbers = {key: number for number, key in enumerate(media)}
    cells = [
        Cell([numbers[_media(f.row)] for f in group], [float(f.failed) for f in group])
        for group in decided
        if group
    ]
    found = iter(intervals(cells, len(numbers)) if cells else ())
    for group in decided:
        rate = rounded(sum(outcome.failed for outcome in group) / len(group)) if group else None
        yield {"rate": rate, **estimate_record(next(found) if group else None)}


def right_rate(answered: Sequence[tuple[Any, tuple[int, int]]]) -> dict[str, Any]:
    """Return the share of right answers to some rows, its interval by videos, and that of guesses.

    Nothing where there are no answers.
    """
    if not answered:
        return {}
    numbers = {key: n for n, key in enumerate(dict.fromkeys(_media(row) for row, _ in answered))}
    shares = [right / of for _, (right, of) in answered]
    cell = Cell([numbers[_media(row)] for row, _ in answered], shares)
    (estimate,) = intervals([cell], len(numbers))
    chances = [row.chance for row, _ in answered if isinstance(row, Item) and row.options]
    chance = {"chance": rounded(fmean(chances))} if chances else {}
    return {"right": rounded(fmean(shares)), **estimate_record(estimate), **chance}


def _media(row: Any) -> tuple[str, ...]:
    """What rows that hang together share: their videos."""
    return tuple(medium.path for medium in row.media) if isinstance(row, Item) else (row.id,)


def reject_lines(
    passed: Sequence[StageResult], broken: LeftOut, without: LeftOut = ()
) -> Iterator[str]:
    """Yield the lines of ``rejects.jsonl``: every row that was left out, why, and who said what."""
    for what, left_out in (("source", broken), ("part of a source", without)):
        for name, reason in left_out:
            why = rejected_record(Rejected(what, reason))
            yield json_line({"stage": "sources", "id": name, **why})
    for each in passed:
        for outcome in row_outcomes(each):
            if outcome.rejected:
                reject: Mapping[str, Any] = {"stage": each.stage.name, "id": outcome.row.id}
                reject = {**reject, **({CATEGORY: outcome.category} if outcome.category else {})}
                why = rejected_record(outcome.rejected)
                yield json_line({**reject, **why, "row": record_of(outcome.row)})
