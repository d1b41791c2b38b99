"""The positions of right options: every one equally often."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import structs

from reelbench.base.seeds import rng_for, seed_for
from reelbench.data.items import LETTERS, Item
from reelbench.make.parts.balance.draw import (
    depends_on_places,
    in_order_of_chance,
    none_places,
    right_places,
)


def spread_key_positions(items: Sequence[Item], seed: int) -> tuple[Item, ...]:
    """Move the keys of single-choice items so that all places come equally often, or one apart.

    That holds among items with equally many options (those that close with "none of the above"
    apart, since a key cannot go there). The wrong options are shuffled: had they kept their
    order, a key moved out of 1, 2, 3, 4 would be the one number that stands wrong. In multi-select
    items all options are shuffled. "None of the above" goes last; where it is the key, or where an
    option names the places of others, nothing moves.
    """
    seed = seed_for(seed, *_keys(items))
    placed = {item.id: item for item in items}
    by_count: dict[int, list[Item]] = defaultdict(list)
    for item in in_order_of_chance(items, seed, "places"):
        if item.kind in ("single", "multi") and _is_free(item):
            if item.kind == "multi":
                placed[item.id] = _shuffled(item, seed)
            else:
                by_count[len(item.options) - len(none_places(item))].append(item)
    for count, keyed in by_count.items():
        places = list(range(count))
        rng_for(seed, "deck of places", count).shuffle(places)
        # The same order round after round: then any run of it is even, so that items which close
        # with "none of the above" are even among themselves and with those that have no such.
        keyed.sort(key=lambda item: len(item.options))
        for number, item in enumerate(keyed):
            placed[item.id] = _with_key_at(places[number % count], item, seed)
    return tuple(placed[item.id] for item in items)


def _keys(items: Sequence[Item]) -> Iterator[str]:
    """Yield ids and keys for the seed: without the answers, positions cannot be computed."""
    for item in sorted(items, key=lambda item: item.id):
        if item.kind in ("single", "multi"):
            yield from (item.id, *sorted(item.options[place] for place in right_places(item)))


def _is_free(item: Item) -> bool:
    return not (right_places(item) & none_places(item) or depends_on_places(item))


def _with_key_at(place: int, item: Item, seed: int) -> Item:
    (key,) = right_places(item)
    others = [text for at, text in enumerate(item.options) if at not in none_places(item) | {key}]
    others.sort()  # what came out once comes out again, however the options stood
    rng_for(seed, "options", item.id).shuffle(others)
    options = (*others[:place], item.options[key], *others[place:], *_closing(item))
    return structs.replace(item, options=options, answer=(LETTERS[place],))


def _shuffled(item: Item, seed: int) -> Item:
    right, closing = right_places(item), none_places(item)
    marked = [(text, at in right) for at, text in enumerate(item.options) if at not in closing]
    marked.sort()
    rng_for(seed, "options", item.id).shuffle(marked)
    options = (*(text for text, _ in marked), *_closing(item))
    answer = tuple(LETTERS[at] for at, (_, is_right) in enumerate(marked) if is_right)
    return structs.replace(item, options=options, answer=answer)


def _closing(item: Item) -> list[str]:
    return [item.options[at] for at in sorted(none_places(item))]
