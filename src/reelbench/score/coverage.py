"""How much of a difference of two models comes from items that only one of them answered."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reelbench.base.progress import counted
from reelbench.score.intervals import Interval
from reelbench.score.rounding import percent, points, rounded

HALF = 0.5  # of the items; where both answered fewer, two scores are hardly about the same items
MATTERS = 0.01  # of coverage, and of a difference that changes on the items that both answered


@dataclass(frozen=True, slots=True)
class BothAnswered:
    """Two models on the items that both answered; None where there are none."""

    items: int
    difference: float | None
    interval: Interval | None

    def to_record(self) -> dict[str, Any]:
        """Return what goes into a file."""
        return {
            "items": self.items,
            "difference": rounded(self.difference),
            "interval": None if self.interval is None else [rounded(end) for end in self.interval],
        }


def no_score(row: Mapping[str, Any]) -> str:
    """Return why a result is no score, most of its calls having failed; empty where it is one.

    Refusals and replies that cannot be read are the model's own and do not count as failed calls.
    """
    failed = sum(row["statuses"].get(status, 0) for status in ("error", "timeout"))
    asked = sum(row["statuses"].values())
    return f"no score: {failed:,} of {asked:,} failed" if failed * 2 > asked else ""


def coverage_warning(
    names: tuple[str, str],
    coverage: tuple[float, float],
    difference: float,
    both: BothAnswered | None,
    items: int,
) -> str | None:
    """Return a warning where a difference comes from items that only one of two models answered.

    A model that answered nothing has no standing that could mislead.
    """
    if both is None or not all(coverage):
        return None
    unequal = abs(coverage[0] - coverage[1]) >= MATTERS or both.items < HALF * items
    if both.difference is not None and (not unequal or abs(difference - both.difference) < MATTERS):
        return None
    sign, order = (1, 1) if difference >= 0 else (-1, -1)
    (name, share), (other, its) = zip(names[::order], coverage[::order], strict=True)
    rest = (
        "no item was answered by both"
        if both.difference is None
        else f"on the {counted(both.items, 'item')} that both answered, {name} is "
        f"{_standing(sign * both.difference, other)}"
    )
    return (
        f"{name} is {_standing(sign * difference, other)}, but {name} answered {percent(share)} "
        f"of the items and {other} {percent(its)}: {rest}."
    )


def _standing(difference: float, other: str) -> str:
    size = points(abs(difference))
    if size == "0.0":
        return f"level with {other}"
    return f"{size} points {'ahead of' if difference > 0 else 'behind'} {other}"
