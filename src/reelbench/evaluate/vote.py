"""One answer from several option orders."""

from collections import Counter
from collections.abc import Sequence

Answer = frozenset[str]  # letters of the benchmark's own option order

TIE_RULE = "of equally frequent answers, the one given in the earliest order"


def majority(answers: Sequence[Answer | None]) -> Answer | None:
    """Return the most frequent answer; orders without an answer do not vote."""
    given = [answer for answer in answers if answer is not None]
    if len(given) == 1:
        return given[0]
    return Counter(given).most_common(1)[0][0] if given else None
