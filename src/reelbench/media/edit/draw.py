"""Draw on pictures: boxes, letters and timestamps, readable on anything."""

from functools import lru_cache

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from reelbench.media.decode.decode import Image

Colour = tuple[int, int, int]
RED: Colour = (230, 30, 30)


def draw_box(
    image: Image,
    box: tuple[float, float, float, float],
    colour: Colour = RED,
    label: str = "",
) -> Image:
    """Return the picture with a box around something, and a label on the box if there is one."""
    picture, draw = _canvas(image)
    width = max(2, round(image.shape[0] / 160))
    left, top, right, bottom = box
    draw.rectangle((left, top, max(left, right), max(top, bottom)), outline=colour, width=width)
    if label:
        font = _font(image)
        _write(draw, (left + width, top + width), label, font, (255, 255, 255), colour)
    return np.asarray(picture)


def draw_letter(image: Image, at: tuple[float, float], letter: str, colour: Colour = RED) -> Image:
    """Return the picture with a letter in a disc, as one marks people to ask about them."""
    picture, draw = _canvas(image)
    radius = max(10, image.shape[0] / 24)
    x, y = at
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour, outline="white")
    draw.text(at, letter, fill="white", font=_font(image), anchor="mm")
    return np.asarray(picture)


def draw_timestamp(image: Image, time: float) -> Image:
    """Return the picture with its time in a corner."""
    picture, draw = _canvas(image)
    edge = max(4, image.shape[0] / 60)
    minutes, tenths = divmod(round(time * 10), 600)
    text = f"{minutes:02d}:{tenths / 10:04.1f}"
    _write(draw, (edge, edge), text, _font(image), (255, 255, 255), (0, 0, 0))
    return np.asarray(picture)


def _canvas(image: Image) -> tuple[Pillow.Image, ImageDraw.ImageDraw]:
    picture = Pillow.fromarray(image)
    return picture, ImageDraw.Draw(picture)


def _write(
    draw: ImageDraw.ImageDraw,
    at: tuple[float, float],
    text: str,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    colour: Colour,
    ground: Colour,
) -> None:
    left, top, right, bottom = draw.textbbox(at, text, font=font)
    draw.rectangle((left - 3, top - 2, right + 3, bottom + 2), fill=ground)
    draw.text(at, text, fill=colour, font=font)


def _font(image: Image) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return _font_of(max(12, image.shape[0] // 20))


@lru_cache(maxsize=16)
def _font_of(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
