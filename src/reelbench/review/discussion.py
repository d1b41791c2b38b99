"""What those who discuss an item are shown: who answered, decided and wrote what."""

from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.data.items import LETTERS, Item
from reelbench.review.database import ReviewEvent
from reelbench.review.people import Person
from reelbench.review.queue import ReviewQueue
from reelbench.review.subjects import Subject

OPEN_TO_ALL = ("answered", "verdict", "commented", "resolved")


def may_discuss(person: Person, queue: ReviewQueue, subject: Subject) -> bool:
    """Whether an item is or was in discussion, and this person took part or is a reviewer."""
    if queue.protocol.page != "verify" or subject.item is None:
        return False
    progress = queue.progress(subject.id)
    discussed = progress.resolution or queue.settlement(subject).status == "discussion"
    return bool(discussed) and (person.name in progress.verdicts or person.may("reviewer"))


def discussion_events(queue: ReviewQueue, subject: Subject) -> list[ReviewEvent]:
    """Return what is shown of an item in discussion, in the order in which it happened."""
    return [each for each in queue.progress(subject.id).events if each.type in OPEN_TO_ALL]


def shown_entry(event: ReviewEvent, item: Item, order: Sequence[int]) -> dict[str, Any]:
    """Return an event as a page shows it: options are places among those that the reader sees."""
    body = event.body
    entry = {"who": event.who, "time": event.time, "type": event.type, "seq": event.seq}
    if event.type == "answered":
        return {**entry, "choice": _places(body.get("answer", ()), order),
                "written": body.get("written", "")}  # fmt: skip
    if event.type == "commented":
        return {**entry, "text": body["text"]}
    verdict = dict(body["verdict"])
    changes = shown_changes(verdict.pop("changes", {}), item, order)
    return {**entry, **verdict, "changes": changes}


def shown_changes(changes: Mapping[str, Any], item: Item, order: Sequence[int]) -> dict[str, Any]:
    """Return changed fields with the options in the order in which the reader sees them."""
    shown = dict(changes)
    count = len(shown.get("options", item.options))
    places = [place for place in (*order, *range(len(order), count)) if place < count]
    if "options" in shown:
        shown["options"] = [shown["options"][place] for place in places]
    if "answer" in shown:
        shown["answer"] = _places(shown["answer"], places)
    return shown


def _places(letters: Sequence[str], order: Sequence[int]) -> list[int]:
    """Return places of letters; an item that was edited since may have fewer options."""
    found = [LETTERS.index(letter) for letter in letters]
    return sorted(list(order).index(place) for place in found if place in order)
