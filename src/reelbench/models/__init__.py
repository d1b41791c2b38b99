"""Models that answer: one small protocol, and what speaks it."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "AudioPart",
    "Card",
    "Cascade",
    "ChatModel",
    "ImagePart",
    "Loader",
    "Message",
    "Request",
    "Response",
    "SimpleModel",
    "TextPart",
    "VideoPart",
    "load_model",
    "members_of",
    "request_key",
]

if TYPE_CHECKING:
    from reelbench.models.base import (
        AudioPart,
        ChatModel,
        ImagePart,
        Message,
        Request,
        Response,
        TextPart,
        VideoPart,
    )
    from reelbench.models.card import Card
    from reelbench.models.cascade import Cascade, members_of
    from reelbench.models.keys import request_key
    from reelbench.models.load import Loader, load_model
    from reelbench.models.simple import SimpleModel

_HOMES = {
    "AudioPart": "base",
    "Card": "card",
    "Cascade": "cascade",
    "ChatModel": "base",
    "ImagePart": "base",
    "Loader": "load",
    "Message": "base",
    "Request": "base",
    "Response": "base",
    "SimpleModel": "simple",
    "TextPart": "base",
    "VideoPart": "base",
    "load_model": "load",
    "members_of": "cascade",
    "request_key": "keys",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
