"""Two results on the same items: their difference, and which items changed between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reelbench.score.compare import Pair, compare_two, holm
from reelbench.score.results import ModelResult
from reelbench.score.rounding import rounded

PAIRED_METHOD = (
    "the first less the second on the same items: its error from the spread between videos (CR2), "
    "Student's t with the degrees of freedom of Bell and McCaffrey, p no smaller than 2 to the "
    "power of 1 - videos, corrected for all rows of the table after Holm"
)


@dataclass(frozen=True, slots=True)
class PairedResult:
    """Two results on the same items; the difference is the first's accuracy less the second's."""

    pair: Pair
    items: int
    videos: int
    correct: tuple[int, int]
    only_first: tuple[str, ...]  # items that are right in the first and wrong in the second
    only_second: tuple[str, ...]

    def to_record(self) -> dict[str, Any]:
        """Return what goes into a file, without the names of the two."""
        record = self.pair.to_record()
        del record["models"]
        return {
            "items": self.items,
            "videos": self.videos,
            "correct": list(self.correct),
            "accuracy": [rounded(count / self.items) for count in self.correct],
            **record,
            "right_to_wrong": len(self.only_first),
            "wrong_to_right": len(self.only_second),
        }


def paired(
    first: ModelResult, second: ModelResult, clusters: Mapping[str, int]
) -> PairedResult | None:
    """Hold two results against each other on the items that both are scored on; None without."""
    items = first.on({item.id for item in second.items}).items
    if not items:
        return None
    table = np.stack([replace(each, items=items).exact() for each in (first, second)])
    right = table == 1
    videos = [clusters[item.id] for item in items]
    # Names of their own: the two may be the same model.
    pair = replace(compare_two(("first", "second"), table, videos), first="", second="")
    ids = np.array([item.id for item in items], dtype=object)
    return PairedResult(
        pair,
        len(items),
        len(set(videos)),
        (int(right[0].sum()), int(right[1].sum())),
        tuple(ids[right[0] & ~right[1]]),
        tuple(ids[right[1] & ~right[0]]),
    )


def corrected(family: Sequence[PairedResult]) -> list[PairedResult]:
    """Correct the p-values of a family of pairs for their number, after Holm."""
    values = holm([each.pair.p for each in family])
    return [
        replace(each, pair=replace(each.pair, p_holm=p))
        for each, p in zip(family, values, strict=True)
    ]
