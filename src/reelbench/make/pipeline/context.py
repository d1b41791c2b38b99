"""What a stage is handed: models by their roles, prompts, and the folders it reads and writes."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from reelbench.annotate.operator import Value
from reelbench.client.client import Client
from reelbench.client.media_input import MediaInput
from reelbench.client.structured import Check, Structured, ask_json
from reelbench.data.items import Item
from reelbench.engine.local import LocalEngine
from reelbench.make.pipeline.prompts import Prompts
from reelbench.make.pipeline.roles import RoleModels
from reelbench.make.pipeline.stage import Rejected, Undecided
from reelbench.make.pipeline.store import RowStore
from reelbench.models.base import ChatModel, Response, token_limit
from reelbench.models.secrets import redacted

if TYPE_CHECKING:
    from reelbench.engine.base import Engine

Result = TypeVar("Result")


class StageContext:
    """What the stages of a recipe ask models with and read; one for each time it is made."""

    def __init__(
        self,
        source: Path,
        out: Path,
        store: RowStore,
        client: Client,
        role_models: RoleModels,
        prompts: Prompts,
        seed: int,
    ) -> None:
        self.source, self.out, self.store, self.seed = source, out, store, seed
        self.client, self.models, self.prompts = client, role_models, prompts
        self.sources: tuple[Path, ...] = (source,)  # all that were named
        self.media = out  # where the videos of items are
        self.engine: Callable[[], Engine] = LocalEngine  # where operators run
        self.clip_labels: dict[str, dict[str, Value]] = {}  # by clip, as `label` found them
        self.notes: list[str] = []  # what stages want said to the user in the end

    def kept(self, digest: str) -> str:
        """Return a text that an earlier stage kept."""
        text = self.store.kept(digest)
        assert text is not None, f"no stage kept {digest}"
        return text

    def labels(self, row: Any) -> Mapping[str, Value]:
        """Return the labels of a row's clip, by name: those that operators had something to say of.

        A stage that reads them names them in its ``labels``.
        """
        return self.clip_labels.get(clip_of(row), {})

    def model(self, role: str) -> ChatModel:
        """Return the model that plays a role alone."""
        (model,) = self.models[role]
        return model

    async def text(
        self,
        role: str,
        prompt: str,
        media: MediaInput | None = None,
        *,
        round: int = 0,
        model: ChatModel | None = None,
    ) -> str:
        """Ask a model for a text, with what it can take in of some media.

        ``round`` tells apart what is asked several times; ``model`` is one of a role of many.
        """
        model = model or self.model(role)
        response = await self.client.ask_prompt(
            model, prompt, _for(model, media), round=round, draw=(self.seed, "")
        )
        if response.status == "truncated":  # half a text is none to go on with
            raise Undecided("truncated", f"{response.error}: raise {token_limit(model)}")
        return _text_of(response).strip()

    async def json(
        self,
        role: str,
        prompt: str,
        schema: Mapping[str, Any],
        *,
        media: MediaInput | None = None,
        round: int = 0,
        check: Check = lambda _: "",
        model: ChatModel | None = None,
    ) -> Structured:
        """Ask a model for JSON that fits a schema, with what it can take in of some media.

        The result has the data, or says how the reply failed to be what was asked for. ``check``
        says what is wrong with JSON that fits its schema.
        """
        model = model or self.model(role)
        shown = _for(model, media)
        result = await ask_json(
            self.client, model, prompt, schema, role, round, media=shown, check=check
        )
        if result.status == "truncated":
            raise Undecided("truncated", f"{result.failure}: raise {token_limit(model)}")
        if result.status != "ok":
            _text_of(Response(result.status, error=result.failure))
        return result

    async def choice(
        self,
        model: ChatModel,
        item: Item,
        order: Sequence[int],
        prompt: str,
        round: int = 0,
        media: MediaInput | None = None,
    ) -> Response:
        """Ask a closed question with its options in some order; return what was replied."""
        response = await self.client.ask_prompt(
            model,
            prompt,
            _for(model, media),
            question=item.question,
            kind=item.kind,
            options=tuple(item.options[place] for place in order),
            round=round,
            draw=(self.seed, item.id),
        )
        _text_of(response)
        return response


class DryRunContext(StageContext):
    """A context in which nothing is decoded: media are placeholders, as many and as large."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.client.placeholders = True


def _for(model: ChatModel, media: MediaInput | None) -> MediaInput | None:
    """Return what of some media a model can take in; None where that is nothing."""
    return media.for_card(model.card) or None if media else None


def _text_of(response: Response) -> str:
    """Return what was said; a refusal rejects a row, and any other failure decides nothing."""
    if response.replied:
        return response.text or ""
    error = redacted(response.error or response.status)
    if response.status == "refused":
        raise Rejected("refused", error, [response.text or error])
    raise Undecided(response.status, error)


def clip_of(row: Any) -> str:
    """Return the path of the clip that a row is about: an item's first medium, or its ``clip``."""
    if isinstance(row, Item):
        return row.media[0].path
    return str(getattr(row, "clip", ""))


async def together(work: Sequence[Awaitable[Result]]) -> list[Result]:
    """Wait for all, so that nothing that was paid for is lost; then raise what failed first."""
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
