"""Any server that speaks OpenAI's chat completions: theirs, vLLM, SGLang, Ollama, gateways."""

import base64
import os
from collections.abc import Mapping
from typing import Any

import msgspec

from reelbench.errors import ReelbenchError
from reelbench.models.base import Message, Part, Request, Response, Text
from reelbench.models.calls import Caller
from reelbench.models.card import Card

_ENDPOINT = "https://api.openai.com/v1"
_KEY = "OPENAI_API_KEY"
_USUAL = {"temperature": 0}  # what a card does not say otherwise; null leaves it out


class OpenAIModel:
    """A model behind an endpoint."""

    draws = False

    def __init__(self, card: Card) -> None:
        endpoint = card.endpoint or os.environ.get("OPENAI_BASE_URL") or _ENDPOINT
        if not endpoint.startswith(("http://", "https://")):
            raise ReelbenchError(f"The endpoint of {card.name} is {endpoint!r}: write an URL.")
        # A server that a card names gets the key that the card names, and no other.
        variable = card.key or ("" if card.endpoint else _KEY)
        secret = os.environ.get(variable, "").strip() if variable else ""
        if not secret and (card.key or endpoint == _ENDPOINT):
            raise ReelbenchError(f"{card.name} needs a key: put it in the variable {variable}.")
        self.name = card.name
        self.sees = card.sees
        self.connections = card.connections
        chosen = {**_USUAL, **card.parameters}
        self._chosen = {name: value for name, value in chosen.items() if value is not None}
        self._model = card.model or card.name
        self._url = endpoint.rstrip("/") + "/chat/completions"
        self._headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        self._caller = Caller(card.connections, card.timeout, card.retries, card.backoff, secret)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The server's name for the model, and what is sent with each request.

        Not where the server is: the same model at another address gives the same replies.
        """
        return {"model": self._model, **self._chosen}

    async def ask(self, request: Request) -> Response:
        """Send the messages, and read the reply."""
        outcome = await self._caller.post(self._url, self._payload(request), self._headers)
        if outcome.status != "ok":
            return Response(outcome.status, error=outcome.error)
        return read_completion(outcome.data)

    def _payload(self, request: Request) -> bytes:
        messages = [_message(message) for message in request.messages]
        return msgspec.json.encode({**self.parameters, "messages": messages})

    async def close(self) -> None:
        """Hang up."""
        await self._caller.close()


def read_completion(data: Mapping[str, Any]) -> Response:
    """Read a chat completion: a reply, a refusal, or something that is neither."""
    try:
        choice = data["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        text, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        return Response("error", error=f"an answer that is no completion: {str(data)[:200]}")
    if refusal or reason == "content_filter":
        return Response("refused", error=str(refusal or "stopped by the server's content filter"))
    if isinstance(text, list):  # some servers give it in parts
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    if text is not None and not isinstance(text, str):
        return Response("error", error=f"an answer that is no text: {str(text)[:200]}")
    usage = data.get("usage")
    used = usage if isinstance(usage, dict) else {}
    return Response(
        "ok",
        text or "",
        input_tokens=_count(used.get("prompt_tokens")),
        output_tokens=_count(used.get("completion_tokens")),
    )


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": [_part(part) for part in message.parts]}


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    data = base64.b64encode(part.data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{data}"}}


def load(name: str) -> OpenAIModel:
    """Return a model by its server's name for it."""
    if not name:
        raise ReelbenchError("Which model? Write openai:NAME, such as openai:gpt-4o.")
    return OpenAIModel(Card(name=f"openai:{name}", model=name))
