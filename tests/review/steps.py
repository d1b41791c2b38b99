"""A review without a server: people act through it as the pages' requests do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item
from reelbench.data.manifest import Manifest
from reelbench.review.actions import Action
from reelbench.review.database import ReviewDatabase, sqlite_url
from reelbench.review.people import Person
from reelbench.review.protocol import ReviewProtocol
from reelbench.review.review import Review, Saved

ANN, BEN, CAT, DAN = (Person(name, "annotator") for name in ("ann", "ben", "cat", "dan"))
BOSS = Person("boss", "organiser")


@contextmanager
def opened(folder: Path, items: Sequence[Item], *protocols: ReviewProtocol) -> Iterator[Review]:
    """Open a review of these items."""
    if items:
        Benchmark(folder, Manifest("b", "1"), tuple(items)).save(folder)
    database = ReviewDatabase(sqlite_url(folder / "review.sqlite"))
    try:
        database.create("b")
        yield Review(folder, protocols, database)
    finally:
        database.close()


def take(review: Review, person: Person, queue: str) -> dict[str, Any]:
    """Take the next item; there must be one."""
    task = review.next_task(person, queue)
    assert task is not None
    return task


def act(review: Review, person: Person, task: dict[str, Any], kind: str, **body: Any) -> Saved:
    """Do something with an item."""
    action = Action(uuid4().hex, kind, task["item"], task["digest"], task["seen"], body)
    return review.act(person, task["queue"], action)


def right(item: Item, task: dict[str, Any]) -> list[int]:
    """The places of the right options, as this task shows them."""
    return [task["options"].index(text) for text in item.correct]


def verify(
    review: Review, person: Person, queue: str, decision: str = "accept", **body: Any
) -> dict[str, Any]:
    """Take an item, answer with its first option and decide."""
    task = take(review, person, queue)
    act(review, person, task, "answered", choice=[0], watched=True)
    act(review, person, task, "verdict", decision=decision, watched=True, **body)
    return task
