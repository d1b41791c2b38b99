"""The results of each model: every metric over all items and each group, with its interval."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item, shown
from reelbench.data.table_rules import F1_OF_MEANS
from reelbench.evaluate.vote import Answer
from reelbench.score.bias import biases
from reelbench.score.estimates import estimate_record, scaled_record
from reelbench.score.f1 import f1_of_means
from reelbench.score.groups import Groups
from reelbench.score.intervals import Cell, intervals
from reelbench.score.metrics import METRICS, Metric, micro
from reelbench.score.people import is_person
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
    items: Sequence[Item]  # the closed ones that it is scored on
    opened: Sequence[Item]  # the open ones that are
    everything: Sequence[Item]  # of the benchmark
    outcomes: Mapping[str, ItemOutcome]

    @property
    def answers(self) -> dict[str, Answer | None]:
        """The answer to each item that was asked."""
        return {name: each.answer for name, each in self.outcomes.items() if each.asked}

    def answered(self, item: Item) -> bool:
        """Whether there is an answer to an item; to an open one, a reply."""
        outcome = self.outcomes.get(item.id)
        if outcome is None or item.kind != "open":
            return outcome is not None and outcome.answer is not None
        return any(turn.replied for turn in outcome.turns)

    def on(self, items: Collection[str]) -> "ModelResult":
        """Return the same result, scored on some of its items alone."""
        some, opened = ([i for i in own if i.id in items] for own in (self.items, self.opened))
        return replace(self, items=some, opened=opened)

    def exact(self) -> NDArray[np.float64]:
        """Which scored items were answered exactly right: 1 or 0, NaN without an answer."""
        answered = [self.answered(item) for item in self.items]
        return np.where(answered, self.credits(METRICS["accuracy"]), np.nan)

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
        first = next((turn.reply for outcome in closed for turn in outcome.turns
                      if turn.status == "ok" and not turn.refused_in_words), "")  # fmt: skip
        nothing = unread and not any(outcome.answer for outcome in closed)
        return {
            **({"unreadable": shown(first)} if nothing else {}),
            "statuses": dict(sorted(statuses.items())),
            "asked": asked,
            "cut_off": cut,
            "unread": unread,
            "refused_in_words": in_words,
            "read_by_judge": sum(turn.by_judge for turn in turns),
            "missing": len(self.everything) - len(reached),
            "rates": {name: rounded(count / max(1, asked)) for name, count in ends.items()},
        }


def with_answers(results: Sequence[ModelResult]) -> list[ModelResult]:
    """Return the results that have an answer to a closed item: the others cannot be compared."""
    return [result for result in results if any(map(result.answered, result.items))]


def on_common_items(results: Sequence[ModelResult]) -> list[ModelResult]:
    """Return results on the items alone that every model answered; people need not have.

    A model that answered nothing is left out.
    """
    kept = [r for r in results if is_person(r.model) or any(map(r.answered, r.everything))]
    models = [result for result in kept if not is_person(result.model)]
    if not models and len(kept) < len(results):
        raise ReelbenchError("No model answered any item: score without --common to see why.")
    if not models:
        return list(results)
    everything = models[0].everything
    common = {item.id for item in everything if all(result.answered(item) for result in models)}
    if not common:
        fewest = min(models, key=lambda result: sum(map(result.answered, everything)))
        raise ReelbenchError(
            f"No item was answered by every model; {fewest.model} answered the fewest, under "
            f"{fewest.condition}: score without --common, or hold two models against each other "
            "with `reelbench compare --common --model A --model B`."
        )
    return [result.on(common) for result in kept]


def result_rows(
    results: Sequence[ModelResult],
    items: Sequence[Item],
    groups: Groups,
    clusters: Mapping[str, int],
) -> list[dict[str, Any]]:
    """Return a row for each result, best first; ``items`` are those that any may be scored on."""
    if not results or not items:
        return []
    table = _Table(results, items, groups, clusters)
    rows = [table.row(number) for number in range(len(results))]
    return sorted(rows, key=lambda r: (r["accuracy"] is None, -(r["accuracy"] or 0), r["model"],
                                       r["condition"]))  # fmt: skip


class _Table:
    """All values of all results, computed metric by metric so that memory stays small."""

    def __init__(
        self,
        results: Sequence[ModelResult],
        items: Sequence[Item],
        groups: Groups,
        clusters: Mapping[str, int],
    ) -> None:
        self._results, self._items, self._groups = results, items, groups
        place = {item.id: number for number, item in enumerate(items)}
        self._places: dict[tuple[str, str], Places] = {_ALL: np.arange(len(items))}
        for tag, values in groups.items():
            for value, some in values.items():
                self._places[tag, value] = np.array([place[item.id] for item in some])
        self._clusters = np.array([clusters[item.id] for item in items])
        self._videos = max(clusters.values()) + 1
        self._scored = np.zeros((len(results), len(items)), np.bool_)
        for number, result in enumerate(results):
            self._scored[number, [place[item.id] for item in result.items]] = True
        repeated = any(len(o.turns) > 1 for result in results for o in result.outcomes.values())
        self._values = {
            name: self._valued(name)
            for name, metric in METRICS.items()
            if repeated or not metric.agreed  # one answer always agrees with itself
        }
        if any(item.kind in METRICS["f1"].kinds for item in items):
            self._values |= {F1_OF_MEANS: self._f1_of_means(), F1_MICRO: self._f1_micro()}
        self._micro = self._pooled()
        self._answered = [np.array([*map(result.answered, items)]) for result in results]
        self._failed = [
            np.array([bool((o := result.outcomes.get(item.id)) and o.failed) for item in items])
            for result in results
        ]

    def _about(self, metric: Metric) -> Iterator[tuple[tuple[int, str, str], Places]]:
        """Yield where the items of a metric are, for each group and result that has some."""
        meant = np.array([item.kind in metric.kinds for item in self._items])
        for group, places in self._places.items():
            for number, scored in enumerate(self._scored):
                if len(about := places[(meant & scored)[places]]):
                    yield (number, *group), about

    def _worth(self, name: str) -> list[NDArray[np.float64]]:
        """What the answers of each result are worth; 0 for items that it is not scored on."""
        found = []
        for result, scored in zip(self._results, self._scored, strict=True):
            worth = np.zeros(len(scored))
            worth[scored] = result.credits(METRICS[name])
            found.append(worth)
        return found

    def _valued(self, name: str) -> dict[tuple[int, str, str], dict[str, Any]]:
        """The value of a metric for each result and group that has items for it."""
        metric, worth = METRICS[name], self._worth(name)
        videos: Any = self._clusters  # arrays, which have no list's type
        least: Any = np.array([metric.least(i) if i.kind in metric.kinds else 0.0
                               for i in self._items])  # fmt: skip
        keys, cells, scales = [], [], []
        for key, about in self._about(metric):
            low, span = float(least[about].mean()), 1 - least[about]
            given = worth[key[0]][about]
            keys.append(key)
            # Intervals are of shares, from 0 to 1, of what can be won.
            cells.append(Cell(videos[about], (given - least[about]) / span, span if low else None))
            scales.append((low, len(about), float(given.mean())))
        found = intervals(cells, self._videos)
        return {
            key: {"value": mean, **estimate_record(estimate, low), "items": count}
            for key, (low, count, mean), estimate in zip(keys, scales, found, strict=True)
        }

    def _f1_of_means(self) -> dict[tuple[int, str, str], dict[str, Any]]:
        """The harmonic mean of the means of precision and recall, for each result and group."""
        precision, recall = self._worth("precision"), self._worth("recall")
        found = {
            key: (about, f1_of_means(precision[key[0]][about], recall[key[0]][about]))
            for key, about in self._about(METRICS["f1"])
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
        for key, about in self._about(METRICS["f1"]):
            items = [self._items[place] for place in about]
            videos = dict(zip((i.id for i in items), self._clusters[about].tolist(), strict=True))
            options = micro(items, self._results[key[0]].answers)["f1"]
            cell = Cell([videos[item] for item, _ in options], [float(t) for _, t in options])
            found[key] = len(items), cell
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

    def _macro(self, number: int, tag: str) -> float | None:
        """The mean over the values of a tag; None where the model is not scored on one of them."""
        known = self._values["accuracy"]
        keys = [(number, tag, value) for value in self._groups[tag]]
        if not all(key in known for key in keys):
            return None
        return rounded(fsum(known[key]["value"] for key in keys) / len(keys))

    def _pooled(self) -> list[dict[str, Any]]:
        """Each result's precision, recall and F1 over all options of all sets together."""
        videos = {item.id: int(v) for item, v in zip(self._items, self._clusters, strict=True)}
        sets = [METRICS["f1"].about(result.items) for result in self._results]
        pooled = [
            micro(some, result.answers) if some else {}
            for some, result in zip(sets, self._results, strict=True)
        ]
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
        key, places = (number, tag, value), self._places[tag, value]
        scored = places[self._scored[number][places]]
        accuracy = self._values["accuracy"].get(key, {"value": 0.0, **estimate_record(None)})
        items, answered = len(scored), int(self._answered[number][scored].sum())
        correct = round(accuracy["value"] * items)
        others = {
            name: values[key] | {"value": rounded(values[key]["value"])}
            for name, values in self._values.items()
            if name != "accuracy" and key in values
        }
        return {
            "items": items,
            "all_items": len(places),
            "answered": answered,
            "failed": int(self._failed[number][scored].sum()),
            "coverage": rounded(answered / max(1, items)),
            "correct": correct,
            "accuracy": rounded(accuracy["value"]) if items else None,
            **{name: accuracy[name] for name in ("interval", "standard_error", "videos")},
            "accuracy_of_answered": rounded(correct / answered) if answered else None,
            "metrics": others,
        }
