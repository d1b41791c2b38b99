"""What guessing comes to, exactly: the expected value of each metric under a declared policy.

Of questions with one right option, each option is as likely. A set of options is guessed by one of
``RANDOM_POLICIES``: each says how likely a number of options is, and all sets of so many are alike.
So an answer is known by two numbers, how many options it has and how many of them are right, and
its expected worth is a sum over these.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import comb, fsum

from reelbench.data.items import Item
from reelbench.data.table_rules import ACCURACY, F1_OF_MEANS, RANDOM_POLICIES
from reelbench.score.metrics import METRICS

DEFAULT_POLICY = "subsets"


def expected_value(items: Sequence[Item], metric: str, policy: str) -> float | None:
    """Return what guessing comes to on items that a metric is about; None where there are none.

    It is None too where several answers must agree: that depends on how often a model was asked.
    That of ``f1_of_means`` is the harmonic mean of the expected precision and recall, and those
    over all options together are ratios of expected sums: as for many items.
    """
    closed = [item for item in items if item.kind != "open"]
    if not closed or (metric in METRICS and METRICS[metric].agreed):
        return None
    if metric == F1_OF_MEANS:
        return _harmonic(*(_mean(closed, name, policy) for name in ("precision", "recall")))
    if metric.endswith("_micro"):
        true, chosen, right = (fsum(each) for each in zip(*_counts(closed, policy), strict=True))
        sums = {"precision_micro": chosen, "recall_micro": right, "f1_micro": (chosen + right) / 2}
        return true / sums[metric] if sums[metric] else 0.0
    return _mean(closed, metric, policy)


def size_shares(options: int, right: int, policy: str) -> dict[int, float]:
    """Return how likely each number of chosen options is, of those that are possible."""
    weigh = _WEIGHTS[policy]
    weights = {size: weigh(comb(options, size), size, right) for size in range(options + 1)}
    total = sum(weights.values())
    return {size: weight / total for size, weight in weights.items() if weight}


# From the number of sets of a size, that size, and the number of right options.
_WEIGHTS: Mapping[str, Callable[[int, int, int], int]] = {
    "subsets": lambda sets, size, _: sets if size else 0,
    "coin": lambda sets, _size, _right: sets,
    "size": lambda _, size, _right: int(size > 0),
    "two-to-four": lambda _, size, _right: int(2 <= size <= 4),
    "one": lambda _, size, _right: int(size == 1),
    "key-size": lambda _, size, right: int(size == right),
}
assert _WEIGHTS.keys() == RANDOM_POLICIES.keys()


def _mean(items: Sequence[Item], metric: str, policy: str) -> float:
    return fsum(_expected(item, metric, policy) for item in items) / len(items)


def _expected(item: Item, metric: str, policy: str) -> float:
    if item.kind == "multi":
        return _of_set(len(item.options), len(item.answer), metric, policy)
    right = 1 / len(item.options)
    key = frozenset(item.answer)
    worth = [METRICS[metric].credit(item, answer) for answer in (key, frozenset[str]())]
    return right * worth[0] + (1 - right) * worth[1]


@cache
def _of_set(options: int, right: int, metric: str, policy: str) -> float:
    """Return the expected worth of a guess at a question with so many options, some right."""
    credit = METRICS["exact_match" if metric == ACCURACY else metric].credit
    letters = [chr(65 + place) for place in range(options)]
    item = Item("", "multi", (), "", tuple(letters), tuple(letters[:right]))
    found = []
    for size, share in size_shares(options, right, policy).items():
        for true in range(max(0, size - (options - right)), min(size, right) + 1):
            ways = comb(right, true) * comb(options - right, size - true) / comb(options, size)
            answer = frozenset([*letters[:true], *letters[right : right + size - true]])
            found.append(share * ways * credit(item, answer))
    return fsum(found)


def _counts(items: Sequence[Item], policy: str) -> list[tuple[float, float, float]]:
    """Return of each item the expected number of options chosen and right, chosen, and right."""
    found = []
    for item in items:
        options, right = len(item.options), len(item.answer)
        shares = size_shares(options, right, policy)
        size = fsum(size * share for size, share in shares.items())
        found.append((size * right / options, size, float(right)))
    return found


def _harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0
