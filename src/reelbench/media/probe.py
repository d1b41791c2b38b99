"""What a media file holds, read from the file itself and not believed from its header alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.stream import Disposition, Stream
from av.video.stream import VideoStream

from reelbench.media.errors import MediaError

MOST_PIXELS = 8192 * 8192  # of one frame; refused before anything of that size is allocated
MOST_SECONDS = 7 * 24 * 3600.0  # a longer declared duration is a mistake in the header
# FFmpeg's numbers for the ones in use.
_COLOUR_SPACES = {0: "rgb", 1: "bt709", 5: "bt601", 6: "bt601", 9: "bt2020"}
_COLOUR_RANGES = {1: "limited", 2: "full"}
_CUT_SECONDS, _CUT_SHARE = 2.0, 0.05  # by which packets may end before the declared end


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """One sound track."""

    codec: str
    sample_rate: int
    channels: int
    language: str | None = None


@dataclass(frozen=True, slots=True)
class MediaInfo:
    """The facts about one file. Sizes are as a player shows it, after any rotation."""

    format: str
    duration: float  # seconds, to the end of the last packet that is really there
    declared_duration: float  # seconds, as the header says; 0 where it does not
    codec: str = ""
    width: int = 0
    height: int = 0
    rotation: int = 0  # degrees counter-clockwise that a player turns the picture
    frame_rate: float = 0.0  # average
    frame_count: int = 0  # as far as it can be told without decoding
    pixel_format: str = ""
    colour_space: str = ""
    colour_range: str = ""
    bit_depth: int = 8
    is_image: bool = False
    audio: tuple[AudioInfo, ...] = ()

    @property
    def has_video(self) -> bool:
        """Whether there is a picture."""
        return self.width > 0

    @property
    def has_audio(self) -> bool:
        """Whether there is sound."""
        return bool(self.audio)

    @property
    def is_cut(self) -> bool:
        """Whether the file ends well before its declared end, as half a download does."""
        lacking = self.declared_duration - self.duration
        return lacking > max(_CUT_SECONDS, self.declared_duration * _CUT_SHARE)


def probe(path: Path | str) -> MediaInfo:
    """Read what a file holds; raise ``MediaError`` if it is no media file."""
    with opened(path) as container:
        video = next(_moving(container), None)
        audio = container.streams.audio[0] if container.streams.audio else None
        main = video or audio
        if main is None:
            raise MediaError(path, "neither video nor sound in it")
        picture = _picture(path, container, video) if video else {}
        duration, packets = _measured(path, container, main)
        facts: dict[str, Any] = {
            "format": container.format.name,
            "duration": duration,
            "declared_duration": _declared(container, main),
            "audio": tuple(_audio(s) for s in container.streams.audio if s.codec_context),
        }
        if video:
            rate = float(video.average_rate or video.guessed_rate or 0)
            count = video.frames or packets or round(duration * rate)
            picture |= {"frame_rate": rate, "frame_count": max(1, count)}
        return MediaInfo(**facts, **picture)


def _picture(path: Path | str, container: InputContainer, video: VideoStream) -> dict[str, Any]:
    """The facts of a picture that the header tells; one frame is decoded to learn its rotation."""
    _refuse_absurd(path, video)
    first = next(container.decode(video), None)
    rotation = round(first.rotation / 90) * 90 % 360 if first else 0
    sides = (video.width, video.height) if rotation % 180 == 0 else (video.height, video.width)
    context, pixels = video.codec_context, video.codec_context.format
    return {
        "codec": context.name,
        "width": sides[0],
        "height": sides[1],
        "rotation": rotation,
        "pixel_format": pixels.name if pixels else "",
        "colour_space": _COLOUR_SPACES.get(context.colorspace, "unspecified"),
        "colour_range": _COLOUR_RANGES.get(context.color_range, "unspecified"),
        "bit_depth": pixels.components[0].bits if pixels and pixels.components else 8,
        "is_image": container.format.name.endswith("_pipe") or container.format.name == "image2",
    }


def _moving(container: InputContainer) -> Iterator[VideoStream]:
    """The videos of a file; a cover attached to a song is none."""
    for stream in container.streams.video:
        if not stream.disposition & Disposition.attached_pic:
            yield stream


def _audio(stream: AudioStream) -> AudioInfo:
    return AudioInfo(stream.codec_context.name, stream.rate, stream.channels, stream.language)


def _refuse_absurd(path: Path | str, video: VideoStream) -> None:
    if video.codec_context is None:
        raise MediaError(path, "its video is in a codec that is not known here")
    if not video.width or not video.height:
        raise MediaError(path, "a video without a size")
    if video.width * video.height > MOST_PIXELS:
        raise MediaError(path, f"frames of {video.width} x {video.height} pixels are too large")


def _declared(container: InputContainer, stream: Stream) -> float:
    """How long the file says it is; 0 where it says nothing, or nothing one can believe."""
    seconds = float((stream.duration or 0) * (stream.time_base or 0))
    if not seconds and container.duration:
        seconds = container.duration / av.time_base
    return seconds if 0 < seconds <= MOST_SECONDS else 0.0


def _measured(path: Path | str, container: InputContainer, stream: Stream) -> tuple[float, int]:
    """Return where the last packet ends, and the number of packets if they had to be counted."""
    declared = _declared(container, stream)
    base = stream.time_base or Fraction(1, 1)
    if declared:
        # A little before the end, for the packet shown last need not be stored last.
        near = (stream.start_time or 0) + int(max(0.0, declared - 1.0) / float(base))
        container.seek(near, stream=stream, backward=True)
        end, _ = _last_end(container, stream)
        if end is not None:
            return end - start_seconds(container), 0
    # Nothing near the declared end, or none declared: go through the file.
    with opened(path) as again:
        same = again.streams[stream.index]
        end, packets = _last_end(again, same)
        rate = getattr(same, "guessed_rate", None)
        if end is None and not packets:
            raise MediaError(path, "no packet in it can be read")
        seconds = end - start_seconds(again) if end is not None else 0.0
        return seconds or (float(packets / rate) if rate else 0.0), packets


def _last_end(container: InputContainer, stream: Stream) -> tuple[float | None, int]:
    """Read packets to the end of the file; return when the last one shown ends, and their number.

    The others' lengths are not asked: where frames are stored out of order and unevenly, a packet
    lasts until the next one stored, not the next one shown.
    """
    last: tuple[float, float] | None = None  # begin and length
    packets = 0
    frame = 1 / float(getattr(stream, "average_rate", None) or 25)
    for packet in container.demux(stream):
        if not packet.size:
            continue
        packets += 1
        if packet.pts is not None and packet.time_base:
            length = float((packet.duration or 0) * packet.time_base) or frame
            this = float(packet.pts * packet.time_base), length
            last = this if last is None else max(last, this)
    return (sum(last) if last else None), packets


def start_seconds(container: InputContainer) -> float:
    """The timestamp of the moment 0: where the file begins, with whichever stream."""
    return (container.start_time or 0) / av.time_base


def video_stream(path: Path | str, container: InputContainer) -> VideoStream:
    """Return the video of a file, or say that it has none, or none that can be held."""
    video = next(_moving(container), None)
    if video is None:
        raise MediaError(path, "no video in it")
    _refuse_absurd(path, video)
    return video


@contextmanager
def opened(path: Path | str) -> Iterator[InputContainer]:
    """Open a media file, and turn every way it can be broken into a ``MediaError``."""
    path = Path(path)
    try:
        if not path.is_file():
            raise MediaError(path, "not a file" if path.exists() else "no such file")
        # The prefix keeps FFmpeg from reading a name such as "concat:x" as a protocol.
        with av.open(f"file:{path}", metadata_errors="replace") as container:
            yield container
    except (av.FFmpegError, UnicodeError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MediaError(path, f"cannot be decoded ({reason})") from error
