"""What a media file holds, read from the file itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import av
from av.container import InputContainer

from reelbench.media.errors import MediaError


@dataclass(frozen=True, slots=True)
class MediaInfo:
    """The facts about one file that sampling and checking need."""

    duration: float  # seconds
    width: int = 0
    height: int = 0
    frame_rate: float = 0.0
    frame_count: int = 0
    has_video: bool = False
    has_audio: bool = False


def probe(path: Path | str) -> MediaInfo:
    """Read what a file holds; raise ``MediaError`` if it is no media file."""
    with opened(path) as container:
        video = container.streams.video[0] if container.streams.video else None
        audio = container.streams.audio[0] if container.streams.audio else None
        if video is None and audio is None:
            raise MediaError(path, "neither video nor sound in it")
        lengths = [
            float(stream.duration * stream.time_base)
            for stream in (video, audio)
            if stream is not None and stream.duration and stream.time_base
        ]
        if not lengths and container.duration:
            lengths = [container.duration / av.time_base]
        duration = max(lengths, default=0.0)
        if video is None:
            return MediaInfo(duration, has_audio=True)
        rate = float(video.average_rate or 0)
        return MediaInfo(
            duration=duration,
            width=video.width,
            height=video.height,
            frame_rate=rate,
            frame_count=video.frames or round(duration * rate),
            has_video=True,
            has_audio=audio is not None,
        )


@contextmanager
def opened(path: Path | str) -> Iterator[InputContainer]:
    """Open a media file, and turn every way it can be broken into a ``MediaError``."""
    path = Path(path)
    if not path.is_file():
        raise MediaError(path, "no such file" if not path.exists() else "not a file")
    try:
        # The prefix keeps FFmpeg from reading a name such as "concat:x" as a protocol.
        with av.open(f"file:{path}") as container:
            yield container
    except av.FFmpegError as error:
        raise MediaError(path, f"cannot be decoded ({error.strerror})") from error
