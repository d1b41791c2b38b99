"""What all events so far amount to, by queue and item: read once, then brought up to date."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from reelbench.base.files import json_line
from reelbench.data.failure_types import type_key
from reelbench.data.item_rules import item_from_line
from reelbench.data.items import Item
from reelbench.data.verdicts import Verdict
from reelbench.data.written import task_of
from reelbench.review.database import ReviewEvent
from reelbench.review.subjects import Subject, subject_of

# What one person adds to what others did, who must have been seen first.
SHARED = ("wrote", "withdrew", "commented", "resolved")
ROUND = "round"  # in the body of a verdict: the number and the category that its item was of
# What someone was shown, which is no work of theirs.
SHOWN = ("opened", "revealed", "read")


@dataclass(slots=True)
class ItemProgress:
    """What people did with one version of an item in one queue; each mapping is by person."""

    opened: dict[str, ReviewEvent] = field(default_factory=dict)
    read: dict[str, ReviewEvent] = field(default_factory=dict)  # the discussion, last
    answers: dict[str, ReviewEvent] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    ratings: dict[str, Mapping[str, int]] = field(default_factory=dict)
    finished: dict[str, ReviewEvent] = field(default_factory=dict)
    resolution: Verdict | None = None
    events: list[ReviewEvent] = field(default_factory=list)

    def last_shared(self, not_by: str) -> list[ReviewEvent]:
        """Return what others did that everyone who goes on from there must have seen."""
        return [each for each in self.events if each.type in SHARED and each.who != not_by]


@dataclass(slots=True)
class ItemHistory:
    """What people did with one item in one queue, whatever it said; versions are by digest."""

    events: list[ReviewEvent] = field(default_factory=list)
    versions: dict[str, ItemProgress] = field(default_factory=dict)  # as they were worked on
    handed_out: set[str] = field(default_factory=set)  # to whom, in any version


_UNTOUCHED = ItemHistory()


class ReviewState:
    """All that has happened; ``apply`` takes the next event."""

    def __init__(self) -> None:
        self.seq = 0
        self.ids: dict[str, ReviewEvent] = {}
        self.queues: dict[str, dict[str, ItemHistory]] = defaultdict(
            lambda: defaultdict(ItemHistory)
        )
        self.written: dict[str, Subject] = {}  # by the id of the item
        self.written_about: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.imported: dict[str, Subject] = {}
        # By queue, what people named as failures, each in the spelling in which it came first.
        self.named_tags: dict[str, dict[str, str]] = defaultdict(dict)
        self.days: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        self.touched: dict[str, list[tuple[str, str]]] = defaultdict(list)  # (item, who) by queue
        self._candidates: list[Subject] | None = None  # None: to be gathered again
        self._became: dict[str, str] = {}  # digests, with those from which our decisions made them
        self.taken_out: dict[str, Mapping[str, Any]] = {}  # items that we took out of it

    def apply(self, event: ReviewEvent) -> None:
        """Take the next event in."""
        self.seq, self.ids[event.id] = event.seq, event
        history = self.queues[event.queue][event.item]
        history.events.append(event)
        progress = history.versions.setdefault(self.version(event.digest), ItemProgress())
        progress.events.append(event)
        self.touched[event.queue].append((event.item, event.who))
        if event.type not in SHOWN:
            self.days[event.queue, event.who, event.time[:10]].add(event.item)
        handle = getattr(self, f"_{event.type}", None)
        if handle:
            handle(progress, event)

    def version(self, digest: str) -> str:
        """Return the digest of what people decided about, also after that was put into the item."""
        return self._became.get(digest, digest)

    def history(self, queue: str, item: str) -> ItemHistory:
        """Return what people did with an item in a queue."""
        return self.queues[queue].get(item, _UNTOUCHED)

    def candidates(self) -> list[Subject]:
        """Return what people wrote and organisers imported; the same list until that changes.

        What was written for a task of a recipe is its to hand on.
        """
        if self._candidates is None:
            own = (each for each in self.written.values() if each.item and not task_of(each.item))
            self._candidates = [*own, *self.imported.values()]
        return self._candidates

    def _opened(self, progress: ItemProgress, event: ReviewEvent) -> None:
        progress.opened[event.who] = event
        self.queues[event.queue][event.item].handed_out.add(event.who)

    def _read(self, progress: ItemProgress, event: ReviewEvent) -> None:
        progress.read[event.who] = event

    def _answered(self, progress: ItemProgress, event: ReviewEvent) -> None:
        progress.answers[event.who] = event

    def _verdict(self, progress: ItemProgress, event: ReviewEvent) -> None:
        progress.verdicts[event.who] = self._named(event)
        progress.finished[event.who] = event

    def _rated(self, progress: ItemProgress, event: ReviewEvent) -> None:
        progress.ratings[event.who] = event.body["rating"]
        progress.finished[event.who] = event

    def _finished(self, progress: ItemProgress, event: ReviewEvent) -> None:
        progress.finished[event.who] = event

    def _resolved(self, progress: ItemProgress, event: ReviewEvent) -> None:
        progress.resolution = self._named(event)

    def _named(self, event: ReviewEvent) -> Verdict:
        verdict = verdict_of(event)
        for tag in verdict.tags:
            self.named_tags[event.queue].setdefault(type_key(tag), tag)
        return verdict

    def _wrote(self, _: ItemProgress, event: ReviewEvent) -> None:
        self._candidates = None
        item = item_of(event.body["item"])
        if item.id not in self.written:
            self.written_about[event.queue, event.item].append(item.id)
        self.written[item.id] = subject_of(item)

    def _withdrew(self, _: ItemProgress, event: ReviewEvent) -> None:
        self._candidates = None
        self.written.pop(event.body["id"], None)
        self.written_about[event.queue, event.item].remove(event.body["id"])

    def _imported(self, _: ItemProgress, event: ReviewEvent) -> None:
        self._candidates = None
        for record in event.body["items"]:
            item = item_of(record)
            self.imported[item.id] = subject_of(item)

    def _applied(self, _: ItemProgress, event: ReviewEvent) -> None:
        for before, after in event.body.get("became", {}).items():
            if self.version(before) != after:  # which may be what it was at first
                self._became[after] = self.version(before)
        self.taken_out |= event.body["rejected"]

    def _released(self, _: ItemProgress, event: ReviewEvent) -> None:
        queue, item, who = (event.body[name] for name in ("queue", "item", "who"))
        history = self.queues[queue][item]
        history.handed_out.discard(who)
        for progress in history.versions.values():
            progress.opened.pop(who, None)
        self.touched[queue].append((item, who))


def verdict_of(event: ReviewEvent) -> Verdict:
    """Return the verdict that an event carries."""
    return msgspec.convert({**event.body["verdict"], "item": event.item, "who": event.who}, Verdict)


def item_of(record: Mapping[str, Any]) -> Item:
    """Return the item of a record that was checked before it was kept."""
    item, _ = item_from_line(json_line(record).strip().encode())
    assert item is not None
    return item
