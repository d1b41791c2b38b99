"""Rounds of review: when reviewers have stopped finding new kinds of failure.

A recipe writes the round that made an item into its provenance, as ``round`` (a whole number from
1). A round is over when all its items are settled, and clean when no tag came up in it that no
round before had; where a protocol has open types, the tags are those types. Items of earlier rounds
may be gone by now: their verdicts say which round they were of.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reelbench.data.failure_types import type_key
from reelbench.review.queue import ReviewQueue
from reelbench.review.state import ROUND, ItemProgress
from reelbench.review.subjects import CATEGORY, Subject, round_of

Tags = tuple[str, ...] | None  # of an item that is settled; None: it is not yet
Place = tuple[int, tuple[str, ...]]  # the round of an item, and its categories


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


def rounds_by_category(queue: ReviewQueue) -> list[RoundsOfCategory]:
    """Return how far each category of a verify queue is, by name; items without one are one."""
    groups: dict[str, dict[int, list[Tags]]] = defaultdict(lambda: defaultdict(list))
    for (number, categories), tags in _places(queue):
        for category in categories or ("",):
            groups[category][number].append(tags)
    return [_category(name, groups[name], queue.protocol.rounds) for name in sorted(groups)]


def _places(queue: ReviewQueue) -> Iterator[tuple[Place, Tags]]:
    """Yield the round of every item that is there, and of every other that people settled."""
    subjects = queue.subjects()
    for subject in subjects.values():
        if subject.item is not None:
            verdict = queue.settlement(subject).verdict
            yield _place_of(subject), None if verdict is None else verdict.tags
    for item in queue.items():
        there = subjects.get(item)
        now = _place_of(there) if there and there.item else None
        for progress in queue.history(item).versions.values():
            place = _recorded_place(progress)
            verdict = queue.settled(item, progress).verdict
            if place and place != now and verdict:
                yield place, verdict.tags


def _place_of(subject: Subject) -> Place:
    assert subject.item is not None
    return round_of(subject.item), subject.tag(CATEGORY)


def _recorded_place(progress: ItemProgress) -> Place | None:
    """Return the round that people saw an item in; None where nobody decided about it."""
    found = [event.body[ROUND] for event in progress.events if ROUND in event.body]
    return (found[-1]["number"], tuple(found[-1]["category"])) if found else None


def _category(name: str, by_round: Mapping[int, list[Tags]], needed: int) -> RoundsOfCategory:
    seen: set[str] = set()
    new_tags: list[tuple[str, ...]] = []
    for number in sorted(by_round):
        items = by_round[number]
        if None in items:
            return RoundsOfCategory(name, tuple(new_tags), items.count(None), needed)
        found = {type_key(tag): tag for tags in items for tag in tags or ()}
        new_tags.append(tuple(tag for key, tag in found.items() if key not in seen))
        seen |= set(found)
    return RoundsOfCategory(name, tuple(new_tags), 0, needed)
