"""Anthropic's Messages API."""

from collections.abc import Mapping
from typing import Any, ClassVar

from reelbench.base.errors import ReelbenchError
from reelbench.models.base import ImagePart, Message, Part, Request, Response, TextPart, read_text
from reelbench.models.card import Card
from reelbench.models.remote import RemoteModel, count_at, encoded, no_reply, token_count

_VERSION = "2023-06-01"
_LIMITS = ("max_tokens", "model_context_window_exceeded")


class AnthropicModel(RemoteModel):
    """A model behind Anthropic's API: it takes pictures, neither sound nor video."""

    endpoint = "https://api.anthropic.com"
    endpoint_variable = "ANTHROPIC_BASE_URL"
    key_variable = "ANTHROPIC_API_KEY"
    # No temperature: their newer models refuse one.
    usual: ClassVar[Mapping[str, Any]] = {"max_tokens": 4096}

    def credentials(self, secret: str) -> dict[str, str]:
        """Return the headers that carry the key."""
        return {"anthropic-version": _VERSION} | ({"x-api-key": secret} if secret else {})

    def url(self) -> str:
        """Return the URL that requests are sent to."""
        return f"{self._endpoint}/v1/messages"

    async def payload(self, request: Request) -> Mapping[str, Any]:
        """Return the body of a request in their format, with system messages apart."""
        body: dict[str, Any] = dict(self.parameters)
        spoken = [message for message in request.messages if message.role != "system"]
        system = [message for message in request.messages if message.role == "system"]
        if system:
            body["system"] = [_part(part) for message in system for part in message.parts]
        if request.schema is not None:
            shape = {"type": "json_schema", "schema": request.schema}
            body["output_config"] = {**body.get("output_config", {}), "format": shape}
        return body | {"messages": [_message(message) for message in spoken]}

    def read_reply(self, data: Mapping[str, Any]) -> Response:
        """Return the response in a message, without its thinking."""
        usage = data.get("usage")
        used = usage if isinstance(usage, dict) else {}
        caches = (used.get(f"cache_{did}_input_tokens") for did in ("creation", "read"))
        input_tokens = token_count(used.get("input_tokens"), *caches)
        output_tokens = token_count(used.get("output_tokens"))
        reason = data.get("stop_reason")
        if reason == "refusal":
            details = data.get("stop_details")
            explanation = details.get("explanation") if isinstance(details, dict) else None
            return Response(
                "refused",
                None,
                str(explanation or "refused by the model"),
                input_tokens,
                output_tokens,
            )
        try:
            texts = [block["text"] for block in data["content"] if block["type"] == "text"]
            return read_text("".join(texts), reason in _LIMITS, input_tokens, output_tokens)
        except (KeyError, TypeError):
            return no_reply("message", data)

    def cached_tokens(self, data: Mapping[str, Any]) -> int | None:
        """Return how many tokens were read from their cache."""
        return count_at(data, "usage", "cache_read_input_tokens")


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": [_part(part) for part in message.parts]}


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    assert isinstance(part, ImagePart), "the card says that it takes no other"
    source = {"type": "base64", "media_type": part.media_type, "data": encoded(part)}
    return {"type": "image", "source": source}


def load(card: Card) -> AnthropicModel:
    """Return the model of a card."""
    if card.hears or card.video:
        raise ReelbenchError(
            f"{card.name}: Anthropic's models take pictures, neither sound nor video: write "
            '`hears: false` and `video: ""`. Where there are subtitles, they get these as text.'
        )
    return AnthropicModel(card)
