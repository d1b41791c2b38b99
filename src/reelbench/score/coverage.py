"""Which items a score is over, and how much of a difference comes from those not answered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from reelbench.base.progress import counted
from reelbench.score.intervals import Interval
from reelbench.score.rounding import percent, points, rounded

if TYPE_CHECKING:
    from reelbench.score.compare import Pair

HALF = 0.5  # of the items; where both answered fewer, two scores are hardly about the same items
NAMED = 10  # pairs that a sentence names
BASELINE = "baseline:"  # how the names of baselines among the models begin
MATTERS = 0.01  # of coverage, and of a difference that changes on the items that both answered


Scope = Literal["asked", "all", "common"]  # the items that a score is over

POLICY = "an item without an answer counts as wrong"
ASKED_POLICY = "each model is scored on the items that it was asked, and " + POLICY
ALL_POLICY = "all items are scored, and one without an answer counts as wrong, asked or not"
COMMON_POLICY = "only the {} of {} items that every model answered are scored"
COMMON_PAIR_POLICY = "only the items that all models answered are compared"
ASKED_PAIR_POLICY = "each pair is compared on the items that both were asked; " + POLICY


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
    """Return why a result has no score: no call was made, or none came back; empty if it has."""
    if not row["items"]:
        return "no score: not asked"
    failed = f"no score: {row['failed']:,} of {row['items']:,} failed"
    return failed if row["failed"] == row["items"] else ""


def partly_asked(row: Mapping[str, Any]) -> str:
    """Return how many of the items a score is over, such as "2,000 of 4,996"; empty if of all."""
    whole = row["items"] == row["all_items"]
    return "" if whole else f"{row['items']:,} of {row['all_items']:,}"


def best_case(row: Mapping[str, Any]) -> str:
    """Return the accuracy if all failed calls had been answered rightly; empty if none failed."""
    known = row["failed"] and not no_score(row)
    return percent((row["correct"] + row["failed"]) / row["items"]) if known else ""


def asked_in_words(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each number of items that results are over, where that is not all."""
    parts: dict[str, list[str]] = {}
    for row in rows:
        if (part := partly_asked(row)) and not no_score(row):
            share = percent(row["correct"] / row["items"])
            parts.setdefault(part, []).append(f"{share} ({row['model']}, {row['condition']})")
    return [
        f"{part} items: {', '.join(scores)}. The others were not asked and are left out; --all "
        "counts them as wrong."
        for part, scores in parts.items()
    ]


def unreadable_in_words(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each result of whose replies none could be read, with the first."""
    return [
        f"{row['model']}, {row['condition']}: none of {row['unread']:,} replies could be read as "
        f"an option, the first: {row['unreadable']}."
        for row in rows
        if "unreadable" in row
    ]


_ENDS = {
    "error": "failed",
    "timeout": "timed out",
    "over_budget": "over budget",
}


def unanswered_in_words(row: Mapping[str, Any]) -> str:
    """Return how many questions of a result have no answer, by reason; empty where all have one.

    Where calls failed, the best possible accuracy stands behind.
    """
    in_words = row["refused_in_words"]
    refused = row["statuses"].get("refused", 0) + in_words
    how = f" ({in_words} in words)" if in_words else ""
    words = [f"{refused} refused{how}"] if refused else []
    words += [
        f"{row['statuses'][status]} {end}"
        for status, end in _ENDS.items()
        if status in row["statuses"]
    ]
    if row["cut_off"]:
        words.append(f"{row['cut_off']} cut off before an answer")
    if row["unread"]:
        words.append(f"{row['unread']} unreadable")
    if row["missing"]:
        words.append(f"{row['missing']} not asked")
    best = best_case(row)
    return ", ".join(words) + (f"; at most {best} had no call failed" if best else "")


@dataclass(frozen=True, slots=True)
class CoverageGap:
    """Two models on the same items, of which each answered a share."""

    names: tuple[str, str]
    coverage: tuple[float, float]
    difference: float  # the first less the second, what is not answered being wrong
    both: BothAnswered | None  # None where they answered the same items
    items: int

    @property
    def misleads(self) -> bool:
        """Whether the difference comes from items that only one of the two answered.

        A model that answered nothing has no standing that could mislead.
        """
        if self.both is None or not all(self.coverage):
            return False
        if self.both.difference is None:
            return True
        unequal = self.size >= MATTERS or self.both.items < HALF * self.items
        return unequal and abs(self.difference - self.both.difference) >= MATTERS

    @property
    def size(self) -> float:
        """How much more of the items one of them answered."""
        return abs(self.coverage[0] - self.coverage[1])

    @property
    def lead_on_both(self) -> float:
        """How far ahead the better one is on the items that both answered; it may be behind."""
        if self.both is None or self.both.difference is None:
            return -1.0
        return self.both.difference if self.difference >= 0 else -self.both.difference

    @property
    def models(self) -> tuple[str, ...]:
        """Its names without those of baselines, which answer everything."""
        return tuple(name for name in self.names if not name.startswith(BASELINE))

    def in_words(self) -> str:
        """Return a sentence on the two, the one that is ahead first."""
        order = 1 if self.difference >= 0 else -1
        shares = map(percent, self.coverage[::order])
        (name, share), (other, its) = zip(self.names[::order], shares, strict=True)
        ahead = _standing(abs(self.difference))
        rest = "and no item was answered by both"
        if self.both and self.both.difference is not None:
            there = _standing(self.lead_on_both).removesuffix(" ahead")
            rest = f"but {there} on the {counted(self.both.items, 'item')} that both answered"
        return f"{name} answered {share} of the items and {other} {its}: {name} is {ahead}, {rest}."


def not_compared(models: Sequence[str], pairs: Iterable["Pair"]) -> list[str]:
    """Return a sentence on the models that are in no pair with each other, where there are some."""
    met = {(pair.first, pair.second) for pair in pairs}
    apart = [pair for pair in combinations(sorted(models), 2) if pair not in met]
    more = [counted(len(apart) - NAMED, "more pair")] if len(apart) > NAMED else []
    listed = "; ".join([*map(" and ".join, apart[:NAMED]), *more])
    return [f"Not compared: {listed} were asked no item in common."] if apart else []


def coverage_warnings(gaps: Iterable[CoverageGap], where: str) -> list[str]:
    """Return one sentence on the pair with the largest gap, and one on how many more there are.

    ``where`` says where those are. Pairs with a baseline are told of where there are no others,
    each model once: what they say of the model, it says beside any.
    """
    misleading = (each for each in gaps if each.misleads)
    found = sorted(misleading, key=lambda each: (-each.size, each.lead_on_both))
    by_models = {each.models: each for each in reversed(found)}
    pairs = [each for each in found if len(each.models) == 2]
    shown = pairs or [each for each in found if by_models[each.models] is each]
    if not shown:
        return []
    more = len(shown) - 1
    rest = [f"The same holds for {counted(more, 'more pair')}: {where}."] if more else []
    return [shown[0].in_words(), *rest]


def _standing(difference: float) -> str:
    size = points(abs(difference))
    if size == "0.0":
        return "level"
    return f"{size} points {'ahead' if difference > 0 else 'behind'}"
