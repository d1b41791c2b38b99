"""Person recognition (L.1): who fits a description, how many there are, when someone is there."""

from collections.abc import Callable, Mapping

from msgspec import structs

from reelbench.base.seeds import seed_for
from reelbench.data.items import Span
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.clip_facts import ClipFacts, TrackedSubject
from reelbench.recipes.humanvbench.numbers import whole
from reelbench.recipes.humanvbench.rows import PERSON, Candidate
from reelbench.recipes.humanvbench.rules.emotion import about
from reelbench.score.rounding import percent


def described(
    clip: ClipFacts, *, least_tracks: int, most_tracks: int, share_of_longest: float
) -> list[Candidate]:
    """Select clips of some people who are there equally long; one of them is described (T2H)."""
    lettered = clip.longest(least_tracks, most_tracks, share_of_longest)
    if len(lettered) < len(clip.subjects()):
        absent = len(clip.subjects()) - len(lettered)
        raise Rejected("people without a letter", f"{absent} more are there for a shorter time.")
    target = min(lettered, key=lambda each: seed_for("T2H", clip.row.id, each.id))
    return [
        structs.replace(
            clip.row,
            target=target.id,
            key=target.id,
            people=tuple(each.id for each in lettered),
            confidence=min(each.confidence for each in lettered),
        )
    ]


def crowd(clip: ClipFacts, *, least_people: int) -> list[Candidate]:
    """Select clips of some people; how many there are, people will say (HC)."""
    label = clip.label("count")
    guess = label.get("guess", label["people"])
    if guess is None or guess < least_people:
        raise Rejected("number of people", f"About {guess}, expected {least_people} or more.")
    return [structs.replace(clip.row, facts={"guess": int(guess)})]


def appearing(
    clip: ClipFacts,
    *,
    longer_than: float,
    least_share: float,
    most_share: float,
    longest_gap: float,
    edge: float,
) -> list[Candidate]:
    """Select who is there for a part of a clip, at one stretch (ATD).

    Who is there from the middle of a clip on must come in at a side of the picture, within ``edge``
    widths of the box, and likewise leave: who turns the face away is still there.
    """
    clip.require_longer_than(longer_than)
    subjects = clip.subjects()
    part = [each for each in subjects if least_share <= each.seconds / clip.seconds <= most_share]
    if not part:
        shares = ", ".join(f"{percent(each.seconds / clip.seconds, 0)}" for each in subjects)
        raise Rejected("nobody is there for a part", shares or "No one was followed.")
    once = [each for each in part if len(_stretches(each, longest_gap)) == 1]
    if not once:
        raise Rejected("comes more than once", ", ".join(each.id for each in part))
    moving = [each for each in once if _comes_and_goes(clip, each, edge)]
    if not moving:
        raise Rejected("may be there unseen", "Nobody comes in and leaves at a side.")
    return [
        structs.replace(
            clip.row,
            target=each.id,
            confidence=each.confidence,
            facts={"span": _whole_span(clip, _stretches(each, longest_gap)[0])},
        )
        for each in moving
    ]


def _stretches(subject: TrackedSubject, longest_gap: float) -> list[Span]:
    """Return when a subject is there; what is missing for a moment is bridged."""
    found: list[Span] = []
    for start, end in sorted(subject.spans):
        if found and start - found[-1][1] <= longest_gap:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _comes_and_goes(clip: ClipFacts, subject: TrackedSubject, edge: float) -> bool:
    boxes = clip.boxes(subject.id)
    first, last = boxes[0], boxes[-1]
    return all(
        at_edge_of_clip or clip.is_at_side(box["box"], edge)
        for box, at_edge_of_clip in (
            (first, first["time"] < _MOMENT),
            (last, last["time"] > clip.seconds - _MOMENT),
        )
    )


_MOMENT = 0.75  # seconds; who is seen so soon was there from the first frame on


def _whole_span(clip: ClipFacts, span: Span) -> list[int]:
    start, end = (whole(time, clip.seconds) for time in span)
    return [start, end]


def highlighted(
    clip: ClipFacts, *, least_people: int, most_people: int, least_things: int
) -> list[Candidate]:
    """Select the person with most frames among some people (H2T).

    Of other things the question is about attributes (4.5), which one alone has as well.
    """
    least = least_people if clip.row.subject == PERSON else least_things
    clip.count(least, most_people)
    chosen = about(clip, clip.most_seen())
    certain = clip.confidence("count") if chosen.subject == PERSON else 1.0
    return [structs.replace(chosen, confidence=min(certain, chosen.confidence))]


RULES: Mapping[str, Callable[..., list[Candidate]]] = {
    "T2H": described,
    "H2T": highlighted,
    "HC": crowd,
    "ATD": appearing,
}
