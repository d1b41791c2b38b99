"""The same model in several runs: how its accuracy changed from each run to the next."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from reelbench.data.clusters import video_clusters
from reelbench.evaluate.status import started_at
from reelbench.score.entries import ResultEntry, ResultSource, paired_entries, shared_items
from reelbench.score.estimates import estimate_record
from reelbench.score.intervals import Cell, intervals
from reelbench.score.metrics import METRICS
from reelbench.score.paired import corrected
from reelbench.score.rounding import rounded


def in_order(sources: Sequence[ResultSource]) -> list[tuple[str, ResultSource]]:
    """Return runs with when each began, the oldest first; as given where one has no date."""
    dated = [(started_at(each.path) if each.path else "", each) for each in sources]
    known = all(when for when, _ in dated)
    return sorted(dated, key=lambda each: each[0]) if known else dated


def of_the_last_version(sources: Sequence[ResultSource]) -> list[bool]:
    """Return of each run whether it is of the version of the benchmark that the last one is of."""
    digests = [each.benchmark.whole.digest for each in sources]
    return [digest == digests[-1] for digest in digests]


def history(sources: Sequence[ResultSource]) -> list[dict[str, Any]]:
    """Return a row for each run of each model and condition that several of these runs have.

    A change is this run less the one before, on the items that both have unchanged, corrected for
    all rows after Holm.
    """
    dated = in_order(sources)
    asked = sorted({asked for source in sources for asked in source.outcomes})
    lines = [
        [(when, ResultEntry(source, *one)) for when, source in dated if one in source.outcomes]
        for one in asked
    ]
    lines = [line for line in lines if len(line) > 1]
    rows = [_row(when, entry) for line in lines for when, entry in line]
    changes = _changes([entry for _, entry in line] for line in lines)
    return [
        row | ({"change": change} if change else {})
        for row, change in zip(rows, changes, strict=True)
    ]


def _row(when: str, entry: ResultEntry) -> dict[str, Any]:
    result, about = entry.result([*entry.items().values()]), entry.source.benchmark
    items, right = result.items, result.credits(METRICS["accuracy"])
    clusters = video_clusters(items)
    cell = Cell([clusters[item.id] for item in items], right.tolist())
    found = intervals([cell], max(clusters.values()) + 1)[0] if items else None
    return {
        "run": entry.source.label,
        "when": when,
        "version": about.manifest.version,
        "digest": about.digest,
        "model": entry.model,
        "condition": entry.condition,
        "items": len(items),
        "correct": int(right.sum()),
        "accuracy": rounded(float(right.mean())) if items else None,
        **estimate_record(found),
    }


def _changes(lines: Iterable[Sequence[ResultEntry]]) -> list[Mapping[str, Any] | None]:
    """The change of each entry since the one before; None for the first, and without answers."""
    steps: list[tuple[ResultEntry, ResultEntry] | None] = []
    for line in lines:
        steps += [None, *((after, before) for before, after in pairwise(line))]
    found = [
        paired_entries(*step) if step and not any(entry.is_silent for entry in step) else None
        for step in steps
    ]
    family = iter(corrected([each for each in found if each]))
    records: list[Mapping[str, Any] | None] = []
    for step, each in zip(steps, found, strict=True):
        if step is None or each is None:
            records.append(None)
            continue
        after, before = step
        shared = shared_items(after, before)
        since = {"since": before.source.label, "changed": shared.changed, "alone": shared.alone}
        record = next(family).to_record()
        # The pair is this run and the one before; time goes the other way.
        lost, gained = record["wrong_to_right"], record["right_to_wrong"]
        records.append({**since, **record, "right_to_wrong": lost, "wrong_to_right": gained})
    return records
