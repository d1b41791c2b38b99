"""When each frame of a video comes on the screen, told without decoding any."""

from itertools import pairwise
from pathlib import Path

from av.container import InputContainer
from av.video.stream import VideoStream

from reelbench.media.probe import frame_rate, opened, origin, tells_times, video_stream


def frame_times(path: Path | str) -> list[float]:
    """Return the time of every frame, in seconds from the start of the file."""
    with opened(path) as container:
        stream = video_stream(path, container)
        return _from_index(container, stream) or _from_packets(container, stream)


def _from_index(container: InputContainer, stream: VideoStream) -> list[float]:
    """Read the times from the file's own table, if it lists all frames at an even pace.

    The table has decoding times. At an even pace these are the times of showing but for a
    constant; at any other, only the packets themselves tell.
    """
    entries = [entry.timestamp for entry in stream.index_entries if not entry.is_discard]
    steps = {b - a for a, b in pairwise(entries)}
    base = float(stream.time_base or 0)
    listed = len(entries) == stream.frames and len(steps) == 1 and stream.start_time is not None
    if not base or not listed or not tells_times(container, stream):
        return []
    begin, step = (stream.start_time or 0) - origin(container, stream), steps.pop()
    return [(begin + number * step) * base for number in range(len(entries))]


def _from_packets(container: InputContainer, stream: VideoStream) -> list[float]:
    """Go through the file and read the time off each packet; by number where it has none."""
    begin, base = origin(container, stream), float(stream.time_base or 1)
    counts = not tells_times(container, stream)
    times: list[float] = []
    for packet in container.demux(stream):
        if packet.size and not packet.is_discard:
            if packet.pts is None or counts:
                times.append(len(times) / frame_rate(stream))
            else:
                times.append((packet.pts - begin) * base)
    return sorted(times)
