"""A cascade: captioners tell what they see and hear, and a model that only reads answers.

Each captioner is asked once about a clip, whatever the number of questions about it; that is up to
who relays its requests, such as a run with its journal.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.models.base import (
    AudioPart,
    ChatModel,
    ImagePart,
    Message,
    Part,
    Request,
    Response,
    TextPart,
    VideoPart,
    token_limit,
)
from reelbench.models.card import FREE, Card
from reelbench.models.keys import request_key

Relay = Callable[[ChatModel, Request], Awaitable[Response]]


async def _directly(model: ChatModel, request: Request) -> Response:
    return await model.ask(request)


class Cascade:
    """Captioners, and the model that answers from what they tell."""

    is_random = False

    def __init__(self, card: Card, captioners: list[ChatModel], answerer: ChatModel) -> None:
        self.captioners, self.answerer = captioners, answerer
        self.relay: Relay = _directly
        self._prompt = (files(__package__) / "prompts" / "caption.md").read_text("utf-8").strip()
        cards = [captioner.card for captioner in captioners]
        limits = [each.frames for each in cards if each.sees and each.frames]
        self.card = msgspec.structs.replace(
            card,
            sees=any(each.sees for each in cards),
            hears=any(each.hears for each in cards),
            frames=min(limits, default=0),
            schemas=answerer.card.schemas,
            price=FREE,  # its members have theirs
        )

    @property
    def parameters(self) -> Mapping[str, Any]:
        """All that its models are, and how captions are asked for."""
        members = [*self.captioners, self.answerer]
        return {
            "members": [[each.card.name, dict(each.parameters)] for each in members],
            "prompt": self._prompt,
        }

    async def ask(self, request: Request) -> Response:
        """Have the media described, then ask."""
        parts: list[Part] = []
        *shown, question = request.parts
        for captioner in self.captioners:
            media = _for(captioner.card, shown)
            if all(isinstance(part, TextPart) for part in media):
                continue  # nothing that it could tell about
            caption = await self.relay(
                captioner, self._derived(captioner, (*media, TextPart(self._prompt)))
            )
            if caption.status == "truncated":  # half a caption is none to answer by
                message = f"{captioner.card.name}: {caption.error}: raise {token_limit(captioner)}"
                return Response("error", error=message)
            if caption.status != "ok":
                message = f"{captioner.card.name}: {caption.error}"
                return Response(caption.status, error=message, unasked=caption.unasked)
            parts.append(TextPart(f"What {captioner.card.name} tells:\n{caption.text}"))
        parts += [*(part for part in _for(_READER, shown) if isinstance(part, TextPart)), question]
        asked = self._derived(self.answerer, tuple(parts), request)
        return _own(await self.relay(self.answerer, asked))

    def _derived(
        self, model: ChatModel, parts: tuple[Part, ...], of: Request | None = None
    ) -> Request:
        """Make a request to a member, under a key of all that is in it."""
        key = request_key(model, parts, parent=of.key if of else "")
        message = (Message("user", parts),)
        if of is None:
            return Request(key, message, "open", "")
        return Request(key, message, of.kind, of.question, of.options, of.schema)

    def stop_retrying(self) -> None:
        """Nothing of its own: who holds it hurries its members."""

    async def close(self) -> None:
        """Nothing of its own: who holds it closes its members."""


def _own(response: Response) -> Response:
    """Return a response of a member as the cascade's own, its tokens counted there and not here."""
    return Response(response.status, response.text, response.error, 0, 0, unasked=response.unasked)


_READER = Card(name="reader", sees=False)


def _for(card: Card, shown: Sequence[Part]) -> list[Part]:
    """Return what a model takes in: of texts, those that are not about something it does not."""
    kept: list[Part] = []
    for part, following in zip(shown, [*shown[1:], None], strict=True):
        about = following if isinstance(part, TextPart) and following is not None else part
        if _takes(card, part) and (_takes(card, about) or isinstance(about, TextPart)):
            kept.append(part)
    return kept


def _takes(card: Card, part: Part) -> bool:
    if isinstance(part, ImagePart | VideoPart):
        return card.sees
    return card.hears if isinstance(part, AudioPart) else True


def members_of(models: Iterable[ChatModel]) -> Iterator[ChatModel]:
    """Yield models and, of cascades, those within, each once."""
    seen: set[int] = set()
    for model in models:
        within = [*model.captioners, model.answerer] if isinstance(model, Cascade) else []
        for each in (model, *within):
            if id(each) not in seen:
                seen.add(id(each))
                yield each


def load(card: Card, load_member: Callable[[str], ChatModel]) -> Cascade:
    """Return the cascade of a card."""
    if not card.captioners or not card.model:
        raise ReelbenchError(
            f"{card.name}: a cascade is a card with captioners, a list of models, and model, the "
            "one that answers: `captioners: [openai:gpt-4o]` and `model: openai:gpt-4o-mini`."
        )
    members = [load_member(name) for name in (*card.captioners, card.model)]
    if any(isinstance(member, Cascade) for member in members):
        raise ReelbenchError(f"{card.name}: a cascade is not made of cascades.")
    *captioners, answerer = members
    return Cascade(card, captioners, answerer)
