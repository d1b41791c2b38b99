"""A cascade: captioners describe what they see and hear, and a text model answers from that.

Each captioner is asked once about a clip, however many questions there are about it: its requests
go through ``relay``, which a client sets, and so through the journal.
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
    is_transcript,
    token_limit,
)
from reelbench.models.card import FREE, Card
from reelbench.models.keys import request_key

Relay = Callable[[ChatModel, Request], Awaitable[Response]]


async def _directly(model: ChatModel, request: Request) -> Response:
    return await model.ask(request)


class Cascade:
    """Captioners, and the model that answers from their captions."""

    is_random = False

    def __init__(
        self,
        card: Card,
        captioners: list[ChatModel],
        answerer: ChatModel,
        fuser: ChatModel | None = None,
    ) -> None:
        self.captioners, self.answerer, self.fuser = captioners, answerer, fuser or answerer
        self.relay: Relay = _directly
        self.seed: int | None = None  # from which those of requests to members derive
        self._prompt, self._fuse = _prompt("caption"), _prompt("fuse")
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
        """The names and parameters of its members, and the prompts for captions."""
        return {
            "members": [[each.card.name, dict(each.parameters)] for each in self.members],
            "captioners": [each.card.name for each in self.captioners],
            "prompt": self._prompt,
            "fuse": self._fuse,
        }

    @property
    def members(self) -> list[ChatModel]:
        """The captioners, who fuses what they tell, and who answers; each once."""
        return list(dict.fromkeys([*self.captioners, self.fuser, self.answerer]))

    async def ask(self, request: Request) -> Response:
        """Ask the captioners about the media, have their captions fused, then ask the answerer."""
        *shown, question = request.parts
        captions: list[TextPart] = []
        for captioner in self.captioners:
            media = [part for part in _for(captioner.card, shown) if not is_transcript(part)]
            if all(isinstance(part, TextPart) for part in media):
                continue  # nothing that it could describe
            caption = await self._text(captioner, (*media, TextPart(self._prompt)))
            if isinstance(caption, Response):
                return caption
            captions.append(TextPart(f"What {captioner.card.name} tells:\n{caption}"))
        if len(captions) > 1:
            fused = await self._text(self.fuser, (*captions, TextPart(self._fuse)))
            if isinstance(fused, Response):
                return fused
            captions = [TextPart(f"What is seen and heard:\n{fused}")]
        read = (part for part in _for(_READER, shown) if isinstance(part, TextPart))
        asked = self._derived(self.answerer, (*captions, *read, question), request)
        return _own(await self.relay(self.answerer, asked))

    async def _text(self, model: ChatModel, parts: tuple[Part, ...]) -> str | Response:
        """Return what a member tells, or the response of the cascade where it does not."""
        reply = await self.relay(model, self._derived(model, parts))
        if reply.status == "ok":
            return reply.text or ""
        if reply.status == "truncated":  # half a caption is none to answer by
            message = f"{model.card.name}: {reply.error}: raise {token_limit(model)}"
            return Response("error", error=message)
        return Response(
            reply.status, error=f"{model.card.name}: {reply.error}", unasked=reply.unasked
        )

    def _derived(
        self, model: ChatModel, parts: tuple[Part, ...], parent: Request | None = None
    ) -> Request:
        """Return a request to a member, whose key is made of all its parts."""
        key = request_key(model, parts, parent=parent.key if parent else "", seed=self.seed)
        message = (Message("user", parts),)
        if parent is None:
            return Request(key, message, "open", "")
        return Request(key, message, parent.kind, parent.question, parent.options, parent.schema)

    def stop_retrying(self) -> None:
        """Do nothing: the client stops the retries of its members."""

    async def close(self) -> None:
        """Do nothing: the session closes its members."""


def _prompt(name: str) -> str:
    return (files(__package__) / "prompts" / f"{name}.md").read_text("utf-8").strip()


def _own(response: Response) -> Response:
    """Return a member's response as the cascade's; the tokens are counted for the member."""
    return Response(response.status, response.text, response.error, 0, 0, unasked=response.unasked)


_READER = Card(name="reader", sees=False)


def _for(card: Card, shown: Sequence[Part]) -> list[Part]:
    """Return the parts that a model takes, without texts about parts that it does not take."""
    kept: list[Part] = []
    for part, following in zip(shown, [*shown[1:], None], strict=False):
        about = following if isinstance(part, TextPart) and following is not None else part
        if _takes(card, part) and (_takes(card, about) or isinstance(about, TextPart)):
            kept.append(part)
    return kept


def _takes(card: Card, part: Part) -> bool:
    if isinstance(part, ImagePart | VideoPart):
        return card.sees
    return card.hears if isinstance(part, AudioPart) else True


def members_of(models: Iterable[ChatModel]) -> Iterator[ChatModel]:
    """Yield each model once, the members of cascades included."""
    seen: set[int] = set()
    for model in models:
        within = model.members if isinstance(model, Cascade) else []
        for each in (model, *within):
            if id(each) not in seen:
                seen.add(id(each))
                yield each


def load(card: Card, load_member: Callable[[str], ChatModel]) -> Cascade:
    """Return the cascade of a card."""
    if not card.captioners or not card.model:
        raise ReelbenchError(
            f"{card.name}: the card of a cascade needs captioners, a list of models, and model, "
            "the one that answers: `captioners: [openai:gpt-4o]` and `model: openai:gpt-4o-mini`."
        )
    fuser = [card.fuser] if card.fuser else []
    members = [load_member(name) for name in (*card.captioners, *fuser, card.model)]
    if any(isinstance(member, Cascade) for member in members):
        raise ReelbenchError(
            f"{card.name}: a cascade cannot be a captioner or the model of another cascade."
        )
    *others, answerer = members
    count = len(card.captioners)
    return Cascade(card, others[:count], answerer, others[count] if fuser else None)
