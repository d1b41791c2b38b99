"""Put the numbers together: accuracy with coverage and interval, overall and by tag."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reelbench.benchmark import Benchmark
from reelbench.evaluate.vote import TIE_RULE
from reelbench.items import Item
from reelbench.score.intervals import LEVEL, RESAMPLES, ClusterBootstrap, Interval
from reelbench.score.predictions import Outcome, read_predictions

POLICY = "an item without an answer counts as wrong"


def score_predictions(benchmark: Benchmark, predictions: Path, seed: int = 0) -> dict[str, Any]:
    """Score a file of predictions; the result is the content of ``scores.json``."""
    outcomes = read_predictions(predictions, benchmark)
    closed = [item for item in benchmark.items if item.kind != "open"]
    bootstrap = ClusterBootstrap([_video(item) for item in closed] or ["none"], seed)
    rows = [
        {"model": model, "condition": condition, **_result(closed, outcome, bootstrap)}
        for (model, condition), outcome in outcomes.items()
    ]
    rows.sort(key=lambda row: (-row["accuracy"], row["model"], row["condition"]))
    return {
        "benchmark": {
            "name": benchmark.manifest.name,
            "version": benchmark.manifest.version,
            "digest": benchmark.digest,
            "items": len(benchmark.items),
            "scored_items": len(closed),
            "videos": len({_video(item) for item in benchmark.items}),
        },
        "policy": POLICY,
        "ties": TIE_RULE,
        "interval": f"{LEVEL:.0%} by {RESAMPLES} resamples of videos, seed {seed}; "
        "Wilson's where all answers are alike",
        "chance": _chance_row(closed),
        "results": rows,
    }


def _video(item: Item) -> str:
    return " + ".join(media.path for media in item.media)


def _result(
    items: Sequence[Item], outcomes: Mapping[str, Outcome], bootstrap: ClusterBootstrap
) -> dict[str, Any]:
    asked = [outcomes[item.id] for item in items if item.id in outcomes]
    statuses = Counter(status for outcome in asked for status in outcome.statuses)
    groups = {
        tag: {value: _share(group, outcomes, bootstrap) for value, group in values.items()}
        for tag, values in grouped(items).items()
    }
    return {
        **_share(items, outcomes, bootstrap),
        "statuses": dict(sorted(statuses.items())),
        "missing": len(items) - len(asked),
        "by": groups,
    }


def grouped(items: Sequence[Item]) -> dict[str, dict[str, list[Item]]]:
    """Group items by each tag and by kind; an item with several values is in several groups."""
    groups: dict[str, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        groups["kind"][item.kind].append(item)
        for tag in item.tags:
            for value in item.tag(tag):
                groups[tag][value].append(item)
    return {tag: dict(sorted(values.items())) for tag, values in sorted(groups.items())}


def _share(
    items: Sequence[Item], outcomes: Mapping[str, Outcome], bootstrap: ClusterBootstrap
) -> dict[str, Any]:
    answers = [outcomes[item.id].answer if item.id in outcomes else None for item in items]
    right = [answer == frozenset(i.answer) for answer, i in zip(answers, items, strict=True)]
    answered = sum(answer is not None for answer in answers)
    interval: Interval = (0.0, 0.0)
    if items:
        interval = bootstrap.interval([_video(item) for item in items], right)
    return {
        "items": len(items),
        "answered": answered,
        "coverage": _rounded(answered / max(1, len(items))),
        "correct": sum(right),
        "accuracy": _rounded(sum(right) / max(1, len(items))),
        "interval": [_rounded(end) for end in interval],
    }


def _rounded(value: float) -> float:
    return round(value, 6)


def chance(item: Item) -> float:
    """The chance that a blind guess is right: one option, or one non-empty set of options."""
    return 1 / (2 ** len(item.options) - 1 if item.kind == "multi" else len(item.options))


def _chance_row(items: Sequence[Item]) -> dict[str, Any]:
    def mean(group: Sequence[Item]) -> float:
        return _rounded(sum(map(chance, group)) / max(1, len(group)))

    by = {
        tag: {value: mean(group) for value, group in values.items()}
        for tag, values in grouped(items).items()
    }
    return {"accuracy": mean(items), "by": by}
