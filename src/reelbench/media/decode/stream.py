"""Scans a video quickly: small frames in order, at a limited rate; damaged ones are skipped."""

import math
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
from av.video.reformatter import VideoReformatter

from reelbench.media.decode.container import stretched_size
from reelbench.media.decode.decode import Image, decoded_from

EARLY = 1e-4  # seconds by which a frame may come before its tick, as clocks round


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
    while their colours are converted, which costs a fraction of doing it later. Where a scan is
    divided at a whole number of ticks (``n / rate``), the parts yield what the whole does.
    """
    tick, converter = 0, VideoReformatter()
    for time, frame in decoded_from(path, start, skip_damage=True, needed=start - EARLY):
        if time >= end - EARLY:
            return
        if frame is None or time < start - EARLY:
            continue
        if rate is not None:
            if time < tick / rate - EARLY:
                continue
            tick = tick_after(time, rate)
        yield time, _scaled(*frame, longest, grey, converter)


def tick_after(time: float, rate: float) -> int:
    """Return the tick of the next frame to look at, after one at this time."""
    tick = int((time + EARLY) * rate) + 1
    while tick / rate - EARLY <= time:  # rounding
        tick += 1
    while (tick - 1) / rate - EARLY > time:
        tick -= 1
    return tick


def frame_before(
    path: Path | str, rate: float, longest: int | None, grey: bool, start: float
) -> tuple[float, Image] | None:
    """Return the last frame before ``start``, a whole number of ticks, that a scan yields.

    With its time; None if there is none.
    """
    ticks = 1
    while start > 0:
        begin = max(0.0, (round(start * rate) - ticks) / rate)
        frames = deque(scan_frames(path, rate, longest, grey, begin, start), maxlen=1)
        if frames or not begin:
            return frames.pop() if frames else None
        ticks *= 4  # it stood still for a while
    return None


def _scaled(
    frame: av.VideoFrame,
    aspect: float,
    longest: int | None,
    grey: bool,
    converter: VideoReformatter,  # one for all frames, as it takes a while to set up
) -> Image:
    width, height = stretched_size(frame.width, frame.height, aspect)
    if longest and max(width, height) > longest:
        scale = longest / max(width, height)
        width, height = (max(2, round(side * scale / 2) * 2) for side in (width, height))
    kind = "gray" if grey else "rgb24"
    small = converter.reformat(frame, width, height, kind, interpolation="AREA")
    image = np.asarray(small.to_ndarray(), np.uint8)
    return np.ascontiguousarray(np.rot90(image, round(frame.rotation / 90) % 4))
