"""A review of drafts by a model that reads the film: Cinéaste's make up to its own checks."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from deciding.films import Film, writing
from reelbench.data.items import Item
from reelbench.make.parts.audit import audit
from reelbench.make.parts.filters import context_of
from reelbench.make.pipeline.make import MakeOptions, make_benchmark
from reelbench.make.pipeline.stage import Role
from reelbench.recipes.cineaste.recipe import RECIPE

ISSUES = {
    "key not borne out": "the material contradicts the key, or does not tell what the key says",
    "answerable unseen": (
        "who has not read the material would choose the key all the same, because the other "
        "options are absurd or do not fit the question"
    ),
}
DECISIONS = dict(zip(ISSUES, ("hallucinated", "blind"), strict=True))
REVIEW = replace(
    RECIPE,
    name="review",
    stages=(*RECIPE.until("check").stages, audit(ISSUES, material=context_of, name="review")),
    roles={
        **{name: RECIPE.roles[name] for name in ("captioner", "writer")},
        "reviewer": Role("reads questions with their keys and the text of the film"),
    },
)


def reviewed(films: Sequence[Film], card: str, out: Path) -> tuple[dict[str, str], list[str]]:
    """Return what a model decides on each question, and the warnings of the make."""
    with writing(films, out) as writer:
        models = {"writer": [writer], "reviewer": [card]}
        result = make_benchmark(REVIEW, out / "bench", MakeOptions([out / "source"], models))
    return {item.id: _decision(item) for item in result.items}, list(result.warnings)


def _decision(item: Item) -> str:
    found = item.provenance["review"]["issues"]
    return next((DECISIONS[issue] for issue in ISSUES if issue in found), "keep")
