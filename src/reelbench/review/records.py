"""What people did as plain records: answers as predictions, ratings as tables, all events."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from reelbench.base.files import canonical_json, file_part, json_line
from reelbench.base.limits import decode_json
from reelbench.pages import Table
from reelbench.review.database import ReviewEvent
from reelbench.review.queue import ReviewQueue
from reelbench.review.review import Review
from reelbench.review.state import ReviewState
from reelbench.score.people import HUMAN

DECISIONS = ("accept", "change", "reject")
WRITTEN = "written"  # the category of a blind answer that is none of the options
RatingRow = tuple[str, str, str]  # subject, rater, rating


@dataclass(frozen=True, slots=True)
class RatingSet:
    """Ratings of one kind in one queue, with all that agreement hangs on."""

    queue: str
    name: str  # an axis, "answer" or "decision"
    weights: str
    categories: tuple[str, ...]
    rows: tuple[RatingRow, ...]

    @property
    def file(self) -> str:
        """The name of its file among the exports."""
        return f"ratings/{file_part(self.queue)}-{file_part(self.name)}.csv"

    def to_csv(self) -> str:
        """Return it as ``reelbench agree`` reads it."""
        return Table(self.name, self.name, ("subject", "rater", "rating"), self.rows).to_csv()


def prediction_lines(review: Review) -> list[str]:
    """Return the answers of people as lines of predictions, whose models are ``human:NAME``."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for queue in sorted(review.queues.values(), key=lambda each: each.name):
        if queue.protocol.page == "answer":
            for row in _predictions(queue):
                found.setdefault((row["model"], row["condition"], row["id"]), row)
    return [json_line(found[key]) for key in sorted(found)]


def _predictions(queue: ReviewQueue) -> Iterator[dict[str, Any]]:
    for subject in queue.subjects().values():
        for who, event in queue.progress(subject).answers.items():
            row: dict[str, Any] = {"id": subject.id, "model": f"{HUMAN}{who}"}
            row |= {"condition": queue.protocol.condition, "order": 0, "status": "ok"}
            if "written" in event.body:
                row["response"] = event.body["written"]
            else:
                row |= {"response": None, "parsed": event.body["answer"]}
            if subject.item and subject.item.options:
                row["permutation"] = event.body["order"]
            yield row


def rating_sets(review: Review) -> list[RatingSet]:
    """Return all that agreement is measured of: axes, blind answers and decisions."""
    found: list[RatingSet] = []
    for queue in sorted(review.queues.values(), key=lambda each: each.name):
        if queue.protocol.page == "rate":
            found += _axes(queue)
        elif queue.protocol.page == "verify":
            found += _blind_answers(queue), _decided(queue)
    return [each for each in found if each.rows]


def _axes(queue: ReviewQueue) -> Iterator[RatingSet]:
    """Yield one set per axis; what everyone rated to learn the scale is a set of its own."""
    learnt, protocol = queue.calibration_set(), queue.protocol
    for axis in protocol.axes:
        rows = [
            (item, who, str(rating[axis.name]))
            for item, subject in sorted(queue.subjects().items())
            for who, rating in sorted(queue.progress(subject).ratings.items())
            if axis.name in rating
        ]
        parts = {axis.name: False, f"{axis.name}-calibration": True}
        for name, is_learnt in parts.items():
            chosen = tuple(row for row in rows if (row[0] in learnt) == is_learnt)
            yield RatingSet(queue.name, name, protocol.weights, tuple(axis.categories), chosen)


def _blind_answers(queue: ReviewQueue) -> RatingSet:
    rows = [
        (item, who, "+".join(event.body.get("answer", ())) or WRITTEN)
        for item, _, progress in queue.worked_on()
        for who, event in sorted(progress.answers.items())
    ]
    return RatingSet(queue.name, "answer", "identity", _categories(rows), tuple(rows))


def _categories(rows: Iterable[RatingRow]) -> tuple[str, ...]:
    """Return the categories that were chosen; two at least, as a scale needs."""
    found = sorted({rating for _, _, rating in rows})
    return tuple(found if len(found) > 1 else dict.fromkeys([*found, "A", "B"]))


def _decided(queue: ReviewQueue) -> RatingSet:
    rows = [
        (item, who, verdict.decision)
        for item, _, progress in queue.worked_on()
        for who, verdict in sorted(progress.verdicts.items())
    ]
    return RatingSet(queue.name, "decision", "identity", DECISIONS, tuple(rows))


def event_lines(state: ReviewState) -> list[str]:
    """Return all events as lines of JSON, in the order they were kept."""
    return [json_line(_event(each)) for each in state.ids.values()]


def events_csv(state: ReviewState) -> str:
    """Return all events as a table; what an event holds is JSON in its last column."""
    columns = ("seq", "time", "who", "queue", "item", "type", "digest", "id", "body")
    rows = [[_cell(_event(each)[name]) for name in columns] for each in state.ids.values()]
    return Table("events", "Events", columns, rows).to_csv()


def _event(event: ReviewEvent) -> dict[str, Any]:
    names = ("seq", "id", "time", "who", "queue", "item", "digest", "type")
    body = decode_json(canonical_json(event.body))  # in one order, just kept or read again
    return {**{name: getattr(event, name) for name in names}, "body": body}


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)
