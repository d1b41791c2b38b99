"""What all balancing uses: a random order of items, and the positions of their keys."""

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from reelbench.base.errors import ReelbenchError
from reelbench.base.seeds import seed_for
from reelbench.base.text import is_none_of_them, plain, refers_to_others
from reelbench.data.items import LETTERS, Item
from reelbench.data.question_rules import lists_options

NONE_MARK = "none_of_the_above"  # in the note on an item whose last option we made that


class _Named(Protocol):
    @property
    def id(self) -> str: ...


AnyRow = TypeVar("AnyRow", bound=_Named)


def in_order_of_chance(items: Iterable[AnyRow], seed: int, purpose: str) -> list[AnyRow]:
    """Return the items, or other rows, in a random order by seed and id, however they came."""
    by_id: dict[str, AnyRow] = {}
    for item in items:
        if item.id in by_id:
            raise ReelbenchError(
                f"Two items have the id {item.id!r}: give each its own; draws depend on it."
            )
        by_id[item.id] = item
    return sorted(by_id.values(), key=lambda item: (seed_for(seed, purpose, item.id), item.id))


def right_places(item: Item) -> frozenset[int]:
    """Return the positions of the right options; an answer that names none raises an error."""
    known = [letter for letter in item.answer if len(letter) == 1 and letter in item.letters]
    one = item.kind != "multi"
    if not known or len(known) < len(item.answer) or (one and len(known) > 1):
        expected = "one letter" if one else "letters"
        raise ReelbenchError(
            f"Item {item.id!r} has the answer {list(item.answer)} and {len(item.options)} options: "
            f"its answer must be {expected} of its options."
        )
    return frozenset(LETTERS.index(letter) for letter in known)


def none_places(item: Item) -> frozenset[int]:
    """Return the positions of options that say that none of the others is right.

    In other languages, those that ``none_of_the_above`` wrote are known by its note.
    """
    places = {place for place, text in enumerate(item.options) if is_none_of_them(text)}
    notes = [item.provenance, *item.provenance.values()]  # itself, as it was once written
    if item.options and any(isinstance(each, Mapping) and NONE_MARK in each for each in notes):
        places.add(len(item.options) - 1)
    return frozenset(places)


def depends_on_places(item: Item) -> bool:
    """Whether an option such as "both A and C" is wrong once options change places.

    Where every option is such a list, it is one of things that the question names: "B, A, C". A
    question that lists its options itself depends on their places, too; one that lists things to
    be put in order does not.
    """
    if lists_options(item.question):
        return True
    referring = sum(map(refers_to_others, item.options))
    return 0 < referring < len(item.options) - len(none_places(item))


def reference_after(item: Item, right: str) -> str | None:
    """Return the reference of an item with a new key: the key itself if it was the old one."""
    spelt_out = item.reference is not None and plain(item.reference) == plain(item.correct[0])
    return right if spelt_out else item.reference
