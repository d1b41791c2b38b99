"""Which clips of a film go together, and in which order.

The channel has uploaded some films twice: as 3 of 8 in one year and as 3 of 10 in another. Nobody
says in which order the scenes of both come, and questions ask about the order. So the numbering
with the most clips is taken, and the others are left out.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reelbench.interop.csv_tables import Place


@dataclass(frozen=True, slots=True)
class ListedClip:
    """A line of clips.csv whose video is there."""

    place: Place
    videoid: str
    imdbid: str
    index: int | None  # its number in the film; None where it is not known
    name: str
    title: str  # of the film
    year: int | None  # of the film
    total: int | None  # of how many
    uploaded: int | None  # in which year


ClipLeftOut = tuple[ListedClip, str]  # a clip, and why


def in_one_order(clips: Sequence[ListedClip]) -> tuple[list[ListedClip], list[ClipLeftOut]]:
    """Return the clips of a film that can be put in order, so ordered, and the others."""
    left = [(clip, _unusable(clip)) for clip in clips if _unusable(clip)]
    kept = [clip for clip in clips if not _unusable(clip)]
    kept, others = _largest(kept, lambda clip: clip.total)
    total = _total(kept[0]) if kept else ""
    left += [(c, f"it is number {c.index} {_total(c)}, and others are {total}") for c in others]
    if _numbers_twice(kept):
        kept, others = _largest(kept, lambda clip: clip.uploaded)
        year = kept[0].uploaded or "an unknown year"
        left += [(c, f"numbers come twice, and others were uploaded in {year}") for c in others]
    twice = _numbers_twice(kept)
    left += [(c, f"another clip is number {c.index} too") for c in kept if c.index in twice]
    kept = [clip for clip in kept if clip.index not in twice]
    return sorted(kept, key=lambda clip: clip.index or 0), left


def _unusable(clip: ListedClip) -> str:
    """Why a clip cannot be used whatever the others are; empty where it can."""
    if not clip.name:
        return "it has no name"
    return "its number in the film is not known" if clip.index is None else ""


def _largest(
    clips: Sequence[ListedClip], by: Callable[[ListedClip], int | None]
) -> tuple[list[ListedClip], list[ListedClip]]:
    """Return the most clips that share a value, a tie going to the larger value, and the others."""
    counts = Counter(map(by, clips))
    best = max(counts, key=lambda value: (counts[value], value or 0), default=None)
    return [c for c in clips if by(c) == best], [c for c in clips if by(c) != best]


def _total(clip: ListedClip) -> str:
    return f"of {clip.total or 'an unknown number'}"


def _numbers_twice(clips: Sequence[ListedClip]) -> set[int | None]:
    return {index for index, count in Counter(clip.index for clip in clips).items() if count > 1}
