"""The providers of Inspect, where it is installed; retries are made here, not there."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.extras import install_command
from reelbench.models.base import (
    AudioPart,
    ImagePart,
    Message,
    Part,
    Request,
    Response,
    TextPart,
    VideoPart,
    read_text,
)
from reelbench.models.calls import Pace, pause_before, rest
from reelbench.models.card import Card
from reelbench.models.reachability import Reachability
from reelbench.models.remote import encoded, seed_parameter
from reelbench.models.secrets import redacted
from reelbench.models.tokens import request_tokens

if TYPE_CHECKING:
    from inspect_ai.model import Model

_USUAL = {"temperature": 0.0}


class InspectModel:
    """A model under the name that Inspect has for it, such as ``openai/gpt-4o``."""

    is_random = False

    def __init__(self, card: Card) -> None:
        self.card = card
        chosen = {**_USUAL, **card.parameters}
        self._chosen = {name: value for name, value in chosen.items() if value is not None}
        self._pace = Pace(card.requests_per_minute, card.tokens_per_minute)
        self._no_waiting = asyncio.Event()
        self._reach = Reachability(card.name, "Check its address, its key and its name.\n")
        self._model = _opened(card)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Inspect's name for the model, and what is sent with each request."""
        return {"model": self.card.model, **self._chosen}

    async def ask(self, request: Request) -> Response:
        """Send a request, with the card's retries, and return the response."""
        tokens = sum(request_tokens(self.card, request)) if self.card.tokens_per_minute else 0
        response = Response("error", error="never asked")
        for attempt in range(self.card.retries + 1):
            await rest(self._pace.turn(tokens), self._no_waiting)
            if self._reach.given_up:
                gone = Response("error", error=self._reach.given_up, unasked=True)
                return response if attempt else gone
            response, again = await self._try(request)
            self._note(response, attempt, not again or attempt == self.card.retries)
            if not again or attempt == self.card.retries or self._no_waiting.is_set():
                break
            await rest(pause_before(request.key, attempt, self.card.backoff), self._no_waiting)
        return response

    def _note(self, response: Response, attempt: int, final: bool) -> None:
        if response.status in ("error", "timeout") and response.input_tokens is None:
            place = self.card.endpoint or self.card.model
            self._reach.failed(place, response.error or "", attempt, reached=True, final=final)
            if self._reach.given_up:
                self.stop_retrying()
        else:
            self._reach.answered()

    def stop_retrying(self) -> None:
        """Stop waiting for retries: what would be tried again has failed."""
        self._no_waiting.set()

    async def _try(self, request: Request) -> tuple[Response, bool]:
        """Send a request once; return the response, and whether a retry may help."""
        try:
            async with asyncio.timeout(self.card.timeout):
                output = await self._model.generate(
                    [_message(message) for message in request.messages],
                    config=self._config(request),
                    cache=False,
                )
        except TimeoutError:
            return Response("timeout", error=f"no answer in {self.card.timeout:g} s"), True
        except Exception as error:  # of whatever provider
            return Response("error", error=_error_text(error)), self._is_temporary(error)
        return _read(output), False

    def _is_temporary(self, error: Exception) -> bool:
        """Whether the provider calls a failure temporary."""
        return any(bool(self._model.api.should_retry(each)) for each in _causes(error))

    def _config(self, request: Request) -> Any:
        from inspect_ai.model import GenerateConfig, ResponseSchema
        from inspect_ai.util import JSONSchema

        chosen: dict[str, Any] = {
            "max_connections": self.card.connections,
            **self._chosen,
            **seed_parameter(request),
        }
        if request.schema is not None:
            shape = JSONSchema.model_validate(dict(request.schema))
            chosen["response_schema"] = ResponseSchema(name="reply", json_schema=shape, strict=True)
        return GenerateConfig(max_retries=0, **chosen)

    async def close(self) -> None:
        """Close the connections."""
        await self._model.api.aclose()


def _opened(card: Card) -> "Model":
    """Return the model of Inspect; an error says why it cannot be opened."""
    from inspect_ai.model import get_model

    # Retries are in one layer, and that is ours: these pass it on to their own clients.
    own = card.model.partition("/")[0] in ("openai", "openai-api", "anthropic", "groq")
    arguments: dict[str, Any] = {"max_retries": 0} if own else {}
    if card.endpoint:
        arguments["base_url"] = card.endpoint
    try:
        return get_model(card.model, memoize=False, **arguments)
    except Exception as error:  # of whatever provider
        raise ReelbenchError(
            f"Inspect cannot open {card.model!r} of {card.name}: {redacted(_error_text(error))}. "
            "Check its name and the key of its provider."
        ) from error


def _read(output: Any) -> Response:
    used = output.usage
    response = _response(output, used)
    return (
        response if used is None else replace(response, cached_tokens=used.input_tokens_cache_read)
    )


def _response(output: Any, used: Any) -> Response:
    input_tokens = output_tokens = None
    if used is not None:
        cached = (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
        input_tokens, output_tokens = used.input_tokens + cached, used.output_tokens
    if output.empty:
        return Response(
            "error", None, output.error or "an empty reply", input_tokens, output_tokens
        )
    if output.stop_reason == "content_filter":
        message = output.error or "stopped by the provider's content filter"
        return Response("refused", None, message, input_tokens, output_tokens)
    cut = output.stop_reason in ("max_tokens", "model_length")
    return read_text(output.completion, cut, input_tokens, output_tokens)


def _causes(error: BaseException) -> Iterator[Exception]:
    """Yield an error and its causes, the innermost last."""
    each: BaseException | None = error
    while isinstance(each, Exception):
        yield each
        each = each.__cause__


def _error_text(error: BaseException) -> str:
    """Return the text of the innermost cause of an error."""
    error = list(_causes(error))[-1] if isinstance(error, Exception) else error
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _message(message: Message) -> Any:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}
    kind: Any = kinds.get(message.role, ChatMessageAssistant)
    return kind(content=[_part(part) for part in message.parts])


def _part(part: Part) -> Any:
    from inspect_ai.model import ContentAudio, ContentImage, ContentText, ContentVideo

    if isinstance(part, TextPart):
        return ContentText(text=part.text)
    data = f"data:{part.media_type};base64,{encoded(part)}"
    kind: Any = part.media_type.partition("/")[2]
    if isinstance(part, ImagePart):
        return ContentImage(image=data)
    if isinstance(part, AudioPart):
        return ContentAudio(audio=data, format=kind)
    assert isinstance(part, VideoPart)
    return ContentVideo(video=data, format="mov" if kind == "quicktime" else kind)


def load(card: Card) -> InspectModel:
    """Return the model of a card."""
    try:
        import inspect_ai  # noqa: F401
    except ImportError as error:
        raise ReelbenchError(f"{card.name} needs Inspect: {install_command('inspect')}") from error
    if card.video == "file":
        raise ReelbenchError(
            f"{card.name}: Inspect cannot send a part of a file by its start and end: write "
            "`video: clip` in its card."
        )
    return InspectModel(card)
