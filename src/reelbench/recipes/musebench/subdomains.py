"""B.2: each question is tagged with one of its category's sub-domains; doubt goes to people."""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from reelbench.data.items import Item, freeze
from reelbench.interop.musebench.taxonomy import SUBDOMAIN, SUBDOMAINS
from reelbench.make.parts.distract import keys_of, shown_keys
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.shape import CONFIDENCE, TEXT, closed, data_of
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.funnel import FLAGGED, category_of
from reelbench.make.pipeline.stage import RowStage
from reelbench.recipes.musebench.plan import DOUBTS

IN_DOUBT = "sub-domain in doubt"


def tag_subdomains(
    least_confidence: float = 0.6, *, name: str = "subdomain", role: str = "writer"
) -> RowStage:
    """Return the stage that tags each item with a sub-domain of its category.

    Below ``least_confidence``, the item is flagged and has a sentence in ``context.doubts``.
    """

    async def work(item: Item, ctx: StageContext, *, least_confidence: float) -> list[Item]:
        category = category_of(item)
        known = SUBDOMAINS[category]
        prompt = ctx.prompts.prompt(
            "subdomain",
            category=category,
            question=item.question,
            answer=shown_keys(keys_of(item)),
            subdomains="\n".join(f"- {each}: {about}" for each, about in known.items()),
        )
        found = data_of(await ctx.json(role, prompt, _schema(known)))
        found = {"model": ctx.model(role).card.name, **found}
        return [_tagged(item, found, least_confidence, ctx.stage)]

    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=(role,),
        prompts=("subdomain",),
        parameters={"least_confidence": least_confidence},
        validate=_fault,
        expected_tokens=50,
    )


def _fault(values: Mapping[str, Any]) -> str:
    return "" if 0 <= values["least_confidence"] <= 1 else "least_confidence must be from 0 to 1"


def _schema(known: Mapping[str, str]) -> dict[str, Any]:
    return closed({"reason": TEXT, "subdomain": {"enum": list(known)}, "confidence": CONFIDENCE})


def _tagged(item: Item, found: Mapping[str, Any], least: float, stage: str) -> Item:
    chosen, confidence = found["subdomain"], found["confidence"]
    tagged = structs.replace(item, tags=freeze({**item.tags, SUBDOMAIN: chosen}))
    if confidence >= least:
        return with_note(tagged, stage, found)
    doubt = f"Sub-domain: {chosen}, with a confidence of {confidence:g} only"
    doubts = [*item.context.get(DOUBTS, ()), doubt]
    doubted = structs.replace(tagged, context=freeze({**item.context, DOUBTS: doubts}))
    return with_note(doubted, stage, {**found, FLAGGED: IN_DOUBT, "detail": doubt})
