"""How many of those who looked at an item agree: a table of a stage that asks several people."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reelbench.base.files import canonical_json
from reelbench.data.verdicts import Verdict
from reelbench.make.parts.shares import stage_table
from reelbench.score.intervals import wilson
from reelbench.score.rounding import percent

_COLUMNS = ("agree", "questions", "share", "95% interval", "published")


def positions_in(given: Sequence[Verdict]) -> Counter[str]:
    """Return how many people want the same to become of an item; those that settle are no person.

    Two verdicts are the same where both accept, both reject, or both change it alike. Where anyone
    decided, the author counts as one who accepts.
    """
    own = [each for each in given if not each.settled]
    found = Counter(f"{each.decision} {canonical_json(each.new_fields)}" for each in own)
    return found + Counter([_ACCEPTS] if own else [])


def agreement_table(
    stage: str, decided: Iterable[Sequence[Verdict]], needed: int, published: Mapping[int, float]
) -> Mapping[str, Any] | None:
    """Return the table of the items that so many people decided about; None where there is none.

    ``published`` are a paper's shares, by how many agree, the author included; where there are
    none, the table has no column for them.
    """
    counts: Counter[tuple[int, int]] = Counter()
    for given in decided:
        positions = positions_in(given)
        if (people := positions.total()) > needed:
            counts[people, max(positions.values())] += 1
    total = counts.total()
    if not total:
        return None
    rows = []
    for of, agree in sorted({*counts, *((needed + 1, each) for each in published)}, reverse=True):
        count = counts[of, agree]
        interval = " to ".join(map(percent, wilson(count / total, total)))
        paper = percent(published[agree]) if of == needed + 1 and agree in published else ""
        rows.append([f"{agree} of {of}", count, percent(count / total), interval, paper])
    shown = len(_COLUMNS) if published else -1
    title = f"{stage}: how many agree, the author included"
    return stage_table(title, _COLUMNS[:shown], [row[:shown] for row in rows])


_ACCEPTS = f"accept {canonical_json({})}"
