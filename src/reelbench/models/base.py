"""The nouns of asking: a request made of messages goes in, a response with a status comes out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from reelbench.data.items import Kind
from reelbench.models.card import Card

Status = Literal["ok", "truncated", "refused", "error", "timeout", "over_budget"]
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a message that is read."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A part of a message that is looked at: one frame, and its moment in the video."""

    data: bytes
    media_type: str
    time: float


@dataclass(frozen=True, slots=True)
class AudioPart:
    """A part of a message that is listened to."""

    data: bytes
    media_type: str
    seconds: float


@dataclass(frozen=True, slots=True)
class VideoPart:
    """A part of a message that is watched: a whole file, and which part of it is meant."""

    data: bytes
    media_type: str
    seconds: float  # of the part that is meant
    start: float | None = None
    end: float | None = None
    rate: float | None = None  # frames a second to look at; None for as many as the model likes
    heard: bool = False  # with its sound


Part = TextPart | ImagePart | AudioPart | VideoPart


@dataclass(frozen=True, slots=True)
class Message:
    """What one side says."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One rendered question. ``key`` is the hash of everything that can change the reply.

    ``question`` and ``options`` repeat what the messages say, in the order they say it, for
    models that read no prose. Nothing here tells the answer.
    """

    key: str
    messages: tuple[Message, ...]
    kind: Kind
    question: str
    options: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None  # of the JSON that the reply is to be

    @property
    def parts(self) -> tuple[Part, ...]:
        """All that is said and shown, in order."""
        return tuple(part for message in self.messages for part in message.parts)

    @property
    def pictures(self) -> tuple[ImagePart, ...]:
        """All pictures, in the order they are shown."""
        return tuple(part for part in self.parts if isinstance(part, ImagePart))


@dataclass(frozen=True, slots=True)
class Response:
    """What came back. Only ``ok`` is a reply in full; ``error`` says why there is none.

    ``truncated`` is what a model said until its limit of tokens struck. It is as final as ``ok``:
    asked again in the same way, it would stop at the same place.
    """

    status: Status
    text: str | None = None
    error: str | None = None
    input_tokens: int | None = None  # as the server counts them
    output_tokens: int | None = None
    unasked: bool = False  # nobody was asked: nothing to write down, and nothing was spent

    @property
    def replied(self) -> bool:
        """Whether the model came to speak, in full or not: such a request is not sent again."""
        return self.status in REPLIED


REPLIED: tuple[Status, ...] = ("ok", "truncated")
EMPTY_REPLY = "an empty reply"


def read_text(
    text: str, truncated: bool, input_tokens: int | None, output_tokens: int | None
) -> Response:
    """Return the response of a model that ended with this text: of itself, or at its limit."""
    status: Status = "truncated" if truncated else "ok"
    reason = "cut off at the limit of tokens" if truncated else None
    return Response(status, text, reason, input_tokens, output_tokens)


def token_limit(model: "ChatModel") -> str:
    """Return what sets the limit of a model's replies: a parameter's name, and its value."""
    usual = _LIMITS.get(model.card.backend, "max_tokens")
    for name in (usual, "max_tokens", "max_completion_tokens"):
        if name in model.parameters:
            return f"{name} (now {model.parameters[name]})"
    return usual


_LIMITS = {"google": "maxOutputTokens", "hf": "max_new_tokens"}  # by backend; others: max_tokens


class ChatModel(Protocol):
    """Anything that can be asked."""

    @property
    def card(self) -> Card:
        """Its name, what it can see and hear, and what it may be asked and may cost."""

    @property
    def is_random(self) -> bool:
        """Whether its replies are drawn at random: equal requests about two items are two draws."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides its replies beside the request; part of the request's key."""

    async def ask(self, request: Request) -> Response:
        """Answer a request; failures are responses, not exceptions."""

    def stop_retrying(self) -> None:
        """Wait for nothing any more: what would have to be tried again has failed."""

    async def close(self) -> None:
        """Let go of what is held, such as connections."""
