"""An open media file: its streams, its packets and its clock. Everything opens files here."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import av
from av.container import InputContainer
from av.stream import Disposition, Stream
from av.video.stream import VideoStream

from reelbench.media.errors import MediaError, refuse_no_file

if TYPE_CHECKING:
    from av.packet import Packet

# PyAV up to 18 fails at titles in unknown encodings unless told otherwise; 19 has no such option.
_OLD = int(av.__version__.partition(".")[0]) < 19
_ANY_METADATA: dict[str, Any] = {"metadata_errors": "replace"} if _OLD else {}
# Of one frame; refused before anything of that size is allocated. JPEG and WebP end there, too.
MOST_PIXELS, LONGEST_SIDE = 8192 * 8192, 16_383


@contextmanager
def opened(path: Path | str) -> Iterator[InputContainer]:
    """Open a media file, and turn every way it can be broken into a ``MediaError``."""
    path = Path(path)
    try:
        refuse_no_file(path)
        # The prefix keeps FFmpeg from reading a name such as "concat:x" as a protocol.
        with av.open(f"file:{path}", **_ANY_METADATA) as container:
            yield container
    except (av.FFmpegError, UnicodeError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MediaError(path, f"cannot be decoded ({reason})") from error


def moving_streams(container: InputContainer) -> Iterator[VideoStream]:
    """The videos of a file; a cover attached to a song is none."""
    for stream in container.streams.video:
        if not stream.disposition & Disposition.attached_pic:
            yield stream


def start_seconds(container: InputContainer) -> float:
    """The timestamp of the moment 0: where the file begins, with whichever stream."""
    return (container.start_time or 0) / av.time_base


def origin(container: InputContainer, stream: Stream) -> int:
    """The same in the stream's own units, and exactly, where it is the stream that begins."""
    base = stream.time_base or Fraction(1)
    begin = Fraction(container.start_time or 0, av.time_base)
    own = stream.start_time
    if own is not None and abs(own * base - begin) <= Fraction(1, av.time_base):
        return own
    return round(begin / base)


def tells_times(container: InputContainer, stream: VideoStream) -> bool:
    """Whether its packets say when they are shown: not in AVI, if they are out of order."""
    disorder = container.format.name == "avi" and stream.codec_context.has_b_frames
    return bool(stream.time_base) and not disorder


def frame_rate(stream: VideoStream) -> float:
    """Frames in a second, on average, where something must be said."""
    return float(stream.average_rate or stream.guessed_rate or 25)


def video_stream(path: Path | str, container: InputContainer) -> VideoStream:
    """Return the video of a file, or say that it has none, or none that can be held."""
    video = next(moving_streams(container), None)
    if video is None:
        raise MediaError(path, "no video in it")
    refuse_absurd(path, video)
    return video


def refuse_absurd(path: Path | str, video: VideoStream) -> None:
    """Refuse pictures that cannot be, or cannot be held, before any is decoded."""
    if video.codec_context is None:
        raise MediaError(path, "its video is in a codec that is not known here")
    if not video.width or not video.height:
        raise MediaError(path, "pictures without a size that can be (animated WebP is not read)")
    long = max(video.width, video.height) > LONGEST_SIDE
    if long or video.width * video.height > MOST_PIXELS:
        found = f"frames of {video.width} x {video.height} pixels are too large"
        most = f"at most {LONGEST_SIDE} a side and {MOST_PIXELS / 1e6:.0f} million in all"
        raise MediaError(path, f"{found}: {most}")


def shown_packets(
    container: InputContainer, stream: VideoStream
) -> "Iterator[Packet[VideoStream]]":
    """Yield the packets of frames that come on the screen.

    What lies before the first key frame, or is stored after it but shown before, cannot be decoded;
    Matroska leaves the time of such a packet out.
    """
    first: int | None = None
    begun = False
    for packet in container.demux(stream):
        if packet.size and packet.is_keyframe and not begun:
            begun, first = True, packet.pts
        late = first is None or (packet.pts is not None and packet.pts >= first)
        if packet.size and begun and late and not packet.is_discard:
            yield packet
