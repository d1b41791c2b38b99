"""Vetting (C.1): people decide which essays serve, and which art each of them analyses.

Each essay becomes a question with the four categories as options: people accept its category,
change it, or reject the essay for one of three failure modes. The text of the paper's instruction
(Figure 11) is not in our copy; ``prompts/vetting.md`` and the three failure modes are ours. A model
may be asked the same as a sanity check (role ``vetter``): its opinion is noted and decides nothing,
unless ``vetter.decides`` is set.
"""

import json
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import structs

from reelbench.base.files import canonical_json
from reelbench.client.media_input import MediaInput
from reelbench.data.items import LETTERS, Item, Media, freeze
from reelbench.interop.musebench.taxonomy import CATEGORIES, CATEGORY
from reelbench.make.parts.filters import media_digests
from reelbench.make.parts.narrator import NO_NARRATOR
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.only import only
from reelbench.make.parts.shape import TEXT, closed
from reelbench.make.parts.verdicts import verdicts
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import WAITING, Rejected, RowStage, Stage, Undecided
from reelbench.recipes.musebench.categorise import (
    DOUBT,
    INFERRED,
    beginning,
    shown_categories,
    shown_essay,
)
from reelbench.recipes.musebench.fetch import essay_file
from reelbench.recipes.musebench.records import transcription_record
from reelbench.recipes.musebench.rows import Essay

FAILURE_MODES = ("art not shown", "not an analysis", "unusable footage")
VETTED_BY = "vetted_by"  # a tag of vetting questions
PEOPLE, MODEL, NOBODY = "people", "model", "nobody"  # its values
VETTING, VETTER = "vetting", "vetter"  # stages, and what ``curation`` has of them
UNKNOWN = "not known yet"  # an option, and no category that can be accepted
DISAGREES = "vetter disagrees"  # a flag
_TOKENS = 100


def vetting_question(let_through: bool = False, words: int = 150) -> RowStage:
    """Return the stage that makes a question for people of each essay.

    With ``let_through``, an essay whose category is not in doubt is not shown to people. ``words``
    of what is said are in the question's context.
    """
    return RowStage(
        name="vetting-question",
        input=Essay,
        output=Item,
        work=_question,
        prompts=("rules",),
        parameters={"let_through": let_through, "words": words},
        validate=lambda values: "" if values["words"] >= 1 else "words must be 1 or more",
    )


async def _question(
    essay: Essay, ctx: StageContext, *, let_through: bool, words: int
) -> list[Item]:
    doubt = "; ".join(filter(None, (essay.curation.get(DOUBT), _unclear_narrator(essay))))
    category = essay.category or _inferred(essay) or UNKNOWN
    names = [*CATEGORIES, *([UNKNOWN] if category == UNKNOWN else [])]
    doubt = doubt or ("its category is not known: choose one" if category == UNKNOWN else "")
    of_whom = f' "{essay.title}"' if essay.title else ""
    by_whom = f" by {essay.channel}" if essay.channel else ""
    in_doubt = f" In doubt: {doubt.rstrip('.')}." if doubt else ""
    context = {
        "essay": essay.id,
        "title": essay.title,
        "channel": essay.channel,
        "description": essay.description,
        "url": essay.url,
        "transcript": beginning(_text(essay, ctx), words),
        **({"doubt": doubt} if doubt else {}),
        **({"filters": filters} if (filters := _filters(ctx, essay.category)) else {}),
    }
    row = ctx.store.keep(canonical_json(msgspec.to_builtins(essay)))
    item = Item(
        id=f"vet-{essay.id}",
        kind="single",
        media=(Media(essay.file),),
        question=f"Which art does the video essay{of_whom}{by_whom} analyse?{in_doubt}",
        options=tuple(names),
        answer=(LETTERS[names.index(category)],),
        tags=freeze(
            {CATEGORY: category, VETTED_BY: NOBODY if let_through and not doubt else PEOPLE}
        ),
        context=freeze(context),
        provenance=freeze({"essay": essay.id, "row": row}),  # with which ``vetted`` goes on
    )
    return [item]


def _unclear_narrator(essay: Essay) -> str:
    """Return why the narrator is in doubt; people should not vet for nothing what is left out."""
    if NO_NARRATOR not in essay.flags:
        return ""
    reason = str(essay.narrator.get("reason") or "nobody is heard most").rstrip(".")
    return f"{NO_NARRATOR}, so that it will be left out unless silence.unclear is keep: {reason}"


def _inferred(essay: Essay) -> str:
    return str(essay.curation.get(INFERRED, {}).get("category", ""))


def _text(essay: Essay, ctx: StageContext) -> str:
    return str(transcription_record(essay, ctx)["transcription"]["text"])


def _filters(ctx: StageContext, category: str) -> str:
    """Return the rules of a category that are for vetting: filters that the quality loop added."""
    rules = ctx.prompts.rules
    return rules.text(category, VETTING) if rules else ""


def vetter(decides: bool = False, sampling: str = "uniform:16", words: int = 1500) -> RowStage:
    """Return the stage that asks a model what people are asked; left out without a ``vetter``.

    Its opinion is noted; what would be let through, and what it would remove or counts as another
    art, is shown to people. With ``decides``, its opinion is taken in place of that of people.
    """
    return RowStage(
        name=VETTER,
        input=Item,
        output=Item,
        work=_opinion,
        roles=(VETTER,),
        prompts=(VETTING, "rules"),
        parameters={"decides": decides, "sampling": sampling, "size": "long:512", "words": words},
        reads=media_digests,
        optional=True,
        expected_tokens=_TOKENS,
    )


async def _opinion(
    item: Item, ctx: StageContext, *, decides: bool, sampling: str, size: str, words: int
) -> list[Item]:
    essay = _essay(item, ctx)
    prompt = ctx.prompts.prompt(
        VETTING,
        filters=item.context.get("filters") or "(none)",
        categories=shown_categories(),
        **shown_essay(essay, ctx, words),
    )
    schema = closed(
        {
            "decision": {"type": "string", "enum": ["keep", "remove"]},
            "reason": TEXT,
            "failure_mode": {"type": "string", "enum": [*FAILURE_MODES, "none"]},
            "category": {"type": "string", "enum": list(CATEGORIES)},
        }
    )
    media = MediaInput.of(essay_file(essay, ctx), sampling=sampling, size=size, subtitles="never")
    model = ctx.model(VETTER).card.name
    try:
        reply = await ctx.json(VETTER, prompt, schema, media=media, check=_opinion_fault)
    except Rejected as why:  # it refuses, which is no opinion
        return [with_note(item, VETTER, {"model": model, "failure": why.detail})]
    if reply.data is None:
        return [with_note(item, VETTER, {"model": model, "failure": reply.failure})]
    if decides:
        item = _decided(item, reply.data, model)
    elif _disagrees(reply.data, *item.correct) and item.tag(VETTED_BY) == (NOBODY,):
        item = _tagged(item, PEOPLE)
    return [with_note(item, VETTER, {**reply.data, "model": model, "decides": decides})]


def _opinion_fault(reply: Mapping[str, Any]) -> str:
    removes, named = reply["decision"] == "remove", reply["failure_mode"] != "none"
    return "" if removes == named else "failure_mode must be none if, and only if, it is kept"


def _decided(item: Item, opinion: Mapping[str, Any], model: str) -> Item:
    """Return an item as a model decides about it."""
    if opinion["decision"] == "remove":
        words = [f"{model}: {opinion['reason']}"]
        raise Rejected("rejected by the vetter", opinion["failure_mode"], words)
    letter = LETTERS[list(CATEGORIES).index(opinion["category"])]
    return _tagged(structs.replace(item, answer=(letter,)), MODEL)


def _tagged(item: Item, vetted_by: str) -> Item:
    return structs.replace(item, tags=freeze({**item.tags, VETTED_BY: vetted_by}))


def vetting() -> Stage:
    """Return the stage at which essays wait for people (``--protocol musebench-vet``)."""
    return only(verdicts(name=VETTING), VETTED_BY, (PEOPLE,))


def vetted() -> RowStage:
    """Return the stage that goes on with the essays that were kept, in the category decided on."""
    return RowStage(name="vetted", input=Item, output=Essay, work=_vetted)


async def _vetted(item: Item, ctx: StageContext) -> list[Essay]:
    essay = _essay(item, ctx)
    (category,) = item.correct
    if category not in CATEGORIES:
        names = ", ".join(CATEGORIES)
        raise Undecided(WAITING, f"{item.id}: change its answer to one of {names}", [item])
    opinion = item.provenance.get(VETTER)
    note = {
        "by": item.tag(VETTED_BY)[0],
        "category": category,
        **({"verdicts": item.provenance[VETTING]} if VETTING in item.provenance else {}),
        **({VETTER: opinion} if opinion else {}),
    }
    flags = [DISAGREES] if opinion and _disagrees(opinion, category) else []
    return [
        structs.replace(
            essay,
            category=category,
            curation={**essay.curation, VETTING: json.loads(canonical_json(note))},
            flags=(*essay.flags, *flags),
        )
    ]


def _disagrees(opinion: Mapping[str, Any], category: str) -> bool:
    return opinion.get("decision") == "remove" or opinion.get("category", category) != category


def _essay(item: Item, ctx: StageContext) -> Essay:
    return msgspec.json.decode(ctx.kept(item.provenance["row"]), type=Essay)
