"""Metrics: exact match, chance-adjusted accuracy, and precision and recall of sets.

Each metric gives an item a credit; its value is the mean over the items that it is about. An item
without an answer gets what a wrong one gets.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import SupportsFloat

from reelbench.base.errors import ReelbenchError
from reelbench.base.extensions import load_from_file, load_registered, registered, split_file
from reelbench.data.items import Item, Kind
from reelbench.evaluate.vote import Answer

STEADY = 0.8  # Cinéaste's threshold (its Table 4)
_TINY = 1e-9  # what sums of floats may be off by
ONE_RIGHT: tuple[Kind, ...] = ("single", "yesno")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its title, its credit for an answer, and the kinds of questions it applies to."""

    title: str
    kinds: tuple[Kind, ...]
    credit: Callable[[Item, Answer | None], float]
    least: Callable[[Item], float] = lambda _: 0.0  # the credit of a wrong answer
    agreed: float = 0.0  # the share of orders and rounds that must give an answer for it to count

    def about(self, items: Sequence[Item]) -> list[Item]:
        """Return the items that it applies to."""
        return [item for item in items if item.kind in self.kinds]

    def value_of(self, item: Item, answer: Answer | None) -> float:
        """Return the credit of an answer; refuse one below that of a wrong answer, or over 1."""
        credit: object = self.credit(item, answer)
        least = self.least(item)
        value: float | None = None
        if type(credit) is float:  # to ask whether it is like one takes longer than most metrics
            value = credit
        elif isinstance(credit, SupportsFloat):
            value = float(credit)
        if value is None or not least - _TINY <= value <= 1 + _TINY:
            raise ReelbenchError(
                f"The metric {self.title!r} gives item {item.id} a credit of {credit!r}: return a "
                f"number from {least:g}, the credit of a wrong answer (`least`), to 1."
            )
        return value


def exact(item: Item, answer: Answer | None) -> float:
    """1 if all that is right was chosen, and nothing else."""
    return float(answer == frozenset(item.answer))


def chance_adjusted(item: Item, answer: Answer | None) -> float:
    """1 if right; if not, as far below 0 as makes guessing worth 0 (MuseBench's CAA).

    No answer is no match of the key, and that is all its equation 3 asks.
    """
    return 1.0 if exact(item, answer) else least_adjusted(item)


def least_adjusted(item: Item) -> float:
    """What a wrong answer is worth among so many options."""
    return -1 / (len(item.options) - 1)


def precision(item: Item, answer: Answer | None) -> float:
    """The share of what was chosen that is right."""
    return len(answer & frozenset(item.answer)) / len(answer) if answer else 0.0


def recall(item: Item, answer: Answer | None) -> float:
    """The share of what is right that was chosen."""
    return len(answer & frozenset(item.answer)) / len(item.answer) if answer else 0.0


def f1(item: Item, answer: Answer | None) -> float:
    """The harmonic mean of the two."""
    both = precision(item, answer) + recall(item, answer)
    return 2 * precision(item, answer) * recall(item, answer) / both if both else 0.0


METRICS: dict[str, Metric] = {
    "accuracy": Metric("accuracy", ("single", "yesno", "multi"), exact),
    "steady": Metric(
        f"accuracy where {STEADY:.0%} of orders and rounds agree",
        ("single", "yesno", "multi"),
        exact,
        agreed=STEADY,
    ),
    "caa": Metric("chance-adjusted accuracy", ONE_RIGHT, chance_adjusted, least_adjusted),
    "exact_match": Metric("exact match of sets", ("multi",), exact),
    "precision": Metric("precision of sets", ("multi",), precision),
    "recall": Metric("recall of sets", ("multi",), recall),
    "f1": Metric("F1 of sets", ("multi",), f1),
}

GROUP = "reelbench.metrics"  # of entry points, by which packages add metrics


def add_metric(name: str) -> None:
    """Score with one more metric: ``FILE.py:NAME``, or one that a package registers."""
    others = registered(GROUP)
    if own := split_file(name):
        path, attribute = own
        metric = load_from_file(path, attribute, _is_metric, "a Metric")
        label = attribute.lower() or path.stem
    elif name in others:
        metric, label = load_registered(others[name]), name
        if not _is_metric(metric):
            raise ReelbenchError(f"{others[name].value}, registered as {name!r}, is not a Metric.")
    else:
        known = ", ".join(others) or "none"
        raise ReelbenchError(
            f"There is no metric {name!r} to add: name a file, as FILE.py:NAME, or one that an "
            f"installed package registers ({known})."
        )
    if METRICS.get(label, metric) is not metric:
        raise ReelbenchError(f"There is a metric {label!r} already: give {name} another name.")
    METRICS[label] = metric


def _is_metric(value: object) -> bool:
    return isinstance(value, Metric)


def micro(
    items: Sequence[Item], answers: Mapping[str, Answer | None]
) -> dict[str, list[tuple[str, bool]]]:
    """Precision, recall and F1 over the options of all sets together, as shares of options.

    Each is the share of true ones among: the chosen options, the right ones, and both of these one
    after the other. An option comes with the id of its item, and is true if chosen and right.
    """
    chosen: list[tuple[str, bool]] = []
    right: list[tuple[str, bool]] = []
    for item in items:
        answer, key = answers.get(item.id) or frozenset(), frozenset(item.answer)
        chosen += [(item.id, letter in key) for letter in sorted(answer)]
        right += [(item.id, letter in answer) for letter in sorted(key)]
    return {"precision": chosen, "recall": right, "f1": chosen + right}


def guessing(items: Sequence[Item]) -> dict[str, float]:
    """Return the score of guessing, computed from the options.

    For questions with one right option there are two usual ways: the mean of 1/K, which is what
    guessing comes to, and all questions over all options, which some papers print.
    """
    one = [item for item in items if item.kind in ONE_RIGHT]
    sets = [item for item in items if item.kind == "multi"]
    found: dict[str, float] = {}
    if one:
        found["mean_of_1_over_k"] = sum(1 / len(item.options) for item in one) / len(one)
        found["questions_over_options"] = len(one) / sum(len(item.options) for item in one)
        found["caa"] = 0.0
    if sets:
        found["exact_match"] = sum(item.chance for item in sets) / len(sets)
    return found
