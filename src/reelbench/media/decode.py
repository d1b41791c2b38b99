"""The frames that are on the screen at given moments."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from reelbench.media.errors import MediaError
from reelbench.media.probe import opened

Image = NDArray[np.uint8]  # height x width x 3, RGB


@dataclass(frozen=True, slots=True)
class Frame:
    """One decoded picture and the moment it was asked for, in seconds."""

    time: float
    image: Image


def frames_at(path: Path | str, times: Sequence[float]) -> list[Frame]:
    """Return the frame on the screen at each of the times, which must ascend.

    A time past the last frame gets the last frame: containers round their durations up.
    """
    frames: list[Frame] = []
    with opened(path) as container:
        if not container.streams.video:
            raise MediaError(path, "no video in it")
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        shown: av.VideoFrame | None = None
        origin: float | None = None
        for frame in container.decode(stream):
            if frame.time is None:
                continue
            if origin is None:
                origin = frame.time
            while len(frames) < len(times) and times[len(frames)] < frame.time - origin - 1e-6:
                frames.append(Frame(times[len(frames)], _image(shown or frame)))
            if len(frames) == len(times):
                return frames
            shown = frame
        if shown is None:
            raise MediaError(path, "no frame in it can be decoded")
        frames.extend(Frame(time, _image(shown)) for time in times[len(frames) :])
    return frames


def _image(frame: av.VideoFrame) -> Image:
    return np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
