"""The frames that are on the screen at given moments: exactly those, for as little work as can be.

A frame can be decoded only from the key frame before it. So the moments are sorted by the key
frame they need, each such stretch is decoded once, from its key frame to the last moment in it and
no further, and of the frames on the way those that no other frame refers to are skipped. What comes
out is, bit for bit, what decoding the whole file would give; tests hold it against that.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import av
import numpy as np
from av.container import InputContainer
from av.video.stream import VideoStream
from numpy.typing import NDArray

from reelbench.media.errors import MediaError
from reelbench.media.probe import opened, start_seconds, video_stream

if TYPE_CHECKING:
    from av.packet import Packet

Image = NDArray[np.uint8]  # height x width x 3, RGB
_ROUNDING = 1e-6
_REACH = 32  # packets; no codec reorders further than 16
# Decoders that skip the packet at hand; others (dav1d) decide later, and would drop wanted frames.
_CAN_SKIP = frozenset({"h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4", "vc1", "wmv3"})
_STEPS_BACK = 6  # tries to find a key frame that lies early enough, each twice as far back


@dataclass(frozen=True, slots=True)
class Frame:
    """One decoded picture: the moment it was asked for, and when it came on the screen."""

    time: float  # seconds, as asked
    shown_at: float  # seconds, of the frame itself
    image: Image


def frames_at(path: Path | str, times: Sequence[float]) -> list[Frame]:
    """Return the frame on the screen at each of the times, which must ascend."""
    return list(iterate_frames(path, times))


def iterate_frames(
    path: Path | str, times: Sequence[float], skip_damage: bool = False
) -> Iterator[Frame]:
    """Yield the frame on the screen at each of the times, which must ascend, one at a time.

    A time before the first frame gets the first, one past the last frame gets the last. A frame
    that is damaged, or rests on one that is, raises ``MediaError``, or is left out if one says so:
    it is never shown as if it were whole.
    """
    if list(times) != sorted(times):
        raise ValueError("the times must ascend")
    done = 0
    with opened(path) as container:
        stream = _strict_stream(path, container)
        for stretch in _stretches(container, stream, times) or []:
            whole = done + len(stretch.targets)
            try:
                for frame in _decode_stretch(container, stream, stretch):
                    done += 1
                    yield frame
            except _DamageError as damage:
                if not skip_damage:
                    raise MediaError(path, str(damage)) from None
                done = whole
            if done < whole:
                break  # the seek did not lead where it should
    if done < len(times):
        yield from _one_after_the_other(path, times[done:], skip_damage)


class _DamageError(Exception):
    """Data that cannot be decoded; the message says where."""


def _strict_stream(path: Path | str, container: InputContainer) -> VideoStream:
    """The video, with a decoder that reports damage instead of painting over it."""
    stream = video_stream(path, container)
    # One thread: the pixels are the same, the whole costs less, and files share the cores.
    stream.codec_context.thread_count = 1
    stream.codec_context.options = {"err_detect": "explode"}
    return stream


def every_frame(
    path: Path | str, start: float = 0.0, end: float | None = None
) -> Iterator[tuple[float, Image]]:
    """Yield all frames that come on the screen from ``start`` to before ``end``, with their times.

    The first is the one that is on the screen at ``start``, and is given that time.
    """
    shown: av.VideoFrame | None = None
    for time, frame in _decoded_from(path, start):
        if end is not None and time >= end - _ROUNDING:
            break
        if time <= start + _ROUNDING:
            shown = frame
            continue
        if shown is not None:
            yield start, upright(shown)
            shown = None
        yield time, upright(frame)
    if shown is not None:
        yield start, upright(shown)


def _decoded_from(path: Path | str, start: float) -> Iterator[tuple[float, av.VideoFrame]]:
    """Decode everything from the key frame before a moment on, or from one before that."""
    with opened(path) as container:
        stream = _strict_stream(path, container)
        stretches = _stretches(container, stream, [start]) if start > 0 else None
        needed: int | None = None
        if stretches:
            needed = stretches[0].key
            earlier = _one_earlier(container, stream, stretches[0]) or stretches[0]
            container.seek(earlier.seek, stream=stream, backward=True)
        elif start > 0:
            container.seek(0)
        rate = float(stream.average_rate or stream.guessed_rate or 25)
        origin = start_seconds(container)
        number = 0
        for packet in container.demux(stream):
            try:
                frames = packet.decode()
            except av.InvalidDataError:
                if needed is not None and packet.pts is not None and packet.pts < needed:
                    continue
                at = number / rate if packet.pts is None else float(packet.pts * packet.time_base)
                raise MediaError(path, f"damaged at {at - origin:.2f} s") from None
            for frame in frames:
                yield (number / rate if frame.time is None else frame.time - origin), frame
                number += 1


@dataclass
class _Stretch:
    """Moments that need the same key frame, and the seek that leads to it."""

    seek: int  # what to ask the container for
    key: int  # timestamp of the key frame
    targets: list[tuple[float, int]] = field(default_factory=list)  # time, and as a timestamp


def _origin(container: InputContainer, stream: VideoStream) -> int:
    """The timestamp of the moment 0 in the stream's own units."""
    return round(start_seconds(container) / float(stream.time_base or 1))


def _first(container: InputContainer, stream: VideoStream) -> int:
    """The timestamp of the first frame."""
    return _origin(container, stream) if stream.start_time is None else stream.start_time


def _stretches(
    container: InputContainer, stream: VideoStream, times: Sequence[float]
) -> "list[_Stretch] | None":
    """Find the key frame that each moment needs; None if the file cannot be searched by time."""
    if not stream.time_base or container.format.name in _UNSEARCHABLE:
        return None
    origin = _origin(container, stream)
    first = _first(container, stream)
    stretches: list[_Stretch] = []
    for time in times:
        # Rounded down, but not past a frame that begins at this very moment.
        timestamp = max(first, origin + int(time / float(stream.time_base) + _ROUNDING))
        found = _key_before(container, stream, timestamp, first)
        if found is None:
            return None
        if not stretches or stretches[-1].key != found[1]:
            stretches.append(_Stretch(*found))
        stretches[-1].targets.append((time, timestamp))
    return stretches


_UNSEARCHABLE = frozenset({"gif", "apng", "h264", "hevc", "mpegvideo", "m4v", "ivf", "obu"})


def _key_before(
    container: InputContainer, stream: VideoStream, timestamp: int, first: int
) -> tuple[int, int] | None:
    """Return the seek that leads to the last key frame shown by then, and its own timestamp."""
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


def _one_earlier(
    container: InputContainer, stream: VideoStream, stretch: _Stretch
) -> _Stretch | None:
    """The same moments from the key frame before; None if there is none.

    In an open group of pictures a decoder that starts at the key frame misses what a later packet
    refers to, which looks like damage.
    """
    found = _key_before(container, stream, stretch.key - 1, _first(container, stream))
    return _Stretch(*found, stretch.targets) if found and found[1] < stretch.key else None


def _decode_stretch(
    container: InputContainer, stream: VideoStream, stretch: _Stretch
) -> Iterator[Frame]:
    """Yield the frame of each target; what looks damaged is tried from further back."""
    given = 0
    try:
        for frame in _decode_from_key(container, stream, stretch):
            given += 1
            yield frame
    except _DamageError:
        earlier = _one_earlier(container, stream, stretch)
        if earlier is None:
            raise
        rest = _Stretch(earlier.seek, stretch.key, stretch.targets[given:])
        yield from _decode_from_key(container, stream, rest)


def _decode_from_key(
    container: InputContainer, stream: VideoStream, stretch: _Stretch
) -> Iterator[Frame]:
    """Decode from a key frame to the last target and no further; yield the targets' frames."""
    decoder = stream.codec_context
    can_skip = decoder.name in _CAN_SKIP
    decoder.flush_buffers()
    container.seek(stretch.seek, stream=stream, backward=True)
    targets = [timestamp for _, timestamp in stretch.targets]
    wanted: dict[int, list[float]] = {}  # timestamp of a frame -> the moments it serves
    unassigned = len(targets)
    origin, base = _origin(container, stream), float(stream.time_base or 0)

    def chosen(frames: Sequence[av.VideoFrame]) -> Iterator[Frame]:
        for frame in frames:
            pts = -1 if frame.pts is None else frame.pts
            for time in wanted.pop(pts, ()):
                yield Frame(time, (pts - origin) * base, upright(frame))

    for packet, around in _with_surroundings(container, stream):
        assert packet.pts is not None
        begin, end = _served(packet.pts, around, targets)
        if begin < end:
            wanted[packet.pts] = [time for time, _ in stretch.targets[begin:end]]
        # A frame that nothing refers to changes no other: decoded only where it is wanted itself.
        decoder.skip_frame = "NONREF" if can_skip and begin == end else "DEFAULT"
        try:
            frames = decoder.decode(packet)
        except av.InvalidDataError:
            # Before the key frame that is needed, a packet may rest on what was not read.
            if packet.pts >= stretch.key:
                yield from chosen(decoder.decode(None))
                at = (packet.pts - origin) * base
                raise _DamageError(f"damaged at {at:.2f} s") from None
            frames = []
        yield from chosen(frames)
        unassigned -= end - begin
        if not unassigned or (packet.dts is not None and packet.dts > targets[-1]):
            break  # whatever comes now is shown later
    yield from chosen(decoder.decode(None))  # what the decoder still holds


def _served(pts: int, around: Sequence[int], targets: Sequence[int]) -> tuple[int, int]:
    """Which targets see this frame: those from its own time to the next frame's, as a range."""
    begin = bisect_left(targets, pts)
    if begin == len(targets) or pts < around[-1] <= targets[begin]:
        return begin, begin  # the next frame comes on before the next target does
    following = min((other for other in around if other > pts), default=2**63)
    return begin, bisect_left(targets, following)


def _with_surroundings(
    container: InputContainer, stream: VideoStream
) -> Iterator[tuple["Packet[VideoStream]", Sequence[int]]]:
    """Yield each packet with the timestamps around it: frames are stored out of their order."""
    waiting: deque[Packet[VideoStream]] = deque()
    around: deque[int] = deque(maxlen=2 * _REACH)
    for packet in container.demux(stream):
        if packet.size and packet.pts is not None and not packet.is_discard:
            waiting.append(packet)
            around.append(packet.pts)
            if len(waiting) > _REACH:
                yield waiting.popleft(), around
    while waiting:
        yield waiting.popleft(), around


def _one_after_the_other(
    path: Path | str, times: Sequence[float], skip_damage: bool
) -> Iterator[Frame]:
    """Decode from the start: for what cannot be searched, such as a GIF or a bare stream."""
    given = 0
    shown: tuple[float, av.VideoFrame] | None = None
    try:
        for time, frame in _decoded_from(path, 0.0):
            while given < len(times) and times[given] < time - _ROUNDING:
                at, picture = shown or (time, frame)
                yield Frame(times[given], at, upright(picture))
                given += 1
            if given == len(times):
                return
            shown = (time, frame)
    except MediaError:
        if not skip_damage:
            raise
        return
    if shown is None:
        raise MediaError(path, "no frame in it can be decoded")
    for time in times[given:]:
        yield Frame(time, shown[0], upright(shown[1]))


def upright(frame: av.VideoFrame) -> Image:
    """Return the picture as a player shows it: phones record sideways and say so."""
    image = np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
    turns = round(frame.rotation / 90) % 4
    return np.ascontiguousarray(np.rot90(image, turns))
