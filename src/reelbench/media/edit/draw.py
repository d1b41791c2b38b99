"""Draws boxes and letters on the people of a video, for questions about them.

This decodes in the calling process: for untrusted files, call it through ``run_isolated``.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from reelbench.media.decode.decode import Image
from reelbench.media.edit.clip import Box, edit
from reelbench.media.edit.letters import Boxes, BoxTrack
from reelbench.media.edit.write import AudioTrack

RED = (255, 0, 0)
WHITE = (255, 255, 255)
_LINE = 0.005  # thickness of a box, as a share of the picture's longer side


def mark_video(
    source: Path, out: Path, tracks: Sequence[BoxTrack], sound: AudioTrack | None = None
) -> None:
    """Write a video with boxes and letters drawn in, and with its sound or another."""

    def marked(image: Image, time: float) -> Image:
        boxes = [(track, track.at(np.array([time]))[0]) for track in tracks]
        seen = [(track, box) for track, box in boxes if not np.isnan(box[0])]
        return _drawn(image, seen) if seen else image

    edit(source, out, marked, sound=sound)


def _drawn(image: Image, marks: Sequence[tuple[BoxTrack, Boxes]]) -> Image:
    picture = Pillow.fromarray(image)
    draw = ImageDraw.Draw(picture)
    thick = max(2, round(_LINE * max(picture.size)))
    for _, box in marks:
        draw.rectangle(_inside(box, picture.size), outline=RED, width=thick)
    for track, box in marks:  # letters last: no box crosses one
        if track.letter:
            left, top, right, bottom = track.place.of(box).round().tolist()
            draw.rectangle((left, top, right, bottom), fill=RED)
            font = ImageFont.load_default(track.place.size)
            middle = (left + right) / 2, (top + bottom) / 2
            draw.text(middle, track.letter, WHITE, font, anchor="mm")
    return np.asarray(picture)


def _inside(box: Boxes, size: tuple[int, int]) -> Box:
    wide, high = size
    left, top = min(max(box[0], 0), wide - 2), min(max(box[1], 0), high - 2)
    return left, top, max(min(box[2], wide - 1), left + 1), max(min(box[3], high - 1), top + 1)
