"""What a label states of a clip, held against the truth; and the tables that come of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from measuring.world import table

from reelbench.score.intervals import wilson

THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Statement:
    """One thing that a label says, also where it abstains: then by what it would have said."""

    clip: str
    what: str  # such as gender; each has a table of its own
    said: object
    true: object
    confidence: float
    kept: bool  # said, at the parameters that were measured

    @property
    def right(self) -> bool:
        """Whether it is true."""
        return self.said == self.true


def print_precision(title: str, statements: Iterable[Statement]) -> None:
    """Print, for each thing that is stated, precision against the share that is kept."""
    by_what: dict[str, list[Statement]] = {}
    for each in statements:
        by_what.setdefault(each.what, []).append(each)
    for what, group in by_what.items():
        rows = [_row("as it is", group, [each for each in group if each.kept])]
        for least in THRESHOLDS:
            kept = [each for each in group if each.confidence >= least]
            rows.append(_row(f">= {least}", group, kept))
        table(f"{title}: {what}", ("confidence", "kept", "right", "precision", "95 %"), rows)


def _row(
    name: str, group: Sequence[Statement], kept: Sequence[Statement]
) -> tuple[str, str, str, str, str]:
    share = f"{len(kept)} of {len(group)}"
    if not kept:
        return name, share, "-", "-", "-"
    right = sum(each.right for each in kept)
    low, high = wilson(right / len(kept), len(kept))
    return name, share, str(right), f"{right / len(kept):.2f}", f"{low:.2f}-{high:.2f}"


def print_wrong(title: str, statements: Iterable[Statement]) -> None:
    """List what is said and wrong, the surest first."""
    wrong = sorted((each for each in statements if not each.right), key=lambda x: -x.confidence)
    rows = [(x.clip, x.what, str(x.said), str(x.true), x.confidence, "kept" if x.kept else "")
            for x in wrong]  # fmt: skip
    if rows:
        table(f"{title}: wrong", ("clip", "what", "said", "true", "confidence", ""), rows)
