"""A filter against shortcuts that does not create the opposite shortcut.

A rule such as "take the longest option" is right at chance level by luck. A benchmark without every
item on which it is right is one in which it is always wrong, which can be exploited too. So only as
many items are dropped as it gets right beyond chance.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.seeds import seed_for
from reelbench.data.items import LETTERS, Item
from reelbench.lint.evenness import at_least
from reelbench.make.parts.notes import Kept, batch_filter
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import BatchStage, Rejected


@dataclass(frozen=True, slots=True)
class Bet:
    """An item that a rule answers, whether rightly, and the probability of that by luck."""

    item: Item
    won: bool
    chance: float


def beyond_chance(bets: Sequence[Bet]) -> list[Item]:
    """Return the items to drop, in order, so that a rule is right no more often than by luck."""
    wins, expected = sum(bet.won for bet in bets), sum(bet.chance for bet in bets)
    dropped = []
    for bet in bets:
        if bet.won and wins > expected + 1e-9:  # thirds do not add up to one
            dropped.append(bet.item)
            wins, expected = wins - 1, expected - bet.chance
    return dropped


def filter_shortcuts(
    unlikely: float = 0.05,
    answered: str = "independence",
    *,
    drop: bool = True,
    name: str = "shortcuts",
    role: str = "blind",
) -> BatchStage:
    """Return the stage that drops what the longest or shortest option gets right beyond chance.

    The same holds for baselines of ``role``, by their answers in the stage ``answered``. A rule is
    left alone unless luck would be right as often with a probability below ``unlikely``.
    """

    def work(items: Sequence[Item], ctx: StageContext, **values: Any) -> Kept:
        names = [m.card.name for m in ctx.models.get(role, ()) if m.card.backend == "baseline"]
        return _shortcuts(items, ctx.seed, names, **values)

    return batch_filter(
        name,
        work,
        {"unlikely": unlikely, "answered": answered},
        drop,
        validate=lambda values: (
            ""
            if 0 < values["unlikely"] < 1
            else f"unlikely is {values['unlikely']}: give a probability between 0 and 1"
        ),
    )


def _shortcuts(
    items: Sequence[Item], seed: int, baselines: Sequence[str], *, unlikely: float, answered: str
) -> Kept:
    dropped: dict[str, str] = {}
    went_on = True
    while went_on:  # what one rule loses another may win
        went_on = False
        left = [item for item in items if item.id not in dropped]
        for rule, bets in _rules(left, seed, baselines, answered):
            wins, chances = sum(bet.won for bet in bets), [bet.chance for bet in bets]
            if wins > sum(chances) and at_least(wins, chances) < unlikely:
                by_luck = f"{sum(chances):.0f}"
                why = f"{rule} is right on {wins} of {len(bets)} items; chance gives {by_luck}"
                dropped |= {item.id: why for item in beyond_chance(bets)}
                went_on = True
                break
    return [
        Rejected("a shortcut is right too often", dropped[item.id]) if item.id in dropped else item
        for item in items
    ]


def _rules(
    items: Sequence[Item], seed: int, baselines: Sequence[str], answered: str
) -> Iterator[tuple[str, list[Bet]]]:
    closed = [item for item in items if item.kind in ("single", "multi")]
    for word in ("longest", "shortest"):
        ranked = [(ratio, bet) for item in closed for ratio, bet in _by_length(item, word)]
        ranked.sort(key=lambda each: (-each[0], each[1].item.id))
        yield f"the {word} option", [bet for _, bet in ranked]
    for name in baselines:
        bets = [bet for item in items for bet in _of_baseline(item, name, answered)]
        bets.sort(key=lambda bet: seed_for(seed, "shortcuts", bet.item.id))
        yield name, bets


def _by_length(item: Item, word: str) -> Iterator[tuple[float, Bet]]:
    """Yield the bet on the one longest or shortest option, and by which factor it stands out."""
    lengths = [len(option) for option in item.options]
    first, second = sorted(lengths, reverse=word == "longest")[:2]
    if first != second:
        won = LETTERS[lengths.index(first)] in item.answer
        ratio = max(first, second) / max(1, min(first, second))
        yield ratio, Bet(item, won, len(item.answer) / len(item.options))


def _of_baseline(item: Item, name: str, answered: str) -> Iterator[Bet]:
    """Yield the bet of a baseline on an item it answered; it won if it was right each time."""
    facts = item.provenance.get(answered, {})
    models = facts.get("models", {}) if isinstance(facts, Mapping) else {}
    if name in models and item.options:
        yield Bet(item, models[name] * len(models) == facts["of"], item.chance)
