"""What a page is given of an item: all that one person may know of it by then, and no more."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reelbench.base.files import canonical_json
from reelbench.data.failure_types import split_tag
from reelbench.data.items import LETTERS, Item
from reelbench.pages import shortened
from reelbench.review.database import ReviewEvent
from reelbench.review.discussion import discussion_events, may_discuss, shown_entry
from reelbench.review.people import Person
from reelbench.review.prompts import shown_change
from reelbench.review.protocol import ReviewProtocol
from reelbench.review.queue import ReviewQueue
from reelbench.review.subjects import Subject

_LONGEST_FACT = 2000  # characters of an entry that is shown with the key


def shown_task(person: Person, queue: ReviewQueue, subject: Subject) -> dict[str, Any]:
    """Return what a page shows of an item, or of a video that questions are written about."""
    others = queue.progress(subject).last_shared(person.name)
    task: dict[str, Any] = {
        "queue": queue.name,
        "page": queue.protocol.page,
        "item": subject.id,
        "digest": subject.digest,
        "media": [
            {"start": media.start, "end": media.end, "name": Path(media.path).name}
            for media in subject.media
        ],
        "seen": max((each.seq for each in others), default=0),
        "done": queue.is_done_by(person.name, subject),
        "progress": asdict(queue.counts(person)),
        "calibration": subject.id in queue.calibration_set(),
    }
    if queue.protocol.page == "write":
        written = queue.written_about(subject).values()
        task["written"] = [
            {"author": each.author, **each.item.to_record()} for each in written if each.item
        ]
        if queue.protocol.back:
            task["previous"] = _previous(person, queue, subject)
    if subject.item is not None:
        task |= _question(person, queue, subject, subject.item)
    return task


def _question(person: Person, queue: ReviewQueue, subject: Subject, item: Item) -> dict[str, Any]:
    order, progress = queue.order(subject, person.name), queue.progress(subject)
    shown: dict[str, Any] = {
        "kind": item.kind,
        "question": item.question,
        "options": [item.options[place] for place in order],
    }
    page, discussed = queue.protocol.page, may_discuss(person, queue, subject)
    if page == "rate" or discussed or (page == "verify" and person.name in progress.answers):
        shown["reveal"] = reveal(item, order, queue.protocol)
    if page in ("answer", "verify") and (answered := progress.answers.get(person.name)):
        shown["mine"] = shown_entry(answered, item, order)
    if page == "answer" and queue.protocol.back:
        shown["previous"] = _previous(person, queue, subject)
    if page == "rate" and (rating := progress.ratings.get(person.name)):
        shown["mine"] = dict(rating)
        shown["others"] = other_ratings(person, queue, subject)
    if page == "verify":
        shown["status"] = queue.settlement(subject).status
    if queue.protocol.is_about_prompts:
        shown["change"] = shown_change(item)
    if queue.protocol.open_types:
        shown["types"] = named_types(queue)
    if discussed:
        shown["discussion"] = [
            {**shown_entry(each, item, order), "earlier": each not in progress.events}
            for each in discussion_events(queue, subject)
        ]
        shown["author"] = subject.author
    return shown


def named_types(queue: ReviewQueue) -> dict[str, list[str]]:
    """Return the types of failure that were named so far, by the tag that they stand under."""
    types: dict[str, list[str]] = {tag: [] for tag in queue.protocol.failure_tags}
    for dimension, kind in map(split_tag, queue.named_tags().values()):
        if kind and dimension in types:
            types[dimension].append(kind)
    return {tag: sorted(found, key=str.casefold) for tag, found in types.items()}


def _previous(person: Person, queue: ReviewQueue, subject: Subject) -> str | None:
    """Return the item that a person was done with before this one, or last where it is open."""

    def done(each: Subject) -> ReviewEvent | None:
        progress = queue.progress(each)
        return (progress.answers if each.item else progress.finished).get(person.name)

    found = (done(each) for each in queue.subjects().values())
    ordered = sorted((event.seq, event.item) for event in found if event)
    own = done(subject)
    before = [each for seq, each in ordered if own is None or seq < own.seq]
    return before[-1] if before else None


def other_ratings(person: Person, queue: ReviewQueue, subject: Subject) -> list[dict[str, Any]]:
    """Return how others rated a calibration item, for who has rated it."""
    if subject.id not in queue.calibration_set():
        return []
    events = [each for each in queue.progress(subject).events if each.type == "rated"]
    last = {each.who: each.body for each in events if each.who != person.name}
    return [
        {"who": who, "rating": body["rating"], "comment": body.get("comment", "")}
        for who, body in last.items()
    ]


def reveal(item: Item, order: Sequence[int], protocol: ReviewProtocol) -> dict[str, Any]:
    """Return what is hidden before the answer: the key, as places among the options as shown.

    With it come the tags that may be changed, and what the protocol shows besides.
    """
    right = [order.index(LETTERS.index(letter)) for letter in item.answer]
    evidence = [list(span) for span in item.evidence]
    return {
        "answer": sorted(right),
        "reference": item.reference,
        "evidence": evidence,
        "tags": {choice.name: list(item.tag(choice.name)) for choice in protocol.tags},
        "facts": facts_of(item, protocol.show),
    }


def facts_of(item: Item, entries: Sequence[str]) -> list[dict[str, str]]:
    """Return the entries of an item that a protocol shows, as names and texts; those it has."""
    found = []
    for entry in entries:
        part, *path = entry.split(".")
        value: Any = getattr(item, part)
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if value or value in (0, False):
            name = (path or [part])[-1].replace("_", " ").replace("-", " ")
            found.append({"name": name, "text": shortened(_spelled(value), _LONGEST_FACT)})
    return found


def _spelled(value: Any) -> str:
    """Return a value of an item as people read it."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_spelled(each)}" for name, each in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        parts = list(map(_spelled, value))
        return ("\n" if any(" " in part for part in parts) else ", ").join(parts)
    return value if isinstance(value, str) else canonical_json(value)
