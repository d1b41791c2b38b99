"""When reviewers have decided about an item: who must agree, and what a dispute leads to."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reelbench.base.files import canonical_json
from reelbench.data.verdicts import Verdict
from reelbench.review.protocol import ReviewProtocol

Position = tuple[str, str]  # a decision, and what becomes of the item
Status = Literal["open", "disputed", "discussion", "settled"]


@dataclass(frozen=True, slots=True)
class Settlement:
    """Where an item stands: open, with a further reviewer, in discussion, or settled."""

    status: Status
    needed: int = 0  # verdicts that are still to come
    verdict: Verdict | None = None  # what holds, once it is settled
    agreeing: int = 0  # of those who decided, the author included where that counts
    deciding: int = 0


def settle(
    protocol: ReviewProtocol,
    item: str,
    verdicts: Sequence[Verdict],
    resolution: Verdict | None = None,
) -> Settlement:
    """Return where an item stands after these verdicts, one per person in the order they came.

    The first ``reviewers`` decide; who comes later, when they agree, changes nothing. Where they do
    not agree, one more reviewer does, and then the majority of all; where that has none, a
    discussion ends with one resolution.
    """
    positions = [position_of(each) for each in verdicts]
    own: list[Position] = [("accept", "")] if protocol.author_agrees else []
    first = [*own, *positions[: protocol.reviewers]]
    position, agreeing = _most(first)
    if resolution is not None:
        return Settlement("settled", 0, resolution, agreeing, len(first))
    missing = protocol.reviewers - len(verdicts)
    if missing > 0:
        return Settlement("open", missing, None, agreeing, len(first))
    enough = len(first) if protocol.agree == "all" else len(first) // 2 + 1
    if agreeing >= enough:
        return Settlement("settled", 0, _first(item, verdicts, position), agreeing, len(first))
    if protocol.dispute == "drop":
        tags = ("not all agree",)
        dropped = Verdict(item=item, who="protocol", decision="reject", tags=tags)
        return Settlement("settled", 0, dropped, agreeing, len(first))
    return _disputed(protocol, item, verdicts, [*own, *positions])


def _disputed(
    protocol: ReviewProtocol, item: str, verdicts: Sequence[Verdict], positions: Sequence[Position]
) -> Settlement:
    """Return where an item stands on which the first reviewers did not agree."""
    position, agreeing = _most(positions)
    if len(verdicts) == protocol.reviewers:
        return Settlement("disputed", 1, None, agreeing, len(positions))
    if agreeing > len(positions) // 2:
        verdict = _first(item, verdicts, position)
        return Settlement("settled", 0, verdict, agreeing, len(positions))
    return Settlement("discussion", 0, None, agreeing, len(positions))


def position_of(verdict: Verdict) -> Position:
    """Return what a verdict makes of an item: two that make the same of it agree."""
    fields = verdict.new_fields
    return verdict.decision, canonical_json(fields) if fields else ""


def _most(positions: Sequence[Position]) -> tuple[Position, int]:
    return Counter(positions).most_common(1)[0] if positions else (("", ""), 0)


def _first(item: str, verdicts: Sequence[Verdict], position: Position) -> Verdict:
    """Return the first verdict of a position; rejects gather the tags of all who reject."""
    alike = [each for each in verdicts if position_of(each) == position]
    if not alike:  # the author's key stands
        return Verdict(item=item, who="protocol", decision="accept")
    tags = tuple(dict.fromkeys(tag for each in alike for tag in each.tags))
    first = alike[0]
    return Verdict(
        item=item,
        who=first.who,
        decision=first.decision,
        tags=tags,
        answer=first.answer,
        changes=first.changes,
        comment=first.comment,
    )
