"""A small made-up clip that is as sharp, bright, colourful and steady as real ones are.

Exact questions want clips that are ordinary by ``reelbench.media.measure.quality``: with these, nearly every
order can be carried out, so that tests are quick.
"""

import io
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image as Pillow
from scipy import ndimage

from reelbench.media.decode.frames import FrameSpec, frames_of
from reelbench.media.edit.write import video_writer

HEIGHT, WIDTH, RATE = 96, 128, 20
_SPEED = 1.6  # pixels that it pans from frame to frame


@cache
def _canvas(seed: int) -> np.ndarray:
    """Discs and boxes, dark and bright, on a soft ground that is warm all over."""
    chance = np.random.default_rng(seed)
    rows, columns = np.mgrid[0 : HEIGHT + 16, 0:420]
    ground = np.stack([150 - rows * 0.5, 140 - rows * 0.4, 120 - rows * 0.3], 2)
    ground += (20 * np.sin(columns / 37))[..., None]
    for _ in range(110):
        x, y, size = chance.uniform(0, 420), chance.uniform(0, HEIGHT + 16), chance.uniform(4, 16)
        colour = chance.uniform(40, 220, 3)
        light = chance.choice([18, 60, 120, 190, 236])
        across, down = abs(columns - x), abs(rows - y)
        disc = np.hypot(across, down) < size
        shape = disc if chance.random() < 0.5 else (across < size) & (down < size * 0.7)
        ground[shape] = (light + (colour - colour.mean()) * 0.45) * (1.1, 1, 0.8)
    return np.asarray(ndimage.gaussian_filter(ground, (0.6, 0.6, 0)).clip(0, 255))


def ordinary_frames(seed: int, count: int) -> Iterator[np.ndarray]:
    """Pan over a canvas, by parts of pixels too."""
    canvas = _canvas(seed)[8 : 8 + HEIGHT]
    for number in range(count):
        whole, part = divmod(number * _SPEED, 1)
        left, right = (canvas[:, int(whole) + step : int(whole) + step + WIDTH] for step in (0, 1))
        yield np.round(left * (1 - part) + right * part).astype(np.uint8)


def ordinary_clip(path: Path, seed: int, seconds: float = 6.0, rate: int = RATE) -> Path:
    """Write such a clip."""
    with video_writer(path, rate, 10) as writer:
        for number, image in enumerate(ordinary_frames(seed, round(seconds * rate))):
            writer.show(image, number / rate)
    return path


@cache
def shown(
    path: Path, shared_by: int, start: float | None = None, end: float | None = None
) -> Sequence[np.ndarray]:
    """What a model sees of a video, or of a part of it."""
    spec = FrameSpec("uniform:16", start, end, shared_by=shared_by, encoding="png")
    pictures = [Pillow.open(io.BytesIO(each.data)) for each in frames_of(path, spec).pictures]
    return [np.asarray(picture.convert("RGB")) for picture in pictures]
