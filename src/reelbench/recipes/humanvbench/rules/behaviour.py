"""Behaviour analysis (L.1, L.2): what someone does, in which order, why, and when."""

from collections.abc import Callable, Mapping

from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.clip_facts import ClipFacts
from reelbench.recipes.humanvbench.rows import Candidate
from reelbench.recipes.humanvbench.rules.emotion import about
from reelbench.score.rounding import percent


def acting(clip: ClipFacts, *, longer_than: float, more_than_share: float) -> list[Candidate]:
    """Select everyone who is seen for most of a clip that is long enough (BTA, BCA, AST, TSA).

    Of who is seen for less, what is done before and after is not known.
    """
    clip.require_longer_than(longer_than)
    subjects = clip.subjects()
    shares = [each.seconds / clip.seconds for each in subjects]
    chosen = [s for s, share in zip(subjects, shares, strict=True) if share > more_than_share]
    if not chosen:
        seen, needed = percent(max(shares, default=0), 0), percent(more_than_share, 0)
        detail = f"Who is seen longest is seen for {seen} of the clip, not over {needed}."
        raise Rejected("nobody is seen for most of it", detail)
    return [about(clip, each) for each in chosen]


# L.2: AST and TSA are asked about the clips and the people of BTA.
RULES: Mapping[str, Callable[..., list[Candidate]]] = dict.fromkeys(
    ("BTA", "BCA", "AST", "TSA"), acting
)
