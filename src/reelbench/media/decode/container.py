"""An open media file: its streams, its packets and its clock. Everything opens files here."""

import codecs
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
# Formats of one file that holds all it shows. Whatever else FFmpeg knows, above all the playlists
# and lists that open further files (hls, dash, concat, sdp), is refused before it is read.
_FORMATS = (
    "mov", "matroska", "webm", "avi", "mpegts", "mpeg", "mpegvideo", "flv", "asf", "ogg",
    "rm", "mxf", "nut", "dv", "gxf", "wtv", "ivf", "obu", "av1", "h261", "h263", "h264", "hevc",
    "vvc", "m4v", "vc1", "mjpeg", "dirac", "yuv4mpegpipe", "wav", "w64", "mp3", "aac", "ac3",
    "eac3", "flac", "aiff", "au", "caf", "amr", "ape", "tta", "wv", "mpc", "mpc8", "dts", "truehd",
    "gif", "apng", "image2", "ico", "bmp_pipe", "gif_pipe", "j2k_pipe", "jpeg_pipe",
    "jpegxl_pipe", "jpegxl_anim", "png_pipe", "ppm_pipe", "pgm_pipe", "tiff_pipe", "webp",
    "webp_pipe",
)  # fmt: skip
_ONE_FILE_ALONE = {
    "format_whitelist": ",".join(_FORMATS),
    "protocol_whitelist": "file",
    "enable_drefs": "0",  # the files that a QuickTime movie may refer to
    "pattern_type": "none",  # a picture called a%d.png is that one, not a0.png, a1.png and so on
}
_LISTS = {
    b"#EXTM3U": "an HLS playlist",
    b"ffconcat": "a list of files to be joined",
    b"<?xml": "XML, as a DASH manifest is",
    b"<MPD": "a DASH manifest",
    b"v=0": "a description of a session",
    b"[Reference]": "a list of addresses",
}
# Of one frame; refused before anything of that size is allocated. JPEG and WebP end there, too.
MOST_PIXELS, LONGEST_SIDE = 8192 * 8192, 16_383
_STRETCH = 8  # times; what would be stretched more has a mistake in its header


@contextmanager
def open_media(path: Path | str) -> Iterator[InputContainer]:
    """Open a media file; every error in opening or reading it is raised as ``MediaError``."""
    path = Path(path)
    try:
        refuse_no_file(path)
        _refuse_lists(path)
        # The prefix keeps FFmpeg from reading a name such as "concat:x" as a protocol.
        with av.open(f"file:{path}", container_options=_ONE_FILE_ALONE, **_ANY_METADATA) as found:
            yield found
    except (av.FFmpegError, UnicodeError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MediaError(path, f"cannot be decoded ({reason})") from error


def _refuse_lists(path: Path) -> None:
    """Raise for formats that refer to other files, with their name; others fail as unknown."""
    with path.open("rb") as file:
        head = file.read(64).removeprefix(codecs.BOM_UTF8).lstrip()
    kind = next((kind for mark, kind in _LISTS.items() if head.startswith(mark)), None)
    # Planes of a picture in three files, of which FFmpeg opens the others by their names.
    planes = path.suffix in (".Y", ".U", ".V", ".y", ".u", ".v")
    if kind or planes:
        raise MediaError(
            path,
            f"is {kind or 'one plane of a picture'}, which refers to other files: put the video "
            "itself into the benchmark",
        )


def moving_streams(container: InputContainer) -> Iterator[VideoStream]:
    """Yield the video streams of a file, without cover pictures attached to sound files."""
    for stream in container.streams.video:
        if not stream.disposition & Disposition.attached_pic:
            yield stream


def start_seconds(container: InputContainer) -> float:
    """Return the timestamp at which the file begins, with whichever stream, in seconds."""
    return (container.start_time or 0) / av.time_base


def origin(container: InputContainer, stream: Stream) -> int:
    """Return the same in units of a stream; exactly, if the file begins with that stream."""
    base = stream.time_base or Fraction(1)
    begin = Fraction(container.start_time or 0, av.time_base)
    own = stream.start_time
    if own is not None and abs(own * base - begin) <= Fraction(1, av.time_base):
        return own
    return round(begin / base)


def has_timestamps(container: InputContainer, stream: VideoStream) -> bool:
    """Whether packets have valid presentation times: not in AVI with reordered frames."""
    disorder = container.format.name == "avi" and stream.codec_context.has_b_frames
    return bool(stream.time_base) and not disorder


def frame_rate(stream: VideoStream) -> float:
    """Return the average number of frames a second; 25 where it is unknown."""
    return float(stream.average_rate or stream.guessed_rate or 25)


def pixel_aspect(stream: VideoStream) -> float:
    """Return the ratio of a pixel's width to its height; 1 where it is unknown or negligible.

    Encoders that round sizes leave ratios such as 404:405; nothing is stretched for less than 1 %.
    """
    ratio = float(stream.sample_aspect_ratio or 1)
    return ratio if 1 / _STRETCH <= ratio <= _STRETCH and abs(ratio - 1) >= 0.01 else 1.0


def displayed_size(stream: VideoStream) -> tuple[int, int]:
    """Return width and height of a frame as a player shows it, before any rotation."""
    return stretched_size(stream.width, stream.height, pixel_aspect(stream))


def stretched_size(width: int, height: int, aspect: float) -> tuple[int, int]:
    """Return the size of a picture with square pixels: one side is stretched, none is shrunk."""
    return round(width * max(aspect, 1.0)), round(height / min(aspect, 1.0))


def video_stream(path: Path | str, container: InputContainer) -> VideoStream:
    """Return the video stream of a file; raise ``MediaError`` if it has none or it is too large."""
    video = next(moving_streams(container), None)
    if video is None:
        raise MediaError(path, "contains no video")
    refuse_absurd(path, video)
    return video


def refuse_absurd(path: Path | str, video: VideoStream) -> None:
    """Raise ``MediaError`` for frames of an invalid or too large size, before any is decoded."""
    if video.codec_context is None:
        raise MediaError(path, "its video codec is not supported: convert it, for example to H.264")
    if not video.width or not video.height:
        raise MediaError(path, "its frames have no valid size (animated WebP is not supported)")
    for width, height in ((video.width, video.height), displayed_size(video)):
        if max(width, height) > LONGEST_SIDE or width * height > MOST_PIXELS:
            most = f"{LONGEST_SIDE} pixels a side and {MOST_PIXELS / 1e6:.0f} million in all"
            raise MediaError(
                path, f"frames of {width} x {height} pixels are too large (the limit: {most})"
            )


def shown_packets(
    container: InputContainer, stream: VideoStream
) -> "Iterator[Packet[VideoStream]]":
    """Yield the packets of frames that are displayed.

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
