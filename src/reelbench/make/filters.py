"""Filters that ask: is a question answerable without what it is about, or not even with it?

Each asks models a question several times and counts the right answers. A reply that cannot be read
is not right. The options stand in another order each time, so that who always says B knows nothing.
Open questions have nothing to choose from and pass.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from reelbench.asking.structured import NOTHING_SHOWN, Shown
from reelbench.benchmark import Benchmark
from reelbench.errors import ReelbenchError
from reelbench.evaluate.condition import Condition, option_orders
from reelbench.evaluate.parse import parse_answer
from reelbench.evaluate.prompt import lettered
from reelbench.evaluate.show import parts_of, show_for
from reelbench.files import digest_of
from reelbench.item_rules import path_escapes
from reelbench.items import LETTERS, Item, freeze
from reelbench.make.desk import Desk, together
from reelbench.make.stage import Each, Rejected
from reelbench.manifest import Manifest, Protocol
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
    desk: Desk,
    role: str,
    prompt: str,
    *,
    seeds: int,
    shuffle: bool = True,
    context: str = "",
    shown: Callable[[ChatModel], Any] | None = None,
) -> list[Answered]:
    """Ask all models of a role about an item, so many times each."""
    orders = option_orders(item, Protocol(orders=seeds), desk.seed)
    if not shuffle:
        orders = [orders[0]] * seeds

    async def one(model: ChatModel, number: int, visible: Shown) -> Answered:
        order = orders[number]
        options = tuple(item.options[place] for place in order)
        slots = {"question": item.question, "options": lettered(options), "context": context}
        text = desk.wording.prompt(prompt, **slots)
        words = await desk.choice(model, item, order, text, number, visible)
        places = parse_answer(words, item.kind, options).places
        chosen = None if places is None else {order[place] for place in places}
        right = chosen == {LETTERS.index(letter) for letter in item.answer}
        texts = None if chosen is None else tuple(item.options[p] for p in sorted(chosen))
        return Answered(model.card.name, texts, right, words)

    work = []
    for model in desk.cast[role]:
        visible = await shown(model) if shown else NOTHING_SHOWN
        work += [one(model, number, visible) for number in range(seeds)]
    return await together(work)


def facts_of(answered: Sequence[Answered]) -> dict[str, Any]:
    """Return what a filter saw, as items and rejects record it."""
    models = dict.fromkeys(each.model for each in answered)
    return {
        "right": sum(each.right for each in answered),
        "of": len(answered),
        # In words, for letters are dealt anew later.
        "answers": [each.chosen and list(each.chosen) for each in answered],
        "models": {name: sum(a.right for a in answered if a.model == name) for name in models},
    }


def _judged(
    item: Item, name: str, answered: Sequence[Answered], dropped: bool, reason: str
) -> list[Item]:
    """Let an item through with what was seen, or reject it with what was said."""
    facts = facts_of(answered)
    if dropped:
        detail = f"{facts['right']} of {facts['of']} answers are right"
        words = [f"{each.model}: {each.words}" for each in answered]
        raise Rejected(reason, detail, words, facts)
    return [structs.replace(item, provenance=freeze({**item.provenance, name: facts}))]


def _seeds_fault(parameters: Mapping[str, Any]) -> str:
    seeds, drop_at = parameters["seeds"], parameters.get("drop_at", 1)
    if seeds < 1:
        return f"seeds is {seeds}, and nobody would be asked"
    if isinstance(drop_at, int) and not 1 <= drop_at <= seeds:
        return f"drop_at is {drop_at} of {seeds} seeds"
    return ""


def context_independence(
    seeds: int = 5,
    drop_at: int = 5,
    *,
    shuffle: bool = True,
    keeps: float = 1.0,
    optional: bool = False,
) -> Each:
    """Drop what a model answers right ``drop_at`` times of ``seeds`` from the words alone."""

    async def work(
        item: Item, desk: Desk, *, seeds: int, drop_at: int, shuffle: bool
    ) -> list[Item]:
        if item.kind == "open":
            return [item]
        got = await answers(item, desk, "blind", "independence", seeds=seeds, shuffle=shuffle)
        most = max(facts_of(got)["models"].values())
        reason = "answerable without context"
        return _judged(item, "independence", got, most >= drop_at, reason)

    return Each(
        name="independence",
        takes=Item,
        gives=Item,
        filters=True,
        fault=_seeds_fault,
        work=work,
        roles=("blind",),
        prompts=("independence",),
        parameters={"seeds": seeds, "drop_at": drop_at, "shuffle": shuffle},
        keeps=keeps,
        optional=optional,
    )


def contextual_veracity(
    seeds: int = 5,
    keep_at: float = 0.8,
    *,
    shuffle: bool = True,
    keeps: float = 1.0,
    optional: bool = False,
) -> Each:
    """Keep what is answered right by at least this share of seeds from the whole context."""

    async def work(
        item: Item, desk: Desk, *, seeds: int, keep_at: float, shuffle: bool
    ) -> list[Item]:
        if item.kind == "open":
            return [item]
        got = await answers(
            item, desk, "veracity", "veracity", seeds=seeds, shuffle=shuffle,
            context=context_of(item, desk),
        )  # fmt: skip
        right = sum(each.right for each in got) / len(got)
        # 4 of 5 is 0.8, whatever floating point makes of it.
        return _judged(item, "veracity", got, right < keep_at - 1e-9, "context contradicts the key")

    return Each(
        name="veracity",
        takes=Item,
        gives=Item,
        filters=True,
        fault=_seeds_fault,
        work=work,
        reads=lambda item, desk: None if item.kind == "open" else digest_of(context_of(item, desk)),
        roles=("veracity",),
        prompts=("veracity",),
        parameters={"seeds": seeds, "keep_at": keep_at, "shuffle": shuffle},
        keeps=keeps,
        optional=optional,
    )


def context_of(item: Item, desk: Desk) -> str:
    """Return the text that an item was made from: kept, in a file beside it, or in the item."""
    context = item.context
    kept = context.get("sha256") and desk.store.kept(context["sha256"])
    if kept:
        return str(kept)
    file = context.get("file")
    if isinstance(file, str) and not path_escapes(file):
        path = desk.media / file
        if not path.is_file():
            raise ReelbenchError(f"{path}, the context of {item.id}, is not there.")
        return path.read_text(encoding="utf-8", errors="replace")
    if isinstance(context.get("text"), str):
        return str(context["text"])
    raise ReelbenchError(
        f"{item.id} has no context to be checked against: write it into the item as context.text, "
        "name a file inside the benchmark as context.file, or name no model for veracity."
    )


def blind_ensemble(seeds: int = 1, drop_at: float = 0.5, *, optional: bool = False) -> Each:
    """Drop what this share of the answers of several models gets right from the words alone."""

    async def work(item: Item, desk: Desk, *, seeds: int, drop_at: float) -> list[Item]:
        if item.kind == "open":
            return [item]
        got = await answers(item, desk, "ensemble", "independence", seeds=seeds)
        right = sum(each.right for each in got) / len(got)
        return _judged(item, "ensemble", got, right >= drop_at - 1e-9, "right blind too often")

    return Each(
        name="ensemble",
        takes=Item,
        gives=Item,
        filters=True,
        fault=_seeds_fault,
        work=work,
        roles=("ensemble",),
        prompts=("independence",),
        parameters={"seeds": seeds, "drop_at": drop_at},
        optional=optional,
    )


SENSES = {"watcher": ("V+T", "pictures alone"), "listener": ("A+T", "sound alone")}


def one_modality(
    role: str,
    seeds: int = 1,
    drop_at: int = 1,
    sampling: str = "uniform:16",
    *,
    optional: bool = False,
) -> Each:
    """Drop what is solved by who only sees, or only hears: its question is not about both."""
    modality, told = SENSES[role]

    async def work(
        item: Item, desk: Desk, *, seeds: int, drop_at: int, sampling: str
    ) -> list[Item]:
        if item.kind == "open":
            return [item]
        protocol = Protocol(sampling=sampling, modalities=modality)
        condition = Condition.of(protocol, role, {})

        async def shown(model: ChatModel) -> Shown:
            return await asyncio.to_thread(_shown, item, desk, condition, model)

        got = await answers(item, desk, role, "answer", seeds=seeds, shown=shown)
        most = max(facts_of(got)["models"].values())
        return _judged(item, role, got, most >= drop_at, f"solved by {told}")

    return Each(
        name=role,
        takes=Item,
        gives=Item,
        filters=True,
        fault=_seeds_fault,
        work=work,
        reads=_media_digests,
        roles=(role,),
        prompts=("answer",),
        parameters={"seeds": seeds, "drop_at": drop_at, "sampling": sampling},
        optional=optional,
    )


def _media_digests(item: Item, desk: Desk) -> list[str]:
    for media in item.media:
        refuse_no_file(desk.media / media.path)
    return [media_digest(desk.media / media.path) for media in item.media]


def _shown(item: Item, desk: Desk, condition: Condition, model: ChatModel) -> Shown:
    benchmark = Benchmark(desk.media, Manifest("filter", "1"), (item,))
    show = show_for(benchmark, item, condition, model.card)
    _media_digests(item, desk)  # or it is said which file is not there
    digests = {
        path: media_digest(desk.media / path)
        for path in (*show.paths, *(words for words in show.words if words))
    }
    parts, _ = parts_of(benchmark, show)
    return Shown(parts, show.record(digests))
