"""Answers by several models, ranked by several: the best becomes the key, the others distractors.

An answer too similar to the key is not wrong: ``perturb`` has it rewritten with an error of a given
type.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reelbench.base.seeds import rng_for, seed_for
from reelbench.base.text import bare, plain
from reelbench.client.media_input import MediaInput
from reelbench.data.items import Item
from reelbench.data.manifest import Protocol
from reelbench.evaluate.item_media import item_media
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.shape import TEXT, closed, data_of, listed, with_options
from reelbench.make.pipeline.context import StageContext, together
from reelbench.make.pipeline.stage import Rejected, RowStage
from reelbench.models.base import ChatModel

ANSWER_FORM = "answer_form"  # in an item's context: the regular expression that answers must match
REPEATS = "repeats"  # in the note of this stage: answers that were given more than once


def answer_and_rank(
    weights: Mapping[str, float] | None = None,
    sampling: str = "uniform:16",
    *,
    name: str = "answer-and-rank",
    role: str = "answerer",
    ranker: str = "ranker",
    **more: Any,
) -> RowStage:
    """Return the stage that gives an open question its key and its options.

    All models of ``role`` answer; the item's reference is one more candidate. All models of the
    role ``ranker`` score the candidates, each in an order of its own; each model's scores are
    scaled to the same range, then weighted: ``weights`` are those of the rankers by model name, 1
    by default. Which of equally good candidates is the key is drawn. Follow it with
    ``perturb``: some answers may mean the same as the key. Items that are not open pass unchanged.
    """

    async def work(
        item: Item, ctx: StageContext, *, weights: Mapping[str, float], sampling: str
    ) -> list[Item]:
        if item.kind != "open":
            return [item]
        media = item_media(ctx.media, item, Protocol(sampling=sampling)) if item.media else None
        answers = await candidate_answers(item, ctx, media, role)
        candidates = list(merged(answers).values())
        if len(candidates) < 2:
            raise Rejected("too few different answers", "; ".join(candidates), answers)
        scores = await rank(item, ctx, candidates, media, ranker)
        draws = [seed_for(ctx.seed, "tie", item.id, text) for text in candidates]
        key, *others = (candidates[place] for place in weighted_ranking(scores, weights, draws))
        note = {"candidates": candidates, "scores": scores, "answered": _who(answers, ctx, role)}
        if repeats := _repeats(answers):
            note[REPEATS] = repeats
        return [with_note(with_options(item, ctx.seed, [key], others), ctx.stage, note)]

    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=(role, ranker),
        prompts=("candidate", "rank"),
        parameters={"weights": dict(weights or {}), "sampling": sampling},
        version=3,
        **more,
    )


async def candidate_answers(
    item: Item, ctx: StageContext, media: MediaInput | None, role: str
) -> list[str]:
    """Return the answers of the models of a role, a sentence each, and the item's reference."""
    prompt = ctx.prompts.prompt("candidate", question=item.question)
    check = _form_check(str(item.context.get(ANSWER_FORM, "")))
    replies = await together(
        [
            ctx.json(role, prompt, _ANSWER, media=media, model=model, check=check)
            for model in ctx.models[role]
        ]
    )
    texts = [data_of(reply)["answer"].strip() for reply in replies]
    return [*texts, *([item.reference] if item.reference else [])]


def merged(answers: Sequence[str]) -> dict[str, str]:
    """Return answers by their bare words, of those that say the same the first."""
    different: dict[str, str] = {}
    for text in answers:
        different.setdefault(bare(text) or plain(text), text)
    return different


def _repeats(answers: Sequence[str]) -> list[str]:
    """Return what was answered again in the same words."""
    first = merged(answers)
    return [
        text
        for number, text in enumerate(answers)
        if answers.index(first[bare(text) or plain(text)]) != number
    ]


def _who(answers: Sequence[str], ctx: StageContext, role: str) -> dict[str, str]:
    names = [model.card.name for model in ctx.models[role]]
    return dict(zip(names, answers, strict=False))  # the reference comes last and has no model


def _form_check(form: str) -> Callable[[Any], str]:
    def fault(reply: Any) -> str:
        fits = not form or re.fullmatch(form, reply["answer"].strip())
        return "" if fits else f"the answer must have the form {form}"

    return fault


async def rank(
    item: Item, ctx: StageContext, candidates: Sequence[str], media: MediaInput | None, role: str
) -> dict[str, list[float]]:
    """Return the scores of all candidates by the name of the model that gave them.

    Each model is shown them in an order of its own, drawn by the seed: models like some places
    better than others.
    """
    schema = closed({"scores": listed(_SCORE, len(candidates), len(candidates))})

    async def scores_by(model: ChatModel) -> list[float]:
        order = list(range(len(candidates)))
        rng_for(ctx.seed, "ranked", item.id, model.card.name).shuffle(order)
        shown = "\n".join(f"{n}. {candidates[place]}" for n, place in enumerate(order, 1))
        prompt = ctx.prompts.prompt("rank", question=item.question, candidates=shown)
        reply = data_of(await ctx.json(role, prompt, schema, media=media, model=model))
        return [float(reply["scores"][order.index(place)]) for place in range(len(candidates))]

    rankers = ctx.models[role]
    scores = await together([scores_by(model) for model in rankers])
    return {model.card.name: given for model, given in zip(rankers, scores, strict=True)}


def weighted_ranking(
    scores: Mapping[str, Sequence[float]], weights: Mapping[str, float], draws: Sequence[int]
) -> list[int]:
    """Return the candidates' positions by their weighted sum of scores, the best first.

    Each model's scores are scaled to the range from 0 to 1, so that one who scores boldly has no
    more say than one who scores cautiously. Of equal sums that with the lower number in ``draws``
    comes first; a model without a weight has weight 1.
    """
    count = len(next(iter(scores.values())))
    scaled = {name: _scaled(given) for name, given in sorted(scores.items())}
    sums = [
        round(sum(weights.get(name, 1.0) * given[place] for name, given in scaled.items()), 9)
        for place in range(count)
    ]
    return sorted(range(count), key=lambda place: (-sums[place], draws[place]))


def _scaled(scores: Sequence[float]) -> list[float]:
    """Return scores from 0, the lowest, to 1; who scores all alike prefers nothing."""
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]


_ANSWER = closed({"answer": TEXT})
_SCORE = {"type": "number", "minimum": 0, "maximum": 10}
