"""Finds the key frame that each time needs, and the seek that leads to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from av.container import InputContainer
from av.video.stream import VideoStream

from reelbench.media.decode.container import (
    has_timestamps,
    open_media,
    origin,
    video_stream,
)
from reelbench.media.decode.structure import has_h264_refresh

ROUNDING = 1e-6  # seconds by which a time may lie before the frame it means
_STEPS_BACK = 6  # tries to find a key frame that lies early enough, each twice as far back
_UNSEARCHABLE = frozenset({"gif", "apng", "h264", "hevc", "mpegvideo", "m4v", "ivf", "obu"})
_Found = tuple[int, int]  # what to ask the container for, and the key frame that this leads to


@dataclass(frozen=True, slots=True)
class DecodeRange:
    """Times that need the same key frame, and the seek that leads to it."""

    seek: int  # what to ask the container for
    key: int  # timestamp of the key frame
    targets: list[tuple[float, int]] = field(default_factory=list)  # time, and as a timestamp

    def after(self, count: int) -> "DecodeRange":
        """The same without its first targets."""
        return replace(self, targets=self.targets[count:])


def decode_ranges(
    container: InputContainer, stream: VideoStream, times: Sequence[float]
) -> list[DecodeRange] | None:
    """Return the times grouped by key frame; None if the file cannot be seeked by time."""
    if (
        not is_searchable(container.format.name)
        or not has_timestamps(container, stream)
        or not times
    ):
        return None
    begin, first = origin(container, stream), _first(container, stream)
    base = float(stream.time_base or 1)
    timestamps = [max(first, begin + int((time + ROUNDING) / base)) for time in times]
    keys = _keys(timestamps, lambda wanted: _key_before(container, stream, wanted))
    if keys is None:
        return None
    found: list[DecodeRange] = []
    for key, time, timestamp in zip(keys, times, timestamps, strict=True):
        if not found or found[-1].key != key[1]:
            found.append(DecodeRange(*key))
        found[-1].targets.append((time, timestamp))
    return found


def is_searchable(container_format: str) -> bool:
    """Whether files of a container format, by FFmpeg's name, can be seeked by time."""
    return container_format not in _UNSEARCHABLE and not container_format.endswith("_pipe")


def one_key_earlier(
    container: InputContainer, stream: VideoStream, decode_range: DecodeRange
) -> DecodeRange | None:
    """Return the range with a seek to the key frame before its own; None if there is none.

    In an open group of pictures a decoder that starts at the key frame misses what a later packet
    refers to, which looks like damage.
    """
    found = _key_before(container, stream, decode_range.key - 1)
    return replace(decode_range, seek=found[0]) if found and found[1] < decode_range.key else None


def range_before(path: Path | str, time: float) -> DecodeRange | None:
    """Return how to get to the key frame before a time; None if the file cannot be seeked.

    By way of the one before it, unless it is certain that nothing from it on rests on earlier ones.
    """
    with open_media(path) as container:
        stream = video_stream(path, container)
        found = decode_ranges(container, stream, [time])
        if not found or _stands_alone(container, stream, found[0]):
            return found[0] if found else None
        return one_key_earlier(container, stream, found[0]) or found[0]


def _stands_alone(
    container: InputContainer, stream: VideoStream, decode_range: DecodeRange
) -> bool:
    """Whether the key frame of a range tells the decoder to forget all before it, as in H.264."""
    if stream.codec_context.name != "h264":
        return False
    container.seek(decode_range.seek, stream=stream, backward=True)
    packet = next((p for p in container.demux(stream) if p.size), None)
    if packet is None or packet.pts != decode_range.key:
        return False
    return has_h264_refresh(bytes(packet), stream.codec_context.extradata or b"")


def _first(container: InputContainer, stream: VideoStream) -> int:
    """The timestamp of the first frame."""
    return origin(container, stream) if stream.start_time is None else stream.start_time


def _keys(timestamps: Sequence[int], find: Callable[[int], _Found | None]) -> list[_Found] | None:
    """Find the key frame of each; what lies between two that share one needs no search."""
    found: dict[int, _Found] = {}
    last = len(timestamps) - 1
    todo = [(0, 0), (last, last), (0, last)]
    for low, high in todo:  # which grows
        if low == high:
            key = find(timestamps[low])
            if key is None:
                return None
            found[low] = key
        elif found[low] == found[high] or found[low][1] == found[high][1]:
            found.update(dict.fromkeys(range(low + 1, high), found[low]))
        elif high - low > 1:
            middle = (low + high) // 2
            todo += [(middle, middle), (low, middle), (middle, high)]
    return [found[number] for number in range(len(timestamps))]


def _key_before(container: InputContainer, stream: VideoStream, timestamp: int) -> _Found | None:
    """Return the seek that leads to the last key frame shown by then, and its own timestamp."""
    first = _first(container, stream)
    back = 0
    for _ in range(_STEPS_BACK):
        seek = max(first, timestamp - back)
        container.seek(seek, stream=stream, backward=True)
        packet = next((p for p in container.demux(stream) if p.size), None)
        if packet is None or not packet.is_keyframe or packet.pts is None:
            return None
        if packet.pts <= timestamp:
            return seek, packet.pts
        if seek == first:
            return None
        # Containers search by decoding time, so a key frame may be shown only after the moment.
        decoded = packet.pts if packet.dts is None else packet.dts
        back = max(2 * back, timestamp - decoded + 1, 1)
    return None
