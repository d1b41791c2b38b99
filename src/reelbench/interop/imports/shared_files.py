"""Whose a file is where several names of a list lead to it.

A name that is exactly that of the file is never lost to one that merely comes near it. Names that
differ in upper and lower case alone mean one file, where there is but one, unless they are ids.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from reelbench.base.progress import counted
from reelbench.interop.imports.found_media import FoundMedium, Request
from reelbench.interop.imports.media_matching import common_tail
from reelbench.interop.imports.wanted_names import split_ending, wanted_parts

_EXACT = ("path", "name")  # how a file was found that is called as the list has it
_CASE = "case"
# As YouTube's, in which case tells two videos apart.
_ID = re.compile(r"(?=.*[a-z])(?=.+[A-Z])[\w-]{11}", re.ASCII)


def in_one_spelling(found: Mapping[Request, FoundMedium]) -> dict[Request, FoundMedium]:
    """Return what names mean, with one spelling for a file that a list spells in several cases.

    What was asked for as ``Clip.mp4`` then is ``clip.mp4``, as ``wanted`` says, so that the items
    of one video name one path. The spelling of the file itself is preferred.
    """
    evened = dict(found)
    for rivals in _by_file(found):
        spellings = sorted(
            (medium for _, medium in rivals), key=lambda each: (each.how == _CASE, each.wanted)
        )
        for one, medium in rivals:
            if medium.how == _CASE:
                mine = _folded(medium.wanted)
                evened[one] = next(o for o in spellings if _same_tail(_folded(o.wanted), mine))
    return evened


def contested(found: Mapping[Request, FoundMedium]) -> dict[Request, str]:
    """Return the names that lose the file they lead to, with the reason."""
    lost: dict[Request, str] = {}
    for rivals in _by_file(found):
        media = list(dict.fromkeys(medium for _, medium in rivals))
        for one, medium in rivals:
            if why := _rival_fault(medium, media):
                lost[one] = why
    return lost


def _by_file(found: Mapping[Request, FoundMedium]) -> Iterable[list[tuple[Request, FoundMedium]]]:
    """The names that lead to each file, of the files that several lead to."""
    claims: dict[str, list[tuple[Request, FoundMedium]]] = defaultdict(list)
    for one, medium in found.items():
        if medium.is_found:
            claims[medium.place].append((one, medium))
    return [rivals for rivals in claims.values() if len(rivals) > 1]


def _rival_fault(mine: FoundMedium, media: Iterable[FoundMedium]) -> str:
    """Return why a file is not for this name, where others of a list lead to it as well."""
    parts, points = _parts(mine.wanted), _points(mine)
    others = [each for each in media if not _same_tail(parts, _parts(each.wanted))]
    # Of a name that only comes near, the folders must tell more than those of the exact one.
    if all(points > _points(o) or (points == _points(o) and _outranks(mine, o)) for o in others):
        return ""
    if any(_outranks(each, mine) for each in others):
        return f"no file has this name, and the nearest, {mine.below}, is the exact one of others"
    names = counted(len({each.wanted for each in others}) + 1, "name")
    return (
        f"the file that fits, {mine.below}, fits {names} of the list, and their folders do not "
        "tell which is meant"
    )


def _outranks(one: FoundMedium, other: FoundMedium) -> bool:
    if one.how in _EXACT:
        return other.how not in _EXACT
    return one.how == "ending" and other.how == _CASE


def _points(medium: FoundMedium) -> int:
    """How many of the folders that the list names are those of the file."""
    return common_tail(medium.below, _parts(medium.wanted)[:-1])


def _parts(wanted: str) -> tuple[str, ...]:
    """The folders and the name without its ending."""
    parts = wanted_parts(wanted)
    return (*parts[:-1], split_ending(parts[-1])[0])


def _folded(wanted: str) -> tuple[str, ...]:
    return tuple(part if _ID.fullmatch(part) else part.casefold() for part in _parts(wanted))


def _same_tail(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two names mean one file: one path is the tail of the other."""
    length = min(len(one), len(other))
    return one[-length:] == other[-length:]
