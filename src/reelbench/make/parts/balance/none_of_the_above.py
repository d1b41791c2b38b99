""" "None of the above": in some items as the key, in as many others as a wrong option."""

from collections.abc import Sequence
from fractions import Fraction

from msgspec import structs

from reelbench.base.errors import ReelbenchError
from reelbench.base.seeds import rng_for
from reelbench.base.text import plain
from reelbench.data.items import LETTERS, Item
from reelbench.make.parts.balance.draw import (
    NONE_MARK,
    depends_on_places,
    in_order_of_chance,
    none_places,
    right_places,
)
from reelbench.make.parts.balance.shares import apportion, share_of_all
from reelbench.make.parts.notes import with_note

_ROUNDING = Fraction(1, 10**9)  # of shares that were written as floats
FEWEST_OPTIONS = 3


def offer_none_of_the_above(
    items: Sequence[Item],
    seed: int,
    as_key: float = 2 / 15,
    as_distractor: float = 2 / 15,
    text: str = "None of the above",
    note: str = "none-of-the-above",
) -> tuple[Item, ...]:
    """Return items in which it replaces the key of a share, and a wrong option of another share.

    The shares are of the single-choice items that can have it: those with three options or more,
    none of which says so already, refers to others by letter, or equals the key. The reference
    stays what it is: it says what is true, also where no option does. Under ``note``, the
    provenance of a changed item has which of the two it replaces.
    """
    if not text.strip():
        raise ReelbenchError("The text of the option 'none of the above' is empty: give it one.")
    shares = {"key": share_of_all("as_key", as_key)}
    shares["distractor"] = share_of_all("as_distractor", as_distractor)
    rest = max(1 - shares["key"] - shares["distractor"], Fraction(0))
    if shares["key"] + shares["distractor"] > 1 + _ROUNDING:
        raise ReelbenchError(
            f"as_key and as_distractor are {as_key} and {as_distractor}, more than all items "
            "together: give shares that sum to 1 at most."
        )
    drawn = [item for item in in_order_of_chance(items, seed, NONE_MARK) if can_have(item, text)]
    counts = apportion(len(drawn), {**shares, "neither": rest})
    roles = [role for role, count in counts.items() for _ in range(count)]
    changed = {
        item.id: _with(item, role, text, seed, note)
        for item, role in zip(drawn, roles, strict=True)
        if role != "neither"
    }
    return tuple(changed.get(item.id, item) for item in items)


def can_have(item: Item, text: str = "None of the above") -> bool:
    """Whether an item can be given this option."""
    if item.kind != "single" or len(item.options) < FEWEST_OPTIONS:
        return False
    (key,) = right_places(item)
    texts = [plain(option) for option in item.options]
    taken = none_places(item) or plain(text) in texts or depends_on_places(item)
    return not taken and texts.count(texts[key]) == 1


def _with(item: Item, role: str, text: str, seed: int, note: str) -> Item:
    (key,) = right_places(item)
    wrong = [place for place in range(len(item.options)) if place != key]
    given_up = key if role == "key" else rng_for(seed, "given up", item.id).choice(wrong)
    kept = [place for place in range(len(item.options)) if place != given_up]
    at = len(kept) if role == "key" else kept.index(key)
    changed = structs.replace(
        item,
        options=(*(item.options[place] for place in kept), text),
        answer=(LETTERS[at],),
    )
    return with_note(changed, note, {NONE_MARK: role})
