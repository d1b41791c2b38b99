"""Any server that speaks OpenAI's chat completions: theirs, vLLM, SGLang, Ollama, gateways."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from reelbench.models.base import (
    AudioPart,
    ImagePart,
    Message,
    Part,
    Request,
    Response,
    TextPart,
    read_text,
)
from reelbench.models.card import Card
from reelbench.models.remote import (
    RemoteModel,
    count_at,
    encoded,
    no_reply,
    seed_parameter,
    token_count,
)


class OpenAIModel(RemoteModel):
    """A model behind an endpoint."""

    endpoint = "https://api.openai.com/v1"
    endpoint_variable = "OPENAI_BASE_URL"
    key_variable = "OPENAI_API_KEY"
    usual: ClassVar[Mapping[str, Any]] = {"temperature": 0}

    def credentials(self, secret: str) -> dict[str, str]:
        """Return the headers that carry the key."""
        return {"Authorization": f"Bearer {secret}"} if secret else {}

    def url(self) -> str:
        """Return the URL that requests are sent to."""
        return f"{self._endpoint}/chat/completions"

    def usual_path(self) -> str:
        """Return that most servers of this kind have /v1 at the end, where this URL has not."""
        versioned = re.search(r"/v\d+\w*$", self._endpoint)
        return "" if versioned else ", which for most servers of this kind ends in /v1"

    async def payload(self, request: Request) -> Mapping[str, Any]:
        """Return the body of a request in the format of chat completions."""
        body: dict[str, Any] = dict(self.parameters)
        if request.schema is not None:
            shape = {"name": "reply", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        body["messages"] = [_message(message) for message in request.messages]
        return body | seed_parameter(request)  # behind them, so that requests begin alike

    def read_reply(self, data: Mapping[str, Any]) -> Response:
        """Return the response in a chat completion."""
        return read_completion(data)

    def cached_tokens(self, data: Mapping[str, Any]) -> int | None:
        """Return what OpenAI, vLLM and SGLang say in ``usage``, or else what llama.cpp says."""
        count = count_at(data, "usage", "prompt_tokens_details", "cached_tokens")
        return count_at(data, "timings", "cache_n") if count is None else count


def read_completion(data: Mapping[str, Any]) -> Response:
    """Return the response in a chat completion: a reply, a refusal or an error."""
    try:
        choice = data["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        text, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        return no_reply("chat completion", data)
    usage = data.get("usage")
    used = usage if isinstance(usage, dict) else {}
    input_tokens = token_count(used.get("prompt_tokens"))
    output_tokens = token_count(used.get("completion_tokens"))
    if reason in _FAILURES:
        return Response(
            "error",
            None,
            f"the server ended the reply (finish_reason {reason})",
            input_tokens,
            output_tokens,
        )
    if refusal or reason == "content_filter":
        error = str(refusal or "stopped by the server's content filter")
        return Response("refused", None, error, input_tokens, output_tokens)
    if isinstance(text, list):  # some servers give it in parts
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    if text is not None and not isinstance(text, str):
        return no_reply("text", text)
    return read_text(text or "", reason in _LIMITS, input_tokens, output_tokens)


# Values of finish_reason where the model did not end the reply itself, by several servers.
_LIMITS = ("length", "max_tokens", "model_length")
_FAILURES = ("error", "abort", "cancelled")


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": [_part(part) for part in message.parts]}


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    if isinstance(part, AudioPart):
        kind = part.media_type.removeprefix("audio/")
        return {"type": "input_audio", "input_audio": {"data": encoded(part), "format": kind}}
    kind = "image_url" if isinstance(part, ImagePart) else "video_url"
    return {"type": kind, kind: {"url": f"data:{part.media_type};base64,{encoded(part)}"}}


def load(card: Card) -> OpenAIModel:
    """Return the model of a card."""
    return OpenAIModel(card)
