"""Rules that see no video: they know how long a clip is, and the place, text and numbers of options.

``beyond_chance`` plays them, and a player who learns from half of the items how much each says.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from reelbench.data.items import LETTERS, NOTHING, Item

MOST_OVER_CHANCE = 0.03
Rule = Callable[["Blind"], Sequence[int]]  # the places that it picks, equally likely each


@dataclass(frozen=True)
class Blind:
    """What is known of an item without its video: ``spans`` are times, or numbers as of no length."""

    texts: Sequence[str]
    key: int
    seconds: float = 0.0  # that the clip lasts
    spans: Sequence[tuple[float, float]] = ()

    @property
    def lengths(self) -> list[int]:
        return [len(text) for text in self.texts]


def blind(item: Item, seconds: float = 0.0, never: Sequence[str] = ()) -> Blind:
    """What a blind player knows, who strikes out options with these words."""
    texts = [text for text in item.options if not any(words in text for words in never)]
    numbers = [list(map(float, re.findall(r"\d+(?:\.\d+)?", text))) for text in texts]
    timed = all(1 <= len(each) <= 2 for each in numbers)
    return Blind(
        texts,
        texts.index(item.options[LETTERS.index(item.answer[0])]),
        seconds,
        [(each[0], each[-1]) for each in numbers] if timed else (),
    )


def _ranked(name: str, by: Callable[[Blind], Sequence[float]]) -> dict[str, Rule]:
    def rule(rank: int) -> Rule:
        def picks(item: Blind) -> list[int]:
            values = by(item)
            ranked = sorted(values)
            return [p for p, v in enumerate(values) if len(values) > rank and v == ranked[rank]]

        return picks

    last: Rule = lambda item: [p for p, v in enumerate(by(item)) if v == max(by(item))]  # noqa: E731
    return {**{f"{name}, rank {rank + 1}": rule(rank) for rank in range(4)}, f"most {name}": last}


def _with(name: str, holds: Callable[[Blind, int], bool]) -> dict[str, Rule]:
    """The rule that picks options for which something holds, and the one that strikes them out."""
    return {
        name: lambda item: [p for p in range(len(item.texts)) if holds(item, p)],
        f"not {name}": lambda item: [p for p in range(len(item.texts)) if not holds(item, p)],
    }


def _apart(values: Sequence[float]) -> list[float]:
    """How far each value is from the next one."""
    return [
        min((abs(value - other) for p, other in enumerate(values) if p != place), default=0.0)
        for place, value in enumerate(values)
    ]


def _off(values: Sequence[float], middle: float) -> list[float]:
    return [abs(value - middle) for value in values]


WORDS: dict[str, Rule] = {
    **{f"place {place + 1}": (lambda item, p=place: [p] if p < len(item.texts) else [])  # type: ignore[misc]
       for place in range(4)},
    "last place": lambda item: [len(item.texts) - 1],
    **_ranked("length", lambda item: item.lengths),
    **_ranked("words", lambda item: [len(text.split()) for text in item.texts]),
    **_ranked("length off the mean", lambda item: _off(item.lengths, fmean(item.lengths))),
    **_ranked("length off the median", lambda item: _off(item.lengths, median(item.lengths))),
    **_ranked("length off the next", lambda item: _apart(item.lengths)),
}  # fmt: skip


def _middles(item: Blind) -> list[float]:
    return [(start + end) / 2 for start, end in item.spans]


def _shared(item: Blind) -> list[float]:
    return [
        sum(max(0.0, min(end, b) - max(start, a)) for a, b in item.spans) - (end - start)
        for start, end in item.spans
    ]


def _last(item: Blind) -> int:
    return int(item.seconds)


TIMES: dict[str, Rule] = {
    **_ranked("middle", _middles),
    **_ranked("start", lambda item: [start for start, _ in item.spans]),
    **_ranked("end", lambda item: [end for _, end in item.spans]),
    **_ranked("duration", lambda item: [end - start for start, end in item.spans]),
    **_ranked("shared with others", _shared),
    **_ranked("off the mean", lambda item: _off(_middles(item), fmean(_middles(item)))),
    **_ranked("off the median", lambda item: _off(_middles(item), median(_middles(item)))),
    **_ranked("off the next", lambda item: _apart(_middles(item))),
    **_ranked("off the middle of the clip", lambda item: _off(_middles(item), item.seconds / 2)),
    **_ranked(
        "off an end of the clip",
        lambda item: [min(start, item.seconds - end) for start, end in item.spans],
    ),
    **_with("at second 0", lambda item, p: item.spans[p][0] == 0),
    **_with("at the last second", lambda item, p: item.spans[p][1] >= _last(item)),
    **_with("at an end", lambda item, p: item.spans[p][0] == 0 or item.spans[p][1] >= _last(item)),
    **_with(
        "within a second of an end",
        lambda item, p: item.spans[p][0] <= 1 or item.spans[p][1] >= _last(item) - 1,
    ),
}
for _tenth in range(1, 10):
    TIMES |= _ranked(
        f"off {_tenth}/10 of the clip",
        lambda item, t=_tenth: _off(_middles(item), item.seconds * t / 10),  # type: ignore[misc]
    )
for _number in range(15):
    TIMES[f"number {_number}"] = lambda item, n=_number: [  # type: ignore[misc]
        p for p, (start, _) in enumerate(item.spans) if start == n
    ]
    TIMES[f"{_number} before the end"] = lambda item, n=_number: [  # type: ignore[misc]
        p for p, (_, end) in enumerate(item.spans) if _last(item) - end == n
    ]


def _learned(items: Sequence[Blind], picks: Sequence[Mapping[str, Sequence[int]]]) -> list[float]:
    """What a player wins who adds up what rules say, as learned from the other half of the items.

    The same rule may say something else in a long clip than in a short one.
    """
    won = []
    count = fmean(len(item.texts) for item in items)
    for half in (0, 1):
        keys: dict[str, float] = defaultdict(float)
        offered: dict[str, float] = defaultdict(float)
        for number in range(1 - half, len(items), 2):
            for name, places in picks[number].items():
                for kind in (name, f"{name}, {items[number].seconds > 15}"):
                    offered[kind] += len(places)
                    keys[kind] += items[number].key in places
        weight = {
            kind: math.log((keys[kind] + 3) / (offered[kind] + 3 * count) * count)
            for kind in offered
        }
        for number in range(half, len(items), 2):
            item, sums = items[number], [0.0] * len(items[number].texts)
            for name, places in picks[number].items():
                said = weight.get(name, 0.0) + weight.get(f"{name}, {item.seconds > 15}", 0.0)
                for place in places:
                    sums[place] += said
            best = [place for place, each in enumerate(sums) if each == max(sums)]
            won.append((item.key in best) / len(best) - 1 / len(item.texts))
    return won


def of_text(text: str) -> Rule:
    """The rule that picks an option wherever it is offered."""
    return lambda item: [place for place, each in enumerate(item.texts) if each == text]


def gains(items: Sequence[Blind], more: Mapping[str, Rule] = NOTHING) -> dict[str, list[float]]:
    """What each rule wins over chance, item by item; one that picks nothing guesses."""
    rules = {**WORDS, **(TIMES if all(item.spans for item in items) else {}), **more}
    picks = [{name: rule(item) for name, rule in rules.items()} for item in items]
    found = {
        name: [
            (item.key in own[name]) / len(own[name]) - 1 / len(item.texts) if own[name] else 0.0
            for item, own in zip(items, picks, strict=True)
        ]
        for name in rules
    }
    return {**found, "what was learned": _learned(items, picks)}


def upper_bound(won: Sequence[float]) -> float:
    """The upper end of the 95 % interval of a mean."""
    return fmean(won) + 1.96 * stdev(won) / math.sqrt(len(won))


def beyond_chance(items: Sequence[Blind], more: Mapping[str, Rule] = NOTHING) -> dict[str, float]:
    """The rules that may be right too often, and the upper bound of what each wins over chance."""
    bounds = {name: round(upper_bound(won), 3) for name, won in gains(items, more).items()}
    return {name: bound for name, bound in bounds.items() if bound > MOST_OVER_CHANCE}
