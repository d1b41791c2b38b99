"""A queue: which of its items a person may take next, and where each item stands."""

import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from reelbench.base.seeds import seed_for
from reelbench.data.manifest import Protocol
from reelbench.evaluate.condition import option_orders
from reelbench.review.errors import AccessError
from reelbench.review.index import QueueIndex
from reelbench.review.people import Person
from reelbench.review.protocol import ReviewProtocol
from reelbench.review.settle import Settlement, settle
from reelbench.review.state import ItemHistory, ItemProgress, ReviewState
from reelbench.review.subjects import PAIRED, Subject, SubjectFiles, sampled

CLAIM_MINUTES = 120  # for which an item that was opened is kept for who opened it
AHEAD_MINUTES = 20  # the same, for one that is only in hand
_UNTOUCHED = ItemProgress()


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How far a person, and everyone, has come in a queue."""

    done: int  # by this person
    left: int  # for this person
    today: int  # by this person
    total: int


class ReviewQueue:
    """The items of one protocol, with what people did with them so far."""

    def __init__(
        self,
        protocol: ReviewProtocol,
        files: SubjectFiles,
        state: ReviewState,
        fixed_last: tuple[str, ...] = (),
    ) -> None:
        self.protocol, self._files, self._state = protocol, files, state
        self._fixed_last = fixed_last  # options that keep their place
        self._kept: tuple[list[list[Subject]], dict[str, Subject]] | None = None  # made of which
        self._first: tuple[object, frozenset[str]] | None = None  # calibration, of which subjects
        self._settled: dict[str, tuple[object, Settlement]] = {}
        self._index: tuple[QueueIndex, int] | None = None  # with how much of ``touched`` is in it
        self._lock = threading.RLock()
        self.same_day: tuple[ReviewQueue, ...] = ()  # others whose videos count for a day of this

    @property
    def name(self) -> str:
        """The name of the queue, which is that of its protocol."""
        return self.protocol.name

    def subjects(self) -> Mapping[str, Subject]:
        """Return what the queue is about, by id."""
        found = self._all_subjects()
        # Files hand out the same list until they change: what was drawn from it is drawn once.
        if self._kept is None or any(
            before is not now for before, now in zip(self._kept[0], found, strict=True)
        ):
            by_id = {each.id: each for part in found for each in part if self._takes(each)}
            sample = self.protocol.sample
            drawn = set(sampled(list(by_id.values()), sample, self.protocol.name, "sample"))
            # What someone has begun stays, also when the sample is drawn from more than before.
            begun = self._state.queues[self.name]
            self._kept = (
                found,
                {name: each for name, each in by_id.items() if name in drawn or name in begun},
            )
        return self._kept[1]

    def _all_subjects(self) -> list[list[Subject]]:
        if self.protocol.items == "media":
            return [self._files.media(self.protocol.pairs)]
        if self.protocol.is_about_prompts:
            return [self._files.prompts()]
        if self.protocol.items == "benchmark":
            return [self._files.benchmark()]
        candidates = [self._files.waiting(self.protocol.stage), self._state.candidates()]
        if self.protocol.items == "candidates":
            return candidates
        return [*candidates, self._files.benchmark()]  # which has what became of candidates

    def _takes(self, subject: Subject) -> bool:
        """Whether a subject has the tags that the protocol is about."""
        wanted = self.protocol.where.items()
        return all(set(subject.tag(tag)) & set(values) for tag, values in wanted)

    def calibration(self) -> list[str]:
        """Return the ids of the items that everyone rates first."""
        first = self.calibration_set()
        return [each for each in self.subjects() if each in first]

    def seconds(self, subject: Subject) -> float | None:
        """Return how long the (longest) video of a subject is; None where nobody can say."""
        return self._files.seconds(subject)

    def progress(self, subject: Subject) -> ItemProgress:
        """Return what people did with an item as it is now."""
        version = self._state.version(subject.digest)
        return self.history(subject.id).versions.get(version, _UNTOUCHED)

    def history(self, item: str) -> ItemHistory:
        """Return what people did with an item, also before it was edited."""
        return self._state.history(self.name, item)

    def items(self) -> list[str]:
        """Return the ids of all items with which someone did something, by name."""
        return sorted(self._state.queues[self.name])

    def worked_on(self) -> Iterator[tuple[str, Subject | None, ItemProgress]]:
        """Yield these items with what people did with them as they are, or were when they went."""
        subjects = self.subjects()
        for item in self.items():
            subject, versions = subjects.get(item), self.history(item).versions
            if subject is not None:
                yield item, subject, self.progress(subject)
            elif versions:
                yield item, None, list(versions.values())[-1]

    def named_tags(self) -> Mapping[str, str]:
        """Return the failure tags that were given so far, by what is the same for one type."""
        return self._state.named_tags[self.name]

    def written_about(self, subject: Subject) -> dict[str, Subject]:
        """Return the questions that were written about a video, by id."""
        ids = self._state.written_about.get((self.name, subject.id), ())
        return {name: self._state.written[name] for name in ids}

    def is_written(self, item: str) -> bool:
        """Whether someone wrote a question that has this id."""
        return item in self._state.written

    def settlement(self, subject: Subject) -> Settlement:
        """Return where an item of a verify queue stands."""
        progress = self.progress(subject)
        key = self._state.version(subject.digest), len(progress.events)
        kept = self._settled.get(subject.id)
        if kept is None or kept[0] != key:
            found = self.settled(subject.id, progress)
            kept = self._settled[subject.id] = key, found
        return kept[1]

    def settled(self, item: str, progress: ItemProgress) -> Settlement:
        """Return where a version of an item stands."""
        verdicts = list(progress.verdicts.values())
        return settle(self.protocol, item, verdicts, progress.resolution)

    def is_done_by(self, who: str, subject: Subject) -> bool:
        """Whether a person has nothing more to do with an item."""
        progress = self.progress(subject)
        if self.protocol.page == "answer":
            return who in progress.answers
        return who in progress.finished

    def needed(self, subject: Subject) -> int:
        """Return how many people an item still needs, those who have it open not counted."""
        if self.protocol.page == "verify":
            return self.settlement(subject).needed
        if self.protocol.page == "answer" or subject.id in self.calibration_set():
            return 1  # everyone
        return max(0, self.protocol.reviewers - len(self.progress(subject).finished))

    def calibration_set(self) -> frozenset[str]:
        """The ids of the items that everyone rates first."""
        sample = self.protocol.calibration
        if not sample.count and not sample.share:
            return frozenset()
        subjects = self.subjects()
        if self._first is None or self._first[0] is not subjects:  # asked for every item: kept
            drawn = sampled(list(subjects.values()), sample, self.protocol.name, "calibration")
            self._first = subjects, frozenset(drawn)
        return self._first[1]

    def why_not(self, person: Person, subject: Subject) -> str:
        """Say why a person cannot take an item; empty where nothing speaks against it."""
        if reason := self.unfit(person, subject):
            return reason
        needed = self.needed(subject)
        if not needed:
            return "Enough people have decided."
        if self.protocol.page == "answer" or needed > self._claimed(subject, person.name):
            return ""
        return "Someone else is working on it."

    def unfit(self, person: Person, subject: Subject) -> str:
        """Say why an item is not for this person, whatever others do; empty where it is."""
        if subject.author and subject.author.casefold() == person.name.casefold():
            return "You wrote it yourself."
        tag = self.protocol.expertise
        if tag and not person.knows(subject.tag(tag)):
            return f"It needs expertise in {', '.join(subject.tag(tag)) or tag}."
        return ""

    def _claimed(self, subject: Subject, not_by: str) -> int:
        """Count the others who opened an item lately and have not finished with it."""
        progress = self.progress(subject)
        now = datetime.now(UTC)
        opened, ahead = (
            (now - timedelta(minutes=minutes)).isoformat()
            for minutes in (CLAIM_MINUTES, AHEAD_MINUTES)
        )
        return sum(
            who != not_by
            and who not in progress.finished
            and event.time > (ahead if "ahead" in event.body else opened)
            for who, event in progress.opened.items()
        )

    def check_may_work(self, person: Person) -> None:
        """Refuse who has not the role."""
        role = self.protocol.role
        if not person.may(role):
            raise AccessError(f"This queue is for the role {role}; you are {person.role}.")

    def _within_today(
        self, person: Person, free: list[Subject], in_hand: Subject | None
    ) -> list[Subject]:
        """Return what a person may still begin today; who has begun something may finish it."""
        most, today = self.protocol.per_day, self._videos_today(person)
        today |= _videos(in_hand) if in_hand else set()
        fitting = [
            each
            for each in free
            if not most
            or len(today | _videos(each)) <= most
            or person.name in self.progress(each).opened
        ]
        if free and not fitting:
            raise AccessError(
                f"You have done {len(today)} today, and {most} are the most for one day: come back "
                "tomorrow."
            )
        return fitting

    def today(self, person: Person) -> int:
        """Return for how many videos, or items without any, a person has done something today.

        A day is one of UTC: the same for everyone, wherever they are.
        """
        return len(self._videos_today(person))

    def _videos_today(self, person: Person) -> set[str]:
        own = (queue.worked_on_today(person) for queue in (self, *self.same_day))
        return set[str]().union(*own)

    def worked_on_today(self, person: Person) -> set[str]:
        """Return the videos of this queue, or items without any, of a person's day."""
        day = datetime.now(UTC).date().isoformat()
        subjects = self.subjects()
        items = self._state.days.get((self.name, person.name, day), ())
        return set[str]().union(
            # The id of a video or pair that is gone by now is made of its paths.
            *(_videos(subjects[item]) if item in subjects else item.split(PAIRED) for item in items)
        )

    def next_for(self, person: Person, besides: str = "") -> Subject | None:
        """Return what a person goes on with: what is open, then what needs fewest, in order.

        With an item in hand, ``besides``, the one to come after it.
        """
        self.check_may_work(person)
        others = [each for each in self._open_to(person) if each.id != besides]
        free = self._within_today(person, others, self.subjects().get(besides))
        if not free:
            return None
        first = self.calibration_set()

        def urgency(place: int) -> tuple[int, bool, int, int]:
            subject = free[place]
            opened = self.progress(subject).opened.get(person.name)
            since = opened.seq if opened else sys.maxsize  # what was opened first is finished first
            return since, subject.id not in first, self._rank(subject, person), place

        return free[min(range(len(free)), key=urgency)]

    def _rank(self, subject: Subject, person: Person) -> int:
        """Items that others have begun come first; in a test everyone has an order of their own."""
        if self.protocol.page == "answer":
            return seed_for(self.name, "item order", person.name, subject.id)
        return -len(self.progress(subject).finished)

    def _open_to(self, person: Person) -> list[Subject]:
        """Return what a person could go on with: all that they have open, and the next two."""
        with self._lock:
            index = self.index()
            free, opened = index.free(person), index.opened.get(person.name, set())
            mine, rest = sorted(free & opened, key=index.numbers.__getitem__), free - opened
            others = (item for item in self._in_order(index, person) if item in rest)
            # On the last videos of a day, what comes next may be far down: all is looked at.
            most = self.protocol.per_day
            few = None if most and self.today(person) + 4 >= most else 2
            return [*self._takeable(person, mine), *islice(self._takeable(person, others), few)]

    def _takeable(self, person: Person, items: Iterable[str]) -> Iterator[Subject]:
        subjects = self.subjects()
        return (subjects[each] for each in items if not self.why_not(person, subjects[each]))

    def _in_order(self, index: QueueIndex, person: Person) -> Iterable[str]:
        if self.protocol.page != "answer":
            return index.in_order()
        subjects = index.subjects
        return index.in_own_order(person.name, lambda item: self._rank(subjects[item], person))

    def index(self) -> QueueIndex:
        """Return what is known of each item, brought up to date."""
        with self._lock:
            subjects, touched = self.subjects(), self._state.touched[self.name]
            if self._index is None or self._index[0].subjects is not subjects:
                self._index = QueueIndex(self, subjects), len(touched)
            index, seen = self._index
            for item, who in touched[seen:]:
                index.refresh(item, who)
            self._index = index, len(touched)
            return index

    def counts(self, person: Person) -> QueueCounts:
        """Return how far a person, and everyone, has come."""
        with self._lock:
            index = self.index()
            free = index.free(person)
            begun = free & index.begun
            taken = len(begun) - sum(1 for _ in self._takeable(person, begun))
            done, total = len(index.done.get(person.name, ())), len(index.subjects)
            return QueueCounts(done, len(free) - taken, self.today(person), total)

    def order(self, subject: Subject, who: str) -> tuple[int, ...]:
        """Return the places of the options as this person is shown them; a video has none."""
        item = subject.item
        if item is None:
            return ()
        plain = tuple(range(len(item.options)))
        if item.kind == "yesno" or (self.protocol.page == "answer" and not self.protocol.shuffle):
            return plain
        if item.has_letters_as_options:  # nobody should have to choose C where A is meant
            return plain
        drawn = Protocol(orders=2, fixed_last=self._fixed_last)
        return option_orders(item, drawn, seed_for(self.name, "options", who))[-1]


def _videos(subject: Subject) -> set[str]:
    """What counts for a day: the videos of a subject, or itself where it has none."""
    return {each.path for each in subject.media} or {subject.id}
