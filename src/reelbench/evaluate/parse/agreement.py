"""What several readings of one form come to."""

from collections.abc import Sequence
from dataclasses import dataclass

from reelbench.data.items import Kind
from reelbench.evaluate.parse.letters import NOTHING, Reading
from reelbench.evaluate.parse.question import Places, UnclearError
from reelbench.evaluate.parse.vocabulary import pattern

_BETWEEN = pattern(r"(?:[\s,;&/+、.$-]|‹joint›)*")
_GAP = 20  # characters between two marks of one list


@dataclass(frozen=True, slots=True)
class LocatedReading:
    """A reading and where in the text it stands; in quotes it may be an echoed format."""

    start: int
    end: int
    reading: Reading
    quoted: bool = False


def agreed(found: Sequence[LocatedReading], text: str, kind: Kind) -> Places:
    """Return what all readings say; unclear if they differ, nothing if none says anything.

    What stands in quotes counts only where nothing else is said, and a letter without an option,
    such as the X of a format, only where no other letter is.
    """
    readings = [each for each in found if each.reading != NOTHING]
    readings = [each for each in readings if not each.quoted] or readings
    known = [each for each in readings if each.reading.failure != "no such option"]
    if not known:
        if readings:
            raise UnclearError("no such option")
        return ()
    for each in known:
        if each.reading.failure:
            raise UnclearError(each.reading.failure)
    places = [each.reading.places for each in known]
    answers = set(_lists(known, text) if kind == "multi" else places)
    if len(answers) > 1:
        raise UnclearError("several answers")
    return answers.pop()


def _lists(found: Sequence[LocatedReading], text: str) -> list[Places]:
    """Take readings that stand side by side as one: ``\\boxed{A}, \\boxed{C}``."""
    lists: list[set[int]] = []
    end = -1
    for each in sorted(found, key=lambda one: one.start):
        between = text[end : each.start]
        if lists and len(between) <= _GAP and _BETWEEN.fullmatch(between):
            lists[-1] |= set(each.reading.places)
        else:
            lists.append(set(each.reading.places))
        end = each.end
    return [tuple(sorted(places)) for places in lists]
