"""Parts of a make for tests: a stage context over a real server, a real store and a real journal."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from servers import Answer, Reply, Server, completion, serving

from reelbench.client.client import Client
from reelbench.client.journal import open_journal
from reelbench.data.items import Item
from reelbench.data.manifest import Manifest
from reelbench.data.sources import Sources
from reelbench.make.parts.embed import Embedder, SentenceEncoder
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.prompts import Prompts, load_prompts
from reelbench.make.pipeline.run import Pipeline, StageResult
from reelbench.make.pipeline.stage import Recipe, Rejected, Role, RowStage, Stage, Undecided
from reelbench.make.pipeline.store import open_store
from reelbench.models.card import Card
from reelbench.models.openai import OpenAIModel


def by_turns(*replies: str | Reply | None) -> Answer:
    """Reply with these, one after the other, then with the last of them."""

    def answer(_: Any, number: int) -> Reply | None:
        said = replies[min(number, len(replies) - 1)]
        return completion(said) if isinstance(said, str) else said

    return answer


def by_model(**replies: str | Sequence[str]) -> Answer:
    """Let each model reply with its own, one after the other, then with the last of them."""
    asked: dict[str, int] = dict.fromkeys(replies, 0)

    def answer(body: Any, _: int) -> Reply:
        own = replies[body["model"]]
        said = [own] if isinstance(own, str) else own
        asked[body["model"]] += 1
        return completion(said[min(asked[body["model"]], len(said)) - 1])

    return answer


def never(*_: Any) -> Reply:
    raise AssertionError("nobody should be asked")


@cache
def real_embedder() -> Embedder:
    """The embedder that is used, loaded once for all tests: its weights take a second."""
    return SentenceEncoder()


def messages(server: Server, number: int) -> list[tuple[str, str]]:
    """What was said by whom in a request, pictures apart."""
    return [
        (message["role"], part["text"])
        for message in server.requests[number]["messages"]
        for part in message["content"]
        if part["type"] == "text"
    ]


def pictures(body: Mapping[str, Any]) -> int:
    """How many pictures a request shows."""
    parts = [part for message in body["messages"] for part in message["content"]]
    return sum(part["type"] == "image_url" for part in parts)


@dataclass
class Studio:
    """A folder in which stages work, and who plays their roles: cards by role.

    A name in place of a card is that of a card with nothing else said.
    """

    folder: Path
    answer: Answer = never
    models: Mapping[str, Sequence[str | Mapping[str, Any]]] = field(default_factory=dict)
    prompts: Prompts = field(default_factory=lambda: load_prompts(None, None, None))
    seed: int = 0
    texts: Sequence[str] = ()  # to be kept first

    def with_context(self, work: Callable[[StageContext], Awaitable[Any]]) -> tuple[Any, Server]:
        """Do something with a stage context."""
        self.folder.mkdir(exist_ok=True)
        with (
            serving(self.answer) as server,
            open_journal(self.folder / "journal.sqlite") as journal,
            open_store(self.folder / "rows.sqlite") as store,
        ):
            for text in self.texts:
                store.keep(text)

            async def to_the_end() -> Any:
                models_by_role = self._models(server.url)
                source = self.folder / "source"
                ctx = StageContext(
                    source,
                    self.folder,
                    store,
                    Client(journal),
                    models_by_role,
                    self.prompts,
                    self.seed,
                )
                try:
                    return await work(ctx)
                finally:
                    for model in {model for models in models_by_role.values() for model in models}:
                        await model.close()

            return asyncio.run(to_the_end()), server

    def _models(self, url: str) -> dict[str, tuple[OpenAIModel, ...]]:
        known: dict[str, OpenAIModel] = {}

        def model(card: str | Mapping[str, Any]) -> OpenAIModel:
            fields = {"name": card} if isinstance(card, str) else dict(card)
            made = OpenAIModel(Card(endpoint=url, **{"retries": 0, **fields}))
            return known.setdefault(fields["name"], made)

        return {role: tuple(map(model, cards)) for role, cards in self.models.items()}

    def work(self, stage: RowStage, row: Any) -> tuple[Any, Server]:
        """Call a stage's work on one row: what it gives, or why it gives nothing."""

        async def one(ctx: StageContext) -> Any:
            ctx.stage = stage.name
            try:
                return await stage.work(row, ctx, **stage.parameters)
            except (Rejected, Undecided) as why:
                return why

        return self.with_context(one)

    def take(self, rows: Sequence[Any], *stages: Stage) -> tuple[list[StageResult], Server]:
        """Take rows through stages, as a make does."""

        async def through(ctx: StageContext) -> list[StageResult]:
            return await Pipeline(recipe_of(*stages), ctx, ctx.store).take(rows)

        return self.with_context(through)


def nowhere(_: Path) -> Sources:
    return Sources(())


def plain_manifest(_items: Sequence[Item], _source: Path) -> Manifest:
    return Manifest("parts", "1")


def a_recipe(*stages: Stage, **fields: Any) -> Recipe:
    """A recipe of these stages, all of whose roles may be played by several."""
    roles = {role: Role(f"plays {role}", many=True) for stage in stages for role in stage.roles}
    plain: dict[str, Any] = {
        "name": "parts",
        "description": "what a test needs",
        "sources": nowhere,
        "stages": stages,
        "roles": roles,
        "manifest": plain_manifest,
    }
    return Recipe(**(plain | fields))


def recipe_of(*stages: Stage) -> Recipe:
    """Stages alone: they need not end with items."""
    return a_recipe(ending()).only(stages)


async def _as_it_is(item: Item, _ctx: StageContext) -> list[Item]:
    return [item]


def ending(name: str = "end") -> RowStage:
    """A stage that lets items through."""
    return RowStage(name=name, input=Item, output=Item, work=_as_it_is)
