"""Put the numbers together: accuracy with coverage and interval, overall and by tag."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.benchmark import Benchmark
from reelbench.evaluate.folder import read_run
from reelbench.evaluate.vote import TIE_RULE
from reelbench.files import pretty_json, write_atomically
from reelbench.items import Item
from reelbench.score.intervals import METHOD, Cell, Interval, intervals
from reelbench.score.judged import score_judgements
from reelbench.score.predictions import Outcome, read_predictions

POLICY = "an item without an answer counts as wrong"


def score_predictions(
    benchmark: Benchmark,
    predictions: Path | str,
    seed: int = 0,
    judgements: Path | None = None,
) -> dict[str, Any]:
    """Score a file of predictions; the result is the content of ``scores.json``.

    ``judgements`` is the file of what judges gave the replies to open questions, if there is one.
    """
    outcomes = read_predictions(Path(predictions), benchmark)
    closed = [item for item in benchmark.items if item.kind != "open"]
    everything = benchmark.items
    results = [Result(*asked, closed, everything, outcome) for asked, outcome in outcomes.items()]
    groups = grouped(closed)
    rows = _rows(results, groups, video_clusters(closed), seed) if closed else []
    rows.sort(key=lambda row: (-row["accuracy"], row["model"], row["condition"]))
    return {
        "benchmark": {
            "name": benchmark.manifest.name,
            "version": benchmark.manifest.version,
            "digest": benchmark.digest,
            "items": len(benchmark.items),
            "scored_items": len(closed),
            "videos": len({media.path for item in benchmark.items for media in item.media}),
        },
        "policy": POLICY,
        "ties": TIE_RULE,
        "interval": f"{METHOD}; seed {seed}",
        "chance": {
            "accuracy": _mean_chance(closed),
            "by": {
                tag: {value: _mean_chance(group) for value, group in values.items()}
                for tag, values in groups.items()
            },
        },
        "results": rows,
        **_judged(benchmark, judgements, seed),
    }


def _judged(benchmark: Benchmark, judgements: Path | None, seed: int) -> dict[str, Any]:
    if judgements is None or not judgements.exists():
        return {"judged": [], "judges": []}
    return score_judgements(judgements, benchmark, video_clusters(benchmark.items), seed)


def score_run(benchmark: Benchmark, out: Path) -> dict[str, Any]:
    """Score a run, and write its ``scores.json``."""
    scores = score_folder(benchmark, out, read_run(out)["seed"])
    write_atomically(out / "scores.json", pretty_json(scores))
    return scores


def score_folder(benchmark: Benchmark, out: Path, seed: int) -> dict[str, Any]:
    """Score what is in a run's folder."""
    judgements = out / "judgements.jsonl"
    return score_predictions(benchmark, out / "predictions.jsonl", seed, judgements)


@dataclass(frozen=True, slots=True)
class Result:
    """What one model did under one condition."""

    model: str
    condition: str
    items: Sequence[Item]  # those that are scored
    everything: Sequence[Item]
    outcomes: Mapping[str, Outcome]

    def right(self, item: Item) -> bool:
        """Whether an item was answered exactly right."""
        return self.answered(item) and self.outcomes[item.id].answer == frozenset(item.answer)

    def answered(self, item: Item) -> bool:
        """Whether an item has an answer at all."""
        return item.id in self.outcomes and self.outcomes[item.id].answer is not None

    def share(self, items: Sequence[Item], interval: Interval) -> dict[str, Any]:
        """Accuracy and coverage over some items."""
        right, answered = sum(map(self.right, items)), sum(map(self.answered, items))
        return {
            "items": len(items),
            "answered": answered,
            "coverage": _rounded(answered / len(items)),
            "correct": right,
            "accuracy": _rounded(right / len(items)),
            "interval": [_rounded(end) for end in interval],
        }

    def counts(self) -> dict[str, Any]:
        """How the calls ended, and how many items were never asked, open ones among them."""
        asked = [self.outcomes[item.id] for item in self.everything if item.id in self.outcomes]
        statuses = Counter(status for outcome in asked for status in outcome.statuses)
        unread, calls = sum(outcome.unread for outcome in asked), max(1, statuses.total())
        failed = statuses["error"] + statuses["timeout"]
        return {
            "statuses": dict(sorted(statuses.items())),
            "unread": unread,
            "read_by_judge": sum(outcome.by_judge for outcome in asked),
            "missing": len(self.everything) - len(asked),
            "rates": {
                "parse_failure": _rounded(unread / max(1, statuses["ok"])),
                "refused": _rounded(statuses["refused"] / calls),
                "error": _rounded(failed / calls),
            },
        }


_ENDS = {
    "refused": "refused",
    "error": "failed",
    "timeout": "timed out",
    "over_budget": "over budget",
}


def unanswered_in_words(row: Mapping[str, Any]) -> str:
    """Say what of a result did not end in an answer; empty where all did."""
    words = [
        f"{row['statuses'][status]} {end}"
        for status, end in _ENDS.items()
        if status in row["statuses"]
    ]
    if row["unread"]:
        words.append(f"{row['unread']} unreadable")
    if row["missing"]:
        words.append(f"{row['missing']} not asked")
    return ", ".join(words)


Groups = dict[str, dict[str, list[Item]]]


def grouped(items: Sequence[Item]) -> Groups:
    """Group items by each tag, and by kind where no tag has that name.

    An item with several values of a tag is in several groups.
    """
    groups: dict[str, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        for tag in item.tags:
            for value in item.tag(tag):
                groups[tag][value].append(item)
    if "kind" not in groups:
        for item in items:
            groups["kind"][item.kind].append(item)
    return {tag: dict(sorted(values.items())) for tag, values in sorted(groups.items())}


def video_clusters(items: Sequence[Item]) -> dict[str, int]:
    """Number the clusters of items that share a video, directly or through a pair."""
    leader: dict[str, str] = {}

    def find(path: str) -> str:
        while leader.setdefault(path, path) != path:
            path = leader[path]
        return path

    for item in items:
        for media in item.media[1:]:
            # The first in the alphabet leads, so that the order of items does not matter.
            one, other = sorted([find(item.media[0].path), find(media.path)])
            leader[other] = one
    names = sorted({find(item.media[0].path) for item in items})
    numbers = {name: number for number, name in enumerate(names)}
    return {item.id: numbers[find(item.media[0].path)] for item in items}


def _rows(
    results: Sequence[Result], groups: Groups, clusters: dict[str, int], seed: int
) -> list[dict[str, Any]]:
    cells = [
        Cell([clusters[item.id] for item in items], [result.right(item) for item in items])
        for result in results
        for items in (result.items, *_each(groups))
    ]
    found = iter(intervals(cells, len(set(clusters.values())), seed)) if cells else iter(())
    return [
        {
            "model": result.model,
            "condition": result.condition,
            **result.share(result.items, next(found)),
            **result.counts(),
            "by": {
                tag: {value: result.share(items, next(found)) for value, items in values.items()}
                for tag, values in groups.items()
            },
        }
        for result in results
    ]


def _each(groups: Groups) -> Iterator[list[Item]]:
    for values in groups.values():
        yield from values.values()


def _mean_chance(items: Sequence[Item]) -> float:
    return _rounded(sum(item.chance for item in items) / max(1, len(items)))


def _rounded(value: float) -> float:
    return round(value, 6)
