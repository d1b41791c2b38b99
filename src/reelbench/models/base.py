"""The types that models are asked with: a request of messages, and a response with a status."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from reelbench.data.items import Kind
from reelbench.models.card import Card
from reelbench.models.seeds import seed_in

Status = Literal["ok", "truncated", "refused", "error", "timeout", "over_budget"]
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text in a message."""

    text: str


TRANSCRIPT = "What is said:"  # the first line of a part with subtitles


def is_transcript(part: object) -> bool:
    """Whether a part of a message is what is said in a video, from its subtitles."""
    return isinstance(part, TextPart) and part.text.startswith(TRANSCRIPT)


@dataclass(frozen=True, slots=True)
class ImagePart:
    """One frame in a message, as an encoded image, and its time in the video in seconds."""

    data: bytes
    media_type: str
    time: float


@dataclass(frozen=True, slots=True)
class AudioPart:
    """Sound in a message, as an encoded file."""

    data: bytes
    media_type: str
    seconds: float


@dataclass(frozen=True, slots=True)
class VideoPart:
    """A video in a message, and which part of it the question is about."""

    data: bytes
    media_type: str
    seconds: float  # of the part that the question is about
    start: float | None = None
    end: float | None = None
    rate: float | None = None  # frames per second to look at; None for the model's default
    heard: bool = False  # whether its sound counts as well


Part = TextPart | ImagePart | AudioPart | VideoPart


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation: its role and its parts."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One rendered question. ``key`` is the hash of everything that can change the reply.

    ``question`` and ``options`` repeat the messages' content, in the same order, for baselines,
    which read no prose. The right answer is not part of a request.
    """

    key: str
    messages: tuple[Message, ...]
    kind: Kind
    question: str
    options: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None  # of the JSON that is asked for

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of all messages, in order."""
        return tuple(part for message in self.messages for part in message.parts)

    @property
    def seed(self) -> int | None:
        """The seed to send, for a server that takes one; None where none is to be sent."""
        return seed_in(self.key)

    @property
    def pictures(self) -> tuple[ImagePart, ...]:
        """The frames of all messages, in order."""
        return tuple(part for part in self.parts if isinstance(part, ImagePart))


@dataclass(frozen=True, slots=True)
class Response:
    """What a model replied, or why there is no reply: only ``ok`` is a complete one.

    ``truncated`` is a reply that was cut off at the limit of tokens. It is as final as ``ok``:
    asked again in the same way, it would be cut off at the same place.
    """

    status: Status
    text: str | None = None
    error: str | None = None
    input_tokens: int | None = None  # as the server counts them
    output_tokens: int | None = None
    unasked: bool = False  # no call was made: nothing to record, and nothing was spent
    cached_tokens: int | None = None  # of the input, from the server's cache, where it says so

    @property
    def replied(self) -> bool:
        """Whether there is a reply, complete or cut off: such a request is not sent again."""
        return self.status in REPLIED


REPLIED: tuple[Status, ...] = ("ok", "truncated")
EMPTY_REPLY = "an empty reply"


def read_text(
    text: str, truncated: bool, input_tokens: int | None, output_tokens: int | None
) -> Response:
    """Return the response for this text, which is complete or cut off at the limit of tokens."""
    status: Status = "truncated" if truncated else "ok"
    reason = "cut off at the limit of tokens" if truncated else None
    return Response(status, text, reason, input_tokens, output_tokens)


def token_limit(model: "ChatModel") -> str:
    """Return the parameter that limits the length of a model's replies, with its value."""
    usual = _LIMITS.get(model.card.backend, "max_tokens")
    for name in (usual, "max_tokens", "max_completion_tokens"):
        if name in model.parameters:
            return f"{name} (now {model.parameters[name]})"
    return usual


def is_greedy(model: "ChatModel") -> bool:
    """Whether a model writes what is likeliest, so that repeated replies are much the same."""
    settings = model.parameters
    return settings.get("temperature") == 0 or settings.get("do_sample") is False


def takes_seed(model: "ChatModel") -> bool:
    """Whether a model is sent the seeds of its requests; ``seed`` in its card takes their place."""
    return model.card.backend in _SEEDED and "seed" not in model.card.parameters


def sends_seeds(model: "ChatModel", repeated: bool) -> bool:
    """Whether the requests to a model carry seeds: it samples, or is asked the same repeatedly."""
    return takes_seed(model) and (repeated or not is_greedy(model))


_SEEDED = ("openai", "google", "inspect")  # backends whose API has the parameter
_LIMITS = {"google": "maxOutputTokens", "hf": "max_new_tokens"}  # by backend; others: max_tokens


class ChatModel(Protocol):
    """The protocol that every backend's model implements."""

    @property
    def card(self) -> Card:
        """Its name, what input it takes, its limits and its price."""

    @property
    def is_random(self) -> bool:
        """Whether its replies are drawn at random: equal requests about two items are two draws."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What decides its replies beside the request; part of the request's key."""

    async def ask(self, request: Request) -> Response:
        """Answer a request; failures are responses, not exceptions."""

    def stop_retrying(self) -> None:
        """Stop waiting for retries: what would be tried again has failed."""

    async def close(self) -> None:
        """Release connections and other resources."""
