"""When reviewers have decided about an item: who must agree, and what a dispute leads to."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from reelbench.base.files import canonical_json
from reelbench.data.verdicts import Verdict
from reelbench.review.protocol import ReviewProtocol

Status = Literal["open", "disputed", "discussion", "settled"]


@dataclass(frozen=True, slots=True)
class Settlement:
    """Where an item stands: open, with a further reviewer, in discussion, or settled."""

    status: Status
    needed: int = 0  # verdicts that are still to come
    verdict: Verdict | None = None  # what holds, once it is settled
    agreeing: int = 0  # of those who decided, the author included where that counts
    deciding: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)


def settle(
    protocol: ReviewProtocol,
    item: str,
    verdicts: Sequence[Verdict],
    author: str = "",
    resolution: Verdict | None = None,
) -> Settlement:
    """Return where an item stands after these verdicts, one per person in the order they came.

    The first ``reviewers`` decide. Where they do not agree, one more does, and then the majority
    of all; where that has none, a discussion ends with one resolution.
    """
    counted = [position_of(each) for each in verdicts]
    if protocol.author_agrees and author:
        counted = [("accept", ""), *counted]
    deciding, (position, agreeing) = len(counted), _most(counted)
    if resolution is not None:
        return Settlement("settled", 0, resolution, agreeing, deciding)
    missing = protocol.reviewers - len(verdicts)
    if missing > 0:
        return Settlement("open", missing, None, agreeing, deciding)
    second = len(verdicts) > protocol.reviewers
    enough = deciding if protocol.agree == "all" and not second else deciding // 2 + 1
    if agreeing >= enough:
        return Settlement("settled", 0, _first(item, verdicts, position), agreeing, deciding)
    if protocol.dispute == "drop":
        dropped = Verdict(item=item, who="protocol", decision="reject", tags=("not all agree",))
        return Settlement("settled", 0, dropped, agreeing, deciding)
    status: Status = "discussion" if second else "disputed"
    return Settlement(status, int(not second), None, agreeing, deciding)


Position = tuple[str, str]  # a decision, and what becomes of the item


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
