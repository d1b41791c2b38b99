"""How many tokens a request will take, before anyone has counted them.

Rules of thumb, for forecasts and limits only: what a reply really took is what its server says.
"""

import io
import math
from collections.abc import Sequence

from PIL import Image

from reelbench.models.base import AudioPart, ImagePart, Part, Request, TextPart, VideoPart
from reelbench.models.card import Card

_CHARACTERS = 4.0  # of English in a token
_BYTES = 3.0  # of UTF-8 in a token of other scripts
_SOUND = 32  # tokens a second, as Gemini counts them
_REPLY = {True: 16, False: 200}  # tokens, by whether the question is closed


def text_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    per = _CHARACTERS if text.isascii() else _BYTES
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / per)


def frame_tokens(card: Card, width: int, height: int) -> int:
    """Estimate the tokens of a picture, by what the providers publish."""
    if card.frame_tokens:
        return card.frame_tokens
    if card.backend == "google":
        return 258
    if card.backend == "anthropic":
        shrink = min(1.0, 1568 / max(width, height, 1))
        return math.ceil(width * shrink * height * shrink / 750)
    if card.backend == "openai" and not card.endpoint:
        return _tiles(width, height)
    return math.ceil(width / 28) * math.ceil(height / 28)  # as Qwen's models cut a picture


def _tiles(width: int, height: int) -> int:
    shrink = min(1.0, 2048 / max(width, height, 1))
    shrink *= min(1.0, 768 / max(1.0, min(width, height) * shrink))
    return 85 + 170 * math.ceil(width * shrink / 512) * math.ceil(height * shrink / 512)


def sound_tokens(seconds: float) -> int:
    """Estimate the tokens of some sound."""
    return math.ceil(_SOUND * seconds)


def reply_tokens(card: Card, closed: bool) -> int:
    """Estimate the tokens of a reply."""
    most = [
        value
        for name in ("max_tokens", "max_completion_tokens", "max_new_tokens", "maxOutputTokens")
        if isinstance(value := card.parameters.get(name), int)
    ]
    return min([card.reply_tokens or _REPLY[closed], *most])


def request_tokens(card: Card, request: Request) -> tuple[int, int]:
    """Estimate the tokens of a request and of its reply."""
    return parts_tokens(card, request.parts), reply_tokens(card, bool(request.options))


def parts_tokens(card: Card, parts: Sequence[Part]) -> int:
    """Estimate the tokens of what a message consists of."""
    total, each = 0, 0
    for part in parts:
        if isinstance(part, TextPart):
            total += text_tokens(part.text)
        elif isinstance(part, ImagePart):
            # Those of one request are alike: measuring one of them is enough.
            each = each or _picture_tokens(card, part)
            total += each
        elif isinstance(part, AudioPart):
            total += sound_tokens(part.seconds)
        elif isinstance(part, VideoPart):
            total += video_tokens(card, part.seconds, part.rate, part.heard)
    return total


def video_tokens(card: Card, seconds: float, rate: float | None, heard: bool) -> int:
    """Estimate the tokens of a video that a model watches."""
    frames = math.ceil(seconds * (rate or 1.0))
    return frames * frame_tokens(card, 640, 360) + (sound_tokens(seconds) if heard else 0)


def _picture_tokens(card: Card, picture: ImagePart) -> int:
    if card.frame_tokens:
        return card.frame_tokens
    with Image.open(io.BytesIO(picture.data)) as image:
        return frame_tokens(card, *image.size)
