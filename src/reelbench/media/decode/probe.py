"""The properties of a media file, measured in the file and not taken from its header alone."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.stream import Stream
from av.video.stream import VideoStream

from reelbench.media.decode.container import (
    displayed_size,
    moving_streams,
    open_media,
    refuse_absurd,
    shown_packets,
    start_seconds,
    video_stream,
)
from reelbench.media.decode.integrity import cut_by, integrity_fault
from reelbench.media.errors import MediaError

MOST_SECONDS = 7 * 24 * 3600.0  # a longer duration is a mistake
# FFmpeg's numbers for the ones in use.
_COLOUR_SPACES = {0: "rgb", 1: "bt709", 5: "bt601", 6: "bt601", 9: "bt2020"}
_COLOUR_RANGES = {1: "limited", 2: "full"}
_RECORDINGS = frozenset({"mpegts", "mpeg"})  # which people join by appending one to another
_CLOCK_BACK = 1.0  # seconds; more is no mere disorder
_ANIMATED = frozenset({"gif", "apng"})  # small, and vague about their rate
_CUT_SECONDS, _CUT_SHARE = 2.0, 0.05  # by which packets may end before the declared end
_ROUNDED = 0.1  # seconds that are not worth a word


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """One sound track."""

    codec: str
    sample_rate: int
    channels: int
    language: str | None = None


@dataclass(frozen=True, slots=True)
class MediaInfo:
    """The properties of one file; width and height as displayed: rotated, with square pixels."""

    format: str
    duration: float  # seconds, to the end of the last packet that is really there
    declared_duration: float  # seconds, as the header says; 0 where it does not
    end: float = 0.0  # seconds, to the end of its longest stream, be it the sound
    lacking: float = 0.0  # seconds that are declared but not there
    fault: str = ""  # what its container says is missing or damaged
    codec: str = ""
    width: int = 0
    height: int = 0
    rotation: int = 0  # degrees counter-clockwise that a player turns the picture
    frame_rate: float = 0.0  # average
    frame_count: int = 0  # 0 where it was not counted
    pixel_aspect: float = 1.0  # width of a pixel to its height, in the file
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
        """Why the file is incomplete, as after an interrupted download; "" where it is complete."""
        ends = self.declared_duration - self.lacking
        short = f"declares {self.declared_duration:.1f} s but ends at {ends:.1f} s"
        if self.fault:
            return f"{self.fault}; it {short}" if self.lacking > _ROUNDED else self.fault
        return (
            short if self.lacking > max(_CUT_SECONDS, self.declared_duration * _CUT_SHARE) else ""
        )


def probe(path: Path | str, counting: bool = True) -> MediaInfo:
    """Return the properties of a file; raise ``MediaError`` if it is no media file.

    With ``counting``, frames are counted, for which the whole file may have to be read.
    """
    with open_media(path) as container:
        video = next(moving_streams(container), None)
        audio = next((s for s in container.streams.audio if s.codec_context), None)
        main = video or audio
        if main is None:
            raise MediaError(path, "contains neither video nor sound")
        picture = _picture(path, container, video) if video else {}
        ends = _measured(path, container, main)
        if ends[main.index] > MOST_SECONDS:
            raise MediaError(
                path,
                f"its timestamps reach {ends[main.index]:.0f} s, over the limit of a week: they "
                "are probably damaged",
            )
        declared = _declared(container, main)
        # Where only the file as a whole declares a length, its longest stream must reach it.
        reached = ends[main.index] if main.duration else max(ends.values())
        info = MediaInfo(
            format=container.format.name,
            duration=ends[main.index],
            end=max(ends.values()),
            declared_duration=declared,
            lacking=max(0.0, declared - reached),
            fault=integrity_fault(path) or _listed_fault(path, container),
            audio=tuple(_audio(s) for s in container.streams.audio if s.codec_context),
            **picture,
        )
    if not video:
        return info
    vague = info.format in _ANIMATED or info.format.endswith("_pipe")
    count = _count(path) if counting or vague else 0
    one = count == 1 or info.format == "image2" or info.duration * info.frame_rate < 1.5
    return replace(info, is_image=one and not (vague and count > 1), frame_count=count)


def _listed_fault(path: Path | str, container: InputContainer) -> str:
    """Return the message that an MP4 lists samples beyond the end of the file; or ""."""
    if not container.format.name.startswith("mov"):
        return ""
    last = [stream.index_entries[-1] for stream in container.streams if len(stream.index_entries)]
    needed = max((entry.pos + entry.size for entry in last), default=0)
    return cut_by(needed, Path(path).stat().st_size)


def _count(path: Path | str) -> int:
    """Count the frames: in the file's own table where that lists all, else packet by packet."""
    with open_media(path) as container:
        video = video_stream(path, container)
        entries = video.index_entries
        if container.format.name.startswith("mov") and 0 < video.frames == len(entries):
            return sum(not entry.is_discard for entry in entries)
        return sum(1 for _ in shown_packets(container, video))


def _picture(path: Path | str, container: InputContainer, video: VideoStream) -> dict[str, Any]:
    """The properties of a video stream; one frame is decoded to get its rotation."""
    refuse_absurd(path, video)
    first = next(container.decode(video), None)
    rotation = round(first.rotation / 90) * 90 % 360 if first else 0
    width, height = displayed_size(video)
    sides = (width, height) if rotation % 180 == 0 else (height, width)
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


def _audio(stream: AudioStream) -> AudioInfo:
    return AudioInfo(stream.codec_context.name, stream.rate, stream.channels, stream.language)


def _declared(container: InputContainer, stream: Stream) -> float:
    """The duration that the file declares; 0 where it declares none, or an implausible one."""
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
    with open_media(path) as again:
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
    streams = [*moving_streams(container), *container.streams.audio]
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
        clock = clocks.get(index, 0.0) if packet.dts is None else packet.dts * base
        if clock < clocks.get(index, clock) - _CLOCK_BACK:
            raise MediaError(
                path,
                "contains several recordings joined together (its timestamps start again at "
                f"{clock:.1f} s): split them",
            )
        clocks[index] = clock
    begin = start_seconds(container)
    return {index: begun + length - begin for index, (begun, length) in last.items()}
