"""Draws boxes and letters on the people of a video, for questions about them.

This decodes in the calling process: for untrusted files, call it through ``run_isolated``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from reelbench.media.decode.decode import Image
from reelbench.media.edit.clip import Box, edit
from reelbench.media.edit.write import AudioTrack

RED = (255, 0, 0)
WHITE = (255, 255, 255)
_LINE = 0.005  # thickness of a box, as a share of the picture's longer side
_LETTER = 0.045  # height of a letter, likewise
_LINGER = 0.15  # seconds that a box stays before its first and after its last sampled time


@dataclass(frozen=True, slots=True)
class BoxTrack:
    """A box that moves, and the letter that stands on it; between its times it is interpolated."""

    times: tuple[float, ...]
    boxes: tuple[Box, ...]
    letter: str = ""

    def at(self, time: float) -> Box | None:
        """Return the box at a time; None where it is not seen."""
        if not self.times[0] - _LINGER <= time <= self.times[-1] + _LINGER:
            return None
        sides = np.asarray(self.boxes, np.float64).T
        left, top, right, bottom = (float(np.interp(time, self.times, side)) for side in sides)
        return left, top, right, bottom


def mark_video(
    source: Path, out: Path, tracks: Sequence[BoxTrack], sound: AudioTrack | None = None
) -> None:
    """Write a video with boxes and letters drawn in, and with its sound or another."""

    def marked(image: Image, time: float) -> Image:
        seen = [(box, track.letter) for track in tracks if (box := track.at(time))]
        return _drawn(image, seen) if seen else image

    edit(source, out, marked, sound=sound)


def _drawn(image: Image, marks: Sequence[tuple[Box, str]]) -> Image:
    picture = Pillow.fromarray(image)
    draw = ImageDraw.Draw(picture)
    side = max(picture.size)
    thick = max(2, round(_LINE * side))
    for box, _ in marks:
        draw.rectangle(_inside(box, picture.size), outline=RED, width=thick)
    for box, letter in marks:  # letters last: no box crosses one
        if letter:
            _write_letter(draw, _inside(box, picture.size), letter, max(14, round(_LETTER * side)))
    return np.asarray(picture)


def _write_letter(draw: ImageDraw.ImageDraw, box: Box, letter: str, size: int) -> None:
    """Write a letter on a red ground, on top of a box or, where there is no room, inside it."""
    font = ImageFont.load_default(size)
    wide, high = round(size * 0.9), round(size * 1.1)
    left, top = box[0], box[1] - high if box[1] >= high else box[1]
    draw.rectangle((left, top, left + wide, top + high), fill=RED)
    draw.text((left + wide / 2, top + high / 2), letter, WHITE, font, anchor="mm")


def _inside(box: Box, size: tuple[int, int]) -> Box:
    wide, high = size
    left, top = min(max(box[0], 0), wide - 2), min(max(box[1], 0), high - 2)
    return left, top, max(min(box[2], wide - 1), left + 1), max(min(box[3], high - 1), top + 1)
