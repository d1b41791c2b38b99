"""Category inference (B.2, appendix C): which of the four arts an essay is about.

A model reads the metadata and the beginning of what is said. Where it contradicts the category that
an essay was searched under, or is not sure, that is a doubt: people decide it (``vetting``).
"""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from reelbench.interop.musebench.taxonomy import CATEGORIES, SUBDOMAINS
from reelbench.make.parts.shape import CONFIDENCE, TEXT, closed
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, RowStage
from reelbench.recipes.musebench.records import transcription_record
from reelbench.recipes.musebench.rows import Essay

INFERRED, DOUBT = "inferred", "doubt"  # what ``curation`` has of it
_PROMPT = "category"
_TOKENS = 80


def categorise(least_confidence: float = 0.55, words: int = 1500) -> RowStage:
    """Return the stage that infers the category of essays; without a curator it is left out.

    ``words`` of what is said are shown. No essay is rejected: what is not sure is a doubt.
    """
    return RowStage(
        name="categorise",
        input=Essay,
        output=Essay,
        work=_categorised,
        roles=("curator",),
        prompts=(_PROMPT,),
        parameters={"least_confidence": least_confidence, "words": words},
        validate=_fault,
        optional=True,
        expected_tokens=_TOKENS,
    )


def shown_categories() -> str:
    """Return the categories with their sub-domains, as prompts show them."""
    return "\n".join(
        line
        for name, about in CATEGORIES.items()
        for line in (
            f"- {name}: {about}",
            *(f"  - {part}: {what}" for part, what in SUBDOMAINS[name].items()),
        )
    )


def shown_essay(essay: Essay, ctx: StageContext, words: int) -> dict[str, str]:
    """Return the slots of a prompt that tell of an essay: metadata, and the speech it begins with.

    Of a longer text, so many words are shown.
    """
    text = transcription_record(essay, ctx)["transcription"]["text"]
    return {
        "title": essay.title or "(unknown)",
        "channel": essay.channel or "(unknown)",
        "description": beginning(essay.description, words) or "(none)",
        "transcript": beginning(text, words),
    }


def beginning(text: str, words: int) -> str:
    """Return the first words of a text."""
    found = text.split()
    return " ".join(found[:words]) + (" ..." if len(found) > words else "")


def _fault(values: Mapping[str, Any]) -> str:
    if not 0 <= values["least_confidence"] <= 1:
        return "least_confidence must be from 0 to 1"
    return "" if values["words"] >= 1 else "words must be 1 or more"


async def _categorised(
    essay: Essay, ctx: StageContext, *, least_confidence: float, words: int
) -> list[Essay]:
    prompt = ctx.prompts.prompt(
        _PROMPT, categories=shown_categories(), **shown_essay(essay, ctx, words)
    )
    schema = closed(
        {
            "category": {"type": "string", "enum": list(CATEGORIES)},
            "confidence": CONFIDENCE,
            "reason": TEXT,
        }
    )
    model = ctx.model("curator").card.name
    try:
        reply = await ctx.json("curator", prompt, schema)
    except Rejected as why:
        return [_doubted(essay, f"{model} refuses to say which art it is about: {why.detail}")]
    if reply.data is None:
        return [_doubted(essay, f"{model} gave no category that can be read: {reply.failure}")]
    found = {**reply.data, "model": model}
    essay = structs.replace(essay, curation={**essay.curation, INFERRED: found})
    category, confidence = found["category"], found["confidence"]
    inferred = f"{model} infers {category} (confidence {confidence:g})"
    if essay.category and category != essay.category:
        return [_doubted(essay, f"{inferred}, but it was searched under {essay.category}")]
    if confidence < least_confidence:
        return [_doubted(essay, f"{inferred}, which is not sure")]
    return [structs.replace(essay, category=category)]


def _doubted(essay: Essay, doubt: str) -> Essay:
    return structs.replace(essay, curation={**essay.curation, DOUBT: doubt})
