"""Decodes the frames that are displayed at given times, exactly, with as little work as possible.

A frame can be decoded only from the key frame before it. So the times are grouped by the key frame
they need, each group is decoded once, from its key frame to its last time and no further, and
frames in between that no other frame refers to are skipped. The result is, bit for bit, what
decoding the whole file would give; tests check that.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import av
import numpy as np
from av.container import InputContainer
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType
from av.video.stream import VideoStream
from numpy.typing import NDArray
from PIL import Image as Pillow

from reelbench.media.decode.container import (
    frame_rate,
    has_timestamps,
    open_media,
    origin,
    pixel_aspect,
    stretched_size,
    video_stream,
)
from reelbench.media.decode.seek import (
    ROUNDING,
    DecodeRange,
    decode_ranges,
    one_key_earlier,
    range_before,
)
from reelbench.media.decode.timeline import frame_times
from reelbench.media.errors import MediaError

if TYPE_CHECKING:
    from av.packet import Packet

Image = NDArray[np.uint8]  # height x width x 3, RGB
_REORDERING = 32  # packets; no codec reorders further than 16
# Decoders that skip the packet at hand; others (dav1d) decide later, and would drop wanted frames.
_CAN_SKIP = frozenset({"h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4", "vc1", "wmv3"})


@dataclass(frozen=True, slots=True)
class Frame:
    """One decoded frame: the time it was requested for, and the time it is displayed from."""

    time: float  # seconds, as asked
    shown_at: float  # seconds, of the frame itself
    image: Image


def frames_at(path: Path | str, times: Sequence[float]) -> list[Frame]:
    """Return the frame that is displayed at each of the times, which must ascend."""
    return list(iterate_frames(path, times))


def iterate_frames(
    path: Path | str, times: Sequence[float], skip_damage: bool = False
) -> Iterator[Frame]:
    """Yield the frame that is displayed at each of the times, which must ascend, one at a time.

    A time before the first frame gets the first, one past the last frame gets the last. Where the
    decoder reports damage, to a frame or to one that it refers to, this raises ``MediaError``, or
    leaves the frame out with ``skip_damage``. (Not all damage is detected: VP8, VP9 and FFV1
    decoders accept any data.)
    """
    if list(times) != sorted(times):
        raise ValueError("the times must ascend")
    done = 0
    with open_media(path) as container:
        stream = _strict_stream(path, container)
        for decode_range in decode_ranges(container, stream, times) or []:
            whole = done + len(decode_range.targets)
            try:
                for frame in _decode_range(container, stream, decode_range):
                    if frame.time != times[done]:
                        break  # one is missing
                    done += 1
                    yield frame
            except _UnsearchableError:
                break
            except _DamageError as damage:
                if not skip_damage:
                    raise MediaError(path, str(damage)) from None
                done = whole
            if done < whole:
                break  # the seek did not lead where it should
    if done < len(times):
        yield from _decode_sequentially(path, times[done:], skip_damage)


def every_frame(
    path: Path | str, start: float = 0.0, end: float | None = None
) -> Iterator[tuple[float, Image]]:
    """Yield all frames that are displayed from ``start`` to before ``end``, with their times.

    The first is the one that is displayed at ``start``, or the first of the file, and has that
    time.
    """
    shown: Decoded | None = None
    given = False
    for time, frame in decoded_from(path, start, skip_damage=False):
        if shown is None or time <= start + ROUNDING:
            shown = frame
            continue
        if end is not None and time >= end - ROUNDING:
            break
        if not given:
            yield start, upright(*shown)
            given = True
        if frame is not None:
            yield time, upright(*frame)
    if shown is not None and not given:
        yield start, upright(*shown)


def upright(frame: av.VideoFrame, aspect: float = 1.0) -> Image:
    """Return the picture as a player shows it: pixels made square, what lies sideways turned."""
    image = np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
    if aspect != 1:
        sides = stretched_size(frame.width, frame.height, aspect)
        image = np.asarray(Pillow.fromarray(image).resize(sides, Pillow.Resampling.BICUBIC))
    turns = round(frame.rotation / 90) % 4
    return np.ascontiguousarray(np.rot90(image, turns))


class Decoded(NamedTuple):
    """A frame as its decoder returns it, and the aspect ratio of its pixels."""

    frame: av.VideoFrame
    aspect: float


class _DamageError(Exception):
    """Data that cannot be decoded; the message says where."""


class _UnsearchableError(Exception):
    """A packet without a time, or a key frame that is none: the file cannot be seeked."""


def _strict_stream(path: Path | str, container: InputContainer) -> VideoStream:
    """The video stream, with a decoder that reports damage instead of concealing it."""
    stream = video_stream(path, container)
    # One thread: the pixels are the same, the whole costs less, and files share the cores.
    stream.codec_context.thread_count = 1
    stream.codec_context.options = {"err_detect": "crccheck+explode"}
    return stream


def _decode_range(
    container: InputContainer, stream: VideoStream, decode_range: DecodeRange
) -> Iterator[Frame]:
    """Yield the frame of each target; what looks damaged is tried from further back."""
    given = 0
    try:
        for frame in _decode_from_key(container, stream, decode_range):
            given += 1
            yield frame
    except _DamageError:
        earlier = one_key_earlier(container, stream, decode_range)
        if earlier is None:
            raise
        yield from _decode_from_key(container, stream, earlier.after(given))


def _decode_from_key(
    container: InputContainer, stream: VideoStream, decode_range: DecodeRange
) -> Iterator[Frame]:
    """Decode from a key frame to the last target and no further; yield the targets' frames."""
    decoder = stream.codec_context
    decoder.flush_buffers()
    container.seek(decode_range.seek, stream=stream, backward=True)
    targets = [timestamp for _, timestamp in decode_range.targets]
    requested = _RequestedFrames(container, stream, decode_range)
    unassigned = len(targets)
    for packet, pts, neighbours in _with_neighbours(container, stream):
        low, high = _targets_of(pts, neighbours, targets) if not packet.is_discard else (0, 0)
        requested.add(pts, decode_range.targets[low:high])
        try:
            # A frame that nothing refers to changes no other: decoded where it is wanted itself.
            frames = _decode_or_skip(
                decoder, packet, skip=decoder.name in _CAN_SKIP and low == high
            )
        except (av.InvalidDataError, _DamageError):
            # Before the key frame that is needed, a packet may rest on what was not read.
            if pts >= decode_range.key:
                yield from requested.among(decoder.decode(None))
                raise _DamageError(f"damaged at {requested.seconds(pts):.2f} s") from None
            frames = []
        yield from requested.among(frames)
        unassigned -= high - low
        if not unassigned or (packet.dts is not None and packet.dts > targets[-1]):
            break  # whatever comes now is shown later
    yield from requested.among(decoder.decode(None))  # what the decoder still holds


class _RequestedFrames:
    """The frames of a stretch that someone asked for."""

    def __init__(
        self, container: InputContainer, stream: VideoStream, decode_range: DecodeRange
    ) -> None:
        self._begin, self._base = origin(container, stream), float(stream.time_base or 0)
        self._key = decode_range.key
        self._aspect = pixel_aspect(stream)
        self._moments: dict[int, list[float]] = {}  # timestamp of a frame -> moments it serves
        # In H.264 a "key frame" may be one of many pictures that refresh the screen in parts.
        self._key_is_intact = stream.codec_context.name != "h264"

    def seconds(self, pts: int) -> float:
        return (pts - self._begin) * self._base

    def add(self, pts: int, targets: Sequence[tuple[float, int]]) -> None:
        if targets:
            self._moments[pts] = [time for time, _ in targets]

    def among(self, frames: Sequence[av.VideoFrame]) -> Iterator[Frame]:
        """Yield those of the decoder's frames that are wanted, once for each moment."""
        for frame in frames:
            pts = -1 if frame.pts is None else frame.pts
            self._key_is_intact = self._key_is_intact or (
                pts == self._key and frame.pict_type == PictureType.I
            )
            if pts >= self._key and not self._key_is_intact:
                raise _UnsearchableError
            if frame.is_corrupt and pts >= self._key:  # others rest on it, whoever wanted it
                raise _DamageError(f"damaged at {self.seconds(pts):.2f} s")
            for time in self._moments.pop(pts, ()):
                yield Frame(time, self.seconds(pts), upright(frame, self._aspect))


def _decode_or_skip(
    decoder: VideoCodecContext, packet: "Packet[VideoStream]", skip: bool
) -> list[av.VideoFrame]:
    """Decode a packet, or pass over it if it may be skipped and no other frame refers to it."""
    if packet.is_corrupt:  # the container noticed
        raise _DamageError
    decoder.skip_frame = "NONREF" if skip else "DEFAULT"
    return _decoded(decoder, packet)


def _decoded(decoder: VideoCodecContext, packet: "Packet[VideoStream]") -> list[av.VideoFrame]:
    """Decode a packet; raise for wrong checksums of FFV1, which FFmpeg reports only in its log."""
    if decoder.name != "ffv1":
        return decoder.decode(packet)
    level = av.logging.get_level()
    av.logging.set_level(av.logging.ERROR)
    try:
        with av.logging.Capture() as messages:
            frames = decoder.decode(packet)
    finally:
        av.logging.set_level(level)
    if messages:
        raise _DamageError
    return frames


def _targets_of(pts: int, neighbours: Sequence[int], targets: Sequence[int]) -> tuple[int, int]:
    """Which targets see this frame: those from its own time to the next frame's, as a range."""
    low = bisect_left(targets, pts)
    if low == len(targets) or pts < neighbours[-1] <= targets[low]:
        return low, low  # the next frame comes on before the next target does
    following = min((other for other in neighbours if other > pts), default=2**63)
    return low, bisect_left(targets, following)


def _with_neighbours(
    container: InputContainer, stream: VideoStream
) -> Iterator[tuple["Packet[VideoStream]", int, Sequence[int]]]:
    """Yield each packet with its time and those around it: frames are stored out of their order."""
    waiting: deque[tuple[Packet[VideoStream], int]] = deque()
    neighbours: deque[int] = deque(maxlen=2 * _REORDERING)  # of frames that are shown
    for packet in container.demux(stream):
        if not packet.size:
            continue
        if packet.pts is None:
            raise _UnsearchableError
        waiting.append((packet, packet.pts))
        if not packet.is_discard:
            neighbours.append(packet.pts)
        if len(waiting) > _REORDERING:
            yield *waiting.popleft(), neighbours
    while waiting:
        yield *waiting.popleft(), neighbours


def _decode_sequentially(
    path: Path | str, times: Sequence[float], skip_damage: bool
) -> Iterator[Frame]:
    """Decode from the start: for what cannot be searched, such as a GIF or a bare stream."""
    given = 0
    any_shown = False
    shown: tuple[float, Decoded | None] | None = None
    for time, frame in decoded_from(path, 0.0, skip_damage):
        while given < len(times) and times[given] < time - ROUNDING:
            at, picture = shown or (time, frame)
            if picture is not None:
                yield Frame(times[given], at, upright(*picture))
            given += 1
        if given == len(times):
            return
        shown = (time, frame)
        any_shown = any_shown or frame is not None
    if not any_shown or shown is None:
        raise MediaError(path, "none of its frames can be decoded")
    for time in times[given:]:
        if shown[1] is not None:
            yield Frame(time, shown[0], upright(*shown[1]))


def decoded_from(
    path: Path | str, start: float, skip_damage: bool, needed: float = 0.0
) -> Iterator[tuple[float, Decoded | None]]:
    """Yield all frames from the key frame before a time on, with their times.

    A gap left by damage is yielded as None, with the time at which it begins. Frames before the
    time ``needed`` that no other rests on may be left out, which saves the work.
    """
    seek_range = range_before(path, start) if start > 0 else None
    with open_media(path) as container:
        stream = _strict_stream(path, container)
        if seek_range:
            container.seek(seek_range.seek, stream=stream, backward=True)
        clock = _Clock(
            container, stream, [] if has_timestamps(container, stream) else frame_times(path)
        )
        aspect = pixel_aspect(stream)
        # What is shown before this may rest on what is lost.
        trusted = seek_range.key if seek_range else None
        can_skip = seek_range is not None and stream.codec_context.name in _CAN_SKIP
        begun = gap = False
        for packet in container.demux(stream):
            if not packet.size and packet.pts is not None:
                continue  # "as before": the one without a time is the end
            if packet.size and packet.is_keyframe:
                if gap:
                    stream.codec_context.flush_buffers()  # or the old loss is told again
                    trusted = packet.pts
                begun, gap = True, False
            at = None if packet.pts is None or not can_skip else clock.seconds(packet.pts)
            frames, damaged = _decode_packet(packet, skip=at is not None and at < needed)
            if damaged and begun and not gap and _is_from(packet.pts, trusted):
                at = clock.seconds(packet.pts)
                if not skip_damage:
                    raise MediaError(path, f"damaged at {at:.2f} s")
                gap = True
                yield at, None
            for frame in frames:
                time = clock.seconds(frame.pts, frames=1)
                if not gap and _is_from(frame.pts, trusted):
                    yield time, Decoded(frame, aspect)


class _Clock:
    """Computes display times: from timestamps, or from frame numbers where those are invalid."""

    def __init__(
        self, container: InputContainer, stream: VideoStream, known: Sequence[float]
    ) -> None:
        self._begin, self._base = origin(container, stream), float(stream.time_base or 0)
        self._rate = frame_rate(stream)
        self._known = known
        self._number = 0

    def seconds(self, pts: int | None, frames: int = 0) -> float:
        """Return the time of the current frame, and advance by a number of frames."""
        number, self._number = self._number, self._number + frames
        if number < len(self._known):
            return self._known[number]
        if pts is None or self._known:
            return number / self._rate
        return (pts - self._begin) * self._base


def _decode_packet(packet: "Packet[VideoStream]", skip: bool) -> tuple[list[av.VideoFrame], bool]:
    """Return the clean frames that come out, and whether anything is damaged."""
    packet.stream.codec_context.skip_frame = "NONREF" if skip else "DEFAULT"
    try:
        frames = _decoded(packet.stream.codec_context, packet)
    except (av.InvalidDataError, _DamageError):
        return [], True
    clean = [frame for frame in frames if not frame.is_corrupt]
    return clean, packet.is_corrupt or len(clean) < len(frames)


def _is_from(pts: int | None, trusted: int | None) -> bool:
    return pts is None or trusted is None or pts >= trusted
