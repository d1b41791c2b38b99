"""What people came to about items: the verdicts of each queue, and what holds by its protocol."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reelbench.data.verdicts import Verdict
from reelbench.review.database import ReviewEvent
from reelbench.review.protocol import ReviewProtocol
from reelbench.review.queue import ReviewQueue
from reelbench.review.review import Review
from reelbench.review.settle import Settlement
from reelbench.review.state import ItemProgress
from reelbench.review.subjects import Subject

DISCUSSION = "discussion"  # whose verdict it is where people settled it together


@dataclass(frozen=True, slots=True)
class Decision:
    """Where one item of a verify queue stands, also when it is no longer in the queue."""

    protocol: ReviewProtocol
    item: str
    progress: ItemProgress
    settlement: Settlement
    subject: Subject | None  # as the folder has it now

    @property
    def verdict(self) -> Verdict | None:
        """What holds, once it is settled."""
        return self.settlement.verdict

    @property
    def who(self) -> str:
        """Whose verdict holds."""
        resolved = self.progress.resolution is not None
        return DISCUSSION if resolved or self.verdict is None else self.verdict.who

    @property
    def time(self) -> str:
        """When the last of those who decided did so."""
        return max(each.time for each in self._deciding)

    @property
    def seen(self) -> str:
        """The hash of the item as it was decided about."""
        return self._deciding[-1].digest

    @property
    def _deciding(self) -> list[ReviewEvent]:
        return [each for each in self.progress.events if each.type in ("verdict", "resolved")]


def verify_queues(review: Review) -> list[ReviewQueue]:
    """Return the queues in which people decide, by name."""
    queues = sorted(review.queues.values(), key=lambda queue: queue.name)
    return [queue for queue in queues if queue.protocol.page == "verify"]


def decisions(review: Review) -> Iterator[Decision]:
    """Yield all items about which someone has decided as they are now, by queue and id.

    Of an item that is no longer there, what was decided last.
    """
    for queue in verify_queues(review):
        for item, subject, progress in queue.worked_on():
            yield from _decided(queue, item, subject, [progress])


def outdated_decisions(review: Review) -> Iterator[Decision]:
    """Yield what was settled about items that were edited since and are not settled again."""
    for queue in verify_queues(review):
        for item, subject in sorted(queue.subjects().items()):
            if queue.settlement(subject).verdict is None:
                yield from settled_decisions(queue, item)[-1:]


def settled_decisions(queue: ReviewQueue, item: str) -> list[Decision]:
    """Return what was settled about each version of an item, in the order they were begun."""
    subject, versions = queue.subjects().get(item), queue.history(item).versions.values()
    return [each for each in _decided(queue, item, subject, versions) if each.verdict]


def _decided(
    queue: ReviewQueue, item: str, subject: Subject | None, versions: Iterable[ItemProgress]
) -> Iterator[Decision]:
    for progress in versions:
        if progress.verdicts:
            settlement = queue.settled(item, progress)
            yield Decision(queue.protocol, item, progress, settlement, subject)
