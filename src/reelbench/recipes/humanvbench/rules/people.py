"""Rules."""

from collections.abc import Callable, Mapping

from msgspec import structs

from reelbench.recipes.humanvbench.clip_facts import ClipFacts
from reelbench.recipes.humanvbench.rows import PERSON, Candidate
from reelbench.recipes.humanvbench.rules.emotion import about


def highlighted(clip: ClipFacts, *, least_people: int, most_people: int) -> list[Candidate]:
    """Select the person with most frames among some people (H2T)."""
    clip.count(least_people, most_people)
    chosen = about(clip, clip.most_seen())
    certain = clip.confidence("count") if chosen.subject == PERSON else 1.0
    return [structs.replace(chosen, confidence=min(certain, chosen.confidence))]


RULES: Mapping[str, Callable[..., list[Candidate]]] = {"H2T": highlighted}
