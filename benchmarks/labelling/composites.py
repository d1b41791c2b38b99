"""Videos made of real clips, whose cuts, dissolves, people and numbers of people are then known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reelbench.media.decode.decode import Image
from reelbench.media.decode.stream import scan_frames
from reelbench.media.edit.clip import fitted
from reelbench.media.edit.write import video_writer

RATE = 25
SHAPE = (360, 640)  # height and width


@dataclass(frozen=True)
class Piece:
    """A part of a clip: from a time on, for some seconds."""

    path: Path
    start: float = 0.0
    seconds: float = 3.0


def joined(
    pieces: Sequence[Piece], blends: Sequence[float], out: Path
) -> list[tuple[float, float]]:
    """Write pieces one after the other; return the start and end of each transition.

    ``blends`` has the seconds of the dissolve after each piece but the last; 0 is a cut.
    """
    transitions: list[tuple[float, float]] = []
    tail: list[Image] = []  # of the piece before, to be blended with the next
    number = 0
    with video_writer(out, RATE) as writer:
        for piece, blend in zip(pieces, [*blends, 0.0], strict=True):
            frames = list(_frames(piece, SHAPE))
            over = len(tail)
            if number:
                transitions.append((number / RATE, (number + over) / RATE))
            for at, before in enumerate(tail):
                share = (at + 1) / (over + 1)
                mixed = before * (1 - share) + frames[at] * share
                frames[at] = mixed.round().astype(np.uint8)
            keep = round(blend * RATE)
            tail = frames[len(frames) - keep :]
            for image in frames[: len(frames) - keep]:
                writer.show(image, number / RATE)
                number += 1
    return transitions


def beside(pieces: Sequence[Piece], out: Path) -> None:
    """Write pieces at the same time, in columns of one picture."""
    columns = len(pieces) if len(pieces) <= 3 else (len(pieces) + 1) // 2
    rows = -(-len(pieces) // columns)
    shape = (SHAPE[0] // rows, max(SHAPE[1] // columns, SHAPE[0] // 2) // 2 * 2)
    with video_writer(out, RATE) as writer:
        for number, images in enumerate(zip(*(_filled(p, shape) for p in pieces), strict=False)):
            blank = [np.zeros((*shape, 3), np.uint8)] * (rows * columns - len(images))
            cells = [*images, *blank]
            lines = [np.hstack(cells[n : n + columns]) for n in range(0, len(cells), columns)]
            writer.show(np.vstack(lines), number / RATE)


def _frames(piece: Piece, shape: tuple[int, int]) -> Iterator[Image]:
    """Yield the frames of a piece at the rate of all, each shown again where there are fewer."""
    shown: Image | None = None
    tick, count = 0, round(piece.seconds * RATE)
    for time, image in scan_frames(piece.path, None, max(shape), start=piece.start):
        while shown is not None and tick < count and tick / RATE < time - piece.start - 1e-6:
            yield shown.copy()
            tick += 1
        if tick >= count:
            return
        shown = fitted(image, shape)
    while shown is not None and tick < count:
        yield shown.copy()
        tick += 1


def _filled(piece: Piece, shape: tuple[int, int]) -> Iterator[Image]:
    """Yield the frames of a piece that fill a column: what is too wide is cut off on both sides."""
    height, width = shape
    for image in _frames(piece, (height, round(height * 16 / 9))):
        left = max(0, (image.shape[1] - width) // 2)
        yield fitted(image[:, left : left + width], shape)
