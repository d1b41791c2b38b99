"""Classes in a ratio, such as one positive to one neutral to two negative."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item
from reelbench.make.parts.balance.draw import in_order_of_chance

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
    classes: dict[str, list[Item]] = {value: [] for value in whole}
    for item in in_order_of_chance(items, seed, f"ratio of {tag}"):
        values = set(item.tag(tag))
        if len(values) == 1 and values <= classes.keys():
            classes[values.pop()].append(item)
    for value, there in classes.items():
        if len(there) < whole[value]:
            raise ReelbenchError(
                f"The ratio {_written(whole)} of the {tag} needs {whole[value]} of {value!r} at "
                f"least, and there are {len(there)}: add items, or change the ratio."
            )
    times = min(len(there) // whole[value] for value, there in classes.items())
    kept = {item.id for value in classes for item in classes[value][: times * whole[value]]}
    return (
        tuple(item for item in items if item.id in kept),
        tuple(item for item in items if item.id not in kept),
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
