"""Have yes/no questions turned into their opposite, others in the place of those that cannot be.

A question cannot be turned where the writer's opposite is refused (``opposites.py``), or where
people rejected it: such a question stays as it was, with the reason in its provenance.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reelbench.data.items import Item
from reelbench.data.verdicts import VERDICTS_FILE, read_verdicts
from reelbench.lint.shortcuts import NOT_NEGATED
from reelbench.make.parts.balance import ids_by_answer, negated, was_negated
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.opposites import opposite_fault
from reelbench.make.parts.shape import TEXT, closed
from reelbench.make.parts.verdicts import REJECTED_BY_PEOPLE
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, Undecided


async def negate_until_even(
    items: Sequence[Item], chosen: Iterable[str], ctx: StageContext, role: str
) -> list[Item | Undecided]:
    """Return items, the chosen ones turned, and others until there are as many Yes as No.

    One about which a model could not be asked is undecided, and no other is turned for it.
    """
    made: dict[str, Item | Undecided] = {item.id: item for item in items}
    before = {item.id: item for item in items}
    wave, tried = list(chosen), set(chosen)
    while wave:
        work = [_turned(before[item_id], ctx, role) for item_id in wave]
        outcomes = await asyncio.gather(*work, return_exceptions=True)
        for item_id, outcome in zip(wave, outcomes, strict=True):
            if isinstance(outcome, BaseException) and not isinstance(outcome, Undecided):
                raise outcome
            made[item_id] = outcome
        wave = _next(list(made.values()), tried, ctx.seed)
        tried.update(wave)
    return [made[item.id] for item in items]


def _next(made: Sequence[Item | Undecided], tried: set[str], seed: int) -> list[str]:
    """Return those to turn in the place of others: as many as Yes and No are apart, halved."""
    waiting = sum(isinstance(each, Undecided) for each in made)
    asked = [each for each in made if isinstance(each, Item)]
    fewer, more = sorted(ids_by_answer(asked, seed).values(), key=len)
    left = [item_id for item_id in more if item_id not in tried]
    return left[: max(0, (len(more) - len(fewer) - waiting) // 2)]


async def _turned(item: Item, ctx: StageContext, role: str) -> Item:
    """Return an item with the opposite question, or as it is with the reason why it has none."""
    prompt = ctx.prompts.prompt("opposite", question=item.question)

    def fault(reply: dict[str, str]) -> str:
        return opposite_fault(item.question, reply["question"])

    try:
        reply = await ctx.json(role, prompt, closed({"question": TEXT}), check=fault)
        if reply.data is None:
            raise Rejected("no opposite question", reply.failure, [reply.words])
        made = negated(item, reply.data["question"].strip(), ctx.stage)
        _refuse_rejected(made, ctx)
    except Rejected as refused:
        note = {NOT_NEGATED: refused.reason, "detail": refused.detail, "words": refused.words}
        return with_note(item, ctx.stage, note)
    return made


def _refuse_rejected(made: Item, ctx: StageContext) -> None:
    """Raise ``Rejected`` where a person rejected an item as it was made."""
    verdicts = read_verdicts(ctx.out / VERDICTS_FILE).get(made.id, ())
    about = [each for each in verdicts if each.digest == made.content_digest]
    counting = [each for each in about if each.settled] or about
    if rejects := [each for each in counting if each.decision == "reject"]:
        tags = dict.fromkeys(tag for each in rejects for tag in each.tags)
        words = [f"{each.who}: {each.comment}" for each in rejects if each.comment]
        raise Rejected(REJECTED_BY_PEOPLE, ", ".join(tags), [made.question, *words])


def judged(items: Sequence[Item], ctx: StageContext) -> list[list[Any]] | None:
    """Return what people decided about versions of items, as data that decides what is turned."""
    verdicts = read_verdicts(ctx.out / VERDICTS_FILE)
    found = [
        [each.item, each.who, each.settled, each.digest, each.decision]
        for item in items
        for each in verdicts.get(item.id, ())
        if each.digest
    ]
    return sorted(found) or None


def balance_table(items: Sequence[Item], counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the table of the page that says how many have which answer, and what was turned."""
    turned = sum(map(was_negated, items))
    rows = [[answer.title(), number] for answer, number in counts.items()]
    rows.append(["turned into their opposite", turned])
    reasons = Counter(
        note[NOT_NEGATED] for item in items for note in _notes(item) if NOT_NEGATED in note
    )
    rows += [[f"could not be turned: {reason}", n] for reason, n in sorted(reasons.items())]
    return {"title": "Yes and no", "columns": ["Questions", "Number"], "rows": rows}


def _notes(item: Item) -> Iterator[Mapping[str, Any]]:
    return (note for note in item.provenance.values() if isinstance(note, Mapping))
