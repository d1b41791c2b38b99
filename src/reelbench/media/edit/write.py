"""Writes videos: frames at their times and sound, as H.264 and AAC, atomically."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import av
import numpy as np
from av.codec.context import Flags
from av.container import OutputContainer
from av.stream import Stream
from numpy.typing import NDArray

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import partial_file
from reelbench.media.decode.decode import Image

if TYPE_CHECKING:
    from av.packet import Packet

Samples = NDArray[np.float32]  # one row a channel, between -1 and 1
_TICKS = 90_000  # per second: every common frame rate is a whole number of them
_WRITABLE = (".mp4", ".mov", ".m4v", ".mkv")  # which hold H.264, AAC and uneven times
# No version of FFmpeg in a file, so that each writes the same bytes, which have the same hash.
UNSIGNED = {"fflags": "+bitexact"}
# What versions would choose differently is said: the clock of the whole, and how frames that are
# shown out of order are told (with the usual edit list, lengths differ by a frame).
_MOVIE = {"movflags": "+faststart+negative_cts_offsets", "movie_timescale": str(_TICKS)}
# Two tools of the encoder rest on functions of the system's C library, which differ in the last
# digit between Debian 12 and 13: a clip in a hundred came out as other bytes.
_SAME_SOUND = {"aac_pns": "0", "aac_tns": "0"}
_CHUNK = 1024  # samples that the AAC encoder takes at a time


@dataclass(frozen=True, slots=True)
class AudioTrack:
    """Sound: an iterable of pieces, arrays with one row per channel, and their sample rate."""

    pieces: Iterable[Samples]
    rate: int
    channels: int = 1

    @property
    def layout(self) -> str:
        """FFmpeg's name for its channels."""
        return "mono" if self.channels == 1 else "stereo"

    def frames(self) -> Iterator[av.AudioFrame]:
        """Yield it in frames of the length that the encoder takes, each with its time."""
        rest, begin = np.empty((self.channels, 0), np.float32), 0
        for piece in self.pieces:
            if len(piece) != self.channels or self.channels > 2 or not np.isfinite(piece).all():
                raise ReelbenchError(
                    "Sound must be arrays of finite numbers with one row per channel, one or two "
                    "channels."
                )
            rest = np.concatenate([rest, piece], axis=1)
            while rest.shape[1] >= _CHUNK:
                yield self._frame(rest[:, :_CHUNK], begin)
                rest, begin = rest[:, _CHUNK:], begin + _CHUNK
        if rest.shape[1]:
            yield self._frame(rest, begin)

    def _frame(self, samples: Samples, begin: int) -> av.AudioFrame:
        whole = np.ascontiguousarray(samples, np.float32)
        frame = av.AudioFrame.from_ndarray(whole, "fltp", self.layout)
        frame.sample_rate, frame.pts = self.rate, begin
        frame.time_base = Fraction(1, self.rate)
        return frame


class Output:
    """A media file that is being written; errors in writing name the file."""

    def __init__(self, path: Path, container: OutputContainer) -> None:
        self._path, self.container = path, container

    def copy_of(self, stream: Stream) -> Stream:
        """Add a stream like another, to copy its packets to."""
        with _naming(self._path):
            return self.container.add_stream_from_template(stream)

    def mux(self, packets: "Packet[Stream] | Sequence[Packet[Stream]]") -> None:
        """Write packets."""
        with _naming(self._path):
            self.container.mux(packets)


@contextmanager
def output(path: Path) -> Iterator[Output]:
    """Open a media file to write, its format chosen by its suffix; it appears once complete."""
    if path.suffix.lower() not in _WRITABLE:
        raise ReelbenchError(
            f"{path} cannot be written: its name must end with one of {', '.join(_WRITABLE)}."
        )
    with ExitStack() as stack:
        with _naming(path):
            _, name = stack.enter_context(partial_file(path.parent, path.suffix))
            movie = {} if path.suffix.lower() == ".mkv" else _MOVIE
            container = av.open(f"file:{name}", "w", options=UNSIGNED | movie)
        try:
            yield Output(path, container)
        except BaseException:
            with suppress(av.FFmpegError, OSError, ValueError):  # it will not be kept
                container.close()
            raise
        with _naming(path):
            container.close()
            os.chmod(name, 0o644)
            os.replace(name, path)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Raise errors of the system or of FFmpeg as ``ReelbenchError`` that names the file."""
    try:
        yield
    except (av.FFmpegError, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ReelbenchError(f"{path} cannot be written ({reason}).") from error


class SoundWriter:
    """Writes sound beside pictures, up to a moment at a time, so that neither waits in memory."""

    def __init__(self, out: Output, sound: AudioTrack) -> None:
        self._out = out
        self._frames = sound.frames()
        self._next = next(self._frames, None)
        self._stream = out.container.add_stream("aac", rate=sound.rate, layout=sound.layout)
        self._stream.bit_rate = 64_000 * sound.channels
        self._stream.options = dict(_SAME_SOUND)
        self._stream.codec_context.flags |= Flags.bitexact

    def play(self, until: float) -> None:
        """Write the sound up to a moment."""
        while self._next is not None and (self._next.time or 0.0) < until:
            self._out.mux(self._stream.encode(self._next))
            self._next = next(self._frames, None)

    def finish(self) -> None:
        """Write the rest, and what the encoder still holds."""
        self.play(float("inf"))
        self._out.mux(self._stream.encode(None))


# The same bytes every time: with more threads they depend on the number of cores, and with its
# "macroblock tree" x264 reads memory that it has not written.
STEADY = {"preset": "veryfast", "threads": "1", "x264-params": "mbtree=0"}
# Three times as fast at the same fidelity, for a quarter more bytes. On three of four frames no
# other rests: these cost few bytes, and who reads some frames of the file need not decode them.
# Edges of blocks are smoothed, or they would be measured.
_FAST = "mbtree=0:bframes=3:b-adapt=0:b-pyramid=0:subme=1:8x8dct=1:deblock=0,0"
FAST = STEADY | {"preset": "ultrafast", "x264-params": _FAST}


class VideoWriter:
    """Writes frames in the order of time; made by ``video_writer``."""

    def __init__(
        self,
        out: Output,
        rate: Fraction,
        quality: int,
        sound: AudioTrack | None,
        encoder: Mapping[str, str],
    ) -> None:
        self._out = out
        self._stream = out.container.add_stream("libx264", rate=rate)
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.time_base = Fraction(1, _TICKS)
        self._stream.codec_context.flags |= Flags.bitexact
        self._stream.options = {**encoder, "crf": str(quality), "g": "50"}
        self._last = -1
        self._sound = SoundWriter(out, sound) if sound else None

    def show(self, image: Image, time: float) -> None:
        """Write a frame that is displayed from this time on; sizes must be even and equal."""
        if not self._stream.codec_context.is_open:
            self._stream.height, self._stream.width = image.shape[:2]
        frame = av.VideoFrame.from_ndarray(image, "rgb24")
        frame.pts = self._last = max(round(time * _TICKS), self._last + 1)
        frame.time_base = Fraction(1, _TICKS)
        self._out.mux(self._stream.encode(frame))
        if self._sound:
            self._sound.play(time)

    def finish(self) -> None:
        """Write the rest of the sound, and what the encoder still holds."""
        if self._stream.codec_context.is_open:
            self._out.mux(self._stream.encode(None))
        if self._sound:
            self._sound.finish()


@contextmanager
def video_writer(
    path: Path,
    rate: Fraction | float,
    quality: int = 18,
    sound: AudioTrack | None = None,
    encoder: Mapping[str, str] = STEADY,
) -> Iterator[VideoWriter]:
    """Open a video file to write; it appears once complete. ``quality`` is x264's crf.

    ``encoder`` is ``STEADY``, or ``FAST`` for files that are written more often than kept.
    """
    with output(path) as out:
        writer = VideoWriter(out, Fraction(rate).limit_denominator(1001), quality, sound, encoder)
        yield writer
        writer.finish()


def even(image: Image) -> Image:
    """Cut off the last row or column where their number is odd: 4:2:0 video has none such."""
    return image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2]
