"""Yes against no: which questions to negate, and what negating one makes of its item."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from msgspec import structs

from reelbench.base.errors import ReelbenchError
from reelbench.base.text import plain
from reelbench.data.items import LETTERS, Item
from reelbench.make.parts.balance.draw import in_order_of_chance, reference_after, right_places
from reelbench.make.parts.balance.shares import Stratum, apportion_within, share_of_all, stratum_of
from reelbench.make.parts.notes import with_note

NEGATED = "negated_from"  # in the provenance of a question that was turned: as it was before


def items_to_negate(
    items: Sequence[Item], seed: int, share: float = 0.5, within: str | None = None
) -> frozenset[str]:
    """Return the ids of the fewest yes/no items to negate so that this share of them has yes.

    With ``within``, the share is kept for each value of that tag too, less than one item off;
    items with several values of it are balanced apart, as a value of their own.
    """
    now: dict[Stratum, Counter[str]] = defaultdict(Counter)
    sides: dict[tuple[Stratum, str], list[str]] = defaultdict(list)
    for item in in_order_of_chance(items, seed, "turn"):
        stratum, side = stratum_of(item, (within,) if within else ()), _side(item)
        now[stratum][side] += 1
        sides[stratum, side].append(item.id)
    yes = share_of_all("share", share)
    shares = {"yes": yes, "no": 1 - yes}
    if sum(counts["yes"] for counts in now.values()) <= len(items) * yes:
        shares = {"no": 1 - yes, "yes": yes}  # an odd one stays on the side that has too many
    wanted = apportion_within(now, shares, seed)
    return frozenset(
        item_id
        for (stratum, side), ids in sides.items()
        for item_id in ids[wanted[stratum][side] :]
    )


def negated(item: Item, question: str, note: str = "negate") -> Item:
    """Return a yes/no item with the opposite question and therefore the other answer.

    Under ``note``, its provenance has the question as it was.
    """
    _side(item)
    if not question.strip() or plain(question) == plain(item.question):
        raise ReelbenchError(
            f"The question of item {item.id!r}, {item.question!r}, cannot be negated to "
            f"{question!r}: give its opposite."
        )
    (other,) = {0, 1} - right_places(item)
    changed = structs.replace(
        item,
        question=question,
        answer=(LETTERS[other],),
        reference=reference_after(item, item.options[other]),
    )
    return with_note(changed, note, {NEGATED: item.question})


def was_negated(item: Item) -> bool:
    """Whether an item has the opposite of the question that was written."""
    notes = item.provenance.values()
    return any(isinstance(note, Mapping) and NEGATED in note for note in notes)


def ids_by_answer(items: Sequence[Item], seed: int) -> dict[str, list[str]]:
    """Return the ids of yes/no items whose key is ``yes``, and ``no``, in an order of chance."""
    sides: dict[str, list[str]] = {"yes": [], "no": []}
    asked = [item for item in items if item.kind == "yesno"]
    for item in in_order_of_chance(asked, seed, "yes and no"):
        sides[_side(item)].append(item.id)
    return sides


def _side(item: Item) -> str:
    """Return yes or no, as the item's key says."""
    words = [plain(option).strip(" .!") for option in item.options]
    if item.kind != "yesno" or sorted(words) != ["no", "yes"]:
        raise ReelbenchError(
            f"Item {item.id!r} is of kind {item.kind} with the options {list(item.options)}: only "
            "a yesno item with the options Yes and No can be negated."
        )
    (key,) = right_places(item)
    return words[key]
