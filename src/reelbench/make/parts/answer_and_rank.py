"""Answers by several models, ranked by several: the best becomes the key, the others distractors.

An answer too similar to the key is not wrong: ``perturb`` has it rewritten with an error of a given
type.
"""

import asyncio
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.text import bare, plain
from reelbench.client.media_input import MediaInput
from reelbench.client.structured import Structured
from reelbench.data.items import Item
from reelbench.data.manifest import Protocol
from reelbench.evaluate.item_media import item_media
from reelbench.make.parts.embed import load_embedder
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.shape import TEXT, closed, listed, same, with_options
from reelbench.make.pipeline.context import StageContext, together
from reelbench.make.pipeline.funnel import category_of
from reelbench.make.pipeline.stage import Rejected, RowStage

ErrorTypes = Mapping[str, str] | Mapping[str, Mapping[str, str]]


def answer_and_rank(
    weights: Mapping[str, float] | None = None,
    sampling: str = "uniform:16",
    *,
    name: str = "answer-and-rank",
    role: str = "answerer",
    ranker: str = "ranker",
) -> RowStage:
    """Return the stage that gives an open question its key and its options.

    All models of ``role`` answer, and all models of the role ``ranker`` score the answers.
    ``weights`` are those of the rankers by model name, 1 by default. Follow it with ``perturb``:
    some answers may mean the same as the key.
    """

    async def work(
        item: Item, ctx: StageContext, *, weights: Mapping[str, float], sampling: str
    ) -> list[Item]:
        media = item_media(ctx.media, item, Protocol(sampling=sampling)) if item.media else None
        candidates = await candidate_answers(item, ctx, media, role)
        if len(candidates) < 2:
            raise Rejected("too few different answers", "; ".join(candidates), list(candidates))
        scores = await rank(item, ctx, candidates, media, ranker)
        key, *others = (candidates[place] for place in weighted_ranking(scores, weights))
        note = {"candidates": candidates, "scores": scores}
        return [with_note(with_options(item, ctx.seed, [key], others), ctx.stage, note)]

    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=(role, ranker),
        prompts=("candidate", "rank"),
        parameters={"weights": dict(weights or {}), "sampling": sampling},
    )


async def candidate_answers(
    item: Item, ctx: StageContext, media: MediaInput | None, role: str
) -> list[str]:
    """Return the different answers that the models of a role give, each in a sentence."""
    prompt = ctx.prompts.prompt("candidate", question=item.question)
    replies = await together(
        [ctx.json(role, prompt, _ANSWER, media=media, model=model) for model in ctx.models[role]]
    )
    texts = [_data_of(reply)["answer"].strip() for reply in replies]
    preliminary = [item.reference] if item.reference else []
    merged: dict[str, str] = {}
    for text in [*texts, *preliminary]:
        merged.setdefault(bare(text) or plain(text), text)
    return list(merged.values())


async def rank(
    item: Item, ctx: StageContext, candidates: Sequence[str], media: MediaInput | None, role: str
) -> dict[str, list[float]]:
    """Return the scores of all candidates by the name of the model that gave them."""
    prompt = ctx.prompts.prompt(
        "rank",
        question=item.question,
        candidates="\n".join(f"{number}. {text}" for number, text in enumerate(candidates, 1)),
    )
    rankers = ctx.models[role]
    schema = closed({"scores": listed(_SCORE, len(candidates), len(candidates))})
    replies = await together(
        [ctx.json(role, prompt, schema, media=media, model=model) for model in rankers]
    )
    return {
        model.card.name: list(map(float, _data_of(reply)["scores"]))
        for model, reply in zip(rankers, replies, strict=True)
    }


def weighted_ranking(
    scores: Mapping[str, Sequence[float]], weights: Mapping[str, float]
) -> list[int]:
    """Return the candidates' positions by their weighted sum of scores, the best first.

    Of equal sums the earlier candidate comes first; a model without a weight has weight 1.
    """
    count = len(next(iter(scores.values())))
    sums = [
        sum(weights.get(name, 1.0) * given[place] for name, given in sorted(scores.items()))
        for place in range(count)
    ]
    return sorted(range(count), key=lambda place: (-sums[place], place))


def perturb(
    error_types: ErrorTypes,
    alike: float = 0.9,
    *,
    name: str = "perturb",
    role: str = "distractor",
) -> RowStage:
    """Return the stage that has wrong options rewritten that mean the same as the key.

    A wrong option whose cosine with the key is at least ``alike`` is rewritten with one error.
    ``error_types`` maps the name of each allowed type to its meaning, or categories to such
    mappings.
    """

    async def work(
        item: Item, ctx: StageContext, *, error_types: ErrorTypes, alike: float
    ) -> list[Item]:
        if item.kind != "single":
            return [item]
        (key,) = item.correct
        others = [text for text in item.options if text != key]
        kinds = _error_types(error_types, item)
        vectors = await asyncio.to_thread(_embedder(), [key, *others])
        likeness = [round(float(vectors[0] @ vector), 4) for vector in vectors[1:]]
        changed = await together(
            [
                _perturbed(text, [key, *others], item, ctx, kinds, role)
                for text, close in zip(others, likeness, strict=True)
                if close >= alike
            ]
        )
        left = iter(changed)
        wrong = [
            next(left) if close >= alike else {"text": text}
            for text, close in zip(others, likeness, strict=True)
        ]
        texts = list(dict.fromkeys(each["text"] for each in wrong))
        made = with_options(item, ctx.seed, [key], texts) if changed else item
        return [with_note(made, ctx.stage, {"perturbed": changed})]

    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=(role,),
        prompts=("perturb",),
        parameters={"error_types": dict(error_types), "alike": alike},
    )


def _error_types(error_types: ErrorTypes, item: Item) -> Mapping[str, str]:
    """Return the error types for an item: those of its category, or those for all."""
    of_category: Any = error_types.get(category_of(item))
    if isinstance(of_category, Mapping):
        return of_category
    plainly = {kind: text for kind, text in error_types.items() if isinstance(text, str)}
    if not plainly:
        raise ReelbenchError(
            f"{item.id} has the category {category_of(item)!r}, for which perturb has no error "
            f"types: it has some for {', '.join(error_types)}."
        )
    return plainly


_embedder = functools.cache(load_embedder)  # its weights are read once


async def _perturbed(
    text: str,
    taken: Sequence[str],
    item: Item,
    ctx: StageContext,
    error_types: Mapping[str, str],
    role: str,
) -> dict[str, str]:
    """Return a text rewritten with an error; it must differ from ``taken``, the key first."""
    prompt = ctx.prompts.prompt(
        "perturb",
        question=item.question,
        answer=taken[0],
        text=text,
        types="\n".join(f"- {kind}: {meaning}" for kind, meaning in error_types.items()),
    )

    def fault(reply: Any) -> str:
        if same([reply["text"], text]):
            return "the text has not been changed"
        return "that is one of the other options" if same([reply["text"], *taken]) else ""

    schema = closed({"text": TEXT, "error_type": {"type": "string", "enum": list(error_types)}})
    reply = _data_of(await ctx.json(role, prompt, schema, check=fault))
    return {"text": reply["text"].strip(), "error_type": reply["error_type"], "was": text}


_ANSWER = closed({"answer": TEXT})
_SCORE = {"type": "number", "minimum": 0, "maximum": 10}


def _data_of(reply: Structured) -> Any:
    if reply.data is None:
        raise Rejected("no JSON as asked for", reply.failure, [reply.words])
    return reply.data
