"""What the whole benchmark gives away: places, lengths, and answers that come too often."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scipy import stats

from reelbench.items import LETTERS, Item
from reelbench.make.lint.findings import Finding, Severity
from reelbench.make.lint.text import is_none_of_them, plain

UNLIKELY = 0.001  # a benchmark has many figures: call only what chance would hardly do
GAIN = 0.10  # what a guesser must win over chance for a shortcut to be HIGH
ENOUGH = 5  # expected keys per place below which the chi-square law does not hold


def shortcut_findings(items: Sequence[Item]) -> tuple[list[Finding], dict[str, Any]]:
    """Return what is given away, and the figures whether or not anything is."""
    figures: dict[str, Any] = {}
    findings: list[Finding] = []
    for name, look in _LOOKS.items():
        found, figures[name] = look(items)
        findings += found
    return findings, figures


Look = tuple[list[Finding], dict[str, Any] | None]


def _shortcut(tag: str, message: str, gain: float) -> Finding:
    finding = Finding.of(tag, message)
    return replace(finding, severity=Severity.HIGH) if gain > GAIN else finding


def _key_positions(items: Sequence[Item]) -> Look:
    """Test by chi-square whether the right options stand equally often in every place.

    Items are compared with those of equal option count and equal number of right options; a
    closing "none of the above" is left out, since its place is fixed.
    """
    strata: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    sizes: Counter[tuple[int, int]] = Counter()
    for item in items:
        free = _free_options(item)
        right = [LETTERS.index(letter) for letter in item.answer]
        if item.kind in ("single", "multi") and all(place < free for place in right):
            strata[free, len(right)].update(right)
            sizes[free, len(right)] += 1
    statistic, freedom = 0.0, 0
    for (count, right_count), places in strata.items():
        expected = sizes[count, right_count] * right_count / count
        if expected < ENOUGH or right_count == count:
            continue
        # The places of one item's several keys exclude each other, which shrinks the spread.
        spread = expected * (1 - right_count / count) * count / (count - 1)
        statistic += sum((places[place] - expected) ** 2 / spread for place in range(count))
        freedom += count - 1
    if not freedom:
        return [], None
    p = float(stats.chi2.sf(statistic, freedom))
    single = [item for item in items if item.kind == "single"]
    keys = Counter(item.answer[0] for item in single)
    best, wins = keys.most_common(1)[0] if keys else ("", 0)
    accuracy, chance = wins / max(1, len(single)), _chance(single)
    figure = {
        "chi_square": round(statistic, 3),
        "degrees_of_freedom": freedom,
        "p": p,
        "single_keys": dict(sorted(keys.items())),
        "always": {"letter": best, "accuracy": round(accuracy, 4), "chance": round(chance, 4)},
    }
    if p >= UNLIKELY:
        return [], figure
    message = (
        f"right options are not spread evenly over places (chi-square {statistic:.1f}, {freedom} "
        f"degrees of freedom, p = {p:.1g}); always {best} is right in {accuracy:.1%} of "
        f"{len(single)} single-select items, where chance gives {chance:.1%}"
    )
    return [_shortcut("KEY_POSITION", message, accuracy - chance)], figure


def _chance(items: Sequence[Item]) -> float:
    return sum(1 / len(item.options) for item in items) / max(1, len(items))


def _free_options(item: Item) -> int:
    """How many options can stand in any place."""
    fixed = bool(item.options) and is_none_of_them(item.options[-1])
    return len(item.options) - fixed


@dataclass(frozen=True, slots=True)
class _Bet:
    """What a guesser who ignores the video reaches, beside what chance would."""

    items: int
    accuracy: float
    chance: float
    p: float

    def to_record(self) -> dict[str, Any]:
        return {
            "items": self.items,
            "accuracy": round(self.accuracy, 4),
            "chance": round(self.chance, 4),
            "p": self.p,
        }


def _bet(items: Sequence[Item], best: Callable[[list[int]], int]) -> _Bet | None:
    """Bet on the longest (or shortest) option; where several are, their shares are split."""
    won = expected = spread = 0.0
    for item in items:
        lengths = [len(option) for option in item.options]
        tied = [place for place, length in enumerate(lengths) if length == best(lengths)]
        won += (LETTERS.index(item.answer[0]) in tied) / len(tied)
        chance = 1 / len(item.options)
        expected += chance
        # A tie between t options wins 1/t of the time: less spread than a straight guess.
        spread += chance * (1 / len(tied) - chance)
    if not items or spread <= 0:
        return None
    p = float(stats.norm.sf((won - expected) / spread**0.5))
    return _Bet(len(items), won / len(items), expected / len(items), p)


def _key_lengths(items: Sequence[Item]) -> Look:
    single = [item for item in items if item.kind == "single"]
    figure: dict[str, Any] = {}
    findings = []
    for word, best in (("longest", max), ("shortest", min)):
        bet = _bet(single, best)
        if bet is None:
            continue
        figure[word] = bet.to_record()
        if bet.p < UNLIKELY:
            message = (
                f"picking the {word} option is right in {bet.accuracy:.1%} of {bet.items} items, "
                f"where chance gives {bet.chance:.1%} (p = {bet.p:.1g})"
            )
            findings.append(_shortcut("KEY_LENGTH", message, bet.accuracy - bet.chance))
    return findings, figure or None


def _yes_no(items: Sequence[Item]) -> Look:
    answers = Counter(plain(item.correct[0]).rstrip(".!") for item in items if item.kind == "yesno")
    yes, no = answers["yes"], answers["no"]
    if not yes + no:
        return [], None
    p = float(stats.binomtest(yes, yes + no).pvalue)
    figure = {"yes": yes, "no": no, "p": p}
    if p >= UNLIKELY:
        return [], figure
    message = f"{yes} yes/no items have the answer yes and {no} have no (p = {p:.1g})"
    return [Finding.of("YES_NO_IMBALANCE", message)], figure


def _none_of_the_above(items: Sequence[Item]) -> Look:
    offered = [
        item for item in items if item.kind == "single" and any(map(is_none_of_them, item.options))
    ]
    if not offered:
        return [], None
    right = sum(is_none_of_them(item.correct[0]) for item in offered)
    chance = _chance(offered)
    p = float(stats.binomtest(right, len(offered), chance).pvalue)
    figure = {"offered": len(offered), "right": right, "chance": round(chance, 4), "p": p}
    if p >= UNLIKELY:
        return [], figure
    message = (
        f"'none of the above' is right in {right} of the {len(offered)} items that offer it, "
        f"where {chance:.1%} would give nothing away (p = {p:.1g})"
    )
    gain = abs(right / len(offered) - chance)
    return [_shortcut("NONE_OF_THE_ABOVE", message, gain)], figure


_LOOKS: dict[str, Callable[[Sequence[Item]], Look]] = {
    "key_positions": _key_positions,
    "key_lengths": _key_lengths,
    "yes_no": _yes_no,
    "none_of_the_above": _none_of_the_above,
}


def tag_findings(
    items: Sequence[tuple[int, Item]], taxonomy: dict[str, set[str]]
) -> Iterator[Finding]:
    """Find tag values that the benchmark's own taxonomy does not have."""
    for line, item in items:
        for tag, allowed in taxonomy.items():
            for value in item.tag(tag):
                if value not in allowed:
                    message = f"{tag} is {value!r}, which benchmark.yaml's taxonomy does not have"
                    yield Finding.of("UNKNOWN_TAG", message, item, line)
