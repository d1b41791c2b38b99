"""Shortcuts of a whole benchmark: positions, lengths, ranks, words, and too frequent answers."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reelbench.base.text import is_none_of_them, plain
from reelbench.data.items import LETTERS, Item
from reelbench.lint.evenness import Stratum, binomial_p, evenness_of
from reelbench.lint.findings import Finding, Severity
from reelbench.lint.guesses import (
    LENGTHS,
    NUMBERS,
    by_length,
    by_letter,
    by_number,
    figure_of,
    ranked_numbers,
)
from reelbench.lint.wording import wording_figure
from reelbench.score.rounding import percent

UNLIKELY = 0.001  # many checks are made: report only what chance would hardly do
GAIN = 0.10  # what a guesser must win over chance for a shortcut to be HIGH

# In the provenance of a yes/no item: that a make could not turn its question into the opposite.
NOT_NEGATED = "not_negated"

ShortcutResult = tuple[list[Finding], dict[str, Any] | None]  # and its statistics


def shortcut_findings(items: Sequence[Item]) -> tuple[list[Finding], dict[str, Any]]:
    """Return the findings about shortcuts, and the statistics of all checks."""
    figures: dict[str, Any] = {}
    findings: list[Finding] = []
    for name, check in _CHECKS.items():
        found, figures[name] = check(items)
        findings += found
    return findings, figures


def _shortcut(tag: str, message: str, gain: float) -> Finding:
    finding = Finding.of(tag, message)
    return replace(finding, severity=Severity.HIGH) if gain > GAIN else finding


def _key_positions(items: Sequence[Item]) -> ShortcutResult:
    """Test whether the right options are equally often in every position.

    Items are compared with those of equal option count and equal number of right options; a
    closing "none of the above" is left out, since its place is fixed.
    """
    strata: dict[Stratum, Counter[int]] = defaultdict(Counter)
    for item in items:
        places = len(item.options) - is_none_of_them(item.options[-1]) if item.options else 0
        right = [LETTERS.index(letter) for letter in item.answer]
        if item.kind in ("single", "multi") and all(place < places for place in right):
            strata[places, len(right)].update(right)
    evenness = evenness_of(strata)
    if evenness is None:
        return [], None
    single = [item for item in items if item.kind == "single"]
    keys = Counter(item.answer[0] for item in single)
    figure = evenness | {"single_keys": dict(sorted(keys.items()))}
    if evenness["p"] >= UNLIKELY:
        return [], figure
    message = f"right options are not spread evenly over positions ({_describe(evenness)})"
    gain = 0.0
    if keys:
        best, wins = keys.most_common(1)[0]
        accuracy, chance = wins / len(single), _chance(single)
        gain = accuracy - chance
        message += (
            f"; always choosing {best} is right in {percent(accuracy)} of {len(single)} "
            f"single-select items, where chance gives {percent(chance)}"
        )
    return [_shortcut("KEY_POSITION", message, gain)], figure


def _describe(evenness: Mapping[str, Any]) -> str:
    return (
        f"chi-square {evenness['chi_square']:.1f}, {evenness['degrees_of_freedom']} degrees of "
        f"freedom, p = {evenness['p']:.1g}"
    )


def _chance(items: Sequence[Item]) -> float:
    return sum(item.chance for item in items) / max(1, len(items))


def _key_lengths(items: Sequence[Item]) -> ShortcutResult:
    """Bet on the longest option, and on the shortest: how often is it a right one?"""
    figure: dict[str, Any] = {}
    findings = []
    for word in LENGTHS:
        bet = figure_of(by_length(items, word))
        if bet is None:
            continue
        figure[word] = bet
        if bet["p"] < UNLIKELY:
            message = (
                f"the {word} option is right in {percent(bet['accuracy'])} of {bet['items']} "
                f"items, where chance gives {percent(bet['chance'])} (p = {bet['p']:.1g})"
            )
            gain = bet["accuracy"] - bet["chance"]
            findings.append(_shortcut("KEY_LENGTH", message, gain))
    return findings, figure or None


def _key_numbers(items: Sequence[Item]) -> ShortcutResult:
    """Test whether the right number is as often the least, a middle one or the greatest."""
    strata: dict[Stratum, Counter[int]] = defaultdict(Counter)
    for item, places in ranked_numbers(items):
        strata[len(places), 1][places.index(LETTERS.index(item.answer[0]))] += 1
    evenness = evenness_of(strata)
    if evenness is None:
        return [], None
    total = sum(counts.total() for counts in strata.values())
    wins = {word: int(sum(guess.right for guess in by_number(items, word))) for word in NUMBERS}
    best = max(wins, key=lambda word: wins[word])
    chance = sum(counts.total() / places for (places, _), counts in strata.items()) / total
    figure = evenness | {"items": total, "best": best, "accuracy": round(wins[best] / total, 4)}
    if evenness["p"] >= UNLIKELY:
        return [], figure
    message = (
        f"the right number's rank among the options is not even ({_describe(evenness)}); "
        f"picking the {best} is right in {percent(wins[best] / total)} of {total} items, where "
        f"chance gives {percent(chance)}"
    )
    return [_shortcut("KEY_NUMBER", message, wins[best] / total - chance)], figure


def _key_wording(items: Sequence[Item]) -> ShortcutResult:
    """Let a baseline learn from one half what keys say, and answer the other half blind.

    What a simpler rule wins as well is that rule's finding.
    """
    figure = wording_figure(items)
    if figure is None or figure["p"] >= UNLIKELY:
        return [], figure
    simpler = [by_letter(items), *(by_length(items, word) for word in LENGTHS)]
    if figure["accuracy"] <= max(each["accuracy"] for each in map(figure_of, simpler) if each):
        return [], figure
    message = (
        f"a blind baseline that learns from one half of the items is right in "
        f"{percent(figure['accuracy'])} of the {figure['items']} items of both halves, where "
        f"chance gives {percent(figure['chance'])} (p = {figure['p']:.1g})"
    )
    return [_shortcut("KEY_WORDING", message, figure["accuracy"] - figure["chance"])], figure


_YES = frozenset({"yes", "true", "correct", "right", "是", "对", "正确", "はい"})
_NO = frozenset({"no", "false", "incorrect", "wrong", "否", "不是", "错", "错误", "いいえ"})


def _yes_no(items: Sequence[Item]) -> ShortcutResult:
    asked = [item for item in items if item.kind == "yesno"]
    answers = Counter(_side(item) for item in asked)
    if not asked:
        return [], None
    (first, often), seldom = answers.most_common(1)[0], len(asked)
    seldom -= often
    p = binomial_p(often, len(asked), 0.5)
    figure = {**dict(sorted(answers.items())), "p": p}
    unturned = sum(_is_unturned(item) for item in asked)
    if p >= UNLIKELY and not (unturned and often > seldom + 1):
        return [], figure
    message = f"{often} of {len(asked)} yes/no items have the answer {first} (p = {p:.1g})"
    if unturned:
        questions = "1 question" if unturned == 1 else f"{unturned} questions"
        message += f"; {questions} could not be turned into an opposite for the balance"
    return [Finding.of("YES_NO_IMBALANCE", message)], figure


def _is_unturned(item: Item) -> bool:
    notes = item.provenance.values()
    return any(isinstance(note, Mapping) and NOT_NEGATED in note for note in notes)


def _side(item: Item) -> str:
    """Yes or no, whatever the words; the letter where they are neither."""
    word = plain(item.correct[0]).strip(" .!。")
    return "yes" if word in _YES else "no" if word in _NO else item.answer[0]


def _none_of_the_above(items: Sequence[Item]) -> ShortcutResult:
    single = [item for item in items if item.kind == "single"]
    offered = [item for item in single if any(map(is_none_of_them, item.options))]
    if not offered:
        return [], None
    right = sum(is_none_of_them(item.correct[0]) for item in offered)
    chance = _chance(offered)
    p = binomial_p(right, len(offered), chance)
    figure = {"offered": len(offered), "right": right, "chance": round(chance, 4), "p": p}
    if p >= UNLIKELY:
        return [], figure
    message = (
        f"'none of the above' is right in {right} of the {len(offered)} items that offer it, "
        f"where chance gives {percent(chance)} (p = {p:.1g})"
    )
    gain = abs(right / len(offered) - chance)
    return [_shortcut("NONE_OF_THE_ABOVE", message, gain)], figure


_CHECKS: dict[str, Callable[[Sequence[Item]], ShortcutResult]] = {
    "key_positions": _key_positions,
    "key_lengths": _key_lengths,
    "key_numbers": _key_numbers,
    "key_wording": _key_wording,
    "yes_no": _yes_no,
    "none_of_the_above": _none_of_the_above,
}
