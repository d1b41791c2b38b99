"""The key of a request: the hash of all that decides the reply to it.

Equal keys are one request, paid for once, whoever asks and whatever the folder. The names and the
layout of what is hashed stay as they are in existing journals, so that the folder of an earlier
version resumes without asking again.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.base.files import digest_of
from reelbench.data.items import NOTHING
from reelbench.models.base import ChatModel, Message, Part, TextPart, VideoPart


def request_key(
    model: ChatModel,
    prompt: str | Sequence[Message] | Sequence[Part],
    *,
    media: Mapping[str, Any] = NOTHING,
    order: int | Sequence[int] = 0,
    round: int = 0,
    draw: Sequence[Any] = (),
    schema: Mapping[str, Any] | None = None,
    purpose: str = "",
    attempt: tuple[int, bool] = (0, False),
    parent: str = "",
) -> str:
    """Return the key of a request to a model.

    ``prompt`` has one of three forms, each with parameters of its own:

    - text, as runs and filters ask it. ``media`` is the record of the media that go with it,
      ``order`` the seed and number of the options' order where the prompt does not show it.
    - messages that ask for JSON. ``media`` as above; ``schema`` is what the server is given,
      ``purpose`` what the JSON is for, ``attempt`` the number of the try and whether it is a
      repair.
    - rendered parts, as a cascade sends them to its members: only their bytes are known there.
      ``parent`` is the key of the cascade's own request, where the reply serves that one alone.

    ``round`` distinguishes repetitions of the same request. ``draw`` is the seed and the item's id,
    which count for models whose replies are random.
    """
    if isinstance(prompt, str):
        content: Any = {"prompt": prompt, "order": order, "round": round, **media}
    elif messages := [each for each in prompt if isinstance(each, Message)]:
        content = {
            "messages": [[message.role, *_texts(message)] for message in messages],
            "schema": schema,
            "place": [purpose, round, *attempt],
            **({"shown": media} if media else {}),
        }
    else:
        parts = [_part_record(part) for part in prompt if not isinstance(part, Message)]
        return digest_of([model.card.name, dict(model.parameters), parts, parent])
    content |= {"model": model.card.name, "parameters": dict(model.parameters)}
    if model.is_random and draw:
        content["draw"] = list(draw)
    return digest_of(content)


def _texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, TextPart)]


def _part_record(part: Part) -> list[Any]:
    if isinstance(part, TextPart):
        return ["text", part.text]
    place = [part.start, part.end, part.rate] if isinstance(part, VideoPart) else []
    return [part.media_type, hashlib.sha256(part.data).hexdigest(), *place]
