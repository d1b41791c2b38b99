"""One review: a benchmark's folder, its queues, and what people do in them.

Everything that changes goes through ``act``, one at a time: what others did is read first, the
action is checked against it, and it is acknowledged when its event is on the disk.
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import sqlalchemy as sql

from reelbench.review.actions import Action, Attempt, checked_body
from reelbench.review.database import DatabaseDownError, ReviewDatabase, ReviewEvent
from reelbench.review.discussion import discussion_events, may_discuss
from reelbench.review.drafts import Drafts
from reelbench.review.errors import AccessError, ActionError, ChangedItemError, ConflictError
from reelbench.review.people import Person
from reelbench.review.protocol import ReviewProtocol
from reelbench.review.queue import ReviewQueue
from reelbench.review.state import SHARED, ReviewState
from reelbench.review.subjects import Subject, SubjectFiles
from reelbench.review.tasks import other_ratings, reveal, shown_task

DESK = "desk"  # the queue of what organisers do


@dataclass(frozen=True, slots=True)
class Saved:
    """What a page gets back once its action is kept."""

    event: ReviewEvent
    reveal: Mapping[str, Any] | None = None  # the key, or others' ratings, after one's own


class Review:
    """An open review; threads may share it."""

    def __init__(
        self,
        root: Path,
        protocols: Sequence[ReviewProtocol],
        database: ReviewDatabase,
        fixed_last: tuple[str, ...] = (),
    ) -> None:
        self.root, self.database = root, database
        self.state = ReviewState()
        self.files = SubjectFiles(root)
        self.queues = {
            each.name: ReviewQueue(each, self.files, self.state, fixed_last) for each in protocols
        }
        for queue in self.queues.values():
            names = queue.protocol.per_day_with
            queue.same_day = tuple(self.queues[name] for name in names if name in self.queues)
        self.on_change: Callable[[], None] = lambda: None  # called when something is kept
        self._drafts = Drafts(database)
        self._lock = threading.RLock()  # of who changes something, until it is on the disk
        self._looking = threading.RLock()  # at the state; taken behind the other, never before it

    @contextmanager
    def reading(self) -> Iterator[ReviewState]:
        """Hold what has happened still while it is looked at; it is up to date."""
        with self._looking:
            self._look_again()
            yield self.state

    @contextmanager
    def changing(self) -> Iterator[ReviewState]:
        """Let nobody else change anything between a look and what is recorded after it."""
        with self._lock, self.reading() as state:
            yield state

    def catch_up(self, connection: sql.Connection | None = None) -> None:
        """Take in what is in the database and was not known yet."""
        with self._looking:
            for event in self.database.events_after(self.state.seq, connection):
                self.state.apply(event)

    def _look_again(self) -> None:
        """Take in what is new; while the database does not answer, what is known can be read."""
        with suppress(DatabaseDownError):
            self.catch_up()

    def _take(self, events: Sequence[ReviewEvent]) -> None:
        """Take in what this process has added, unless someone read it meanwhile."""
        with self._looking:
            for event in events:
                if event.seq > self.state.seq:
                    self.state.apply(event)

    def queue(self, name: str) -> ReviewQueue:
        """Return a queue by its name."""
        if name not in self.queues:
            raise AccessError(f"There is no queue {name!r}.")
        return self.queues[name]

    def queues_for(self, person: Person) -> list[tuple[ReviewQueue, dict[str, Any]]]:
        """Return the queues that a person may work in, each with how far they have come."""
        with self._looking:
            self._look_again()
            may = [q for q in self.queues.values() if person.may(q.protocol.role)]
            return [(queue, asdict(queue.counts(person))) for queue in may]

    def next_task(self, person: Person, name: str, besides: str = "") -> dict[str, Any] | None:
        """Hand out the next item of a queue, and keep that it was handed out; None: no more.

        With ``besides``, an item in hand, one further is handed out ahead of time.
        """
        queue = self.queue(name)
        added: list[ReviewEvent] = []
        with self._lock:
            with self.database.writing() as connection:
                with self._looking:
                    self.catch_up(connection)
                    subject = queue.next_for(person, besides)
                    if subject is None:
                        return None
                    opened = queue.progress(subject).opened.get(person.name)
                if opened is None or ("ahead" in opened.body and not besides):
                    ahead = {"ahead": True} if besides else {}
                    event = self._event(person, name, subject, "opened", ahead)
                    added = self.database.add(connection, [event])
            self._take(added)
        return self.task(person, name, subject.id)

    def task(self, person: Person, name: str, item: str) -> dict[str, Any]:
        """Return what a page shows of an item that this person has open or has done."""
        queue = self.queue(name)
        with self._looking:
            subject = self._subject(queue, item)
            self.check_may_see(person, queue, subject)
            task = shown_task(person, queue, subject)
        if "discussion" in task:
            last = max(each["seq"] for each in task["discussion"])
            self._note_read(person, queue, subject, last)
        draft = self._drafts.read((person.name, name, item))
        return {**task, **self._advice(queue, subject), "draft": draft}

    def _advice(self, queue: ReviewQueue, subject: Subject) -> dict[str, int]:
        """Return how many questions a video should have; measuring it may take a while."""
        protocol = queue.protocol
        if not protocol.questions:
            return {}
        return {"fewest": protocol.fewest_questions(queue.seconds(subject) or 0.0)}

    def _note_read(self, person: Person, queue: ReviewQueue, subject: Subject, last: int) -> None:
        """Keep that someone was shown what people did up to an event, once for each new one."""
        before = queue.progress(subject).read.get(person.name)
        if before is None or before.body["seen"] < last:
            with self._lock, self.database.writing() as connection:
                event = self._event(person, queue.name, subject, "read", {"seen": last})
                self.database.add(connection, [event])
            self.catch_up()

    def discussions(self, person: Person, name: str) -> list[dict[str, Any]]:
        """Return the items in discussion that a person has a say in, with who took part."""
        queue = self.queue(name)
        with self._looking:
            self._look_again()
            return [
                {"item": each.id, "question": each.item.question, "seq": events[-1].seq,
                 "people": list(dict.fromkeys(event.who for event in events)),
                 "time": events[-1].time}
                for each in queue.subjects().values()
                if each.item and may_discuss(person, queue, each)
                and not queue.progress(each).resolution
                and (events := discussion_events(queue, each))
            ]  # fmt: skip

    def check_may_see(self, person: Person, queue: ReviewQueue, subject: Subject) -> None:
        """Refuse an item that was not handed out to this person; organisers see all."""
        progress, protocol = queue.progress(subject), queue.protocol
        if protocol.page == "answer" and person.name in progress.answers and not protocol.back:
            raise ActionError("You have answered this already: an answer stays, with no way back.")
        handed_out = queue.history(subject.id).handed_out
        if person.name in handed_out or person.may("organiser"):
            return
        if may_discuss(person, queue, subject):
            return
        raise AccessError("This item was not handed out to you.")

    def _subject(self, queue: ReviewQueue, item: str) -> Subject:
        subject = queue.subjects().get(item)
        if subject is None:
            raise ChangedItemError("This item is no longer in the queue: it was deleted or moved.")
        return subject

    def act(self, person: Person, name: str, action: Action) -> Saved:
        """Keep what a person did; when this returns, it survives a crash of the machine."""
        queue = self.queue(name)
        if not re.fullmatch(r"[0-9a-f-]{16,64}", action.id):
            raise ActionError("An action needs an id of its own.")
        with self._lock:
            added: list[ReviewEvent] = []
            draft = person.name, name, action.item
            self._drafts.known()
            with self.database.writing() as connection:
                with self._looking:
                    self.catch_up(connection)
                    events = self._new(person, queue, action)
                if events:
                    added = self.database.add(connection, events)
                    self._drafts.drop(connection, draft)
            self._drafts.known().discard(draft)
            self._take(added)
            self.on_change()
        with self._looking:
            return self._saved(person, queue, self.state.ids[action.id])

    def _new(self, person: Person, queue: ReviewQueue, action: Action) -> list[ReviewEvent]:
        """Return the events that an action becomes; none where it is kept already."""
        known = self.state.ids.get(action.id)
        if known is not None:
            same = person.name, queue.name, action.type, action.item
            if (known.who, known.queue, known.type, known.item) != same:
                raise ActionError("This id belongs to another action.")
            return []
        subject = self._subject(queue, action.item)
        order = self._check(person, queue, subject, action)
        body = checked_body(Attempt(queue, person, subject, action, order))
        event = self._event(person, queue.name, subject, action.type, body, action.id)
        return [event, *self._shown_by(person, queue, event)]

    def _shown_by(
        self, person: Person, queue: ReviewQueue, event: ReviewEvent
    ) -> list[ReviewEvent]:
        """Return what is kept beside an answer to which the key is shown: who saw it, and when."""
        if event.type != "answered" or queue.protocol.page != "verify":
            return []
        subject = self._subject(queue, event.item)
        return [self._event(person, queue.name, subject, "revealed", {})]

    def _check(
        self, person: Person, queue: ReviewQueue, subject: Subject, action: Action
    ) -> tuple[int, ...]:
        """Refuse what is about another state of things than there is; return the options' order."""
        if subject.digest != action.digest:
            raise ChangedItemError("This item was edited since you opened it.")
        self.check_may_see(person, queue, subject)
        if action.type in SHARED:
            unseen = [each for each in queue.progress(subject).last_shared(person.name)
                      if each.seq > action.seen]  # fmt: skip
            if unseen:
                raise ConflictError(unseen)
        elif queue.is_done_by(person.name, subject) and not queue.protocol.back:
            raise ActionError("You have finished with this item.")
        elif action.type != "finished":
            queue.check_may_work(person)
            # What was handed out may be finished, also when others were quicker.
            handed_out = queue.history(subject.id).handed_out
            reason = "" if person.name in handed_out else queue.why_not(person, subject)
            if reason:
                raise ActionError(reason)
        return queue.order(subject, person.name)

    def _saved(self, person: Person, queue: ReviewQueue, event: ReviewEvent) -> Saved:
        subject = queue.subjects().get(event.item)
        if subject is None or subject.item is None:
            return Saved(event)
        if event.type == "answered" and queue.protocol.page == "verify":
            order = queue.order(subject, person.name)
            return Saved(event, reveal(subject.item, order, queue.protocol))
        if event.type == "rated" and event.item in queue.calibration_set():
            return Saved(event, {"others": other_ratings(person, queue, subject)})
        return Saved(event)

    def record(self, person: Person, kind: str, body: Mapping[str, Any]) -> ReviewEvent:
        """Keep what an organiser did at the desk."""
        with self._lock:
            with self.database.writing() as connection:
                self.catch_up(connection)
                event = _new_event(person, DESK, "", "", kind, body, uuid4().hex)
                added = self.database.add(connection, [event])
            self._take(added)
            return added[0]

    def _event(
        self, person: Person, queue: str, subject: Subject, kind: str, body: Mapping[str, Any],
        key: str = "",
    ) -> ReviewEvent:  # fmt: skip
        protocol = {"protocol": self.queues[queue].protocol.digest[:16]}
        return _new_event(
            person,
            queue,
            subject.id,
            subject.digest,
            kind,
            {**body, **protocol},
            key or uuid4().hex,
        )

    def keep_draft(self, person: Person, queue: str, item: str, body: Any) -> None:
        """Keep what a person has typed so far, in place of what was kept before."""
        with self._looking:
            self.check_may_see(person, self.queue(queue), self._subject(self.queue(queue), item))
        self._drafts.keep((person.name, queue, item), body, _now())


def _new_event(
    person: Person, queue: str, item: str, digest: str, kind: str, body: Mapping[str, Any], key: str
) -> ReviewEvent:
    return ReviewEvent(
        id=key, time=_now(), who=person.name, queue=queue, item=item, digest=digest, type=kind,
        body=body,
    )  # fmt: skip


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
