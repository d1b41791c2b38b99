"""The numbers of the organiser's desk: how far queues and people are, and what waits for whom."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median

from reelbench.review.agreements import (
    LiveAgreement,
    NoEditRate,
    agreement_shares,
    live_agreement,
    no_edit_rates,
    rejected_tags,
)
from reelbench.review.database import ReviewEvent
from reelbench.review.decisions import Decision, decisions, outdated_decisions, verify_queues
from reelbench.review.people import Person
from reelbench.review.protocol import ReviewProtocol
from reelbench.review.queue import ReviewQueue
from reelbench.review.rating_results import RatingResults, rating_results
from reelbench.review.records import rating_sets
from reelbench.review.review import DESK, Review
from reelbench.review.rounds import RoundsOfCategory, rounds_by_category
from reelbench.review.settle import position_of
from reelbench.review.subjects import Subject

_WINDOW_DAYS = 7  # over which throughput is taken
_ENDING = ("verdict", "rated", "finished")  # with which a person is done with an item


@dataclass(frozen=True, slots=True)
class Claim:
    """An item that someone has open."""

    queue: str
    item: str
    who: str
    since: str


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """How far a queue is."""

    protocol: ReviewProtocol
    total: int
    settled: int
    disputed: int
    discussion: int
    done: int  # items that someone is done with, each person counted
    left: int | None  # which people are still to do; None where everyone does as much as they like
    seconds: float | None  # that a person takes for an item, the median
    per_day: float  # on days of the last week on which someone worked
    ready: str  # the day on which it will be done at that pace; empty where nobody can say
    claims: tuple[Claim, ...]

    @property
    def share(self) -> float:
        """How much of the work is done."""
        work = self.done + (self.left or 0)
        if self.left is None:
            return self.settled / self.total if self.total else 0.0
        return self.done / work if work else 1.0


@dataclass(frozen=True, slots=True)
class PersonFigures:
    """What someone did."""

    name: str
    person: Person | None  # None for who has no account here
    done: int
    today: int
    seconds: float | None
    agreeing: int  # of their verdicts, those that are what was settled
    decided: int  # their verdicts about items that others decided too and that are settled


@dataclass(frozen=True, slots=True)
class DeskFigures:
    """All that the desk shows."""

    queues: list[QueueFigures]
    people: list[PersonFigures]
    agreement: list[LiveAgreement]
    shares: list[tuple[str, int, float]]
    no_edit: list[NoEditRate]
    rejected: list[tuple[str, int]]
    disputes: list[Decision]
    outdated: list[Decision]  # edited since they were settled
    claims: list[Claim]
    rounds: list[tuple[str, list[RoundsOfCategory]]]
    results: list[RatingResults]  # of rate queues, by category and axis


def desk_figures(review: Review, people: Iterable[Person]) -> DeskFigures:
    """Return the numbers as they are now."""
    with review.reading():
        decided = list(decisions(review))
        queues = [_queue_figures(queue, decided) for queue in review.queues.values()]
        disputed = [
            each for each in decided if each.settlement.status in ("disputed", "discussion")
        ]
        settled = [each for each in decided if each.verdict is not None]
        return DeskFigures(
            queues=queues,
            people=_people_figures(review, people, settled),
            agreement=[live_agreement(each) for each in rating_sets(review)],
            shares=agreement_shares(decided),
            no_edit=no_edit_rates(settled),
            rejected=rejected_tags(settled),
            disputes=[each for each in disputed if each.subject],
            outdated=list(outdated_decisions(review)),
            claims=[claim for queue in queues for claim in queue.claims],
            rounds=[
                (queue.name, rounds_by_category(queue))
                for queue in verify_queues(review)
                if queue.protocol.rounds
            ],
            results=rating_results(review),
        )


def _queue_figures(queue: ReviewQueue, decided: Iterable[Decision]) -> QueueFigures:
    subjects = queue.subjects()
    own = [each for each in decided if each.protocol.name == queue.name and each.subject]
    ended = [event for each in subjects.values() for event in _ended(queue, each)]
    everyone = queue.protocol.page == "answer"
    left = None if everyone else sum(queue.needed(each) for each in subjects.values())
    per_day = _per_day(ended)
    settled = sum(bool(_ended(queue, each)) if everyone else not queue.needed(each)
                  for each in subjects.values())  # fmt: skip
    return QueueFigures(
        protocol=queue.protocol,
        total=len(subjects),
        settled=settled,
        disputed=sum(each.settlement.status == "disputed" for each in own),
        discussion=sum(each.settlement.status == "discussion" for each in own),
        done=len(ended),
        left=left,
        seconds=_median(_seconds(queue, event.item, event.who) for event in ended),
        per_day=per_day,
        ready=_ready(left, per_day),
        claims=tuple(_claims(queue)),
    )  # fmt: skip


def _ended(queue: ReviewQueue, subject: Subject) -> list[ReviewEvent]:
    """Return the events with which people were done with an item, one of each."""
    progress = queue.progress(subject)
    found = progress.answers if queue.protocol.page == "answer" else progress.finished
    return list(found.values())


def _seconds(queue: ReviewQueue, item: str, who: str) -> float | None:
    """Return how long someone took for an item: pages measure from when it was shown."""
    events = [each for each in queue.history(item).events if each.who == who]
    measured = [each.body["seconds"] for each in events if "seconds" in each.body]
    return max(measured, default=None)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _per_day(ended: list[ReviewEvent]) -> float:
    since = (datetime.now(UTC) - timedelta(days=_WINDOW_DAYS)).isoformat()
    recent = [event.time[:10] for event in ended if event.time > since]
    return len(recent) / len(set(recent)) if recent else 0.0


def _ready(left: int | None, per_day: float) -> str:
    if not left or not per_day:
        return ""
    days = min(left / per_day, 3650.0)
    return (datetime.now(UTC) + timedelta(days=days)).date().isoformat()


def _claims(queue: ReviewQueue) -> Iterator[Claim]:
    for item, subject in queue.subjects().items():
        for who, event in queue.progress(subject).opened.items():
            if not queue.is_done_by(who, subject):
                yield Claim(queue.name, item, who, event.time)


def _people_figures(
    review: Review, people: Iterable[Person], settled: Iterable[Decision]
) -> list[PersonFigures]:
    accounts = {person.name: person for person in people}
    done: dict[str, set[tuple[str, str]]] = {}
    today: dict[str, set[tuple[str, str]]] = {}
    day = datetime.now(UTC).date().isoformat()
    for event in review.state.ids.values():
        if event.queue != DESK and _is_end(review, event):
            done.setdefault(event.who, set()).add((event.queue, event.item))
            if event.time.startswith(day):
                today.setdefault(event.who, set()).add((event.queue, event.item))
    agreeing, decided = _with_others(settled)
    names = sorted({*accounts, *done}, key=str.casefold)
    return [
        PersonFigures(
            name,
            accounts.get(name),
            len(done.get(name, ())),
            len(today.get(name, ())),
            _median(
                _seconds(review.queues[queue], item, name) for queue, item in done.get(name, ())
            ),
            agreeing.get(name, 0),
            decided.get(name, 0),
        )
        for name in names
    ]


def _is_end(review: Review, event: ReviewEvent) -> bool:
    queue = review.queues.get(event.queue)
    if queue is None:
        return False
    return event.type in (("answered",) if queue.protocol.page == "answer" else _ENDING)


def _with_others(settled: Iterable[Decision]) -> tuple[dict[str, int], dict[str, int]]:
    """Count, by person, the verdicts that hold, and all where others had a say too."""
    agreeing: dict[str, int] = {}
    decided: dict[str, int] = {}
    for each in settled:
        if each.verdict is None or each.settlement.deciding < 2:
            continue
        for who, verdict in each.progress.verdicts.items():
            decided[who] = decided.get(who, 0) + 1
            holds = position_of(verdict) == position_of(each.verdict)
            agreeing[who] = agreeing.get(who, 0) + holds
    return agreeing, decided
