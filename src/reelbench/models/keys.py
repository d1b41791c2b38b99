"""The key of a request: the hash of all that decides the reply to it.

Equal keys are one request, paid for once, whoever asks and whatever the folder. The names and the
layout of what is hashed stay as they are in existing journals, so that the folder of an earlier
version resumes without asking again.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.base.files import digest_of, digest_of_fields, json_fields
from reelbench.data.items import NOTHING
from reelbench.models.base import (
    ChatModel,
    Message,
    Part,
    TextPart,
    VideoPart,
    sends_seeds,
)
from reelbench.models.seeds import with_seed


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
    seed: int | None = None,
    repeated: bool = False,
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

    ``seed`` is that of the run or make. The request's own derives from it and ends the key, where
    the model is sent one and replies may differ by it: where it samples them, in rounds after the
    first, and in all rounds of what is announced as ``repeated``.
    """
    fields = ModelFields(model, seed)
    if isinstance(prompt, str):
        drawn = json_fields({"draw": list(draw)} if draw else {})
        return PromptKeys(prompt, json_fields(media), order).key(fields, round, drawn, repeated)
    if messages := [each for each in prompt if isinstance(each, Message)]:
        content: dict[str, Any] = {
            "messages": [[message.role, *_texts(message)] for message in messages],
            "schema": schema,
            "place": [purpose, round, *attempt],
            **({"shown": media} if media else {}),
        }
    else:
        parts = [_part_record(part) for part in prompt if not isinstance(part, Message)]
        key = digest_of([model.card.name, dict(model.parameters), parts, parent])
        return fields.seeded(key, repeated or round > 0)
    content |= {"model": model.card.name, "parameters": dict(model.parameters)}
    if model.is_random and draw:
        content["draw"] = list(draw)
    return fields.seeded(digest_of(content), repeated or round > 0)


class ModelFields:
    """What the keys of all requests to one model have in common; ``seed`` as of a request's."""

    def __init__(self, model: ChatModel, seed: int | None = None) -> None:
        named = {"model": model.card.name, "parameters": dict(model.parameters)}
        self.fields = json_fields(named)
        self.is_random = model.is_random
        self._seed = seed
        self._seeded = {repeated: sends_seeds(model, repeated) for repeated in (False, True)}

    def seeded(self, key: str, repeated: bool) -> str:
        """Return a key with the seed that is sent, where one is."""
        if self._seed is None or not self._seeded[repeated]:
            return key
        return with_seed(key, self._seed)


class PromptKeys:
    """The keys of one prompt for several models and rounds: what they share is written once.

    Parameters are those of ``request_key``; ``media`` is the record in ``json_fields``.
    """

    def __init__(
        self, prompt: str, media: Mapping[str, str], order: int | Sequence[int] = 0
    ) -> None:
        self._shared = {**json_fields({"prompt": prompt, "order": order}), **media}

    def key(
        self,
        model: ModelFields,
        round: int = 0,
        draw: Mapping[str, str] = NOTHING,
        repeated: bool = False,
    ) -> str:
        """Return the key of a request to a model; ``draw`` is the field of that name."""
        fields = {"round": str(round), **self._shared, **model.fields}
        key = digest_of_fields({**fields, **draw} if model.is_random else fields)
        return model.seeded(key, repeated or round > 0)


def _texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, TextPart)]


def _part_record(part: Part) -> list[Any]:
    if isinstance(part, TextPart):
        return ["text", part.text]
    place = [part.start, part.end, part.rate] if isinstance(part, VideoPart) else []
    return [part.media_type, hashlib.sha256(part.data).hexdigest(), *place]
