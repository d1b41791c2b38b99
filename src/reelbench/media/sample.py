"""Samplings as text: which moments of a clip a model gets to see.

``uniform:16``      the centres of 16 equal parts
``fps:2``           every half second, from the start
``fps:2,max=64``    the same, or 64 uniform frames where that would be more
"""

import math
import re
from dataclasses import dataclass

from reelbench.errors import ReelbenchError

MOST_FRAMES = 10_000
_FORM = re.compile(r"(?:uniform:(?P<count>\d+)|fps:(?P<rate>\d+(?:\.\d+)?)(?:,max=(?P<most>\d+))?)")


@dataclass(frozen=True, slots=True)
class Sampling:
    """A parsed sampling; ``text`` is its one spelling, which goes into the request key."""

    text: str
    count: int | None = None
    rate: float | None = None
    most: int | None = None

    def times(self, start: float, end: float) -> list[float]:
        """Return the moments to show of a clip that lasts from ``start`` to ``end``."""
        length = max(end - start, 0.0)
        if self.rate is not None:
            # A frame at the very end would lie past the last one.
            count = max(1, math.ceil(length * self.rate - 1e-9))
            if self.most is None or count <= self.most:
                return [start + index / self.rate for index in range(count)]
            return _centres(start, length, self.most)
        assert self.count is not None
        return _centres(start, length, self.count)


def _centres(start: float, length: float, count: int) -> list[float]:
    return [start + (index + 0.5) * length / count for index in range(count)]


def parse_sampling(text: str) -> Sampling:
    """Read a sampling; raise a sentence that shows the forms there are."""
    match = _FORM.fullmatch(text.strip())
    if match:
        sampling = Sampling(
            text.strip(),
            count=int(match["count"]) if match["count"] else None,
            rate=float(match["rate"]) if match["rate"] else None,
            most=int(match["most"]) if match["most"] else None,
        )
        most = max(sampling.count or 0, sampling.most or 0)
        if 0 not in (sampling.count, sampling.rate, sampling.most) and most <= MOST_FRAMES:
            return sampling
    raise ReelbenchError(
        f"The sampling {text!r} is not one we know; write uniform:16, fps:2 or fps:2,max=64, with "
        f"at most {MOST_FRAMES} frames."
    )
