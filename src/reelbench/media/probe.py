"""What a media file holds, read from the file itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import av
from av.container import InputContainer
from av.stream import Stream

from reelbench.media.errors import MediaError


@dataclass(frozen=True, slots=True)
class MediaInfo:
    """The facts about one file that sampling and checking need."""

    duration: float  # seconds
    width: int = 0
    height: int = 0
    frame_rate: float = 0.0
    has_video: bool = False
    has_audio: bool = False


def probe(path: Path | str) -> MediaInfo:
    """Read what a file holds; raise ``MediaError`` if it is no media file."""
    with opened(path) as container:
        video = container.streams.video[0] if container.streams.video else None
        audio = container.streams.audio[0] if container.streams.audio else None
        streams: list[Stream] = [stream for stream in (video, audio) if stream is not None]
        if not streams:
            raise MediaError(path, "neither video nor sound in it")
        declared = [declared_seconds(stream) for stream in streams]
        duration = max(seconds for seconds in declared)
        if not duration and container.duration:
            duration = container.duration / av.time_base
        if not duration:
            duration = _counted_seconds(container, streams[0])
        if video is None:
            return MediaInfo(duration, has_audio=True)
        return MediaInfo(
            duration=duration,
            width=video.width,
            height=video.height,
            frame_rate=float(video.average_rate or 0),
            has_video=True,
            has_audio=audio is not None,
        )


def declared_seconds(stream: Stream) -> float:
    """How long a stream says it is; 0 where it does not say."""
    return float((stream.duration or 0) * (stream.time_base or 0))


def _counted_seconds(container: InputContainer, stream: Stream) -> float:
    """The end of the last packet: streams that were written live declare no duration."""
    end, packets = 0.0, 0
    for packet in container.demux(stream):
        packets += packet.size > 0
        if packet.pts is not None and packet.time_base:
            end = max(end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
    rate = getattr(stream, "guessed_rate", None)
    return end or float(packets / rate if rate else 0)


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
