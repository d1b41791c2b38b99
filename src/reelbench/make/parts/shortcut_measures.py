"""How often rules of thumb find the key over all items: the linter's measures, with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.progress import counted
from reelbench.base.text import is_none_of_them
from reelbench.data.clusters import cluster_leaders
from reelbench.data.items import Item
from reelbench.lint.guesses import LENGTHS, Guess, by_length, by_letter, by_number
from reelbench.lint.shortcuts import shortcut_findings
from reelbench.lint.wording import by_wording
from reelbench.make.parts.shares import stage_table
from reelbench.score.intervals import Cell, intervals
from reelbench.score.rounding import percent, rounded

POSITION, NUMBER, WORDING = "position", "number", "wording"
YES_NO, NONE = "yes or no", "none of the above"
REWRITTEN = (*LENGTHS, NUMBER, WORDING)  # what other wrong options can cure; wording comes last
MEASURED = (POSITION, *REWRITTEN, YES_NO, NONE)
_COLUMNS = (
    "always choosing", "items", "chance",
    "before", "low", "high", "p", "after", "low", "high", "p",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShortcutMeasure:
    """How often one rule of thumb is right, and how likely chance would do as well."""

    picks: str  # what it picks, as a sentence names it
    guesses: Sequence[Guess]
    p: float
    word: str = ""  # of a number: whether the least, the middle or the greatest is picked

    @property
    def right(self) -> float:
        """The share of items in which the rule is right; where several options tie, a part."""
        return sum(guess.right for guess in self.guesses) / len(self.guesses)

    @property
    def chance(self) -> float:
        """The share in which an option drawn by lot would be right."""
        return sum(guess.chance for guess in self.guesses) / len(self.guesses)

    @property
    def excess(self) -> float:
        """How many items more than by chance the rule gets right."""
        return sum(guess.right - guess.chance for guess in self.guesses)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share, by clusters of items that share a video or a clip."""
        leaders = cluster_leaders([guess.item for guess in self.guesses])
        clusters = [leaders[guess.item.id] for guess in self.guesses]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
        cell = Cell([numbers[name] for name in clusters], [guess.right for guess in self.guesses])
        (found,) = intervals([cell], len(numbers))
        return found.interval

    @property
    def cells(self) -> list[Any]:
        """The cells of a table: share, low, high and p."""
        p = f"{self.p:.3f}" if self.p >= 0.001 else "<0.001"
        return [rounded(self.right), *map(rounded, self.interval), p]

    def __str__(self) -> str:
        low, high = map(percent, self.interval)
        return f"{percent(self.right)} ({low} to {high})"


def shortcut_measures(items: Sequence[Item]) -> dict[str, ShortcutMeasure]:
    """Return what the linter measures of some items, by name; nothing of what they do not have."""
    _, figures = shortcut_findings(items)
    lengths, numbers = figures["key_lengths"] or {}, figures["key_numbers"]
    found: dict[str, tuple[str, Sequence[Guess], Mapping[str, Any] | None, str]] = {
        POSITION: ("the most frequent position", by_letter(items), figures["key_positions"], ""),
        **{
            word: (f"the {word} option", by_length(items, word), lengths.get(word), "")
            for word in LENGTHS
        },
        WORDING: (
            "what a blind baseline trained on the other half picks",
            by_wording(items),
            figures["key_wording"],
            "",
        ),
        YES_NO: (
            "the more frequent of yes and no",
            by_letter(items, "yesno"),
            figures["yes_no"],
            "",
        ),
        NONE: ("'none of the above'", _none(items), figures["none_of_the_above"], ""),
    }
    if numbers:
        best = numbers["best"]
        found[NUMBER] = (f"the {best} number", by_number(items, best), numbers, best)
    return {
        name: ShortcutMeasure(picks, guesses, figure["p"], word)
        for name, (picks, guesses, figure, word) in sorted(
            found.items(), key=lambda pair: MEASURED.index(pair[0])
        )
        if figure and guesses
    }


def _none(items: Sequence[Item]) -> list[Guess]:
    places = {
        item.id: tuple(at for at, text in enumerate(item.options) if is_none_of_them(text))
        for item in items
        if item.kind == "single"
    }
    return [Guess(item, places[item.id]) for item in items if places.get(item.id)]


def beyond_chance_of(
    measures: Mapping[str, ShortcutMeasure], unlikely: float, names: Sequence[str]
) -> dict[str, ShortcutMeasure]:
    """Return the measures in which a rule is right more often than chance would likely be."""
    return {
        name: measures[name]
        for name in names
        if name in measures and measures[name].p < unlikely and measures[name].excess > 0
    }


def shortcut_table(
    title: str,
    before: Mapping[str, ShortcutMeasure],
    after: Mapping[str, ShortcutMeasure],
) -> Mapping[str, Any]:
    """Return the table of all measures before and after a repair, each with its interval."""
    rows = []
    for name in MEASURED:
        one, other = before.get(name), after.get(name)
        known = one or other
        if known is None:
            continue
        cells = [each.cells if each else [None] * 4 for each in (one, other)]
        rows.append([known.picks, len(known.guesses), rounded(known.chance), *cells[0], *cells[1]])
    return stage_table(f"{title} (right in this share of items, 95 % intervals)", _COLUMNS, rows)


def before_and_after(before: ShortcutMeasure, after: ShortcutMeasure | None) -> str:
    """Return how often a rule was right and is now, in a sentence without its end."""
    items = counted(len(before.guesses), "item")
    was = f"{before.picks} was right in {before} of {items}, where chance gives "
    was += percent(before.chance)
    return f"{was}; now it is in {after}" if after else f"{was}; no such items are left"
