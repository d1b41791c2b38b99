"""Speech-visual alignment (L.2): who speaks, whose voice it is, when it fits, what is people."""

from collections.abc import Callable, Mapping

from msgspec import structs

from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.clip_facts import ClipFacts
from reelbench.recipes.humanvbench.rows import Candidate


def active_speaker(
    clip: ClipFacts, *, least_people: int, most_people: int, least_seconds: float
) -> list[Candidate]:
    """Select clips of some people of whom exactly one speaks (ASD)."""
    clip.require_seconds(least_seconds)
    clip.require_speech()
    clip.count(least_people, most_people)
    people = clip.speakers()
    unsure = [person["id"] for person in people if person["speaks"] is None]
    if unsure:
        raise Rejected("not certain who speaks", ", ".join(unsure))
    speaking = [person["id"] for person in people if person["speaks"]]
    if len(speaking) != 1:
        raise Rejected("not exactly one speaker", f"{len(speaking)} of {len(people)} speak.")
    certain = min([clip.confidence("count"), *(each.get("confidence", 1.0) for each in people)])
    lettered = tuple(each.id for each in clip.subjects())
    return [structs.replace(clip.row, key=speaking[0], people=lettered, confidence=certain)]


RULES: Mapping[str, Callable[..., list[Candidate]]] = {"ASD": active_speaker}
