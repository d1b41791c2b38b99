"""What a stage works at: models by their roles, prompts, and the folders it reads and writes."""

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from PIL import Image

from reelbench.base.files import digest_of
from reelbench.client.client import Client
from reelbench.client.structured import NO_MEDIA, Check, RenderedMedia, Structured, ask_json
from reelbench.data.items import Item
from reelbench.make.pipeline.prompts import Prompts
from reelbench.make.pipeline.roles import RoleModels
from reelbench.make.pipeline.stage import Rejected, Undecided
from reelbench.make.pipeline.store import RowStore
from reelbench.media.decode.frames import FrameSpec, frames_of, planned_frames
from reelbench.media.digests import media_digest
from reelbench.media.errors import refuse_no_file
from reelbench.models.base import (
    ChatModel,
    ImagePart,
    Message,
    Part,
    Request,
    Response,
    TextPart,
    token_limit,
)
from reelbench.models.secrets import redacted

_SHOWING = 8  # requests with pictures at hand

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Look:
    """Frames of a video, to be shown with a prompt."""

    path: Path
    spec: FrameSpec


class StageContext:
    """One for a run of a recipe."""

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
        self.notes: list[str] = []  # what stages want said to the user in the end
        self._showing = asyncio.Semaphore(_SHOWING)

    def kept(self, digest: str) -> str:
        """Return a text that an earlier stage kept."""
        text = self.store.kept(digest)
        assert text is not None, f"no stage kept {digest}"
        return text

    def model(self, role: str) -> ChatModel:
        """Return the model that plays a role alone."""
        (model,) = self.models[role]
        return model

    async def words(self, role: str, prompt: str, look: Look | None = None) -> str:
        """Ask for a text."""
        model = self.model(role)
        record = await asyncio.to_thread(_record_of, look)
        key = self._key(model, prompt, record)
        known = self.client.journal.answer(key)
        async with self._shown(None if known else look, record) as shown:
            request = Request(
                key, (Message("user", (*shown.parts, TextPart(prompt))),), "open", prompt
            )
            response = known or await self.client.ask(model, request)
        if response.status == "truncated":  # half a text is none to go on with
            raise Undecided("truncated", f"{response.error}: raise {token_limit(model)}")
        return _text_of(response).strip()

    async def json(
        self,
        role: str,
        prompt: str,
        schema: Mapping[str, Any],
        *,
        look: Look | Sequence[Look] | None = None,
        number: int = 0,
        check: Check = lambda _: "",
        model: ChatModel | None = None,
    ) -> Structured:
        """Ask for JSON; what fails to come as asked for is told by the result.

        Several looks are shown one after the other, each under its number.
        """
        model = model or self.model(role)
        record = await asyncio.to_thread(_record_of, look)
        async with self._shown(look, record) as shown:
            result = await ask_json(
                self.client, model, prompt, schema, role, number, shown=shown, check=check
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
        number: int,
        shown: RenderedMedia = NO_MEDIA,
    ) -> Response:
        """Ask a closed question with its options in some order; return what was replied."""
        options = tuple(item.options[place] for place in order)
        key = self._key(model, prompt, shown.record, number=number, item=item.id)
        message = Message("user", (*shown.parts, TextPart(prompt)))
        request = Request(key, (message,), item.kind, item.question, options)
        response = await self.client.ask(model, request)
        _text_of(response)
        return response

    def _key(
        self, model: ChatModel, prompt: str, shown: Any, number: int = 0, item: str = ""
    ) -> str:
        content = {
            "model": model.card.name,
            "parameters": dict(model.parameters),
            "prompt": prompt,
            "shown": shown,
            "number": number,
        }
        if model.draws:
            content["draw"] = [self.seed, item]
        return digest_of(content)

    @asynccontextmanager
    async def _shown(
        self, look: Look | Sequence[Look] | None, record: Any
    ) -> AsyncIterator[RenderedMedia]:
        if look is None:
            yield NO_MEDIA
            return
        async with self._showing:
            yield RenderedMedia(await asyncio.to_thread(self._parts, look), record)

    def _parts(self, look: Look | Sequence[Look]) -> list[Part]:
        if isinstance(look, Look):
            return list(self.pictures(look))
        parts: list[Part] = []
        for number, each in enumerate(look, 1):
            parts += [TextPart(f"Video {number}:"), *self.pictures(each)]
        return parts

    def pictures(self, look: Look) -> list[ImagePart]:
        """Decode what is to be looked at."""
        clip = frames_of(look.path, look.spec)
        return [ImagePart(frame.data, clip.media_type, frame.time) for frame in clip.pictures]


class DryRunContext(StageContext):
    """A desk at which nothing is decoded: pictures are blank, but as many and as large."""

    def pictures(self, look: Look) -> list[ImagePart]:
        """Make a blank picture for each that would be shown."""
        plan = planned_frames(look.path, look.spec)
        blank = io.BytesIO()
        Image.new("1", (plan.width, plan.height)).save(blank, "png")
        return [ImagePart(blank.getvalue(), "image/png", 0.0)] * plan.count


def _record_of(look: Look | Sequence[Look] | None) -> Any:
    if look is None:
        return None
    if not isinstance(look, Look):
        return [_record_of(each) for each in look]
    refuse_no_file(look.path)
    return [media_digest(look.path), asdict(look.spec)]


def _text_of(response: Response) -> str:
    """Return what was said; a refusal rejects a row, and any other failure decides nothing."""
    if response.replied:
        return response.text or ""
    error = redacted(response.error or response.status)
    if response.status == "refused":
        raise Rejected("refused", error, [response.text or error])
    raise Undecided(response.status, error)


async def together(work: Sequence[Awaitable[Result]]) -> list[Result]:
    """Wait for all, so that nothing that was paid for is lost; then raise what failed first."""
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
