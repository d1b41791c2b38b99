"""The results of each model: every metric over all items and each group, with its interval."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item
from reelbench.data.table_rules import F1_OF_MEANS
from reelbench.evaluate.vote import Answer
from reelbench.score.bias import biases
from reelbench.score.estimates import estimate_record, scaled_record
from reelbench.score.f1 import f1_of_means
from reelbench.score.groups import Groups
from reelbench.score.intervals import Cell, intervals
from reelbench.score.metrics import METRICS, Metric, micro
from reelbench.score.people import HUMAN
from reelbench.score.predictions import ItemOutcome
from reelbench.score.rounding import rounded

Places = NDArray[np.intp]  # of items in the list of all that are scored
F1_MICRO = "f1_micro"
_ALL = ("", "")  # the group of all items: no tag has this name


@dataclass(frozen=True, slots=True)
class ModelResult:
    """The answers of one model under one condition."""

    model: str
    condition: str
    items: Sequence[Item]  # the closed ones that are scored
    opened: Sequence[Item]  # the open ones that are
    everything: Sequence[Item]  # of the benchmark
    outcomes: Mapping[str, ItemOutcome]

    @property
    def answers(self) -> dict[str, Answer | None]:
        """The answer to each item that was asked."""
        return {name: outcome.answer for name, outcome in self.outcomes.items()}

    def answered(self, item: Item) -> bool:
        """Whether there is an answer to an item; to an open one, a reply."""
        outcome = self.outcomes.get(item.id)
        if outcome is None or item.kind != "open":
            return outcome is not None and outcome.answer is not None
        return any(turn.replied for turn in outcome.turns)

    def credits(self, metric: Metric) -> NDArray[np.float64]:
        """What each scored item's answer is worth."""
        answers = {
            name: outcome.agreed(metric.agreed) if metric.agreed else outcome.answer
            for name, outcome in self.outcomes.items()
        }
        return np.array([
            metric.value_of(item, answers.get(item.id)) if item.kind in metric.kinds else 0.0
            for item in self.items
        ])  # fmt: skip

    def counts(self) -> dict[str, Any]:
        """How the calls ended, and how many items were never asked, open ones among them.

        All rates are of the replies that were asked for, so that they can be added.
        """
        reached = [self.outcomes[item.id] for item in self.everything if item.id in self.outcomes]
        turns = [turn for outcome in reached for turn in outcome.turns]
        statuses = Counter(turn.status for turn in turns)
        asked = statuses.total() - statuses["over_budget"]
        closed = [self.outcomes[item.id] for item in self.items if item.id in self.outcomes]
        cut = sum(turn.cut_short for outcome in closed for turn in outcome.turns)
        unread = sum(outcome.unread for outcome in reached)
        in_words = sum(turn.refused_in_words for turn in turns)
        ends = {
            "parse_failure": unread,
            "cut_off": cut,
            "refused": statuses["refused"] + in_words,
            "error": statuses["error"] + statuses["timeout"],
        }
        return {
            "statuses": dict(sorted(statuses.items())),
            "asked": asked,
            "cut_off": cut,
            "unread": unread,
            "refused_in_words": in_words,
            "read_by_judge": sum(turn.by_judge for turn in turns),
            "missing": len(self.everything) - len(reached),
            "rates": {name: rounded(count / max(1, asked)) for name, count in ends.items()},
        }


def on_common_items(results: Sequence[ModelResult]) -> list[ModelResult]:
    """Return results on the items alone that every model answered; people need not have."""
    models = [result for result in results if not result.model.startswith(HUMAN)]
    if not models:
        return list(results)
    everything = models[0].everything
    common = {item.id for item in everything if all(result.answered(item) for result in models)}
    if not common:
        fewest = min(models, key=lambda result: sum(map(result.answered, everything)))
        raise ReelbenchError(
            f"No item was answered by every model; {fewest.model} answered the fewest, under "
            f"{fewest.condition}: leave it out, or score without --common."
        )
    return [
        replace(
            result,
            items=[item for item in result.items if item.id in common],
            opened=[item for item in result.opened if item.id in common],
        )
        for result in results
    ]


def result_rows(
    results: Sequence[ModelResult], groups: Groups, clusters: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return a row for each result, best first."""
    if not results or not results[0].items:
        return []
    table = _Table(results, groups, clusters)
    rows = [table.row(number) for number in range(len(results))]
    return sorted(rows, key=lambda row: (-row["accuracy"], row["model"], row["condition"]))


class _Table:
    """All values of all results, computed metric by metric so that memory stays small."""

    def __init__(
        self,
        results: Sequence[ModelResult],
        groups: Groups,
        clusters: Mapping[str, int],
    ) -> None:
        self._results, self._items, self._groups = results, results[0].items, groups
        place = {item.id: number for number, item in enumerate(self._items)}
        self._places: dict[tuple[str, str], Places] = {_ALL: np.arange(len(self._items))}
        for tag, values in groups.items():
            for value, items in values.items():
                self._places[tag, value] = np.array([place[item.id] for item in items])
        self._clusters = np.array([clusters[item.id] for item in self._items])
        self._videos = max(clusters.values()) + 1
        repeated = any(len(o.turns) > 1 for result in results for o in result.outcomes.values())
        self._values = {
            name: self._valued(metric)
            for name, metric in METRICS.items()
            if repeated or not metric.agreed  # one answer always agrees with itself
        }
        if any(item.kind in METRICS["f1"].kinds for item in self._items):
            self._values |= {F1_OF_MEANS: self._f1_of_means(), F1_MICRO: self._f1_micro()}
        self._micro = self._pooled()
        self._answered = [np.array([*map(result.answered, self._items)]) for result in results]

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
        found = intervals(cells, self._videos)
        return {
            key: {"value": mean, **estimate_record(estimate, low), "items": count}
            for key, (low, count, mean), estimate in zip(keys, scales, found, strict=True)
        }

    def _sets(self) -> Iterator[tuple[tuple[str, str], Places]]:
        """Yield the groups with questions that have several right options, and where these are."""
        meant = np.array([item.kind in METRICS["f1"].kinds for item in self._items])
        for group, places in self._places.items():
            if len(about := places[meant[places]]):
                yield group, about

    def _f1_of_means(self) -> dict[tuple[int, str, str], dict[str, Any]]:
        """The harmonic mean of the means of precision and recall, for each result and group."""
        worth = [[r.credits(METRICS[n]) for n in ("precision", "recall")] for r in self._results]
        found = {
            (number, *group): (about, f1_of_means(precision[about], recall[about]))
            for group, about in self._sets()
            for number, (precision, recall) in enumerate(worth)
        }
        cells = [
            Cell(self._clusters[about].tolist(), each.shares.tolist())
            for about, each in found.values()
        ]
        estimates = dict(zip(found, intervals(cells, self._videos), strict=True))
        return {
            key: {
                "value": each.value,
                **scaled_record(estimates[key], 0.0, each.scale),
                "items": len(about),
            }
            for key, (about, each) in found.items()
        }

    def _f1_micro(self) -> dict[tuple[int, str, str], dict[str, Any]]:
        """F1 over all options of all sets of a group together."""
        found: dict[tuple[int, str, str], tuple[int, Cell]] = {}
        for group, about in self._sets():
            items = [self._items[place] for place in about]
            videos = dict(zip((i.id for i in items), self._clusters[about].tolist(), strict=True))
            for number, result in enumerate(self._results):
                options = micro(items, result.answers)["f1"]
                cell = Cell([videos[item] for item, _ in options], [float(t) for _, t in options])
                found[(number, *group)] = len(items), cell
        estimates = intervals([cell for _, cell in found.values()], self._videos)
        return {
            key: {
                "value": sum(cell.right) / len(cell.right),
                **estimate_record(estimate),
                "items": count,
            }
            for (key, (count, cell)), estimate in zip(found.items(), estimates, strict=True)
        }

    def row(self, number: int) -> dict[str, Any]:
        result = self._results[number]
        return {
            "model": result.model,
            "condition": result.condition,
            **self._share(number, *_ALL),
            "macro": {tag: self._macro(number, tag) for tag in self._groups},
            "micro": self._micro[number],
            **result.counts(),
            "bias": biases(result.items, result.outcomes),
            "by": {
                tag: {value: self._share(number, tag, value) for value in values}
                for tag, values in self._groups.items()
            },
        }

    def _macro(self, number: int, tag: str) -> float:
        """The mean over the values of a tag."""
        values = self._groups[tag]
        shares = [self._values["accuracy"][number, tag, value]["value"] for value in values]
        return rounded(fsum(shares) / len(shares))

    def _pooled(self) -> list[dict[str, Any]]:
        """Each result's precision, recall and F1 over all options of all sets together."""
        sets = METRICS["f1"].about(self._items)
        if not sets:
            return [{} for _ in self._results]
        videos = {item.id: int(v) for item, v in zip(self._items, self._clusters, strict=True)}
        pooled = [micro(sets, result.answers) for result in self._results]
        cells = [
            Cell([videos[item] for item, _ in options], [float(true) for _, true in options])
            for shares in pooled
            for options in shares.values()
            if options
        ]
        found = iter(intervals(cells, self._videos))
        return [
            {
                name: {
                    "value": rounded(sum(true for _, true in options) / max(1, len(options))),
                    **estimate_record(next(found) if options else None),
                    "options": len(options),
                }
                for name, options in shares.items()
            }
            for shares in pooled
        ]

    def _share(self, number: int, tag: str, value: str) -> dict[str, Any]:
        """Accuracy and coverage over the items of a group, and what the other metrics say."""
        places = self._places[tag, value]
        accuracy = self._values["accuracy"][number, tag, value]
        answered = int(self._answered[number][places].sum())
        correct = round(accuracy["value"] * len(places))
        others = {
            name: values[number, tag, value]
            | {"value": rounded(values[number, tag, value]["value"])}
            for name, values in self._values.items()
            if name != "accuracy" and (number, tag, value) in values
        }
        return {
            "items": len(places),
            "answered": answered,
            "coverage": rounded(answered / len(places)),
            "correct": correct,
            "accuracy": rounded(accuracy["value"]),
            **{name: accuracy[name] for name in ("interval", "standard_error", "videos")},
            "accuracy_of_answered": rounded(correct / answered) if answered else None,
            "metrics": others,
        }
