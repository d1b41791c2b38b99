"""Whose a file is where several names of a list lead to it.

A name that is exactly that of the file is never lost to one that merely comes near it. Names that
differ in upper and lower case alone mean one file, where there is but one, unless they are ids.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from reelbench.interop.imports.found_media import FoundMedium, Request
from reelbench.interop.imports.media_matching import common_tail
from reelbench.interop.imports.wanted_names import split_ending, wanted_parts

_CASE = "case"
# How near what was found is: called as the list has it, or so but for upper and lower case.
_RANKS = {"path": 2, "name": 2, _CASE: 0}
# As YouTube's, in which case tells two videos apart.
_ID = re.compile(r"(?=.*[a-z])(?=.+[A-Z])[\w-]{11}", re.ASCII)


def in_one_spelling(found: Mapping[Request, FoundMedium]) -> dict[Request, FoundMedium]:
    """Return what names mean, with one spelling for a file that a list spells in several cases.

    What was asked for as ``Clip.mp4`` then is ``clip.mp4``, as ``wanted`` says, so that the items
    of one video name one path. The spelling of the file itself is preferred.
    """
    evened = dict(found)
    for rivals in _by_file(found):
        if any(medium.how == _CASE for _, medium in rivals):
            spellings = _Spellings(medium for _, medium in rivals)
            evened |= {one: spellings.of(m) for one, m in rivals if m.how == _CASE}
    return evened


class _Spellings:
    """The spellings of one file in a list, found by their tails: there may be thousands."""

    def __init__(self, media: Iterable[FoundMedium]) -> None:
        self._media = sorted(media, key=lambda each: (each.how == _CASE, each.wanted))
        self._whole: dict[tuple[str, ...], int] = {}
        self._tails: dict[tuple[str, ...], int] = {}
        for place, medium in enumerate(self._media):
            parts = _folded(medium.wanted)
            self._whole.setdefault(parts, place)
            for tail in _tails(parts):
                self._tails.setdefault(tail, place)

    def of(self, medium: FoundMedium) -> FoundMedium:
        """Return the first spelling that means the same but for case: this one, or another."""
        mine = _folded(medium.wanted)
        places = [self._tails[mine], *(self._whole[t] for t in _tails(mine) if t in self._whole)]
        return self._media[min(places)]


def _tails(parts: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [parts[start:] for start in range(len(parts))]


def contested(found: Mapping[Request, FoundMedium]) -> dict[Request, str]:
    """Return the names that lose the file they lead to, with the reason."""
    lost: dict[Request, str] = {}
    for rivals in _by_file(found):
        names = len({_parts(medium.wanted) for _, medium in rivals})
        media = [_Rival(m, _parts(m.wanted)) for m in dict.fromkeys(m for _, m in rivals)]
        media.sort(key=lambda each: each.claim, reverse=True)
        why = {each.medium: _fault(each, media, names) for each in media}
        lost |= {one: why[medium] for one, medium in rivals if why[medium]}
    return lost


def _by_file(found: Mapping[Request, FoundMedium]) -> Iterable[list[tuple[Request, FoundMedium]]]:
    """The names that lead to each file, of the files that several lead to."""
    claims: dict[str, list[tuple[Request, FoundMedium]]] = defaultdict(list)
    for one, medium in found.items():
        if medium.is_found:
            claims[medium.place].append((one, medium))
    return [rivals for rivals in claims.values() if len(rivals) > 1]


class _Rival:
    """A name that leads to a file to which others lead as well."""

    def __init__(self, medium: FoundMedium, parts: tuple[str, ...]) -> None:
        self.medium, self.parts = medium, parts
        self.rank = _RANKS.get(medium.how, 1)
        # Of a name that only comes near, the folders must tell more than those of the exact one.
        self.claim = (common_tail(medium.below, parts[:-1]), self.rank)


def _fault(mine: _Rival, rivals: Iterable[_Rival], names: int) -> str:
    """Return why a file is not for this name; ``rivals`` come in the order of their claims."""
    for other in rivals:
        if other.claim < mine.claim:
            break
        if not _same_tail(mine.parts, other.parts):
            below = mine.medium.below
            if other.rank > mine.rank:
                return (
                    f"no file has this name, and the nearest, {below}, is the exact one of others"
                )
            return (
                f"the file that fits, {below}, fits {names} names of the list, and their folders "
                "do not tell which is meant"
            )
    return ""


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
