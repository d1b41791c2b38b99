"""The frames that are on the screen at given moments."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from av.video.stream import VideoStream
from numpy.typing import NDArray

from reelbench.media.errors import MediaError
from reelbench.media.probe import declared_seconds, opened

Image = NDArray[np.uint8]  # height x width x 3, RGB
_ROUNDING = 1e-6
_TOLERATED_SECONDS, _TOLERATED_SHARE = 2.0, 0.05  # by which pictures may end before the file does


@dataclass(frozen=True, slots=True)
class Frame:
    """One decoded picture and the moment it was asked for, in seconds."""

    time: float
    image: Image


def frames_at(path: Path | str, times: Sequence[float]) -> list[Frame]:
    """Return the frame on the screen at each of the times, which must ascend.

    A time past the last frame gets the last frame: containers round their durations up. A file
    that ends long before its declared end, such as half a download, is refused.
    """
    frames: list[Frame] = []
    with opened(path) as container:
        if not container.streams.video:
            raise MediaError(path, "no video in it")
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        shown: av.VideoFrame | None = None
        origin = 0.0
        for frame in container.decode(stream):
            time = frame.time or 0.0
            origin = time if shown is None else origin
            while len(frames) < len(times) and times[len(frames)] < time - origin - _ROUNDING:
                frames.append(Frame(times[len(frames)], _upright(shown or frame)))
            if len(frames) == len(times):
                return frames
            shown = frame
        if shown is None:
            raise MediaError(path, "no frame in it can be decoded")
        _refuse_half_a_file(path, stream, (shown.time or 0.0) - origin)
        last = _upright(shown)
        frames.extend(Frame(time, last) for time in times[len(frames) :])
    return frames


def check_end(path: Path | str) -> None:
    """Make sure that a video goes on to its declared end, without decoding all of it."""
    with opened(path) as container:
        if not container.streams.video:
            return
        stream = container.streams.video[0]
        if stream.duration and stream.time_base:
            container.seek((stream.start_time or 0) + stream.duration, stream=stream)
        reached = max((frame.time or 0.0 for frame in container.decode(stream)), default=None)
        if reached is None:
            raise MediaError(path, "no frame near its end can be decoded: fetch it again")
        _refuse_half_a_file(path, stream, reached)


def _refuse_half_a_file(path: Path | str, stream: VideoStream, reached: float) -> None:
    declared = declared_seconds(stream)
    if declared - reached > max(_TOLERATED_SECONDS, declared * _TOLERATED_SHARE):
        reason = f"declares {declared:.1f} s but its pictures end at {reached:.1f} s"
        raise MediaError(path, f"{reason}: fetch it again")


def _upright(frame: av.VideoFrame) -> Image:
    """Return the picture as a player shows it: phones record sideways and say so."""
    image = np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
    turns = round(frame.rotation / 90) % 4
    return np.ascontiguousarray(np.rot90(image, turns)) if turns else image
