"""Tables of what a model decides beside what a reader decides."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reelbench.client.journal import open_journal
from reelbench.pages.table import Table
from reelbench.score.agreement import agreement
from reelbench.score.ratings import Scale, ratings_of

Decisions = Mapping[str, str]  # by what is decided on
METHODS = ("percent", "cohen", "ac1")
AGREEMENT = ("what is decided", "n", "the same", "Cohen's kappa", "Gwet's AC1 or AC2")
COST = (
    "part",
    "verdicts",
    "seconds a verdict",
    "calls",
    "seconds a call",
    "tokens in a call",
    "of them cached",
    "tokens out",
    "failed",
)


def crossed(title: str, reader: Decisions, model: Decisions, names: Sequence[str]) -> Table:
    """Return how often the model decides what, for each decision of the reader's."""
    pairs = Counter((reader[name], model[name]) for name in reader)
    rows = [
        [one, *(str(pairs[one, other]) for other in names), str(sum(pairs[one, o] for o in names))]
        for one in names
    ]
    return Table("crossed", title, ("reader", *(f"model: {name}" for name in names), "all"), rows)


def agreement_row(
    what: str, reader: Decisions, model: Decisions, names: Sequence[str], weights: str = "identity"
) -> list[str]:
    """Return one row of agreement, with 95 % intervals."""
    rows = [(name, who, given[name]) for name in reader for who, given in _raters(reader, model)]
    methods = METHODS if weights == "identity" else ("percent", "cohen", "ac2")
    found = agreement(ratings_of(rows, Scale.of(names), what), weights, methods)
    cells = []
    for each in found:
        ends = (each.value or 0.0, *(each.interval or (0.0, 0.0)))
        value, low, high = (round(end, 2) + 0.0 for end in ends)  # no -0.00
        cells.append("-" if each.value is None else f"{value:.2f} ({low:.2f} to {high:.2f})")
    return [what, str(len(reader)), *cells]


def _raters(reader: Decisions, model: Decisions) -> tuple[tuple[str, Decisions], ...]:
    return ("reader", reader), ("model", model)


@dataclass(frozen=True, slots=True)
class Taken:
    """What calls have taken, by a journal's count."""

    calls: int = 0
    read: int = 0  # tokens of prompts
    written: int = 0
    cached: int = 0
    seconds: float = 0.0

    def row(self, part: str, verdicts: int, failed: int) -> list[str]:
        """Return a row of costs."""
        calls = max(1, self.calls)
        return [
            part,
            str(verdicts),
            f"{self.seconds / max(1, verdicts):.1f}",
            str(self.calls),
            f"{self.seconds / calls:.1f}",
            f"{self.read / calls:.0f}",
            f"{self.cached / max(1, self.read):.0%}",
            f"{self.written / calls:.1f}",
            str(failed),
        ]


def taken(journal: Path, model: str) -> Taken:
    """Return what a model's calls in a journal have taken so far."""
    if not journal.exists():
        return Taken()
    with open_journal(journal, reading=True) as opened:
        rows = [row[1:6] for row in opened.taken() if row[0] == model]
    calls, read, written, cached, seconds = (sum(row[n] or 0 for row in rows) for n in range(5))
    return Taken(int(calls), int(read), int(written), int(cached), seconds)
