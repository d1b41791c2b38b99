"""What people may do on each page, and what of it is kept: requests in, events out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from reelbench.base.files import canonical_json, json_line
from reelbench.data.failure_types import split_tag, tidy_type, type_fault, type_key, typed_tag
from reelbench.data.item_rules import item_from_line
from reelbench.data.items import LETTERS, Item
from reelbench.data.verdicts import CHANGEABLE
from reelbench.review.errors import ActionError
from reelbench.review.people import Person
from reelbench.review.prompts import edited_prompt
from reelbench.review.queue import ReviewQueue
from reelbench.review.state import ROUND, ItemProgress
from reelbench.review.subjects import CATEGORY, Subject, round_of
from reelbench.review.written import written_item

LONGEST_TEXT = 20_000  # characters of one text that a person types


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a page asks to keep; ``id`` is its own, so that sending it twice keeps it once."""

    id: str
    type: str
    item: str
    digest: str
    seen: int = 0  # the number of the last event of others that the page shows
    body: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Attempt:
    """An action with all that decides whether it is kept."""

    queue: ReviewQueue
    person: Person
    subject: Subject
    action: Action
    order: Sequence[int]  # how the options were shown

    @property
    def body(self) -> dict[str, Any]:
        """What the page sent."""
        return self.action.body

    @property
    def item(self) -> Item:
        """The item that it is about."""
        if self.subject.item is None:
            raise ActionError("This is a video, not an item.")
        return self.subject.item

    @property
    def progress(self) -> ItemProgress:
        """What people did with the item, as it is, so far."""
        return self.queue.progress(self.subject)


def checked_body(attempt: Attempt) -> dict[str, Any]:
    """Return the body of the event that an action becomes; refuse what the protocol does not allow.

    Pages send places of options as they showed them; bodies hold letters in the benchmark's order.
    """
    protocol, kind = attempt.queue.protocol, attempt.action.type
    allowed = _ALLOWED[protocol.page]
    if kind not in allowed:
        raise ActionError(f"{kind!r} is not something to do on this page.")
    _check_texts(attempt.body)
    unwatched = protocol.watch == "full" and not attempt.body.get("watched")
    if unwatched and kind in _AFTER_WATCHING:
        raise ActionError("Watch the whole video first.")
    return allowed[kind](attempt)


def _check_texts(value: Any) -> None:
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        raise ActionError(f"A text has more than {LONGEST_TEXT:,} characters.")
    parts = value.values() if isinstance(value, dict) else value
    for part in parts if isinstance(value, dict | list) else ():
        _check_texts(part)


def _wrote(do: Attempt) -> dict[str, Any]:
    record: Any = do.body.get("item")
    author = do.person.name
    edited = isinstance(record, dict) and record.get("id") is not None
    if edited:
        author = do.queue.written_about(do.subject)[_own_question(do, record["id"])].author
    seconds = do.queue.seconds(do.subject)
    item = written_item(do.queue.protocol, do.subject, record, do.action.id, author, seconds)
    if not edited and do.queue.is_written(item.id):
        raise ActionError("This id belongs to another question.")
    return {**_measured(do), "item": item.to_record()}


def _withdrew(do: Attempt) -> dict[str, Any]:
    return {"id": _own_question(do, do.body.get("id"))}


def _own_question(do: Attempt, name: Any) -> str:
    """Return the id of a question of this video that this person wrote and has not taken back."""
    written = do.queue.written_about(do.subject)
    if not isinstance(name, str) or name not in written:
        raise ActionError("This question is not there: it was taken back, or is another video's.")
    author = written[name].author
    if author != do.person.name and not do.person.may("organiser"):
        raise ActionError(f"{author} wrote this question: only they can change it.")
    return name


def _finished(do: Attempt) -> dict[str, Any]:
    return _measured(do)


def _answered(do: Attempt) -> dict[str, Any]:
    item = do.item
    if do.person.name in do.progress.answers and not do.queue.protocol.back:
        raise ActionError("You have answered this already, and an answer stays.")
    body = _measured(do)
    if item.kind == "open" or do.body.get("written"):
        if item.kind != "open" and not do.queue.protocol.written_answers:
            raise ActionError("Choose one of the options.")
        text = _text(do.body.get("written"))
        if not text:
            raise ActionError("Write an answer first.")
        return {**body, "written": text, "order": list(do.order)}
    letters = chosen_letters(item, do.body.get("choice"), do.order)
    return {**body, "answer": letters, "order": list(do.order)}


def _decided(do: Attempt) -> dict[str, Any]:
    item, progress, body = do.item, do.progress, do.body
    decision, first = body.get("decision"), do.action.type == "verdict"
    answers = not do.queue.protocol.is_about_prompts
    if decision != "reject" and first and answers and do.person.name not in progress.answers:
        raise ActionError("Answer first; then the key is shown and you decide.")
    verdict: dict[str, Any] = {"decision": decision, "comment": _text(body.get("comment"))}
    verdict["tags"] = tags = checked_tags(do.queue, body.get("tags", []))
    if decision == "reject" and do.queue.protocol.failure_tags and not tags:
        raise ActionError("Choose a reason for the rejection.")
    if decision == "change" and do.queue.protocol.is_about_prompts:
        verdict["changes"] = edited_prompt(item, body.get("changes"))
    elif decision == "change":
        changes = _with_all_tags(do, body.get("changes"))
        verdict["changes"] = checked_changes(item, changes, do.order)
    elif decision not in ("accept", "reject"):
        raise ActionError("Choose accept, change or reject.")
    return {**_measured(do), **_round(do), "verdict": verdict}


def _with_all_tags(do: Attempt, changes: Any) -> Any:
    """Return changes with all tags of the item, where the protocol says which may be changed."""
    tags = {each.name: each for each in do.queue.protocol.tags}
    if not isinstance(changes, dict) or "tags" not in changes or not tags:
        return changes
    given = changes["tags"]
    if not isinstance(given, dict) or not set(given) <= set(tags):
        raise ActionError(f"The tags that can be changed are {', '.join(tags)}.")
    for name, values in given.items():
        right = isinstance(values, list) and all(each in tags[name].choices for each in values)
        if not right or not values or (len(values) > 1 and not tags[name].several):
            raise ActionError(f"Choose among {', '.join(tags[name].choices)}.")
    chosen = {name: each if tags[name].several else each[0] for name, each in given.items()}
    return {**changes, "tags": {**do.item.to_record().get("tags", {}), **chosen}}


def _round(do: Attempt) -> dict[str, Any]:
    """Return the round that an item is of: it may be gone when its rounds are counted."""
    if not do.queue.protocol.rounds:
        return {}
    return {ROUND: {"number": round_of(do.item), "category": list(do.subject.tag(CATEGORY))}}


def checked_tags(queue: ReviewQueue, tags: Any) -> list[str]:
    """Return failure tags, each once, types in the spelling in which they were named first."""
    allowed = queue.protocol.failure_tags
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ActionError("Tags are a list of texts.")
    return list(dict.fromkeys(_checked_tag(queue, tag, allowed) for tag in tags))


def _checked_tag(queue: ReviewQueue, tag: str, allowed: Sequence[str]) -> str:
    if tag in allowed:
        return tag
    dimension, kind = split_tag(tag)
    kind = tidy_type(kind)
    if not queue.protocol.open_types or dimension not in allowed:
        raise ActionError(f"The reasons are {', '.join(allowed)}.")
    if kind and (fault := type_fault(kind)):
        raise ActionError(f"The name of a type of failure {fault}.")
    named = typed_tag(dimension, kind)
    return queue.named_tags().get(type_key(named), named)


def checked_changes(item: Item, changes: Any, order: Sequence[int]) -> dict[str, Any]:
    """Return the changed fields of an item, options and answer in the benchmark's order.

    A page sends options as it showed them, new ones behind the others, and the answer as places
    among those.
    """
    if not isinstance(changes, dict) or not changes or not set(changes) <= set(CHANGEABLE):
        raise ActionError(f"A change is of some of {', '.join(CHANGEABLE)}.")
    made = dict(changes)
    back = list(order)
    if "options" in made:
        shown = made["options"]
        if not isinstance(shown, list) or len(shown) < len(order):
            raise ActionError("Options can be changed or added, not removed.")
        back += range(len(order), len(shown))
        made["options"] = [shown[back.index(place)] for place in range(len(shown))]
    if "answer" in made:
        made["answer"] = _letters(made["answer"], back)
    before = item.to_record()
    made = {name: value for name, value in made.items() if differs(before.get(name), value)}
    if not made:
        raise ActionError("Nothing is changed: accept the item, or change something.")
    _, problems = item_from_line(json_line({**before, **made}).strip().encode())
    faults = [each for each in problems if not each.is_warning]
    if faults:
        found = [{"field": p.field, "found": p.found, "expected": p.expected} for p in faults]
        words = "; ".join(f"{p.field}: found {p.found}, expected {p.expected}" for p in faults)
        raise ActionError(f"The changed item is not right: {words}.", found)
    return made


def differs(before: Any, after: Any) -> bool:
    """Whether two values of a field are written differently."""
    return canonical_json(before) != canonical_json(after)


def _rated(do: Attempt) -> dict[str, Any]:
    rating = do.body.get("rating")
    if not isinstance(rating, dict):
        raise ActionError("Rate every axis.")
    for axis in do.queue.protocol.axes:
        value = rating.get(axis.name)
        if type(value) is not int or not axis.lowest <= value <= axis.highest:
            raise ActionError(f"{axis.name} is rated from {axis.lowest} to {axis.highest}.")
    if len(rating) != len(do.queue.protocol.axes):
        raise ActionError("Only the axes of the protocol are rated.")
    comment = _text(do.body.get("comment"))
    return {**_measured(do), "rating": rating, "comment": comment}


def _commented(do: Attempt) -> dict[str, Any]:
    text = _text(do.body.get("text"))
    if not text:
        raise ActionError("Write something first.")
    _check_in_discussion(do)
    return {"text": text}


def _resolved(do: Attempt) -> dict[str, Any]:
    _check_in_discussion(do)
    return _decided(do)


def _check_in_discussion(do: Attempt) -> None:
    took_part = do.person.name in do.progress.verdicts
    if not took_part and not do.person.may("reviewer"):
        raise ActionError("Only those who reviewed it, and reviewers, discuss an item.")
    if do.queue.settlement(do.subject).status != "discussion":
        raise ActionError("This item is not in discussion.")


def chosen_letters(item: Item, choice: Any, order: Sequence[int]) -> list[str]:
    """Return the letters, in the benchmark's order, of options that were chosen as shown."""
    letters = _letters(choice, order)
    if not letters or (item.kind != "multi" and len(letters) > 1):
        raise ActionError("Choose one option." if item.kind != "multi" else "Choose an option.")
    return letters


def _letters(choice: Any, order: Sequence[int]) -> list[str]:
    places = choice if isinstance(choice, list) else []
    if not all(isinstance(place, int) and 0 <= place < len(order) for place in places):
        raise ActionError("The choice is not among the options.")
    return sorted({LETTERS[order[place]] for place in places})


def _measured(do: Attempt) -> dict[str, Any]:
    """Return what a page measured: seconds spent, and whether all was watched."""
    kept: dict[str, Any] = {}
    seconds, watched = do.body.get("seconds"), do.body.get("watched")
    if isinstance(seconds, int | float) and 0 <= seconds < 1e6:
        kept["seconds"] = round(seconds, 1)
    return {**kept, "watched": watched} if isinstance(watched, bool) else kept


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


_ALLOWED: dict[str, dict[str, Callable[[Attempt], dict[str, Any]]]] = {
    "write": {"wrote": _wrote, "withdrew": _withdrew, "finished": _finished},
    "verify": {
        "answered": _answered,
        "verdict": _decided,
        "commented": _commented,
        "resolved": _resolved,
    },
    "rate": {"rated": _rated},
    "answer": {"answered": _answered},
}
_AFTER_WATCHING = ("wrote", "answered", "rated", "verdict")
