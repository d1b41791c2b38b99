"""Options of closed tasks that are drawn for all items together: before videos, or after people."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from reelbench.data.items import LETTERS, Item
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.drafts import TASK
from reelbench.recipes.humanvbench.marks import REVERSED
from reelbench.recipes.humanvbench.numbers import (
    ActionStart,
    Interval,
    Presence,
    draw_counts,
    draw_intervals,
    draw_points,
    draw_starts,
    thirds,
)
from reelbench.recipes.humanvbench.rows import Candidate
from reelbench.recipes.humanvbench.tasks import TASKS

Completed = list[Item | Rejected]
_NOT_FAIR = Rejected(
    "no fair wrong options", "The clip is too short for three, or every choice would tell the key."
)


def draw_times(
    rows: Sequence[Candidate],
    ctx: StageContext,
    *,
    most_overlap: float,
    most_iou: float,
    slack: float,
) -> list[Candidate | Rejected]:
    """Draw the options of ATD, and for AVAD also up to when the sound is reversed."""
    points = draw_points({row.id: row.seconds for row in rows if row.task == "AVAD"}, ctx.seed)
    spans = {row.id: _presence(row) for row in rows if row.task == "ATD"}
    intervals = draw_intervals(
        spans, ctx.seed, most_overlap=most_overlap, most_iou=most_iou, slack=slack
    )
    results: list[Candidate | Rejected] = []
    for row in rows:
        if row.task == "AVAD":
            options = list(map(_second, thirds(row.seconds)))
            results.append(_with(row, options, _second(points[row.id]), {REVERSED: points[row.id]}))
        elif row.task != "ATD":
            results.append(row)
        elif row.id in intervals:
            options = list(map(_interval, intervals[row.id]))
            results.append(_with(row, options, options[0], {}))
        else:
            detail = f"Beside {_interval(spans[row.id].span)}, options would tell it."
            results.append(Rejected("no fair wrong intervals", detail))
    return results


def _presence(row: Candidate) -> Presence:
    start, end = row.facts["span"]
    return Presence(row.seconds, (start, end))


def _with(row: Candidate, options: list[str], key: str, more: Mapping[str, Any]) -> Candidate:
    return structs.replace(row, facts={**row.facts, "options": options, "answer": key, **more})


def _second(number: int) -> str:
    return f"{number} s"


def _interval(span: Interval) -> str:
    return f"{span[0]} s to {span[1]} s"


def complete(
    items: Sequence[Item],
    ctx: StageContext,
    *,
    within: int,
    least: int,
    apart: float,
    ongoing: list[int],
    slack: float,
) -> Completed:
    """Draw the options of HC and TSA around what people wrote as the reference of an item.

    The reference is a number of people, or the second at which an action starts; the sentence of
    an ongoing action where it has no start.
    """
    answered = [item for item in items if item.kind == "open" and item.reference]
    counts = {item.id: int(item.reference or "") for item in answered if _is(item, "HC")}
    starts = {item.id: _start(item) for item in answered if _is(item, "TSA")}
    numbers = draw_counts(counts, ctx.seed, within=within, least=least, slack=slack)
    times = draw_starts(starts, ctx.seed, apart=apart, ongoing=ongoing, slack=slack)
    results: Completed = []
    for item in items:
        if item.kind != "open" or not (_is(item, "HC") or _is(item, "TSA")):
            results.append(item)
        elif item.id in numbers:
            options = list(map(str, numbers[item.id]))
            results.append(_single(item, options, options[0]))
        elif item.id in times:
            options = [*map(_second, times[item.id]), *TASKS["TSA"].options]
            key = options[0] if starts[item.id].at is not None else options[-1]
            results.append(_single(item, options, key))
        else:
            results.append(_NOT_FAIR)
    return results


def _is(item: Item, task: str) -> bool:
    return task in item.tag(TASK)


def _start(item: Item) -> ActionStart:
    seconds = float(item.provenance["select"]["seconds"])
    text = (item.reference or "").strip()
    return ActionStart(seconds, None if text in TASKS["TSA"].options else float(text.rstrip(" s")))


def _single(item: Item, options: list[str], key: str) -> Item:
    answer = [LETTERS[options.index(key)]]
    return item.replace(kind="single", options=options, answer=answer, reference=None)
