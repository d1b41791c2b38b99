"""What people came to about items: the verdicts of each queue, and what holds by its protocol."""

from collections.abc import Iterator
from dataclasses import dataclass

from reelbench.data.verdicts import Verdict
from reelbench.review.protocol import ReviewProtocol
from reelbench.review.queue import ReviewQueue
from reelbench.review.review import Review
from reelbench.review.settle import Settlement, settle
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
        deciding = [each for each in self.progress.events if each.type in ("verdict", "resolved")]
        return max(each.time for each in deciding)

    @property
    def seen(self) -> str:
        """The hash of the item as it was decided about."""
        deciding = [each for each in self.progress.events if each.type in ("verdict", "resolved")]
        return deciding[-1].digest

    def is_outdated(self, applied: str | None) -> bool:
        """Whether the item was edited since, other than by putting this decision into it."""
        now = self.subject.digest if self.subject else self.seen
        return now not in (self.seen, applied)


def verify_queues(review: Review) -> list[ReviewQueue]:
    """Return the queues in which people decide, by name."""
    queues = sorted(review.queues.values(), key=lambda queue: queue.name)
    return [queue for queue in queues if queue.protocol.page == "verify"]


def decisions(review: Review) -> Iterator[Decision]:
    """Yield all items about which someone has decided, by queue and id."""
    for queue in verify_queues(review):
        for item in sorted(review.state.queues[queue.name]):
            if queue.progress(item).verdicts:
                yield decision_about(queue, item)


def decision_about(queue: ReviewQueue, item: str) -> Decision:
    """Return where an item stands about which someone has decided."""
    progress, subject = queue.progress(item), queue.subjects().get(item)
    author = subject.author if subject else ""
    verdicts = list(progress.verdicts.values())
    settlement = settle(queue.protocol, item, verdicts, author, progress.resolution)
    return Decision(queue.protocol, item, progress, settlement, subject)
