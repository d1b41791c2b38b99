"""The display time of each frame of a video, without decoding any."""

from itertools import pairwise
from pathlib import Path

from av.container import InputContainer
from av.video.stream import VideoStream

from reelbench.media.decode.container import (
    frame_rate,
    has_timestamps,
    open_media,
    origin,
    shown_packets,
    video_stream,
)


def frame_times(path: Path | str) -> list[float]:
    """Return the time of every frame, in seconds from the start of the file."""
    with open_media(path) as container:
        stream = video_stream(path, container)
        return _from_index(container, stream) or _from_packets(container, stream)


def _from_index(container: InputContainer, stream: VideoStream) -> list[float]:
    """Read the times from the file's own table, if it lists all frames at an even pace.

    The table has decoding times, which are the times of showing only where frames are in order.
    """
    entries = [entry.timestamp for entry in stream.index_entries if not entry.is_discard]
    steps = {b - a for a, b in pairwise(entries)}
    listed = len(entries) == stream.frames and len(steps) == 1 and stream.start_time is not None
    if not listed or stream.codec_context.has_b_frames or not has_timestamps(container, stream):
        return []
    begin, step = (stream.start_time or 0) - origin(container, stream), steps.pop()
    base = float(stream.time_base or 0)
    return [(begin + number * step) * base for number in range(len(entries))]


def _from_packets(container: InputContainer, stream: VideoStream) -> list[float]:
    """Go through the file and read the time off each packet; by number where it has none."""
    begin, base = origin(container, stream), float(stream.time_base or 1)
    times: list[float] = []
    for packet in shown_packets(container, stream):
        # Where the times of showing are made up, the n-th frame shown is on at the n-th decoding.
        at = packet.pts if has_timestamps(container, stream) else packet.dts
        times.append(len(times) / frame_rate(stream) if at is None else (at - begin) * base)
    return sorted(times)
