"""Emotion perception (L.1, L.2): whose face can be read, and who can be compared."""

from collections.abc import Callable, Mapping

from msgspec import structs

from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.clip_facts import ClipFacts, TrackedSubject
from reelbench.recipes.humanvbench.rows import Candidate


def readable_faces(clip: ClipFacts, *, least_face: float) -> list[Candidate]:
    """Select everyone whose face is large enough to be read (ER)."""
    subjects = clip.subjects()
    if not subjects:
        raise Rejected("nobody is tracked", "No face was followed through the clip.")
    heights = {each.id: clip.face_height(each.id) for each in subjects}
    large = [each for each in subjects if heights[each.id] >= least_face]
    if not large:
        detail = f"The largest is {max(heights.values()):.0f} pixels high, below {least_face:g}."
        raise Rejected("faces too small", detail)
    return [about(clip, each) for each in large]


def changing_faces(clip: ClipFacts, *, longer_than: float, least_face: float) -> list[Candidate]:
    """Select the same in clips that are long enough for a change (ETA)."""
    clip.require_longer_than(longer_than)
    return readable_faces(clip, least_face=least_face)


def most_seen(clip: ClipFacts) -> list[Candidate]:
    """Select the person with most frames (AR)."""
    return [about(clip, clip.most_seen())]


def compared(
    clip: ClipFacts, *, least_tracks: int, most_tracks: int, share_of_longest: float
) -> list[Candidate]:
    """Select clips of some people who are there equally long; all get letters (EIC)."""
    lettered = clip.longest(least_tracks, most_tracks, share_of_longest)
    return [
        structs.replace(
            clip.row,
            people=tuple(each.id for each in lettered),
            confidence=min(each.confidence for each in lettered),
        )
    ]


def about(clip: ClipFacts, subject: TrackedSubject) -> Candidate:
    """Return a candidate about one of those who are there."""
    return structs.replace(clip.row, target=subject.id, confidence=subject.confidence)


RULES: Mapping[str, Callable[..., list[Candidate]]] = {
    "ER": readable_faces,
    "ETA": changing_faces,
    "AR": most_seen,
    "EIC": compared,
}
