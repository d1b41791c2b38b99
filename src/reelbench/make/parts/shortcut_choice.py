"""Which items to repair so that no rule of thumb finds their keys: the fewest, and how each."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from math import ceil

from reelbench.base.seeds import seed_for
from reelbench.data.items import Item
from reelbench.lint.guesses import LENGTHS, Guess, number_in, ranked_numbers
from reelbench.lint.wording import WordingBaseline, baselines_of
from reelbench.make.parts.rewrite_options import WantedOptions, can_be_rewritten, wrong_options
from reelbench.make.parts.shortcut_measures import NUMBER, WORDING, ShortcutMeasure

_SHORT = 4  # characters: a shorter key has no room for options that are shorter still
_SIGNS = 5  # of wording that a writer is told of, right and wrong together
_WHY = {
    "longest": "the right answer is the longest option more often than others are",
    "shortest": "the right answer is the shortest option more often than others are",
    NUMBER: "the right number is the {word} of all more often than others are",
    WORDING: "the right answer is worded, or differs from the others, as right answers often do",
}


def items_to_repair(
    beyond: Mapping[str, ShortcutMeasure], tried: Mapping[str, int]
) -> dict[str, list[str]]:
    """Return the fewest items that a repair takes to chance, and the rules that each betrays.

    A rule has to lose as many items as it gets right beyond chance. Items that several rules get
    right go first, then those that were ``tried`` less often, then those that stand out most.
    """
    found = {
        name: {guess.item.id: guess for guess in measure.guesses if _is_lost(guess, name)}
        for name, measure in beyond.items()
    }
    times = Counter(id_ for own in found.values() for id_ in own)
    chosen: dict[str, list[str]] = defaultdict(list)
    for name in sorted(found, key=lambda each: (-beyond[each].excess, each)):
        own = found[name]
        order = sorted(
            own,
            key=lambda id_: (
                id_ not in chosen,
                -times[id_],
                tried.get(id_, 0),
                -own[id_].lead,
                id_,
            ),
        )
        for id_ in order[: ceil(beyond[name].excess - 1e-9)]:
            chosen[id_].append(name)
    for name, own in found.items():  # one repair of an item is to cure all that betrays it
        for id_ in chosen:
            if id_ in own and name not in chosen[id_]:
                chosen[id_].append(name)
    return dict(chosen)


def _is_lost(guess: Guess, name: str) -> bool:
    """Whether other wrong options could make a rule lose an item that it gets right."""
    short = name in LENGTHS and min(map(len, guess.item.correct), default=0) < _SHORT
    return guess.right == 1 and can_be_rewritten(guess.item) and not short


def wanted_options(
    items: Sequence[Item],
    chosen: Mapping[str, Collection[str]],
    beyond: Mapping[str, ShortcutMeasure],
    seed: int,
) -> dict[str, WantedOptions]:
    """Return how the wrong options of each chosen item should come out.

    Right options are to have those ranks by length, and right numbers those by size, which they
    now have too rarely.
    """
    number = beyond.get(NUMBER)
    word = number.word if number else ""
    by_length = {each: id_ for each, id_ in chosen.items() if set(id_) & set(LENGTHS)}
    by_size = [each for each, rules in chosen.items() if NUMBER in rules]
    lengths = _spread(items, by_length, _longer, seed)
    sizes = _spread([item for item, _ in ranked_numbers(items)], by_size, _greater, seed)
    baselines = baselines_of(items) if WORDING in beyond else {}
    wanted = {}
    for item in items:
        if item.id not in chosen:
            continue
        rules = chosen[item.id]
        right, wrong = _signs(item, baselines.get(item.id)) if WORDING in rules else ((), ())
        wanted[item.id] = WantedOptions(
            reasons=tuple(_WHY[name].format(word=word) for name in _WHY if name in rules),
            longer=lengths.get(item.id, _longer(item)),
            greater=sizes.get(item.id),
            right_signs=right,
            wrong_signs=wrong,
        )
    return wanted


def _longer(item: Item) -> int:
    """Return how many wrong options are longer than all right ones."""
    most = max(map(len, item.correct))
    return sum(len(text) > most for text in wrong_options(item).values())


def _greater(item: Item) -> int:
    """Return how many wrong numbers are greater than the right one."""
    numbers = [number_in(text) or 0.0 for text in (item.correct[0], *wrong_options(item).values())]
    return sum(number > numbers[0] for number in numbers)


def _spread(
    items: Sequence[Item], chosen: Collection[str], rank_of: Callable[[Item], int], seed: int
) -> dict[str, int]:
    """Return new ranks for the chosen items, which fill up those that are too rare.

    Which item gets which is drawn by its id, so that more items change few of them. None keeps
    the rank it has.
    """
    new: dict[str, int] = {}
    groups: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        if can_be_rewritten(item):
            groups[len(wrong_options(item))].append(item)
    for most, group in groups.items():
        moved = [item for item in group if item.id in chosen]
        counts = Counter(rank_of(item) for item in group if item.id not in chosen)
        ranks = []
        for _ in moved:
            ranks.append(min(range(most + 1), key=lambda rank: (counts[rank], rank)))
            counts[ranks[-1]] += 1
        ranks.sort()
        moved.sort(key=lambda item: seed_for(seed, "ranks", item.id))
        for item, rank in zip(moved, ranks, strict=True):
            others = [each for each in range(most + 1) if each != rank_of(item)]
            new[item.id] = rank if rank in others else min(others, key=lambda r: (counts[r], r))
    return new


def _signs(item: Item, baseline: WordingBaseline | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what tells the right options of an item, and its wrong ones, by their wording."""
    found = list(baseline.telling(item).items())[:_SIGNS] if baseline else []
    right = tuple(f"it {sign}" for sign, weight in found if weight > 0)
    return right, tuple(f"it {sign}" for sign, weight in found if weight < 0)
