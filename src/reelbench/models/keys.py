"""The key of a request: the hash of all that decides the reply to it.

Equal keys are one request, paid for once, whoever asks and whatever the folder. The names that are
hashed are those of every run so far, so that a folder of an earlier version goes on at no cost.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.base.files import digest_of
from reelbench.data.items import NOTHING
from reelbench.models.base import ChatModel, Message, Part, TextPart, VideoPart


def request_key(
    model: ChatModel,
    prompt: str | Sequence[Message],
    *,
    media: Mapping[str, Any] = NOTHING,
    order: int | Sequence[int] = 0,
    round: int = 0,
    draw: Sequence[Any] = (),
    schema: Mapping[str, Any] | None = None,
    purpose: str = "",
    attempt: tuple[int, bool] = (0, False),
) -> str:
    """Return the key of a request to a model.

    ``prompt`` is the text that is asked, or a conversation that asks for JSON: of that, ``schema``
    is what the server is told, ``purpose`` what the JSON is for, and ``attempt`` the number of the
    try and whether a repair is asked for. ``media`` is the record of what is shown, ``order`` the
    seed and number of the options' order where the prompt does not say it, ``round`` tells apart
    what is asked several times, and ``draw`` are the seed and the item, for models whose replies
    are random.
    """
    content: dict[str, Any] = {"model": model.card.name, "parameters": dict(model.parameters)}
    if isinstance(prompt, str):
        content |= {"prompt": prompt, "order": order, "round": round, **media}
    else:
        content |= {
            "messages": [[message.role, *_texts(message)] for message in prompt],
            "schema": schema,
            "place": [purpose, round, *attempt],
            **({"shown": media} if media else {}),
        }
    if model.is_random and draw:
        content["draw"] = list(draw)
    return digest_of(content)


def rendered_key(model: ChatModel, parts: Sequence[Part], whole: str = "") -> str:
    """Return the key of a request of which only its rendered parts are at hand.

    ``whole`` is the key of the request that it is a part of, where its reply serves that alone.
    """
    shown = [_part_record(part) for part in parts]
    return digest_of([model.card.name, dict(model.parameters), shown, whole])


def _texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, TextPart)]


def _part_record(part: Part) -> list[Any]:
    if isinstance(part, TextPart):
        return ["text", part.text]
    place = [part.start, part.end, part.rate] if isinstance(part, VideoPart) else []
    return [part.media_type, hashlib.sha256(part.data).hexdigest(), *place]
