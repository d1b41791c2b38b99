"""What each model did: every metric over all items and over each group, with its interval."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.evaluate.vote import Answer
from reelbench.items import Item
from reelbench.score.bias import biases
from reelbench.score.groups import Groups
from reelbench.score.intervals import Cell, intervals
from reelbench.score.metrics import METRICS, Metric, micro
from reelbench.score.predictions import Outcome
from reelbench.score.rounding import rounded

Places = NDArray[np.intp]  # of items in the list of all that are scored
_ALL = ("", "")  # the group of all items: no tag has this name


@dataclass(frozen=True, slots=True)
class Result:
    """What one model did under one condition."""

    model: str
    condition: str
    items: Sequence[Item]  # those that are scored
    everything: Sequence[Item]
    outcomes: Mapping[str, Outcome]

    @property
    def answers(self) -> dict[str, Answer | None]:
        """The answer to each item that was asked."""
        return {name: outcome.answer for name, outcome in self.outcomes.items()}

    def credits(self, metric: Metric) -> NDArray[np.float64]:
        """What each scored item's answer is worth."""
        answers = {
            name: outcome.agreed(metric.agreed) if metric.agreed else outcome.answer
            for name, outcome in self.outcomes.items()
        }
        return np.array([
            metric.credit(item, answers.get(item.id)) if item.kind in metric.kinds else 0.0
            for item in self.items
        ])  # fmt: skip

    def counts(self) -> dict[str, Any]:
        """How the calls ended, and how many items were never asked, open ones among them."""
        asked = [self.outcomes[item.id] for item in self.everything if item.id in self.outcomes]
        statuses = Counter(turn.status for outcome in asked for turn in outcome.turns)
        unread, calls = sum(outcome.unread for outcome in asked), max(1, statuses.total())
        failed = statuses["error"] + statuses["timeout"]
        closed = [self.outcomes[item.id] for item in self.items if item.id in self.outcomes]
        readable = sum(turn.status == "ok" for outcome in closed for turn in outcome.turns)
        return {
            "statuses": dict(sorted(statuses.items())),
            "unread": unread,
            "read_by_judge": sum(turn.by_judge for outcome in asked for turn in outcome.turns),
            "missing": len(self.everything) - len(asked),
            "rates": {
                "parse_failure": rounded(unread / max(1, readable)),
                "refused": rounded(statuses["refused"] / calls),
                "error": rounded(failed / calls),
            },
        }


def result_rows(
    results: Sequence[Result], groups: Groups, clusters: Mapping[str, int], seed: int
) -> list[dict[str, Any]]:
    """Return a row for each result, best first."""
    if not results or not results[0].items:
        return []
    table = _Table(results, groups, clusters, seed)
    rows = [table.row(number) for number in range(len(results))]
    return sorted(rows, key=lambda row: (-row["accuracy"], row["model"], row["condition"]))


class _Table:
    """All values of all results, computed metric by metric so that memory stays small."""

    def __init__(
        self,
        results: Sequence[Result],
        groups: Groups,
        clusters: Mapping[str, int],
        seed: int,
    ) -> None:
        self._results, self._items, self._groups = results, results[0].items, groups
        place = {item.id: number for number, item in enumerate(self._items)}
        self._places: dict[tuple[str, str], Places] = {_ALL: np.arange(len(self._items))}
        for tag, values in groups.items():
            for value, items in values.items():
                self._places[tag, value] = np.array([place[item.id] for item in items])
        self._clusters = np.array([clusters[item.id] for item in self._items])
        self._seed = seed
        repeated = any(len(o.turns) > 1 for result in results for o in result.outcomes.values())
        self._values = {
            name: self._valued(metric)
            for name, metric in METRICS.items()
            if repeated or not metric.agreed  # one answer always agrees with itself
        }
        self._answered = [
            np.array([answers.get(item.id) is not None for item in self._items])
            for answers in (result.answers for result in results)
        ]

    def _valued(self, metric: Metric) -> dict[tuple[int, str, str], dict[str, Any]]:
        """The value of a metric for each result and group that has items for it."""
        meant = np.array([item.kind in metric.kinds for item in self._items])
        least = np.array([metric.least(item) if ok else 0.0
                          for item, ok in zip(self._items, meant, strict=True)])  # fmt: skip
        worth = [result.credits(metric) for result in self._results]
        keys, cells, scales = [], [], []
        for (tag, value), places in self._places.items():
            about = places[meant[places]]
            if not len(about):
                continue
            low, span = float(least[about].mean()), 1 - least[about]
            weights = span if low else None
            for number, given in enumerate(worth):
                keys.append((number, tag, value))
                # Intervals are of shares, from 0 to 1, of what can be won.
                cells.append(
                    Cell(self._clusters[about], (given[about] - least[about]) / span, weights)
                )
                scales.append((low, len(about), float(given[about].mean())))
        if not cells:
            return {}
        found = intervals(cells, int(self._clusters.max()) + 1, self._seed)
        return {
            key: {
                "value": rounded(mean),
                "interval": [rounded(low + end * (1 - low)) for end in estimate.interval],
                "items": count,
            }
            for key, (low, count, mean), estimate in zip(keys, scales, found, strict=True)
        }

    def row(self, number: int) -> dict[str, Any]:
        result = self._results[number]
        by = {
            tag: {value: self._share(number, tag, value) for value in values}
            for tag, values in self._groups.items()
        }
        sets = METRICS["f1"].about(result.items)
        return {
            "model": result.model,
            "condition": result.condition,
            **self._share(number, *_ALL),
            "macro": {
                tag: rounded(sum(cell["accuracy"] for cell in cells.values()) / len(cells))
                for tag, cells in by.items()
            },
            "micro": _micro(sets, result),
            **result.counts(),
            "bias": biases(result.items, result.outcomes),
            "by": by,
        }

    def _share(self, number: int, tag: str, value: str) -> dict[str, Any]:
        """Accuracy and coverage over the items of a group, and what the other metrics say."""
        places = self._places[tag, value]
        accuracy = self._values["accuracy"][number, tag, value]
        answered = int(self._answered[number][places].sum())
        correct = round(accuracy["value"] * len(places))
        others = {
            name: values[number, tag, value]
            for name, values in self._values.items()
            if name != "accuracy" and (number, tag, value) in values
        }
        return {
            "items": len(places),
            "answered": answered,
            "coverage": rounded(answered / len(places)),
            "correct": correct,
            "accuracy": accuracy["value"],
            "interval": accuracy["interval"],
            "accuracy_of_answered": rounded(correct / answered) if answered else None,
            "metrics": others,
        }


def _micro(sets: Sequence[Item], result: Result) -> dict[str, float]:
    found = micro(sets, result.answers) if sets else {}
    return {name: rounded(value) for name, value in found.items()}
