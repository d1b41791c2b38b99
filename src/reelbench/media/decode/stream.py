"""Scans a video quickly: small frames in order, at a limited rate; damaged ones are skipped."""

import math
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np

from reelbench.media.decode.container import stretched_size
from reelbench.media.decode.decode import Image, decoded_from

_EARLY = 1e-4  # seconds by which a frame may come before its tick, as clocks round


def scan_frames(
    path: Path | str,
    rate: float | None = None,
    longest: int | None = None,
    grey: bool = False,
    start: float = 0.0,
    end: float = math.inf,
) -> Iterator[tuple[float, Image]]:
    """Yield frames with their times: at most ``rate`` a second, no side over ``longest`` pixels.

    Those from ``start`` to before ``end`` are decoded; damaged ones are left out. They are scaled
    while their colours are converted, which costs a fraction of doing it later.
    """
    tick = 0
    for time, frame in decoded_from(path, start, skip_damage=True):
        if time >= end - _EARLY:
            return
        if frame is None or time < start - _EARLY:
            continue
        if rate is not None:
            if time < tick / rate - _EARLY:
                continue
            tick = int((time + _EARLY) * rate) + 1
        yield time, _scaled(*frame, longest, grey)


def _scaled(frame: av.VideoFrame, aspect: float, longest: int | None, grey: bool) -> Image:
    width, height = stretched_size(frame.width, frame.height, aspect)
    if longest and max(width, height) > longest:
        scale = longest / max(width, height)
        width, height = (max(2, round(side * scale / 2) * 2) for side in (width, height))
    small = frame.reformat(width, height, "gray" if grey else "rgb24", interpolation="AREA")
    image = np.asarray(small.to_ndarray(), np.uint8)
    return np.ascontiguousarray(np.rot90(image, round(frame.rotation / 90) % 4))
