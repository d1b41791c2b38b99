"""What the draws have in common: an order of chance, and keys by their place."""

from collections.abc import Iterable, Mapping

from reelbench.base.errors import ReelbenchError
from reelbench.base.seeds import seed_for
from reelbench.base.text import is_none_of_them, plain, refers_to_others
from reelbench.data.items import LETTERS, Item
from reelbench.lint.options import inline_options

NONE_MARK = "none_of_the_above"  # in the note on an item whose last option we made that


def in_order_of_chance(items: Iterable[Item], seed: int, purpose: str) -> list[Item]:
    """Return the items in an order that has nothing to do with the one they came in."""
    by_id: dict[str, Item] = {}
    for item in items:
        if item.id in by_id:
            raise ReelbenchError(
                f"Two items have the id {item.id!r}: what is drawn for an item depends on its id, "
                "so give each one of its own."
            )
        by_id[item.id] = item
    return sorted(by_id.values(), key=lambda item: (seed_for(seed, purpose, item.id), item.id))


def right_places(item: Item) -> frozenset[int]:
    """Return the places of the right options, or say that the answer names none."""
    known = [letter for letter in item.answer if len(letter) == 1 and letter in item.letters]
    one = item.kind != "multi"
    if not known or len(known) < len(item.answer) or (one and len(known) > 1):
        expected = "one letter" if one else "letters"
        raise ReelbenchError(
            f"Item {item.id!r} has the answer {list(item.answer)} and {len(item.options)} options: "
            f"give it {expected} of its options."
        )
    return frozenset(LETTERS.index(letter) for letter in known)


def none_places(item: Item) -> frozenset[int]:
    """Return the places of options that say none of the others is right.

    The mark tells those in other languages that we wrote ourselves.
    """
    places = {place for place, text in enumerate(item.options) if is_none_of_them(text)}
    notes = [item.provenance, *item.provenance.values()]  # itself, as it was once written
    if item.options and any(isinstance(each, Mapping) and NONE_MARK in each for each in notes):
        places.add(len(item.options) - 1)
    return frozenset(places)


def depends_on_places(item: Item) -> bool:
    """Whether an option such as "both A and C" is wrong once options change places.

    Where every option is such a list, it is one of things that the question names: "B, A, C". A
    question that lists its options itself depends on their places, too.
    """
    if inline_options(item.question):
        return True
    referring = sum(map(refers_to_others, item.options))
    return 0 < referring < len(item.options) - len(none_places(item))


def reference_after(item: Item, right: str) -> str | None:
    """Return the reference beside a new right option; it changes where it spelt out the old one."""
    spelt_out = item.reference is not None and plain(item.reference) == plain(item.correct[0])
    return right if spelt_out else item.reference
