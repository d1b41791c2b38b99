"""Filters that ask models: can a question be answered without the video, or not even with its text?

Each asks models a question several times and counts the right answers. A reply that cannot be read
is not right. The options are in another order each time, so that always replying B gains nothing,
and each time another seed is sent to servers that take one.
Open questions have no options and pass.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.client.media_input import MediaInput
from reelbench.data.items import LETTERS, Item
from reelbench.data.manifest import Protocol
from reelbench.data.paths import inner_path
from reelbench.evaluate.condition import option_orders
from reelbench.evaluate.item_media import item_media
from reelbench.evaluate.parse import complete_answer, parse_answer
from reelbench.evaluate.prompt import lettered
from reelbench.make.parts.notes import failed, with_note
from reelbench.make.pipeline.context import StageContext, together
from reelbench.make.pipeline.stage import Rejected, RowStage
from reelbench.media.digests import media_digest
from reelbench.media.errors import refuse_no_file
from reelbench.models.base import ChatModel


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer of one model."""

    model: str
    chosen: tuple[str, ...] | None  # the options' texts; None where they cannot be read
    right: bool
    words: str


async def answers(
    item: Item,
    ctx: StageContext,
    role: str,
    prompt: str,
    *,
    seeds: int,
    shuffle: bool = True,
    context: str = "",
    media: MediaInput | None = None,
) -> list[Answered]:
    """Return the answers of all models of a role to an item, ``seeds`` of each model."""
    orders = option_orders(item, Protocol(orders=seeds), ctx.seed)
    if not shuffle:
        orders = [orders[0]] * seeds

    async def one(model: ChatModel, number: int) -> Answered:
        order = orders[number]
        options = tuple(item.options[place] for place in order)
        slots = {"question": item.question, "options": lettered(options), "context": context}
        text = ctx.prompts.prompt(prompt, **slots)
        reply = await ctx.choice(model, item, order, text, number, media, repeated=seeds > 1)
        words = reply.text or ""
        read = parse_answer if reply.status == "ok" else complete_answer
        places = read(words, item.kind, options).places
        chosen = None if places is None else {order[place] for place in places}
        right = chosen == {LETTERS.index(letter) for letter in item.answer}
        texts = None if chosen is None else tuple(item.options[p] for p in sorted(chosen))
        return Answered(model.card.name, texts, right, words)

    return await together(
        [one(model, number) for model in ctx.models[role] for number in range(seeds)]
    )


def facts_of(answered: Sequence[Answered]) -> dict[str, Any]:
    """Return the counts and answers as a filter records them on items and rejects."""
    models = dict.fromkeys(each.model for each in answered)
    return {
        "right": sum(each.right for each in answered),
        "of": len(answered),
        # As texts: the letters of options may change later.
        "answers": [each.chosen and list(each.chosen) for each in answered],
        "models": {name: sum(a.right for a in answered if a.model == name) for name in models},
    }


Facts = Mapping[str, Any]
Parameters = Mapping[str, Any]


def filter_by_answers(
    name: str,
    role: str,
    prompt: str,
    reason: str,
    fails: Callable[[Facts, Parameters], bool],
    parameters: Parameters,
    *,
    drop: bool,
    given: Callable[[Item, StageContext, Parameters], dict[str, Any]] = lambda *_: {},
    baselines_aside: bool = False,
    expected_pass_rate: float | None = None,
    **more: Any,
) -> RowStage:
    """Return a stage that drops or flags items by their answers; ``given`` adds what is shown.

    ``fails`` is called with what was counted, with the item's ``chance`` and with the notes of
    earlier stages on it as ``notes``.
    """

    def has_failed(item: Item, facts: Facts, ctx: StageContext, values: Parameters) -> bool:
        aside = {m.card.name for m in ctx.models[role] if m.card.backend == "baseline"}
        models = {
            model: right
            for model, right in facts["models"].items()
            if not baselines_aside or model not in aside
        }
        seen = {**facts, "models": models, "chance": item.chance, "notes": item.provenance}
        return bool(models) and fails(seen, values)

    async def work(item: Item, ctx: StageContext, *, drop: bool, **values: Any) -> list[Item]:
        if item.kind == "open":
            return [item]
        shuffle = values.get("shuffle", True)
        beside = given(item, ctx, values)
        got = await answers(
            item, ctx, role, prompt, seeds=values["seeds"], shuffle=shuffle, **beside
        )
        facts = facts_of(got)
        if not has_failed(item, facts, ctx, values):
            return [with_note(item, ctx.stage, facts)]
        detail = f"{facts['right']} of {facts['of']} answers are right"
        words = [f"{each.model}: {each.words}" for each in got]
        return [failed(item, ctx.stage, Rejected(reason, detail, words, facts), drop=drop)]

    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=(role,),
        prompts=(prompt,),
        parameters={**parameters, "drop": drop},
        filters=True,
        validate=_seeds_fault,
        expected_pass_rate=expected_pass_rate,
        **more,
    )


def _seeds_fault(parameters: Parameters) -> str:
    seeds, drop_at = parameters["seeds"], parameters.get("drop_at", 1)
    if seeds < 1:
        return f"seeds is {seeds}: give a number from 1 on"
    if isinstance(drop_at, int) and not 1 <= drop_at <= seeds:
        return f"drop_at is {drop_at} of {seeds} seeds: set drop_at too, to 1 to {seeds}"
    return ""


def _some_model_knows(facts: Facts, values: Parameters) -> bool:
    """Whether one of the models is right often enough."""
    return bool(max(facts["models"].values()) >= values["drop_at"])


def _is_solved(facts: Facts, values: Parameters) -> bool:
    """Whether one of the models, or with a share all of them together, are right often enough."""
    if not values["drop_share"]:
        return _some_model_knows(facts, values)
    return reaches(facts, values["drop_share"])


def reaches(facts: Facts, share: float) -> bool:
    """Whether at least this share of the answers is right."""
    # 4 of 5 is 0.8 and 1 of 3 a third, whatever floating point makes of it.
    return bool(facts["right"] >= share * facts["of"] - 1e-9)


def filter_blind(
    seeds: int = 5,
    drop_at: int = 5,
    *,
    shuffle: bool = True,
    drop: bool = True,
    name: str = "independence",
    role: str = "blind",
    **more: Any,
) -> RowStage:
    """Return the stage that drops items that a model answers right without the video.

    An item fails if one model is right at least ``drop_at`` times of ``seeds``. As in all filters,
    with ``drop=False`` items that fail are kept and flagged in their provenance, and the funnel
    still has their rate. With ``baselines_aside``, baselines are asked and drop nothing: they are
    right at chance level, which ``filter_shortcuts`` takes into account.
    """
    return filter_by_answers(
        name,
        role,
        "independence",
        "answerable without context",
        _some_model_knows,
        {"seeds": seeds, "drop_at": drop_at, "shuffle": shuffle},
        drop=drop,
        **more,
    )


def filter_context(
    seeds: int = 5,
    keep_at: float = 0.8,
    *,
    shuffle: bool = True,
    drop: bool = True,
    name: str = "veracity",
    role: str = "veracity",
    expected_pass_rate: float | None = 1.0,  # most keys are right; random answers rarely are
    **more: Any,
) -> RowStage:
    """Return the stage that keeps items if this share of answers from their context is right."""
    return filter_by_answers(
        name,
        role,
        "veracity",
        "context contradicts the key",
        lambda facts, values: not reaches(facts, values["keep_at"]),
        {"seeds": seeds, "keep_at": keep_at, "shuffle": shuffle},
        drop=drop,
        given=lambda item, ctx, _: {"context": context_of(item, ctx)},
        reads=lambda item, ctx: None if item.kind == "open" else digest_of(context_of(item, ctx)),
        expected_pass_rate=expected_pass_rate,
        **more,
    )


def filter_above_chance(
    seeds: int = 5,
    unlikely: float = 0.05,
    *,
    drop: bool = True,
    name: str = "blind",
    role: str = "blind",
    **more: Any,
) -> RowStage:
    """Return the stage that drops items that models without the video know beyond chance.

    All models of the role answer ``seeds`` times. An item fails if as many right answers, or more,
    would come about by guessing with a probability below ``unlikely``.
    """
    return filter_by_answers(
        name,
        role,
        "independence",
        "answerable without context",
        lambda facts, values: by_luck(facts) < values["unlikely"],
        {"seeds": seeds, "unlikely": unlikely},
        drop=drop,
        **more,
    )


def by_luck(facts: Facts) -> float:
    """Return how likely guesses are right at least as often as the answers were."""
    count, chance = int(facts["of"]), float(facts["chance"])
    return math.fsum(
        math.comb(count, right) * chance**right * (1 - chance) ** (count - right)
        for right in range(facts["right"], count + 1)
    )


def filter_ensemble(
    seeds: int = 1,
    drop_at: float = 0.5,
    *,
    drop: bool = True,
    name: str = "ensemble",
    role: str = "ensemble",
    **more: Any,
) -> RowStage:
    """Return the stage that drops items if this share of several models' blind answers is right."""
    return filter_by_answers(
        name,
        role,
        "independence",
        "right blind too often",
        lambda facts, values: reaches(facts, values["drop_at"]),
        {"seeds": seeds, "drop_at": drop_at},
        drop=drop,
        **more,
    )


MODALITIES = {"visual": ("V+T", "watcher"), "audio": ("A+T", "listener")}  # with the usual role


def filter_modality(
    modality: Literal["visual", "audio"],
    seeds: int = 1,
    drop_at: int = 1,
    sampling: str = "uniform:16",
    *,
    drop_share: float = 0.0,
    drop: bool = True,
    name: str = "",
    role: str = "",
    **more: Any,
) -> RowStage:
    """Return the stage that drops items that models solve from one modality alone.

    An item fails if one model is right at least ``drop_at`` times of ``seeds``, each in another
    order of the options; or, where ``drop_share`` is more than 0, if that share of all orders and
    models is right. By default, the stage is called ``visual-only`` or ``audio-only``, its role
    ``watcher`` or ``listener``.
    """
    modalities, usual = MODALITIES[modality]

    def given(item: Item, ctx: StageContext, values: Parameters) -> dict[str, Any]:
        protocol = Protocol(sampling=values["sampling"], modalities=modalities)
        return {"media": item_media(ctx.media, item, protocol)}

    return filter_by_answers(
        name or f"{modality}-only",
        role or usual,
        "answer",
        f"solved by {'pictures' if modality == 'visual' else 'sound'} alone",
        _is_solved,
        {
            "seeds": seeds,
            "drop_at": drop_at,
            "drop_share": drop_share,
            "sampling": sampling,
        },
        drop=drop,
        given=given,
        reads=media_digests,
        **more,
    )


def context_of(item: Item, ctx: StageContext) -> str:
    """Return the text that an item was made from: kept, in a file beside it, or in the item."""
    context = item.context
    kept = context.get("sha256") and ctx.store.kept(context["sha256"])
    if kept:
        return str(kept)
    file = context.get("file")
    if isinstance(file, str):
        path = inner_path(ctx.media, file)
        if not path.is_file():
            raise ReelbenchError(
                f"The context of {item.id} (context.file), {path}, does not exist."
            )
        return path.read_text(encoding="utf-8", errors="replace")
    for name in ("text", "caption"):
        if isinstance(context.get(name), str):
            return str(context[name])
    raise ReelbenchError(
        f"{item.id} has no context for the stage {ctx.stage}: write it into the item as "
        "context.text, name a file inside the benchmark as context.file, or add "
        f"--without {ctx.stage}."
    )


def media_digests(item: Item, ctx: StageContext) -> list[str]:
    """Return the hashes of an item's media; raise ``MediaError`` for one that is not there."""
    for media in item.media:
        refuse_no_file(ctx.media / media.path)
    return [media_digest(ctx.media / media.path) for media in item.media]
