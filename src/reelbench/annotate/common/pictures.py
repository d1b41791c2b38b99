"""Pictures of one person for a model: cut out of frames along a track, in the order of time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reelbench.annotate.common.crops import Box, with_frames
from reelbench.annotate.operator import Clip
from reelbench.client.media_input import RenderedMedia
from reelbench.media.decode.decode import Image
from reelbench.media.decode.images import encode_picture, resized
from reelbench.models.base import ImagePart

_ENCODING = "jpeg:85"


@dataclass(frozen=True, slots=True)
class TimedBox:
    """A part of the picture at a time."""

    time: float
    box: Box


@dataclass(frozen=True)
class CroppedPictures:
    """Parts of frames, to be shown with a prompt in the order of time."""

    clip: Clip
    crops: tuple[TimedBox, ...]
    size: str = ""  # that pictures are shrunk to, such as long:512

    def record(self) -> dict[str, Any]:
        """Return what decides the pictures: the clip's hash, the times and the boxes."""
        crops = [[crop.time, list(crop.box)] for crop in self.crops]
        shrunk = {"size": self.size} if self.size else {}
        return {"media": [self.clip.digest], "people": crops, **shrunk}

    def render(self) -> RenderedMedia:
        """Return the pictures, decoded and cropped."""
        return self._parts(with_frames(self.clip, self.crops))

    def placeholders(self) -> RenderedMedia:
        """Return black pictures of the same size."""
        info = self.clip.info
        black = np.zeros((info.height, info.width, 3), np.uint8)
        return self._parts((crop, black) for crop in self.crops)

    def _parts(self, pictures: Iterable[tuple[TimedBox, Image]]) -> RenderedMedia:
        return RenderedMedia([
            ImagePart(
                encode_picture(resized(_cropped(image, crop.box), self.size), _ENCODING),
                "image/jpeg",
                crop.time,
            )
            for crop, image in pictures
        ])  # fmt: skip


def enlarged(box: Box, sides: Sequence[float]) -> Box:
    """Return a box with so many of its widths and heights added left, above, right and below."""
    left, top, right, bottom = box
    width, height = right - left, bottom - top
    return (
        left - width * sides[0],
        top - height * sides[1],
        right + width * sides[2],
        bottom + height * sides[3],
    )


def _cropped(image: Image, box: Box) -> Image:
    """Cut a box out of a picture, as far as it lies in it; a pixel at least is left."""
    high, wide = image.shape[:2]
    left, right = (min(max(round(x), 0), wide) for x in (box[0], box[2]))
    top, bottom = (min(max(round(y), 0), high) for y in (box[1], box[3]))
    left, top = min(left, wide - 1), min(top, high - 1)
    return image[top : max(bottom, top + 1), left : max(right, left + 1)]
