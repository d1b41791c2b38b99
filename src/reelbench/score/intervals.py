"""How sure a score is: intervals by resampling videos, since questions about one hang together."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from reelbench.seeds import seed_for

RESAMPLES = 2000
LEVEL = 0.95

Interval = tuple[float, float]


class ClusterBootstrap:
    """Draws of videos with replacement, the same draws for every model and category."""

    def __init__(self, clusters: Sequence[str], seed: int) -> None:
        names = sorted(set(clusters))
        self._place = {name: place for place, name in enumerate(names)}
        generator = np.random.Generator(np.random.PCG64(seed_for(seed, "bootstrap")))
        draws = generator.integers(len(names), size=(RESAMPLES, len(names)))
        self._weights = np.stack([np.bincount(draw, minlength=len(names)) for draw in draws])

    def interval(self, clusters: Sequence[str], right: Sequence[bool]) -> Interval:
        """Return the interval of a share.

        It is Wilson's where there is one video, or where all answers are alike: no resample
        would then differ from another, which is not certainty.
        """
        if len(set(clusters)) < 2 or len(set(right)) < 2:
            return wilson(sum(right), len(right))
        places = [self._place[cluster] for cluster in clusters]
        width = self._weights.shape[1]
        counts = np.bincount(places, minlength=width)
        wins = np.bincount(places, weights=np.asarray(right), minlength=width).astype(np.int64)
        # Integers, so that no machine's order of summing changes a digit.
        drawn = self._weights @ counts
        shares = (self._weights @ wins)[drawn > 0] / drawn[drawn > 0]
        low, high = np.quantile(shares, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)


def wilson(right: int, count: int) -> Interval:
    """Return Wilson's interval of a share of independent items."""
    result = stats.binomtest(right, count).proportion_ci(LEVEL, method="wilson")
    return float(result.low), float(result.high)
