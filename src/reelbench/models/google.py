"""Google's Gemini API: pictures, sound, and whole videos with offsets."""

import asyncio
import hashlib
from collections.abc import Mapping
from typing import Any, ClassVar

from reelbench.models.base import (
    ImagePart,
    Message,
    Part,
    Request,
    Response,
    TextPart,
    VideoPart,
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

_INLINE = 14 * 10**6  # bytes that are sent within a request, which may have 20 MB in base64
_MOST_FRAMES = 24.0  # a second
_POLL = 2.0  # seconds between two looks at a file that is not yet ready
_BESIDE = ("safetySettings", "tools", "toolConfig", "cachedContent")  # parameters of their own
_REFUSALS = frozenset({
    "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "LANGUAGE",
})  # fmt: skip


class UploadError(Exception):
    """An upload failed; the response says why."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.error)
        self.response = response


class GoogleModel(RemoteModel):
    """A model behind the Gemini API."""

    endpoint = "https://generativelanguage.googleapis.com"
    endpoint_variable = "GOOGLE_GEMINI_BASE_URL"
    key_variable = "GEMINI_API_KEY"
    usual: ClassVar[Mapping[str, Any]] = {"temperature": 0}

    def __init__(self, card: Card) -> None:
        super().__init__(card)
        self._uploads: dict[str, asyncio.Task[str]] = {}

    def credentials(self, secret: str) -> dict[str, str]:
        """Return the headers that carry the key."""
        return {"x-goog-api-key": secret} if secret else {}

    def url(self) -> str:
        """Return the URL that requests are sent to."""
        return f"{self._endpoint}/v1beta/models/{self._model}:generateContent"

    async def ask(self, request: Request) -> Response:
        """Upload large videos, send the request, and return the response."""
        try:
            return await super().ask(request)
        except UploadError as error:
            return error.response

    async def payload(self, request: Request) -> Mapping[str, Any]:
        """Return the body of a request in the format of generateContent."""
        config = {name: value for name, value in self._chosen.items() if name not in _BESIDE}
        beside = {name: value for name, value in self._chosen.items() if name in _BESIDE}
        config |= seed_parameter(request)
        if request.schema is not None:
            config |= {"responseMimeType": "application/json", "responseJsonSchema": request.schema}
        contents, system = [], []
        total = sum(len(part.data) for part in request.parts if not isinstance(part, TextPart))
        for message in request.messages:
            parts = [await self._part(part, total) for part in message.parts]
            if message.role == "system":
                system += parts
            else:
                contents.append({"role": _role(message), "parts": parts})
        body: dict[str, Any] = {"contents": contents, "generationConfig": config, **beside}
        return body | ({"systemInstruction": {"parts": system}} if system else {})

    async def _part(self, part: Part, total: int) -> dict[str, Any]:
        if isinstance(part, TextPart):
            return {"text": part.text}
        if total > _INLINE and not isinstance(part, ImagePart):
            uri = await self._uploaded(part.data, part.media_type)
            block: dict[str, Any] = {"fileData": {"fileUri": uri, "mimeType": part.media_type}}
        else:
            block = {"inlineData": {"mimeType": part.media_type, "data": encoded(part)}}
        if isinstance(part, VideoPart) and (metadata := _video_metadata(part)):
            block["videoMetadata"] = metadata
        return block

    async def _uploaded(self, data: bytes, media_type: str) -> str:
        """Upload a file, once for all questions about it, and return its URI."""
        key = hashlib.sha256(data).hexdigest()
        if key not in self._uploads:
            self._uploads[key] = asyncio.create_task(self._upload(data, media_type))
        upload = self._uploads[key]
        try:
            return await asyncio.shield(upload)
        except UploadError:
            if self._uploads.get(key) is upload:
                del self._uploads[key]  # the next question tries again
            raise

    async def close(self) -> None:
        """Cancel uploads and close the connections."""
        for upload in self._uploads.values():
            upload.cancel()
        await asyncio.gather(*self._uploads.values(), return_exceptions=True)
        self._uploads.clear()
        await super().close()

    async def _upload(self, data: bytes, media_type: str) -> str:
        start = {
            **self._headers,
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": str(len(data)),
            "X-Goog-Upload-Header-Content-Type": media_type,
        }
        about = b'{"file": {"display_name": "clip"}}'
        begun = await self._caller.post(
            lambda: f"{self._endpoint}/upload/v1beta/files", about, start
        )
        address = begun.headers.get("x-goog-upload-url", "")
        # The key goes nowhere but to them: to their own server, or by a line that nobody reads.
        if begun.status == "ok" and not address.startswith((f"{self._endpoint}/", "https://")):
            raise UploadError(no_reply("valid upload address", begun.headers))
        self._check(begun.status == "ok", begun.status, begun.error)
        finish = {"X-Goog-Upload-Offset": "0", "X-Goog-Upload-Command": "upload, finalize"}
        sent = await self._caller.post(lambda: address, data, self._headers | finish)
        file = sent.data.get("file", {}) if sent.status == "ok" else {}
        self._check(sent.status == "ok", sent.status, sent.error)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.card.timeout
        while isinstance(file, dict) and file.get("state") == "PROCESSING":
            self._check(
                loop.time() < deadline, "timeout", "the uploaded file was not ready in time"
            )
            await asyncio.sleep(_POLL)
            seen = await self._caller.get(
                f"{self._endpoint}/v1beta/{file.get('name')}", self._headers
            )
            self._check(seen.status == "ok", seen.status, seen.error)
            file = seen.data.get("file", seen.data)
        if not isinstance(file, dict) or file.get("state") != "ACTIVE" or not file.get("uri"):
            raise UploadError(no_reply("ready file", file))
        return str(file["uri"])

    @staticmethod
    def _check(fine: bool, status: Any, error: str) -> None:
        if not fine:
            raise UploadError(Response(status, error=error))

    def read_reply(self, data: Mapping[str, Any]) -> Response:
        """Return the response in the first candidate, without its thinking."""
        usage = data.get("usageMetadata")
        used = usage if isinstance(usage, dict) else {}
        input_tokens = token_count(
            used.get("promptTokenCount"), used.get("toolUsePromptTokenCount")
        )
        thought = used.get("thoughtsTokenCount")
        output_tokens = token_count(
            used.get("candidatesTokenCount", 0 if thought else None), thought
        )
        feedback = data.get("promptFeedback")
        blocked = feedback.get("blockReason") if isinstance(feedback, dict) else None
        if blocked:
            return Response(
                "refused", None, f"prompt blocked: {blocked}", input_tokens, output_tokens
            )
        try:
            candidate = data["candidates"][0]
            reason = candidate.get("finishReason")
            if reason in _REFUSALS:
                return Response(
                    "refused", None, f"reply stopped: {reason}", input_tokens, output_tokens
                )
            parts = candidate.get("content", {}).get("parts", [])
            text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
        except (KeyError, IndexError, TypeError, AttributeError):
            return no_reply("candidate", data)
        if reason not in (None, "STOP", "MAX_TOKENS"):
            return Response("error", None, f"reply stopped: {reason}", input_tokens, output_tokens)
        return read_text(text, reason == "MAX_TOKENS", input_tokens, output_tokens)

    def cached_tokens(self, data: Mapping[str, Any]) -> int | None:
        """Return how many tokens were in their cache."""
        return count_at(data, "usageMetadata", "cachedContentTokenCount")


def _role(message: Message) -> str:
    return "model" if message.role == "assistant" else "user"


def _video_metadata(video: VideoPart) -> dict[str, Any]:
    """Return the part of a video that the question is about, and the frames per second."""
    meant: dict[str, Any] = {}
    if video.start is not None:
        meant["startOffset"] = _seconds(video.start)
    if video.end is not None:
        meant["endOffset"] = _seconds(video.end)
    if video.rate is not None:
        meant["fps"] = min(video.rate, _MOST_FRAMES)
    return meant


def _seconds(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".") + "s"


def load(card: Card) -> GoogleModel:
    """Return the model of a card."""
    return GoogleModel(card)
