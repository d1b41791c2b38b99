"""Which items of a queue still need someone, by whom they are done, and in which order they come.

A queue of thousands of items is asked for the next one at every click: what is known of each item
is kept, and an event brings up to date only the item that it is about.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from reelbench.review.people import Person
from reelbench.review.state import ItemProgress
from reelbench.review.subjects import Subject

Place = tuple[bool, int, int, str]  # calibration first, then what others have begun, as in the file


class IndexedQueue(Protocol):
    """What an index asks its queue, of one item at a time."""

    def needed(self, subject: Subject) -> int:
        """Return how many people an item still needs."""

    def progress(self, item: str) -> ItemProgress:
        """Return what people did with an item."""

    def is_done_by(self, who: str, item: str) -> bool:
        """Whether a person has nothing more to do with an item."""

    def calibration_set(self) -> frozenset[str]:
        """The ids of the items that everyone rates first."""

    def unfit(self, person: Person, subject: Subject) -> str:
        """Say why an item is not for this person, whatever others do."""


class QueueIndex:
    """What is known of the items of a queue, as of some event; ``refresh`` takes the next."""

    def __init__(self, queue: IndexedQueue, subjects: Mapping[str, Subject]) -> None:
        self.subjects, self._queue = subjects, queue
        self.open: set[str] = set()  # need someone
        self.begun: set[str] = set()  # and someone has them open
        self.done: dict[str, set[str]] = defaultdict(set)  # by person
        self.opened: dict[str, set[str]] = defaultdict(set)  # by person, and not done
        self.numbers = {item: number for number, item in enumerate(subjects)}
        self._places: dict[str, Place] = {}
        self._order: list[Place] = []
        self._own_orders: dict[str, list[str]] = {}
        self._barred: dict[tuple[str, tuple[str, ...]], frozenset[str]] = {}
        for item in subjects:
            progress = queue.progress(item)
            for who in {*progress.opened, *progress.answers, *progress.finished}:
                self._note(item, who)
            self._stand(item)

    def refresh(self, item: str, who: str) -> None:
        """Take in that a person did something with an item."""
        if item in self.subjects:
            self._note(item, who)
            self._stand(item)

    def _note(self, item: str, who: str) -> None:
        done = self._queue.is_done_by(who, item)
        opened = not done and who in self._queue.progress(item).opened
        (self.done[who].add if done else self.done[who].discard)(item)
        (self.opened[who].add if opened else self.opened[who].discard)(item)

    def _stand(self, item: str) -> None:
        progress = self._queue.progress(item)
        before = self._places.pop(item, None)
        if before is not None:
            del self._order[bisect_left(self._order, before)]
        self.open.discard(item)
        self.begun.discard(item)
        if not self._queue.needed(self.subjects[item]):
            return
        self.open.add(item)
        if progress.opened.keys() - progress.finished.keys():
            self.begun.add(item)
        later = item not in self._queue.calibration_set()
        place = later, -len(progress.finished), self.numbers[item], item
        self._places[item] = place
        insort(self._order, place)

    def free(self, person: Person) -> set[str]:
        """Return what still needs someone, and could be this person."""
        key = person.name, person.expertise
        if key not in self._barred:
            unfit = (each.id for each in self.subjects.values() if self._queue.unfit(person, each))
            self._barred[key] = frozenset(unfit)
        return self.open - self.done.get(person.name, set()) - self._barred[key]

    def in_order(self) -> Iterator[str]:
        """Yield the open items, the most urgent first."""
        return (place[3] for place in self._order)

    def in_own_order(self, who: str, number: Callable[[str], int]) -> list[str]:
        """Return all items in the order of one person, which numbers say."""
        if who not in self._own_orders:
            self._own_orders[who] = sorted(self.subjects, key=number)
        return self._own_orders[who]
