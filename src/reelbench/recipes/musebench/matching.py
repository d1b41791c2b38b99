"""C.5: a second pass attaches one contiguous range of clips to each question.

The writer cited clips before writing; a model that reads the finished question chooses them again,
from the captions alone. Where both disagree, people are told.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import structs

from reelbench.data.items import Item, freeze
from reelbench.make.parts.distract import keys_of, shown_keys
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.rules_used import rules_of
from reelbench.make.parts.shape import TEXT, closed
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.funnel import FLAGGED, category_of
from reelbench.make.pipeline.stage import Rejected, RowStage
from reelbench.recipes.musebench.plan import (
    CITED,
    DOUBTS,
    PLAN,
    RELEVANT,
    captions_of,
    listed_captions,
)

MOST_CLIPS = 12  # of a range; the paper's evidence is 50 s long on average
DISAGREE = "clips disagree"  # the reason


def match_clips(
    most_clips: int = MOST_CLIPS,
    disagree: str = "flag",
    flagged: str = "reject",
    *,
    name: str = "match",
    role: str = "matcher",
) -> RowStage:
    """Return the stage that has one contiguous range of clips chosen for each question.

    The item's media and evidence become that range. ``disagree`` says what is done where the clips
    that were cited before are scattered or not in the range: ``"flag"`` or ``"reject"``.
    ``flagged`` is about ranges with a clip that is flagged, such as for a narrator who is still
    heard in it: ``"reject"`` or ``"keep"``.
    """

    async def work(item: Item, ctx: StageContext, **values: Any) -> list[Item]:
        captions, rules = captions_of(item, ctx), rules_of(item, ctx)
        most = min(values["most_clips"], len(captions))
        prompt = ctx.prompts.prompt(
            "match",
            captions=listed_captions(captions),
            question=item.question,
            answer=shown_keys(keys_of(item)),
            most=str(most),
            rules=rules.text(category_of(item), "clip-match") if rules else "",
        )
        reply = await ctx.json(
            role, prompt, _SCHEMA, check=lambda data: _range_fault(data, len(captions), most)
        )
        if reply.data is None:
            raise Rejected("no range of clips", reply.failure, [reply.words])
        model = ctx.model(role).card.name
        return [_matched(item, captions, {"model": model, **reply.data}, ctx.stage, values)]

    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=(role,),
        prompts=("match", "rules"),
        parameters={"most_clips": most_clips, "disagree": disagree, "flagged": flagged},
        validate=_fault,
        expected_tokens=60,
    )


_SCHEMA = closed({"reason": TEXT, "first": {"type": "integer"}, "last": {"type": "integer"}})


def _fault(parameters: Mapping[str, Any]) -> str:
    if parameters["most_clips"] < 1:
        return f"most_clips is {parameters['most_clips']}: give a number from 1 on"
    for name, known in (("disagree", ("flag", "reject")), ("flagged", ("reject", "keep"))):
        if parameters[name] not in known:
            return f"{name} is {parameters[name]!r}: give {known[0]} or {known[1]}"
    return ""


def _range_fault(reply: Mapping[str, Any], clips: int, most: int) -> str:
    """Return why a range cannot be shown; empty where it can."""
    first, last = reply["first"], reply["last"]
    if not 1 <= first <= last <= clips:
        return f"the range is {first} to {last}, but the clips are 1 to {clips}"
    if last - first + 1 > most:
        return f"the range has {last - first + 1} clips, and at most {most} can be shown"
    return ""


def _matched(
    item: Item,
    captions: Sequence[Mapping[str, Any]],
    note: Mapping[str, Any],
    stage: str,
    values: Mapping[str, Any],
) -> Item:
    """Return an item with its range of clips; reject it as the parameters say."""
    relevant = list(range(int(note["first"]), int(note["last"]) + 1))
    faults = {
        place: list(item.provenance[PLAN]["flagged"].get(str(place), ())) for place in relevant
    }
    faulty = "; ".join(f"clip {place}: {', '.join(why)}" for place, why in faults.items() if why)
    if faulty and values["flagged"] == "reject":
        raise Rejected("flagged clips", faulty)
    doubt = disagreement(item.context[CITED], relevant)
    if doubt and values["disagree"] == "reject":
        raise Rejected(DISAGREE, doubt)
    span = (captions[relevant[0] - 1]["start"], captions[relevant[-1] - 1]["end"])
    known = (*item.provenance[PLAN].get(DOUBTS, ()), *item.context.get(DOUBTS, ()))
    doubts = [*known, *([f"Clips: {doubt}"] if doubt else ())]
    context = {**item.context, RELEVANT: relevant, **({DOUBTS: doubts} if doubts else {})}
    placed = structs.replace(
        item,
        media=(structs.replace(item.media[0], start=span[0], end=span[1]),),
        evidence=(span,),
        context=freeze(context),
    )
    more = {**({FLAGGED: DISAGREE, "detail": doubt} if doubt else {})}
    return with_note(placed, stage, {**note, **more, **({"faults": faulty} if faulty else {})})


def disagreement(cited: Collection[int], relevant: Sequence[int]) -> str:
    """Return how the clips that were cited differ from a range; empty where they lie in it."""
    numbers, first, last = sorted(cited), relevant[0], relevant[-1]
    found = ", ".join(map(str, numbers))
    span = f"{first} to {last}" if first < last else f"{first}"
    inside = [number for number in numbers if first <= number <= last]
    if not inside:
        return f"{found} cited, {span} found: none of those is among these"
    if len(inside) < len(numbers):
        return f"{found} cited, {span} found: not all of those are among these"
    if numbers[-1] - numbers[0] + 1 > len(numbers):
        return f"{found} cited, which are not contiguous"
    return ""
