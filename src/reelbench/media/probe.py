"""What a media file holds, read from the file itself and not believed from its header alone."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.stream import Disposition, Stream
from av.video.stream import VideoStream

from reelbench.media.errors import MediaError

if TYPE_CHECKING:
    from av.packet import Packet

# Of one frame; refused before anything of that size is allocated. JPEG and WebP end there, too.
MOST_PIXELS, LONGEST_SIDE = 8192 * 8192, 16_383
MOST_SECONDS = 7 * 24 * 3600.0  # a longer declared duration is a mistake in the header
# FFmpeg's numbers for the ones in use.
_COLOUR_SPACES = {0: "rgb", 1: "bt709", 5: "bt601", 6: "bt601", 9: "bt2020"}
_COLOUR_RANGES = {1: "limited", 2: "full"}
_RECORDINGS = frozenset({"mpegts", "mpeg"})  # which people join by appending one to another
_CLOCK_BACK = 1.0  # seconds; more is no mere disorder
_ANIMATED = frozenset({"gif", "apng"})  # small, and vague about their rate
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
    """The facts about one file. Width and height are those after any rotation."""

    format: str
    duration: float  # seconds, to the end of the last packet that is really there
    declared_duration: float  # seconds, as the header says; 0 where it does not
    lacking: float = 0.0  # seconds that are declared but not there
    codec: str = ""
    width: int = 0
    height: int = 0
    rotation: int = 0  # degrees counter-clockwise that a player turns the picture
    frame_rate: float = 0.0  # average
    frame_count: int = 0  # 0 where nobody asked
    pixel_aspect: float = 1.0  # width of a pixel to its height; pictures are not stretched by it
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
    def cut(self) -> str:
        """Says that the file ends well before its declared end, as half a download does; or ""."""
        if self.lacking <= max(_CUT_SECONDS, self.declared_duration * _CUT_SHARE):
            return ""
        ends = self.declared_duration - self.lacking
        return f"declares {self.declared_duration:.1f} s but ends at {ends:.1f} s"


def probe(path: Path | str, counting: bool = True) -> MediaInfo:
    """Read what a file holds; raise ``MediaError`` if it is no media file.

    Counting the frames may take reading the whole file; one need not ask for it.
    """
    with opened(path) as container:
        video = next(_moving(container), None)
        audio = next((s for s in container.streams.audio if s.codec_context), None)
        main = video or audio
        if main is None:
            raise MediaError(path, "neither video nor sound in it")
        picture = _picture(path, container, video) if video else {}
        ends = _measured(path, container, main)
        declared = _declared(container, main)
        # Where only the file as a whole declares a length, its longest stream must reach it.
        reached = ends[main.index] if main.duration else max(ends.values())
        info = MediaInfo(
            format=container.format.name,
            duration=ends[main.index],
            declared_duration=declared,
            lacking=max(0.0, declared - reached),
            audio=tuple(_audio(s) for s in container.streams.audio if s.codec_context),
            **picture,
        )
    if not video:
        return info
    if info.format in _ANIMATED or info.format.endswith("_pipe"):
        one = _count(path) == 1
    else:
        one = info.format == "image2" or info.duration * info.frame_rate < 1.5
    return replace(info, is_image=one, frame_count=_count(path) if counting else 0)


def _count(path: Path | str) -> int:
    """Count the frames: in the file's own table where that lists all, else packet by packet."""
    with opened(path) as container:
        video = video_stream(path, container)
        entries = video.index_entries
        if container.format.name.startswith("mov") and 0 < video.frames == len(entries):
            return sum(not entry.is_discard for entry in entries)
        return sum(1 for _ in shown_packets(container, video))


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
        "frame_rate": float(video.average_rate or video.guessed_rate or 0),
        "pixel_aspect": float(video.sample_aspect_ratio or 1),
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
        raise MediaError(path, "pictures without a size that can be (animated WebP is not read)")
    long = max(video.width, video.height) > LONGEST_SIDE
    if long or video.width * video.height > MOST_PIXELS:
        raise MediaError(path, f"frames of {video.width} x {video.height} pixels are too large")


def _declared(container: InputContainer, stream: Stream) -> float:
    """How long the file says it is; 0 where it says nothing, or nothing one can believe."""
    seconds = float((stream.duration or 0) * (stream.time_base or 0))
    if not seconds and container.duration:
        seconds = container.duration / av.time_base
    return seconds if 0 < seconds <= MOST_SECONDS else 0.0


def _measured(path: Path | str, container: InputContainer, main: Stream) -> dict[int, float]:
    """Return when the last packet of each stream ends, by the stream's number."""
    declared = _declared(container, main)
    if declared and main.time_base and container.format.name not in _RECORDINGS:
        # A little before the end, for the packet shown last need not be stored last.
        near = (main.start_time or 0) + int(max(0.0, declared - 1.0) / main.time_base)
        container.seek(near, stream=main, backward=True)
        ends = _ends(container, path)
        if main.index in ends:
            return ends
    # Nothing near the declared end, or none declared: go through the file.
    with opened(path) as again:
        ends = _ends(again, path)
    if main.index not in ends:
        raise MediaError(path, "no packet in it can be read")
    return ends


def _ends(container: InputContainer, path: Path | str) -> dict[int, float]:
    """Read packets to the end of the file; return when the last one shown of each stream ends.

    The others' lengths are not asked: where frames are stored out of order and unevenly, a packet
    lasts until the next one stored, not the next one shown.
    """
    last: dict[int, tuple[float, float]] = {}  # begin and length
    untimed: Counter[int] = Counter()
    clocks: dict[int, float] = {}
    streams = [*_moving(container), *container.streams.audio]
    for packet in container.demux(streams):
        if not packet.size or packet.is_discard:
            continue
        index, base = packet.stream_index, float(packet.time_base or 0)
        frame = 1 / float(getattr(packet.stream, "average_rate", None) or 25)
        if packet.pts is None:
            untimed[index] += 1
            this = (untimed[index] - 1) * frame, frame
        else:
            this = packet.pts * base, (packet.duration or 0) * base or frame
        last[index] = max(last.get(index, this), this)
        clock = (packet.dts or 0) * base
        if clock < clocks.get(index, clock) - _CLOCK_BACK:
            raise MediaError(path, f"several recordings: its clock starts again at {clock:.1f} s")
        clocks[index] = clock
    begin = start_seconds(container)
    return {index: begun + length - begin for index, (begun, length) in last.items()}


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
