"""All the providers of Inspect, for who has it installed; each call is still ours to repeat."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reelbench.errors import ReelbenchError
from reelbench.models.base import Message, Part, Picture, Request, Response, Sound, Text, Video
from reelbench.models.card import Card
from reelbench.models.remote import encoded
from reelbench.seeds import rng_for

if TYPE_CHECKING:
    from inspect_ai.model import Model

_USUAL = {"temperature": 0.0}
_LONGEST_PAUSE = 60.0  # seconds


class InspectModel:
    """A model by Inspect's name for it, such as ``openai/gpt-4o``."""

    draws = False

    def __init__(self, card: Card) -> None:
        self.card = card
        chosen = {**_USUAL, **card.parameters}
        self._chosen = {name: value for name, value in chosen.items() if value is not None}
        self._model: Model | None = None

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Inspect's name for the model, and what is sent with each request."""
        return {"model": self.card.model, **self._chosen}

    async def ask(self, request: Request) -> Response:
        """Send the messages, and once more than the retries at most."""
        response = Response("error", error="never asked")
        for attempt in range(self.card.retries + 1):
            response = await self._try(request)
            if response.status not in ("error", "timeout") or attempt == self.card.retries:
                break
            rng = rng_for("pause", request.key, attempt)
            pause = min(_LONGEST_PAUSE, self.card.backoff * 2.0**attempt)
            await asyncio.sleep(pause * rng.uniform(0.5, 1.0))
        return response

    async def _try(self, request: Request) -> Response:
        try:
            async with asyncio.timeout(self.card.timeout):
                output = await self._opened().generate(
                    [_message(message) for message in request.messages],
                    config=self._config(request),
                    cache=False,
                )
        except TimeoutError:
            return Response("timeout", error=f"no answer in {self.card.timeout:g} s")
        except Exception as error:  # of whatever provider
            return Response("error", error=_told(error))
        used = output.usage
        taken = given = None
        if used is not None:
            cached = (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
            taken, given = used.input_tokens + cached, used.output_tokens
        if output.empty:
            return Response("error", None, output.error or "an empty answer", taken, given)
        if output.stop_reason == "content_filter":
            said = output.error or "stopped by the provider's content filter"
            return Response("refused", None, said, taken, given)
        return Response("ok", output.completion, None, taken, given)

    def _opened(self) -> "Model":
        from inspect_ai.model import get_model

        if self._model is None:
            # Retries are in one layer, and that is ours: these pass it on to their own clients.
            own = self.card.model.partition("/")[0] in ("openai", "openai-api", "anthropic", "groq")
            arguments: dict[str, Any] = {"max_retries": 0} if own else {}
            if self.card.endpoint:
                arguments["base_url"] = self.card.endpoint
            self._model = get_model(self.card.model, memoize=False, **arguments)
        return self._model

    def _config(self, request: Request) -> Any:
        from inspect_ai.model import GenerateConfig, ResponseSchema
        from inspect_ai.util import JSONSchema

        chosen: dict[str, Any] = {"max_connections": self.card.connections, **self._chosen}
        if request.schema is not None:
            shape = JSONSchema.model_validate(dict(request.schema))
            chosen["response_schema"] = ResponseSchema(name="reply", json_schema=shape, strict=True)
        return GenerateConfig(max_retries=0, **chosen)

    async def close(self) -> None:
        """Hang up."""
        if self._model is not None:
            await self._model.api.aclose()
            self._model = None


def _told(error: BaseException) -> str:
    """What went wrong, out of what it was wrapped in."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _message(message: Message) -> Any:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}
    kind: Any = kinds.get(message.role, ChatMessageAssistant)
    return kind(content=[_part(part) for part in message.parts])


def _part(part: Part) -> Any:
    from inspect_ai.model import ContentAudio, ContentImage, ContentText, ContentVideo

    if isinstance(part, Text):
        return ContentText(text=part.text)
    data = f"data:{part.media_type};base64,{encoded(part)}"
    kind: Any = part.media_type.partition("/")[2]
    if isinstance(part, Picture):
        return ContentImage(image=data)
    if isinstance(part, Sound):
        return ContentAudio(audio=data, format=kind)
    assert isinstance(part, Video)
    return ContentVideo(video=data, format="mov" if kind == "quicktime" else kind)


def load(card: Card) -> InspectModel:
    """Return the model of a card; Inspect opens it when it is first asked."""
    try:
        import inspect_ai  # noqa: F401
    except ImportError as error:
        raise ReelbenchError(
            f"{card.name} needs Inspect: pip install 'reelbench[inspect]'."
        ) from error
    if card.video == "file":
        raise ReelbenchError(
            f"{card.name}: Inspect has no way to say which part of a file is meant: write "
            "`video: clip` in its card."
        )
    return InspectModel(card)
