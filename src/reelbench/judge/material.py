"""The folder of training material: rows to train on, rows to test on, and what was rejected."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import json_line, pretty_json, write_atomically
from reelbench.client.budget import Budget, Ledger
from reelbench.client.forecast import CallForecast
from reelbench.client.session import open_session
from reelbench.data.benchmark import Benchmark
from reelbench.data.clusters import video_clusters
from reelbench.data.items import Item
from reelbench.evaluate.rubric import Rubric
from reelbench.judge.bands import MIX
from reelbench.judge.sharegpt import (
    RatedResponse,
    file_record,
    score_histogram,
    split_by_video,
    write_rows,
)
from reelbench.judge.synthesize import (
    ROUNDS,
    SyntheticSet,
    forecast_synthesis,
    questions_to_grade,
    rated_rows,
    synthesize_all,
)
from reelbench.models.base import ChatModel

TRAIN_FILE, TEST_FILE, REJECTED_FILE = "train.jsonl", "test.jsonl", "rejected.jsonl"
SUMMARY_FILE = "synthesis.json"
_JOURNAL = "journal.sqlite"


@dataclass(frozen=True, slots=True)
class Material:
    """What was synthesized: the record that ``synthesis.json`` has, and what it cost."""

    record: dict[str, Any]
    incomplete: Sequence[str]  # questions that are left out, and why
    ledger: Ledger


def write_material(
    benchmark: Benchmark,
    model: ChatModel,
    rubric: Rubric,
    out: Path,
    *,
    rounds: int = ROUNDS,
    test_share: float = 0.2,
    seed: int = 0,
    budget: Budget | None = None,
) -> Material:
    """Synthesize responses to the open questions of a benchmark and write them, split by video."""
    if not 0 <= test_share < 1:
        raise ReelbenchError(f"A test share of {test_share:g} is none: write 0 to below 1.")
    items = questions_to_grade(benchmark)
    with open_session(out / _JOURNAL, [model], budget) as session:
        found = session.run(lambda client: synthesize_all(client, model, items, rounds))
    names = _videos(items)
    complete = [each for each in found if each.complete]
    rows = [row for each in complete for row in rated_rows(each, rubric, names[each.item.id])]
    incomplete = [each.missing for each in found if not each.complete]
    train, test = split_by_video(rows, test_share, seed)
    write_rows(out / TRAIN_FILE, train)
    write_rows(out / TEST_FILE, test)
    rejected = [json_line(each) for one in found for each in one.rejected]
    write_atomically(out / REJECTED_FILE, "".join(rejected))
    record = _record(found, train, test, rubric, out)
    record |= {"model": model.card.name, "rounds": rounds, "seed": seed, "incomplete": incomplete}
    write_atomically(out / SUMMARY_FILE, pretty_json(record))
    return Material(record, incomplete, session.ledger)


def forecast_material(
    benchmark: Benchmark, model: ChatModel, out: Path, budget: Budget | None = None
) -> list[CallForecast]:
    """Return what the first round would ask; nothing is asked or written."""
    items = questions_to_grade(benchmark)
    with open_session(out / _JOURNAL, [model], budget, reading=True) as session:
        return forecast_synthesis(session.journal, model, items)


def _videos(items: Sequence[Item]) -> dict[str, str]:
    """Name the video of each item; those that a pair joins have one name."""
    clusters = video_clusters(items)
    names: dict[int, str] = {}
    for item in items:
        number = clusters[item.id]
        names[number] = min(names.get(number, item.media[0].path), item.media[0].path)
    return {item.id: names[clusters[item.id]] for item in items}


def _record(
    found: Sequence[SyntheticSet],
    train: Sequence[RatedResponse],
    test: Sequence[RatedResponse],
    rubric: Rubric,
    out: Path,
) -> dict[str, Any]:
    rows = [*train, *test]
    by_kind = {kind: [row for row in rows if row.kind == kind] for kind in MIX}
    return {
        "rubric": rubric.name,
        "rubric_digest": rubric.digest,
        "questions": len(found),
        "complete": sum(each.complete for each in found),
        "responses": len(rows),
        "rejected": sum(len(each.rejected) for each in found),
        "train": file_record(out / TRAIN_FILE, train),
        "test": file_record(out / TEST_FILE, test),
        "scores": score_histogram(rows, rubric),
        "scores_by_type": {kind: score_histogram(of, rubric) for kind, of in by_kind.items()},
    }
