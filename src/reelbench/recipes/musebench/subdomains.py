"""B.2: each question is tagged with one of its category's sub-domains; doubt goes to people."""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from reelbench.data.items import Item, freeze
from reelbench.interop.musebench.taxonomy import SUBDOMAIN, SUBDOMAINS
from reelbench.make.parts.distract import keys_of
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.shape import TEXT, closed, data_of
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.funnel import FLAGGED, category_of
from reelbench.make.pipeline.stage import RowStage
from reelbench.recipes.musebench.plan import DOUBTS

SURE = 0.6  # confidence from which a sub-domain is not in doubt
IN_DOUBT = "sub-domain in doubt"


def tag_subdomains(
    sure: float = SURE, *, name: str = "subdomain", role: str = "writer"
) -> RowStage:
    """Return the stage that tags each item with a sub-domain of its category.

    Below the confidence ``sure``, the item is flagged and has a sentence in ``context.doubts``.
    """

    async def work(item: Item, ctx: StageContext, *, sure: float) -> list[Item]:
        category = category_of(item)
        known, keys = SUBDOMAINS[category], keys_of(item)
        prompt = ctx.prompts.prompt(
            "subdomain",
            category=category,
            question=item.question,
            answer=keys[0] if len(keys) == 1 else "\n".join(f"- {key}" for key in keys),
            subdomains="\n".join(f"- {each}: {about}" for each, about in known.items()),
        )
        found = data_of(await ctx.json(role, prompt, _schema(known)))
        return [_tagged(item, {"model": ctx.model(role).card.name, **found}, sure, ctx.stage)]

    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=(role,),
        prompts=("subdomain",),
        parameters={"sure": sure},
        validate=lambda values: (
            "" if 0 <= values["sure"] <= 1 else f"sure is {values['sure']}: give 0 to 1"
        ),
        expected_tokens=50,
    )


def _schema(known: Mapping[str, str]) -> dict[str, Any]:
    confidence = {"type": "number", "minimum": 0, "maximum": 1}
    return closed({"reason": TEXT, "subdomain": {"enum": list(known)}, "confidence": confidence})


def _tagged(item: Item, found: Mapping[str, Any], sure: float, stage: str) -> Item:
    chosen, confidence = found["subdomain"], found["confidence"]
    tagged = structs.replace(item, tags=freeze({**item.tags, SUBDOMAIN: chosen}))
    if confidence >= sure:
        return with_note(tagged, stage, found)
    doubt = f"Sub-domain: {chosen}, with a confidence of {confidence:g} only"
    doubts = [*item.context.get(DOUBTS, ()), doubt]
    doubted = structs.replace(tagged, context=freeze({**item.context, DOUBTS: doubts}))
    return with_note(doubted, stage, {**found, FLAGGED: IN_DOUBT, "detail": doubt})
