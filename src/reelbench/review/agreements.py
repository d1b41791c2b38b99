"""How far people agree so far: coefficients, shares of those who agree, what needed no edit."""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import BenchmarkError
from reelbench.review.decisions import Decision
from reelbench.review.records import RatingSet
from reelbench.score.agreement import Coefficient, agreement
from reelbench.score.intervals import Interval, wilson
from reelbench.score.ratings import Scale, ratings_of
from reelbench.score.rounding import fixed

_MOST_VALUES = 30  # of a tag by which a rate is split


@dataclass(frozen=True, slots=True)
class LiveAgreement:
    """The agreement of one set of ratings; no coefficient, and why, where there are too few."""

    ratings: RatingSet
    coefficient: Coefficient | None
    subjects: int
    raters: int
    mean: float | None = None  # of numbers
    sd: float | None = None
    why_not: str = ""

    @property
    def command(self) -> str:
        """The command that gives the same number from the exported file."""
        method = self.coefficient.method if self.coefficient else "percent"
        categories = ",".join(self.ratings.categories)
        return (
            f"reelbench agree {self.ratings.file} --weights {self.ratings.weights} "
            f"--categories {categories} --method {method}"
        )


def live_agreement(ratings: RatingSet) -> LiveAgreement:
    """Return AC2 for axes, Cohen's kappa for two people, Fleiss' for more."""
    subjects = len({subject for subject, _, _ in ratings.rows})
    raters = len({rater for _, rater, _ in ratings.rows})
    numbers = [int(rating) for _, _, rating in ratings.rows if rating.isdigit()]
    centre = mean(numbers) if numbers else None
    spread = stdev(numbers) if len(numbers) > 1 else None
    is_axis = ratings.name not in ("answer", "decision")
    method = "ac2" if is_axis else "cohen" if raters == 2 else "fleiss"
    try:
        table = ratings_of(ratings.rows, Scale.of(ratings.categories), ratings.file)
        found = agreement(table, ratings.weights, [method])[0]
    except (ReelbenchError, BenchmarkError):
        return LiveAgreement(ratings, None, subjects, raters, centre, spread, "too_few")
    why = "one_category" if found.value is None else ""
    return LiveAgreement(ratings, found, subjects, raters, centre, spread, why)


def agreement_shares(decisions: Iterable[Decision]) -> list[tuple[str, int, float]]:
    """Return how many of those who decided agree, such as ("4 of 4", 85, 0.851), most first."""
    counts = Counter(
        (each.settlement.deciding, each.settlement.agreeing)
        for each in decisions
        if each.settlement.status != "open" and each.settlement.deciding > 1
    )
    total = sum(counts.values())
    ordered = sorted(counts, key=lambda pair: (-pair[1] / pair[0], -pair[0]))
    return [(f"{most} of {all_}", counts[all_, most], counts[all_, most] / total)
            for all_, most in ordered]  # fmt: skip


@dataclass(frozen=True, slots=True)
class NoEditRate:
    """How many items needed no text of a person, of those that were kept; overall or of a tag."""

    tag: str
    value: str
    unchanged: int = 0
    key_only: int = 0  # the key was chosen anew among the options that were there
    edited: int = 0
    rejected: int = 0

    @property
    def kept(self) -> int:
        """The items that were not rejected."""
        return self.unchanged + self.key_only + self.edited

    @property
    def rate(self) -> float | None:
        """The share without an edit."""
        return (self.unchanged + self.key_only) / self.kept if self.kept else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's interval of the share."""
        return wilson(self.rate, self.kept) if self.rate is not None else None

    @property
    def gain(self) -> float | None:
        """The gain in efficiency, 1 / (1 - rate): items for each that needs a person's text.

        None where nothing was kept, and where nothing needed an edit, so that no number is known.
        """
        return _gain(self.rate)

    @property
    def gain_interval(self) -> tuple[float | None, float | None] | None:
        """The gains at the ends of the rate's interval; the upper one may have no limit."""
        return None if self.interval is None else (_gain(self.interval[0]), _gain(self.interval[1]))


def _gain(rate: float | None) -> float | None:
    return None if rate is None or rate >= 1 else 1 / (1 - rate)


def _spelled_gain(rate: float) -> str:
    gain = _gain(rate)
    return "" if gain is None else fixed(gain, 2)


def manual_work_csv(decisions: Sequence[Decision]) -> str:
    """Return the manual work by tag as a table, with a mean over the values of each tag.

    In a mean each value counts the same, as HumanVBench has it (Table 2c).
    """
    rates = [each for each in no_edit_rates(decisions) if each.kept]
    if not rates:
        return ""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["tag", "value", "kept", "rejected", "no edit", "low", "high", "gain"])
    by_tag: dict[str, list[float]] = defaultdict(list)
    for each in rates:
        rate = each.rate or 0.0
        shares = [fixed(share, 4) for share in (rate, *(each.interval or ()))]
        row = [each.tag, each.value, each.kept, each.rejected, *shares, _spelled_gain(rate)]
        table.writerow(row)
        if each.tag:
            by_tag[each.tag].append(rate)
    for tag, values in by_tag.items():
        average = mean(values)
        row = [tag, "mean of the values", "", "", fixed(average, 4), "", "", _spelled_gain(average)]
        table.writerow(row)
    return text.getvalue()


def no_edit_rates(decisions: Sequence[Decision]) -> list[NoEditRate]:
    """Return the rate of all settled items, then of each value of each tag."""
    groups: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for each in (each for each in decisions if not each.protocol.is_about_prompts):
        work = _work(each)
        if work:
            groups["", ""][work] += 1
            tags = each.subject.item.tags if each.subject and each.subject.item else {}
            for tag in tags:
                for value in each.subject.tag(tag) if each.subject else ():
                    groups[tag, value][work] += 1
    values = Counter(tag for tag, _ in groups)
    chosen = [key for key in groups if not key[0] or 1 < values[key[0]] <= _MOST_VALUES]
    return [NoEditRate(tag, value, **groups[tag, value]) for tag, value in sorted(chosen)]


def _work(decision: Decision) -> str:
    """Return what an item needed, once that is settled."""
    verdict = decision.verdict
    if verdict is None:
        return ""
    if verdict.decision == "reject":
        return "rejected"
    fields = set(verdict.new_fields)
    return "unchanged" if not fields else "key_only" if fields == {"answer"} else "edited"


def rejected_tags(decisions: Iterable[Decision]) -> list[tuple[str, int]]:
    """Return the reasons of settled rejections with their counts, most first."""
    counts = Counter(
        tag
        for each in decisions
        if each.verdict and each.verdict.decision == "reject"
        for tag in each.verdict.tags
    )
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
