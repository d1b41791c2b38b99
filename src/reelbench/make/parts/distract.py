"""Have wrong options written that are hard to tell from the right one.

Some are drawn from what the video itself holds, misapplied; others are plausible and not in it.
Each follows a strategy. What comes back is checked for what gives a key away: a length of its own,
the same beginning, the same words.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.data.items import Item
from reelbench.make.parts.filters import context_of
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.rules import Asked, no_shared_prefix, similar_length
from reelbench.make.parts.shape import TEXT, closed, listed, same, with_options
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, RowStage

# MuseBench's seven; a recipe may name others, each with what it means.
STRATEGIES: Mapping[str, str] = {
    "technical misread": "names a technique or detail that is close to what is there, but not it",
    "over-simplification": "leaves out what makes the answer true",
    "factual error": "changes one fact of the answer",
    "conceptual confusion": "takes one idea for a neighbouring one",
    "scope error": "claims too much, or too little, for what is shown",
    "temporal confusion": "puts something before, after or during what it was not",
    "partial truth": "joins something true to something that is not",
}


def distract(
    from_context: int = 4,
    out_of_context: int = 0,
    strategies: Mapping[str, str] = STRATEGIES,
    longest: float = 2.0,
    *,
    name: str = "distract",
    role: str = "distractor",
) -> RowStage:
    """Return the stage that gives each item so many distractors of the two kinds."""
    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=functools.partial(_distracted, name=name, role=role),
        roles=(role,),
        prompts=("distract",),
        parameters={
            "from_context": from_context,
            "out_of_context": out_of_context,
            "strategies": dict(strategies),
            "longest": longest,
        },
        estimate=lambda item, ctx: [
            _given(item, ctx, _blanks(from_context + out_of_context), name, role)
        ],
    )


async def _distracted(
    item: Item,
    ctx: StageContext,
    *,
    from_context: int,
    out_of_context: int,
    strategies: Mapping[str, str],
    longest: float,
    name: str,
    role: str,
) -> list[Item]:
    """Ask for the distractors of one item: one that has a right answer, and may have no options."""
    key = key_of(item)
    prompt = ctx.prompts.prompt(
        "distract",
        question=item.question,
        answer=key,
        context=context_of(item, ctx),
        inside=str(from_context),
        outside=str(out_of_context),
        strategies="\n".join(f"- {name}: {meaning}" for name, meaning in strategies.items()),
    )
    count = from_context + out_of_context

    def wrong_with(reply: Any) -> str:
        texts = [each["text"] for each in reply["distractors"]]
        inside = sum(each["from_context"] for each in reply["distractors"])
        if inside != from_context:
            return f"{inside} of the distractors are from the context, not {from_context}"
        return options_fault(key, texts, longest)

    schema = distractors_schema(count, list(strategies))
    reply = await ctx.json(role, prompt, schema, check=wrong_with)
    if reply.data is None:
        raise Rejected("no good distractors", reply.failure, [reply.words])
    return [_given(item, ctx, reply.data["distractors"], name, role)]


def key_of(item: Item) -> str:
    """Return the right answer of an item: its one right option, or its reference."""
    if len(item.correct) == 1:
        return item.correct[0]
    if item.kind == "open" and item.reference:
        return item.reference
    raise Rejected("no single right answer", f"{item.id} has {len(item.correct)}")


def options_fault(key: str, wrong: Sequence[str], longest: float) -> str:
    """Say what is wrong with a set of distractors beside their key; nothing where all is well."""
    options = [key, *wrong]
    if same(options):
        return "two of the options are the same, or one is the right answer"
    asked = Asked("", tuple(options), (key,))
    return no_shared_prefix(asked) or similar_length(asked, longest)


def distractors_schema(count: int, strategies: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of so many distractors, each with its strategy and why it is wrong."""
    one = {
        "text": TEXT,
        "strategy": {"type": "string", "enum": list(strategies)},
        "from_context": {"type": "boolean"},
        "explanation": TEXT,
    }
    return closed({"distractors": listed(closed(one), count, count)})


def _given(
    item: Item, ctx: StageContext, wrong: Sequence[Mapping[str, Any]], name: str, role: str
) -> Item:
    """Give an item its distractors, and record what each is meant to be."""
    texts = [each["text"].strip() for each in wrong]
    made = {"model": ctx.model(role).card.name, "distractors": list(wrong)}
    return with_note(with_options(item, ctx.seed, key_of(item), texts), name, made)


def _blanks(count: int) -> list[dict[str, Any]]:
    """Distractors of usual length, for forecasts."""
    return [{"text": f"{'word ' * 8}{number}"} for number in range(count)]
