"""Classes in a ratio, such as one positive to one neutral to two negative."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item
from reelbench.make.parts.balance.draw import AnyRow, in_order_of_chance

_FINEST = 10_000  # denominator beyond which a number is not meant as part of a ratio


def keep_ratio(
    items: Sequence[Item], tag: str, ratio: Mapping[str, float | Fraction], seed: int
) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Return the items to keep and to leave out, so that the values of a tag are in a ratio.

    As many as possible are kept.
    The counts are exact, so ``{"positive": 1, "neutral": 1, "negative": 2}`` keeps a number that
    four divides; 0.25, 0.25 and 0.5 mean the same. An item whose value is not in the ratio, and
    one with several values, is left out.
    """
    whole = _in_whole_numbers(tag, ratio)

    def value(item: Item) -> str:
        values = set(item.tag(tag))
        return values.pop() if len(values) == 1 else ""

    classes = _classes(items, value, whole, tag, seed)
    for name, there in classes.items():
        if len(there) < whole[name]:
            raise ReelbenchError(
                f"The ratio {_written(whole)} of the {tag} needs {whole[name]} of {name!r} at "
                f"least, and there are {len(there)}: add items, or change the ratio."
            )
    return _split(items, classes, whole, _rounds(classes, whole))


def keep_ratio_where_possible(
    rows: Sequence[AnyRow],
    value: Callable[[AnyRow], str],
    name: str,
    ratio: Mapping[str, float | Fraction],
    seed: int,
) -> tuple[tuple[AnyRow, ...], tuple[AnyRow, ...]]:
    """Return the rows to keep and to leave out, in a ratio as far as there are rows for it.

    A class without any row is left out of the ratio. Where one has fewer than a single round of
    the ratio takes, each class keeps what it has of that round.
    """
    whole = _in_whole_numbers(name, ratio)
    classes = _classes(rows, value, whole, name, seed)
    present = {each: there for each, there in classes.items() if there}
    rounds = max(1, _rounds(present, whole)) if present else 0
    return _split(rows, present, whole, rounds)


def _classes(
    rows: Sequence[AnyRow],
    value: Callable[[AnyRow], str],
    whole: Mapping[str, int],
    name: str,
    seed: int,
) -> dict[str, list[AnyRow]]:
    """Return the rows of each class in a random order."""
    classes: dict[str, list[AnyRow]] = {each: [] for each in whole}
    for row in in_order_of_chance(rows, seed, f"ratio of {name}"):
        if (found := value(row)) in classes:
            classes[found].append(row)
    return classes


def _rounds(classes: Mapping[str, Sequence[AnyRow]], whole: Mapping[str, int]) -> int:
    return min(len(there) // whole[name] for name, there in classes.items())


def _split(
    rows: Sequence[AnyRow],
    classes: Mapping[str, Sequence[AnyRow]],
    whole: Mapping[str, int],
    rounds: int,
) -> tuple[tuple[AnyRow, ...], tuple[AnyRow, ...]]:
    kept = {row.id for name, there in classes.items() for row in there[: rounds * whole[name]]}
    return (
        tuple(row for row in rows if row.id in kept),
        tuple(row for row in rows if row.id not in kept),
    )


def _in_whole_numbers(tag: str, ratio: Mapping[str, float | Fraction]) -> dict[str, int]:
    """Return the ratio in the smallest whole numbers."""
    if not ratio:
        raise ReelbenchError(f"The ratio of the {tag} is empty: name the values to keep.")
    parts = {value: _rational(tag, value, part) for value, part in ratio.items()}
    scale = math.lcm(*(part.denominator for part in parts.values()))
    common = math.gcd(*(int(part * scale) for part in parts.values()))
    return {value: int(part * scale) // common for value, part in parts.items()}


def _rational(tag: str, value: str, part: float | Fraction) -> Fraction:
    if not 0 < part < math.inf:
        raise ReelbenchError(
            f"The ratio of the {tag} gives {value!r} the part {part}: give a number above 0, or "
            "remove the value from the ratio."
        )
    near = Fraction(part).limit_denominator(_FINEST)
    if not math.isclose(near, part, rel_tol=1e-12):
        raise ReelbenchError(
            f"The ratio of the {tag} gives {value!r} the part {part}, which no count can follow: "
            "give whole numbers, such as 1, 1 and 2."
        )
    return near


def _written(whole: Mapping[str, int]) -> str:
    return ":".join(map(str, whole.values()))
