"""Scales and encodes pictures, by sizes such as ``long:768`` and encodings such as ``jpeg:90``."""

import re
from io import BytesIO

import numpy as np
from PIL import Image as Pillow

from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.decode import Image

_LONGEST = 8192  # pixels of a side


def check_size(size: str) -> None:
    """Raise for a size that is not such as ``long:768`` or ``short:360``, nor empty (unchanged)."""
    which, _, length = size.partition(":")
    right = which in ("long", "short") and re.fullmatch(r"[1-9]\d{0,3}", length)
    if size and not (right and int(length) <= _LONGEST):
        raise ReelbenchError(
            f"The frame size {size!r} is not valid: write long:768 or short:360 (up to {_LONGEST} "
            "pixels), or nothing for the size of the video."
        )


def resized(image: Image, size: str) -> Image:
    """Shrink a picture so that its longer or shorter side is of the given length; never grow it."""
    height, width = image.shape[:2]
    shape = resized_shape(width, height, size)
    if shape == (width, height):
        return image
    small = Pillow.fromarray(image).resize(shape, Pillow.Resampling.BICUBIC)
    return np.asarray(small, np.uint8)


def resized_shape(width: int, height: int, size: str) -> tuple[int, int]:
    """Return the width and height that a picture is shrunk to."""
    check_size(size)
    if not size:
        return width, height
    which, _, length = size.partition(":")
    scale = min(1.0, int(length) / (max if which == "long" else min)(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def media_type_of(encoding: str) -> str:
    """Return the media type of a frame encoding; raise for an unknown encoding."""
    if not re.fullmatch(r"jpeg:([1-9]\d?|100)|png|webp", encoding):
        raise ReelbenchError(
            f"The frame encoding {encoding!r} is not valid: write jpeg:90 (or another quality from "
            "1 to 100), png or webp."
        )
    return "image/" + encoding.partition(":")[0]


def encode_picture(image: Image, encoding: str) -> bytes:
    """Return a picture encoded as JPEG of a quality, or losslessly as PNG or WebP."""
    data = BytesIO()
    picture = Pillow.fromarray(image)
    if encoding == "png":
        picture.save(data, "PNG", compress_level=3)
    elif encoding == "webp":
        picture.save(data, "WEBP", lossless=True, quality=20, method=2)
    else:
        picture.save(data, "JPEG", quality=int(encoding.removeprefix("jpeg:")))
    return data.getvalue()
