"""When each frame of a video comes on the screen, told without decoding any."""

from itertools import pairwise
from pathlib import Path

from av.container import InputContainer
from av.video.stream import VideoStream

from reelbench.media.probe import opened, start_seconds, video_stream


def frame_times(path: Path | str) -> list[float]:
    """Return the time of every frame, in seconds from the start of the file."""
    with opened(path) as container:
        stream = video_stream(path, container)
        if container.format.name == "avi" and stream.codec_context.has_b_frames:
            # AVI has no times of showing: they come out of the decoder, a frame or two late.
            origin = start_seconds(container)
            return [(frame.time or 0.0) - origin for frame in container.decode(stream)]
        return _from_index(container, stream) or _from_packets(container, stream)


def _from_index(container: InputContainer, stream: VideoStream) -> list[float]:
    """Read the times from the file's own table, if it lists all frames at an even pace.

    The table has decoding times. At an even pace these are the times of showing but for a
    constant; at any other, only the packets themselves tell.
    """
    entries = [entry.timestamp for entry in stream.index_entries if not entry.is_discard]
    steps = {b - a for a, b in pairwise(entries)}
    base = stream.time_base
    if not base or len(entries) != stream.frames or len(steps) != 1 or stream.start_time is None:
        return []
    begin = float(stream.start_time * base) - start_seconds(container)
    step = float(steps.pop() * base)
    return [begin + number * step for number in range(len(entries))]


def _from_packets(container: InputContainer, stream: VideoStream) -> list[float]:
    """Go through the file and read the time off each packet; by number where it has none."""
    origin = start_seconds(container)
    rate = float(stream.average_rate or stream.guessed_rate or 25)
    times: list[float] = []
    for packet in container.demux(stream):
        if packet.size and not packet.is_discard:
            if packet.pts is None or packet.time_base is None:
                times.append(len(times) / rate)
            else:
                times.append(float(packet.pts * packet.time_base) - origin)
    return sorted(times)
