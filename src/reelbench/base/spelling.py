"""Names as people type them: in another case, or misspelt."""

from collections.abc import Iterable
from functools import lru_cache

SHORT = 6  # letters from which a name with two typing errors is still recognisable


def name_meant(name: str, known: Iterable[str]) -> str:
    """Return the known name that a name is, or the one that it is but for upper and lower case.

    Where none is, or several are, it is the name itself.
    """
    known = set(known)
    if name in known:
        return name
    same = [other for other in known if other.casefold() == name.casefold()]
    return same[0] if len(same) == 1 else name


def closest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that another is probably a misspelling of; None where there is none."""
    found = [(slips, other) for other in known if (slips := _slips(name, other)) is not None]
    return min(found)[1] if found else None


def perhaps(name: str, known: Iterable[str]) -> str:
    """Return " (perhaps 'video')" for a name that is misspelt; "" where none is near."""
    close = closest_name(name, known)
    return f" (perhaps {close!r})" if close else ""


@lru_cache(maxsize=65536)
def _slips(name: str, known: str) -> int | None:
    """The number of typing errors between a name and a known one; None where it is another word."""
    one, other = _even(name), _even(known)
    if one == other:
        return 0
    if len(other) < 4:  # "id" and "end" are near to too many words
        return 1 if sorted(one) == sorted(other) else None
    slips = edit_distance(one, other)
    allowed = 2 if len(other) >= SHORT and one[:1] == other[:1] else 1
    return slips if slips <= allowed else None


def _even(name: str) -> str:
    """A name without what makes no difference: case, and how its words are joined."""
    return "".join(name.casefold().split()).replace("-", "").replace("_", "")


def edit_distance(one: str, other: str) -> int:
    """Return how many letters to insert, drop, replace or swap with the next make one the other."""
    if abs(len(one) - len(other)) > len(other):
        return len(one)  # nowhere near, however long
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
