"""Review (9): other models answer each question; it is kept where all answers match the key.

In the paper each question is reviewed by three experts beside its author, and only those on which
all four agree are kept: 85.1%, while 3 agreed on 10.2% and 2 on 4.7%. Here each model of the role
``reviewer`` is an expert. Open questions have no options and pass unreviewed.
"""

from collections import Counter
from collections.abc import Sequence

from reelbench.data.items import Item
from reelbench.evaluate.item_media import item_media
from reelbench.interop.qbench_video.taxonomy import PROTOCOL
from reelbench.make.parts.filters import answers, facts_of, media_digests
from reelbench.make.parts.notes import with_note
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import BatchStage, Rejected, RowStage

ROLE = "reviewer"
AGREED = 0.851  # of the paper's questions, for forecasts
_NAME = "review"  # the stage, its prompt and its note on items


def reviewing(seeds: int = 1) -> RowStage:
    """Return the stage that has questions answered, and notes how many reviewers agree."""
    return RowStage(
        name=_NAME,
        input=Item,
        output=Item,
        work=_reviewed,
        roles=(ROLE,),
        prompts=(_NAME,),
        parameters={"seeds": seeds},
        reads=lambda item, ctx: None if item.kind == "open" else media_digests(item, ctx),
        optional=True,
        expected_pass_rate=AGREED,
        validate=lambda values: (
            "" if values["seeds"] >= 1 else f"seeds is {values['seeds']}: give a number from 1 on"
        ),
    )


async def _reviewed(item: Item, ctx: StageContext, *, seeds: int) -> list[Item]:
    if item.kind == "open":
        return [item]
    media = item_media(ctx.media, item, PROTOCOL)
    got = await answers(item, ctx, ROLE, _NAME, seeds=seeds, media=media)
    words = [f"{each.model}: {each.words}" for each in got]
    note = {**facts_of(got), "words": words}
    return [with_note(item, _NAME, note)]


def agreeing() -> BatchStage:
    """Return the stage that keeps the items on which all reviewers agree."""
    return BatchStage(name="agree", input=Item, output=Item, work=_agreed, filters=True)


def _agreed(items: Sequence[Item], _ctx: StageContext) -> list[Item | Rejected]:
    return [_verdict(item) for item in items]


def _verdict(item: Item) -> Item | Rejected:
    note = item.provenance.get(_NAME)
    if note is None or note["right"] == note["of"]:
        return item
    detail = f"{note['right']} of {note['of']} reviews agree with the key"
    return Rejected("reviewers do not all agree", detail, note["words"])


def agreement(items: Sequence[Item]) -> dict[str, int]:
    """Return the number of questions by how many agree, the writer included (9)."""
    notes = [item.provenance[_NAME] for item in items if _NAME in item.provenance]
    counts = Counter((note["of"] + 1, note["right"] + 1) for note in notes)
    return {f"{agree} of {of}": counts[of, agree] for of, agree in sorted(counts, reverse=True)}
