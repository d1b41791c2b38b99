"""What a queue keeps of its items is what looking at all of them would say."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.data.manifest import Manifest
from reelbench.review.actions import Action
from reelbench.review.database import ReviewDatabase, sqlite_url
from reelbench.review.errors import AccessError
from reelbench.review.people import Person
from reelbench.review.protocol import Axis, ReviewProtocol, Sample
from reelbench.review.queue import QueueCounts, ReviewQueue
from reelbench.review.review import Review
from reelbench.review.serve import queues_of_several

PEOPLE = [
    Person(name, "reviewer", expertise)
    for name, expertise in (("ann", ("a",)), ("bob", ("a", "b")), ("cy", ("b",)), ("dee", ()))
]
PROTOCOLS = [
    ReviewProtocol("verify", "verify", "V", "benchmark", reviewers=2, failure_tags=("bad",)),
    ReviewProtocol("expert", "verify", "E", "benchmark", expertise="field", agree="majority"),
    ReviewProtocol("answer", "answer", "A", "benchmark"),
    ReviewProtocol("daily", "answer", "D", "benchmark", per_day=3),
    ReviewProtocol("rate", "rate", "R", "benchmark", axes=(Axis("x"),), reviewers=2,
                   calibration=Sample(0.0, 3)),
]  # fmt: skip


@pytest.fixture
def review(tmp_path: Path) -> Iterator[Review]:
    (tmp_path / "media").mkdir()
    items = [
        Item(f"q-{n}", "single", (Media(f"media/{n % 7}.mp4"),), f"What is {n}?", ("x", "y"), ("A",),
             tags={"field": ["a", "b"][n % 2]}, provenance={"author": "bob"} if n % 5 == 0 else {})
        for n in range(25)
    ]  # fmt: skip
    Benchmark(tmp_path, Manifest("index", "1"), tuple(items)).save(tmp_path)
    database = ReviewDatabase(sqlite_url(tmp_path / "review.sqlite"))
    database.create("index")
    yield Review(tmp_path, PROTOCOLS, database)
    database.close()


def open_to(queue: ReviewQueue, person: Person) -> list[str]:
    return [
        name
        for name, each in queue.subjects().items()
        if not queue.is_done_by(person.name, each) and not queue.why_not(person, each)
    ]


def counted(queue: ReviewQueue, person: Person) -> QueueCounts:
    subjects = queue.subjects()
    return QueueCounts(
        sum(queue.is_done_by(person.name, each) for each in subjects.values()),
        len(open_to(queue, person)),
        queue.today(person),
        len(subjects),
    )


def body_of(kind: str, rng: random.Random) -> dict[str, object]:
    if kind == "verdict":
        reject = {"decision": "reject", "tags": ["bad"]}
        return reject if rng.random() < 0.4 else {"decision": "accept"}
    return {"rating": {"x": 3}} if kind == "rated" else {"choice": [0]}


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: each.name)
def test_counts_and_what_comes_next_are_as_if_all_items_were_looked_at(
    review: Review, protocol: ReviewProtocol
) -> None:
    rng, queue = random.Random(7), review.queue(protocol.name)
    kinds = {"verify": ("answered", "verdict"), "rate": ("rated",), "answer": ("answered",)}
    for step in range(120):
        person = rng.choice(PEOPLE)
        before = open_to(queue, person)
        try:
            task = review.next_task(person, protocol.name)
        except AccessError:
            continue
        assert (task is None) == (not before)
        if task is None:
            continue
        assert task["item"] in before
        first = queue.calibration_set() & set(before)
        assert not first or task["item"] in first or person.name in queue.history(task["item"]).handed_out  # fmt: skip
        if rng.random() < 0.8:
            for kind in kinds[protocol.page]:
                key = f"{step:08x}{len(kind):08x}"
                action = Action(key, kind, task["item"], task["digest"], 0, body_of(kind, rng))
                try:
                    review.act(person, protocol.name, action)
                except AccessError:
                    break
        for each in PEOPLE:
            assert queue.counts(each) == counted(queue, each)


def test_letters_as_options_stay_where_they_are_and_others_are_shuffled(review: Review) -> None:
    queue = review.queue("verify")
    (subject, *_) = queue.subjects().values()
    assert subject.item is not None
    named = ("More than one of them.", "None of them.")

    def orders(*options: str) -> set[tuple[int, ...]]:
        assert subject.item is not None
        item = subject.item.replace(options=list(options))
        shown = replace(subject, item=item)
        return {queue.order(shown, f"p{number}") for number in range(9)}

    assert orders("A", "B", *named) == {(0, 1, 2, 3)}
    assert len(orders("B", "A", *named)) > 1


def test_queues_in_which_one_person_settles_nothing_are_named(review: Review) -> None:
    assert queues_of_several(review) == ["verify"]
