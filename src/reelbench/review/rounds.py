"""Rounds of review: when reviewers have stopped finding new kinds of failure.

A recipe writes the round that made an item into its provenance, as ``round`` (a whole number from
1). A round is over when all its items are settled, and clean when no tag came up in it that no
round before had.
"""

from collections import defaultdict
from dataclasses import dataclass

from reelbench.data.items import Item
from reelbench.review.queue import ReviewQueue


@dataclass(frozen=True, slots=True)
class RoundsOfCategory:
    """How far one category is: its rounds with their new tags, and whether it is done."""

    category: str
    new_tags: tuple[tuple[str, ...], ...]  # of each round that is over, in order
    open_items: int  # of the round that is not over
    needed: int

    @property
    def clean(self) -> int:
        """How many rounds in a row, up to the last, brought no new tag."""
        count = 0
        for tags in reversed(self.new_tags):
            if tags:
                break
            count += 1
        return count

    @property
    def done(self) -> bool:
        """Whether the category leaves the loop."""
        return self.clean >= self.needed


def rounds_by_category(queue: ReviewQueue, tag: str = "category") -> list[RoundsOfCategory]:
    """Return how far each category of a verify queue is, by name; items without one are one."""
    groups: dict[str, dict[int, list[tuple[str, ...] | None]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for subject in queue.subjects().values():
        if subject.item is None:
            continue
        verdict = queue.settlement(subject).verdict
        tags = None if verdict is None else verdict.tags
        for category in subject.tag(tag) or ("",):
            groups[category][_round(subject.item)].append(tags)
    return [_category(name, groups[name], queue.protocol.rounds) for name in sorted(groups)]


def _round(item: Item) -> int:
    number = item.provenance.get("round", 1)
    return number if type(number) is int else 1


def _category(
    name: str, by_round: dict[int, list[tuple[str, ...] | None]], needed: int
) -> RoundsOfCategory:
    seen: set[str] = set()
    new_tags: list[tuple[str, ...]] = []
    for number in sorted(by_round):
        items = by_round[number]
        if None in items:
            return RoundsOfCategory(name, tuple(new_tags), items.count(None), needed)
        found = dict.fromkeys(tag for tags in items if tags for tag in tags)
        new_tags.append(tuple(each for each in found if each not in seen))
        seen |= set(found)
    return RoundsOfCategory(name, tuple(new_tags), 0, needed)
