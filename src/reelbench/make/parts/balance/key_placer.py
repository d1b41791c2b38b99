"""Positions and ranks for the keys of items that are made one after the other.

Each is used as often as the others, so that neither tells anything.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from reelbench.base.seeds import rng_for

_SLACK = 1  # how far a rank may run ahead of the least used one


class KeyPlacer:
    """Chooses positions and ranks for the keys of a benchmark, one item after the other."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._placed: Counter[int] = Counter()
        self._ranks: dict[int, Counter[int]] = defaultdict(Counter)

    def position(self, count: int) -> int:
        """Return a position among so many options: every one once before any comes again."""
        round_number, place = divmod(self._placed[count], count)
        self._placed[count] += 1
        order = list(range(count))
        rng_for(self._seed, "places", count, round_number).shuffle(order)
        return order[place]

    def neighbours(self, ladder: Sequence[str], right: str, item_id: str) -> list[str] | None:
        """Return wrong options next to the right one on a ladder, its rank among them balanced.

        None where the ladder leaves only ranks that have been used too often.
        """
        rng = rng_for(self._seed, "ladder", item_id)
        count, rung = rng.choice([4, 5]), ladder.index(right)
        used = self._ranks[count]
        ranks = [r for r in range(count) if rung - r >= 0 and rung - r + count <= len(ladder)]
        rng.shuffle(ranks)
        rank = min(ranks, key=lambda r: used[r], default=None)
        if rank is None or used[rank] > min(used[r] for r in range(count)) + _SLACK:
            return None
        used[rank] += 1
        return [text for text in ladder[rung - rank : rung - rank + count] if text != right]
