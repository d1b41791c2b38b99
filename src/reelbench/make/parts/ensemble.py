"""Answers by several models, ranked by all of them: the best becomes the key, the others distract.

What is too much like the key cannot distract: it is changed a little, into something wrong of a
given kind.
"""

import asyncio
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.base.text import bare, plain
from reelbench.client.media_input import MediaInput
from reelbench.client.structured import Structured
from reelbench.data.items import Item
from reelbench.data.manifest import Protocol
from reelbench.evaluate.item_media import item_media
from reelbench.make.parts.embed import load_embedder
from reelbench.make.parts.shape import TEXT, closed, listed, same, with_options
from reelbench.make.pipeline.context import StageContext, together
from reelbench.make.pipeline.stage import Rejected, RowStage


def answering_and_ranking(
    error_types: Mapping[str, str],
    weights: Mapping[str, float] | None = None,
    sampling: str = "uniform:16",
    alike: float = 0.9,
) -> RowStage:
    """Return the stage that gives an open question its key and its options.

    ``weights`` are those of the rankers by name; the strongest model may count twice.
    """
    return RowStage(
        name="ensemble",
        input=Item,
        output=Item,
        work=answer_and_rank,
        roles=("answerer", "ranker", "distractor"),
        prompts=("candidate", "rank", "perturb"),
        parameters={
            "error_types": dict(error_types),
            "weights": dict(weights or {}),
            "sampling": sampling,
            "alike": alike,
        },
    )


async def answer_and_rank(
    item: Item,
    ctx: StageContext,
    *,
    error_types: Mapping[str, str],
    weights: Mapping[str, float],
    sampling: str,
    alike: float,
) -> list[Item]:
    """Have a question answered, the answers ranked, and the others made into distractors."""
    media = item_media(ctx.media, item, Protocol(sampling=sampling)) if item.media else None
    candidates = await candidate_answers(item, ctx, media)
    if len(candidates) < 2:
        raise Rejected("too few different answers", "; ".join(candidates), list(candidates))
    scores = await rank(item, ctx, candidates, media)
    order = weighted_ranking(scores, weights)
    key, *others = (candidates[place] for place in order)
    wrong = await distinct_from(key, others, item, ctx, error_types, alike)
    facts = {
        "candidates": list(candidates),
        "scores": {name: list(given) for name, given in scores.items()},
        "perturbed": [new for old, new in zip(others, wrong, strict=True) if old != new],
    }
    return [with_options(item, ctx.seed, key, list(dict.fromkeys(wrong)), ensemble=facts)]


async def candidate_answers(item: Item, ctx: StageContext, media: MediaInput | None) -> list[str]:
    """Have every model answer in a sentence; equal answers are one."""
    prompt = ctx.prompts.prompt("candidate", question=item.question)
    replies = await together(
        [
            ctx.json("answerer", prompt, _ANSWER, media=media, model=model)
            for model in ctx.models["answerer"]
        ]
    )
    texts = [_said(reply)["answer"].strip() for reply in replies]
    preliminary = [item.reference] if item.reference else []
    merged: dict[str, str] = {}
    for text in [*texts, *preliminary]:
        merged.setdefault(bare(text) or plain(text), text)
    return list(merged.values())


async def rank(
    item: Item, ctx: StageContext, candidates: Sequence[str], media: MediaInput | None
) -> dict[str, list[float]]:
    """Have every model score all candidates, without knowing whose they are."""
    prompt = ctx.prompts.prompt(
        "rank",
        question=item.question,
        candidates="\n".join(f"{number}. {text}" for number, text in enumerate(candidates, 1)),
    )
    rankers = ctx.models["ranker"]
    schema = closed({"scores": listed(_SCORE, len(candidates), len(candidates))})
    replies = await together(
        [ctx.json("ranker", prompt, schema, media=media, model=model) for model in rankers]
    )
    return {
        model.card.name: list(map(float, _said(reply)["scores"]))
        for model, reply in zip(rankers, replies, strict=True)
    }


def weighted_ranking(
    scores: Mapping[str, Sequence[float]], weights: Mapping[str, float]
) -> list[int]:
    """Order candidates by their weighted sum of scores, the best first; who came first wins ties.

    Who has no weight counts once.
    """
    count = len(next(iter(scores.values())))
    sums = [
        sum(weights.get(name, 1.0) * given[place] for name, given in sorted(scores.items()))
        for place in range(count)
    ]
    return sorted(range(count), key=lambda place: (-sums[place], place))


async def distinct_from(
    key: str,
    others: Sequence[str],
    item: Item,
    ctx: StageContext,
    error_types: Mapping[str, str],
    alike: float,
) -> list[str]:
    """Keep what differs in meaning from the key; have the rest changed into something wrong."""
    vectors = await asyncio.to_thread(_embedder(), [key, *others])
    likeness = [round(float(vectors[0] @ vector), 4) for vector in vectors[1:]]
    return await together(
        [
            _unchanged(text)
            if close < alike
            else perturb(text, [key, *others], item, ctx, error_types)
            for text, close in zip(others, likeness, strict=True)
        ]
    )


async def _unchanged(text: str) -> str:
    return text


_embedder = functools.cache(load_embedder)  # its weights are read once


async def perturb(
    text: str, taken: Sequence[str], item: Item, ctx: StageContext, error_types: Mapping[str, str]
) -> str:
    """Have a text changed a little, by one of the kinds of error that a task allows.

    ``taken`` are the texts that it must not come to say, the right answer first.
    """
    prompt = ctx.prompts.prompt(
        "perturb",
        question=item.question,
        answer=taken[0],
        text=text,
        types="\n".join(f"- {name}: {meaning}" for name, meaning in error_types.items()),
    )

    def wrong_with(reply: Any) -> str:
        if same([reply["text"], text]):
            return "the text has not been changed"
        return "that is one of the other options" if same([reply["text"], *taken]) else ""

    schema = closed({"text": TEXT, "error_type": {"type": "string", "enum": list(error_types)}})
    reply = await ctx.json("distractor", prompt, schema, check=wrong_with)
    return str(_said(reply)["text"]).strip()


_ANSWER = closed({"answer": TEXT})
_SCORE = {"type": "number", "minimum": 0, "maximum": 10}


def _said(reply: Structured) -> Any:
    if reply.data is None:
        raise Rejected("no JSON as asked for", reply.failure, [reply.words])
    return reply.data
