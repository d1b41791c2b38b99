"""Review (9): others look at each question and its answer; it is kept where all of them agree.

In the paper each question is reviewed by three experts beside its author, and only those on which
all four agree are kept: 85.1%, while 3 agreed on 10.2% and 2 on 4.7%. Here the experts are people,
on the review pages, or, where models have the role ``reviewer``, these: each answers closed
questions without knowing the key, and says of open ones whether it would sign the reference. What
was turned into its opposite afterwards is reviewed again.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from reelbench.client.media_input import MediaInput
from reelbench.data.items import Item
from reelbench.evaluate.item_media import item_media
from reelbench.interop.qbench_video.taxonomy import PROTOCOL
from reelbench.make.parts.balance import was_negated
from reelbench.make.parts.filters import Answered, answers, facts_of, media_digests
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.shape import TEXT, closed
from reelbench.make.parts.verdicts import verdicts
from reelbench.make.pipeline.context import StageContext, together
from reelbench.make.pipeline.stage import BatchStage, Rejected, RowStage, Stage
from reelbench.models.base import ChatModel

ROLE = "reviewer"
AGREED = 0.851  # of the paper's questions, for forecasts
SHARES = {4: AGREED, 3: 0.102, 2: 0.047}  # by how many agree, the author included
PEOPLE = 3  # who review each question
OPPOSITES = "-opposites"  # the end of the names of stages that review once more
_NAME = "review"  # the stage, its prompt and its note on items
_AGREES, _DISAGREES = "agrees", "disagrees"
_OPEN = closed({"reason": TEXT, "agree": {"type": "boolean"}})


def review_stages() -> tuple[Stage, ...]:
    """Return the stages that review every question, by models where some are named, or by people.

    People decide about all before anything goes on: which questions are turned afterwards depends
    on which are left.
    """
    return _stages("", lambda _item: True, AGREED, SHARES)


def review_of_opposites() -> tuple[Stage, ...]:
    """Return the stages that review the questions that were turned into their opposite.

    The paper has no shares for them: it did not review them again.
    """
    return _stages(OPPOSITES, was_negated, 1.0, {})


def _stages(
    end: str, applies: Callable[[Item], bool], passed: float, published: Mapping[int, float]
) -> tuple[Stage, ...]:
    note = f"{_NAME}{end}"
    return (
        _reviewing(note, applies, passed),
        _agreeing(f"agree{end}", note),
        verdicts(
            name=f"verify{end}",
            needed=PEOPLE,
            unanimous=True,
            together=True,
            applies=lambda item: applies(item) and note not in item.provenance,
            published_shares=published,
        ),
    )


def _reviewing(name: str, applies: Callable[[Item], bool], passed: float) -> RowStage:
    """Return the stage that has models review questions, and notes how many of them agree."""

    async def work(item: Item, ctx: StageContext, *, seeds: int) -> list[Item]:
        if not applies(item) or not ctx.models.get(ROLE):
            return [item]
        media = item_media(ctx.media, item, PROTOCOL)
        if item.kind == "open":
            got = await _opinions(item, ctx, seeds, media)
        else:
            got = await answers(item, ctx, ROLE, _NAME, seeds=seeds, media=media)
        words = [f"{each.model}: {each.words}" for each in got]
        return [with_note(item, name, {**facts_of(got), "words": words})]

    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        may_ask=(ROLE,),
        prompts=(_NAME, f"{_NAME}-open"),
        parameters={"seeds": 1},
        reads=lambda item, ctx: media_digests(item, ctx) if applies(item) else None,
        expected_pass_rate=passed,
        version=2,  # open questions too
        validate=lambda values: (
            "" if values["seeds"] >= 1 else f"seeds is {values['seeds']}: give a number from 1 on"
        ),
    )


async def _opinions(item: Item, ctx: StageContext, seeds: int, media: MediaInput) -> list[Answered]:
    """Return whether each model agrees with the reference of an open question."""
    slots = {"question": item.question, "reference": item.reference or ""}
    prompt = ctx.prompts.prompt(f"{_NAME}-open", **slots)

    async def one(model: ChatModel, number: int) -> Answered:
        reply = await ctx.json(ROLE, prompt, _OPEN, media=media, model=model, round=number)
        if reply.data is None:  # as an answer that cannot be read: it does not agree
            return Answered(model.card.name, None, False, reply.words)
        agrees = reply.data["agree"]
        chosen = (_AGREES if agrees else _DISAGREES,)
        return Answered(model.card.name, chosen, agrees, reply.data["reason"])

    return await together([one(model, n) for model in ctx.models[ROLE] for n in range(seeds)])


def _agreeing(name: str, note: str) -> BatchStage:
    """Return the stage that keeps the items on which all models agree."""

    def work(items: Sequence[Item], _ctx: StageContext) -> list[Item | Rejected]:
        return [_verdict(item, note) for item in items]

    return BatchStage(name=name, input=Item, output=Item, work=work, filters=True)


def _verdict(item: Item, name: str) -> Item | Rejected:
    note = item.provenance.get(name)
    if note is None or note["right"] == note["of"]:
        return item
    against = "with the reference" if item.kind == "open" else "with the key"
    detail = f"{note['right']} of {note['of']} reviews agree {against}"
    return Rejected("reviewers do not all agree", detail, note["words"])


def agreement(items: Sequence[Item]) -> dict[str, int]:
    """Return the number of questions by how many agree, the writer included (9)."""
    notes = [item.provenance[_NAME] for item in items if _NAME in item.provenance]
    counts = Counter((note["of"] + 1, note["right"] + 1) for note in notes)
    return {f"{agree} of {of}": counts[of, agree] for of, agree in sorted(counts, reverse=True)}
