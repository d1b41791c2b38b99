"""Filters that ask: is a question answerable without what it is about, or not even with it?

Each asks models a question several times and counts the right answers. A reply that cannot be read
is not right. The options stand in another order each time, so that who always says B knows nothing.
Open questions have nothing to choose from and pass.
"""

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
    """Ask all models of a role about an item, so many times each, and show them what they take."""
    orders = option_orders(item, Protocol(orders=seeds), ctx.seed)
    if not shuffle:
        orders = [orders[0]] * seeds

    async def one(model: ChatModel, number: int) -> Answered:
        order = orders[number]
        options = tuple(item.options[place] for place in order)
        slots = {"question": item.question, "options": lettered(options), "context": context}
        text = ctx.prompts.prompt(prompt, **slots)
        reply = await ctx.choice(model, item, order, text, number, media)
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
    """Return what a filter saw, as items and rejects record it."""
    models = dict.fromkeys(each.model for each in answered)
    return {
        "right": sum(each.right for each in answered),
        "of": len(answered),
        # In words, for letters change places later.
        "answers": [each.chosen and list(each.chosen) for each in answered],
        "models": {name: sum(a.right for a in answered if a.model == name) for name in models},
    }


Facts = Mapping[str, Any]
Parameters = Mapping[str, Any]


def _filter(
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
    """Return a stage that asks, counts and drops, or flags; ``given`` is said or shown beside."""

    def has_failed(facts: Facts, ctx: StageContext, values: Parameters) -> bool:
        aside = {m.card.name for m in ctx.models[role] if m.card.backend == "baseline"}
        models = {
            model: right
            for model, right in facts["models"].items()
            if not baselines_aside or model not in aside
        }
        return bool(models) and fails({**facts, "models": models}, values)

    async def work(item: Item, ctx: StageContext, *, drop: bool, **values: Any) -> list[Item]:
        if item.kind == "open":
            return [item]
        shuffle = values.get("shuffle", True)
        beside = given(item, ctx, values)
        got = await answers(
            item, ctx, role, prompt, seeds=values["seeds"], shuffle=shuffle, **beside
        )
        facts = facts_of(got)
        if not has_failed(facts, ctx, values):
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
        return f"seeds is {seeds}, and nobody would be asked"
    if isinstance(drop_at, int) and not 1 <= drop_at <= seeds:
        return f"drop_at is {drop_at} of {seeds} seeds: set drop_at too, to a number up to seeds"
    return ""


def _some_model_knows(facts: Facts, values: Parameters) -> bool:
    """Whether one of the models is right often enough."""
    return bool(max(facts["models"].values()) >= values["drop_at"])


def _reaches(facts: Facts, share: float) -> bool:
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
    """Drop what a model answers right ``drop_at`` times of ``seeds`` from the words alone.

    With ``drop=False``, as in all filters, such items are let through and flagged, and the funnel
    still has their share. With ``baselines_aside``, baselines are asked and drop nothing: they are
    right by luck as often as chance has it, and ``filter_shortcuts`` weighs that.
    """
    return _filter(
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
    """Keep what is answered right by at least this share of seeds from the whole context."""
    return _filter(
        name,
        role,
        "veracity",
        "context contradicts the key",
        lambda facts, values: not _reaches(facts, values["keep_at"]),
        {"seeds": seeds, "keep_at": keep_at, "shuffle": shuffle},
        drop=drop,
        given=lambda item, ctx, _: {"context": context_of(item, ctx)},
        reads=lambda item, ctx: None if item.kind == "open" else digest_of(context_of(item, ctx)),
        expected_pass_rate=expected_pass_rate,
        **more,
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
    """Drop what this share of the answers of several models gets right from the words alone."""
    return _filter(
        name,
        role,
        "independence",
        "right blind too often",
        lambda facts, values: _reaches(facts, values["drop_at"]),
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
    drop: bool = True,
    name: str = "",
    role: str = "",
    **more: Any,
) -> RowStage:
    """Drop what is solved by who only sees, or only hears: its question is not about both.

    The stage is called ``visual-only`` or ``audio-only``; ``watcher`` or ``listener`` is its role.
    """
    modalities, usual = MODALITIES[modality]

    def given(item: Item, ctx: StageContext, values: Parameters) -> dict[str, Any]:
        protocol = Protocol(sampling=values["sampling"], modalities=modalities)
        return {"media": item_media(ctx.media, item, protocol)}

    return _filter(
        name or f"{modality}-only",
        role or usual,
        "answer",
        f"solved by {'pictures' if modality == 'visual' else 'sound'} alone",
        _some_model_knows,
        {"seeds": seeds, "drop_at": drop_at, "sampling": sampling},
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
            raise ReelbenchError(f"{path}, the context of {item.id}, is not there.")
        return path.read_text(encoding="utf-8", errors="replace")
    if isinstance(context.get("text"), str):
        return str(context["text"])
    raise ReelbenchError(
        f"{item.id} has no context to go by: write it into the item as context.text, name a file "
        "inside the benchmark as context.file, or leave out what reads it."
    )


def media_digests(item: Item, ctx: StageContext) -> list[str]:
    """Return the hashes of an item's media; raise ``MediaError`` for one that is not there."""
    for media in item.media:
        refuse_no_file(ctx.media / media.path)
    return [media_digest(ctx.media / media.path) for media in item.media]
