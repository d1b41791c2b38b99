"""What of a media file a browser can play, and how the rest is turned into something it can.

This decodes where it is called: for files that may be anything, call it in a worker process.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby, pairwise
from pathlib import Path

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import write_atomically
from reelbench.data.items import Span
from reelbench.media.decode.decode import Image, every_frame
from reelbench.media.decode.images import encode_picture
from reelbench.media.decode.probe import MediaInfo, probe
from reelbench.media.decode.timeline import frame_times
from reelbench.media.edit.audio import stream_audio
from reelbench.media.edit.clip import SOUND_RATE, cut_exactly, edit, with_sound
from reelbench.media.edit.write import AudioTrack, Samples, SoundWriter, output
from reelbench.media.errors import MediaError

TICKS = 120_000  # per second: frames of all common rates, 24000/1001 among them, are whole numbers
_VARIABLE = 0.0025  # seconds by which the lengths of frames may differ for their times are rounded
_SOON = 0.1  # seconds between two reports of progress
_SMALL = 1_000_000  # bytes of a file that is not worth cutting
_MOST_OF_IT = 0.8  # of a video: a part that long is not cut out of it
_H264 = frozenset({"h264"})
_AV1 = frozenset({"av1", "libdav1d", "libaom-av1"})
_VPX = frozenset({"vp8", "vp9", "libvpx", "libvpx-vp9"})
_AAC_MP3 = frozenset({"aac", "mp3", "mp3float"})
_OPUS_VORBIS = frozenset({"opus", "libopus", "vorbis", "libvorbis"})
_FLAC = frozenset({"flac"})
_PCM = frozenset({"pcm_s16le", "pcm_s24le", "pcm_u8", "pcm_f32le"})
_PIXELS = ("yuv420p", "yuvj420p")
_PICTURES = {"mjpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
             "bmp": "image/bmp"}  # fmt: skip
_SOUNDS = {
    "mp3": (_AAC_MP3, "audio/mpeg"),
    "wav": (_PCM, "audio/wav"),
    "ogg": (_OPUS_VORBIS | _FLAC, "audio/ogg"),
    "flac": (_FLAC, "audio/flac"),
    "aac": (_AAC_MP3, "audio/aac"),
    "mov": (_AAC_MP3, "audio/mp4"),
    "matroska": (_OPUS_VORBIS, "audio/webm"),
}


class PlayableMedia(msgspec.Struct, frozen=True):
    """What a player must know of a file; frames are told as ``[ticks, count]``, as they follow."""

    kind: str  # video, sound or image
    type: str  # of its content, for the browser; empty where no browser plays it as it is
    duration: float = 0.0
    has_audio: bool = False
    width: int = 0
    height: int = 0
    frame_rate: float = 0.0  # measured: frames in a second, on average
    variable: bool = False  # whether frames last differently long
    ticks: int = TICKS
    first: int = 0  # when the first frame comes
    runs: tuple[tuple[int, int], ...] = ()  # how long frames last, and how many do in a row
    file: str = ""  # what is played in its place, if anything


def inspect(path: Path) -> PlayableMedia:
    """Return what a player must know of a file; nothing but its first frame is decoded."""
    info = probe(path, counting=False)
    if not info.has_video:
        return PlayableMedia("sound", _sound_type(info), info.duration, has_audio=True)
    if info.is_image:
        kind = _PICTURES.get(info.codec, "") if not info.format.startswith("mov") else ""
        return PlayableMedia("image", kind, width=info.width, height=info.height)
    times = sorted({round(at * TICKS) for at in frame_times(path)})
    steps = [after - before for before, after in pairwise(times)]
    return PlayableMedia(
        "video",
        _video_type(path, info),
        info.duration,
        info.has_audio,
        info.width,
        info.height,
        frame_rate=len(steps) * TICKS / sum(steps) if steps else info.frame_rate,
        variable=bool(steps) and max(steps) - min(steps) > _VARIABLE * TICKS,
        first=times[0] if times else 0,
        runs=tuple((step, len(list(group))) for step, group in groupby(steps)),
    )


def _video_type(path: Path, info: MediaInfo) -> str:
    """Return the type of a video that browsers play, or nothing."""
    sound = {each.codec for each in info.audio}
    if info.pixel_format not in _PIXELS:
        return ""
    if info.format.startswith("mov") and info.codec in _H264 | _AV1 and sound <= _AAC_MP3:
        return "video/mp4"
    webm = info.format.startswith("matroska") and path.suffix.lower() == ".webm"
    if webm and info.codec in _VPX | _AV1 and sound <= _OPUS_VORBIS:
        return "video/webm"
    return ""


def _sound_type(info: MediaInfo) -> str:
    known, kind = _SOUNDS.get(info.format.split(",")[0], (frozenset[str](), ""))
    return kind if {each.codec for each in info.audio[:1]} <= known else ""


def transcode(path: Path, out: Path, progress: Path) -> PlayableMedia:
    """Write what browsers play in place of a file, as ``out`` with an ending, and return its facts.

    The share that is done is written to ``progress`` again and again. Times stay those of the file.
    """
    before, report = inspect(path), _Progress(progress)
    try:
        if before.kind == "image":
            return _as_picture(path, out.with_suffix(".png"), before)
        made = out.with_suffix(".mp4")
        if before.kind == "sound":
            with output(made) as target:
                SoundWriter(target, _sound(path, before.duration, report)).finish()
        else:
            _as_video(path, made, before, report)
        after = inspect(made)
        return msgspec.structs.replace(after, file=made.name)
    finally:
        progress.unlink(missing_ok=True)


class PlayablePart(msgspec.Struct, frozen=True):
    """A file, or the part of a video from ``start`` seconds on, as browsers play it."""

    data: bytes
    type: str
    kind: str  # video, sound or image
    start: float = 0.0


def playable_part(path: Path, span: Span | None, most: int) -> PlayablePart | None:
    """Return a file as browsers play it, or None where that has over ``most`` bytes.

    Of a video of which only a span is needed, that part is cut out, unless it is most of it.
    """
    media = inspect(path)
    cut = media.kind == "video" and span is not None and path.stat().st_size > _SMALL
    start, end = span if cut and span else (0.0, media.duration)
    cut = cut and end - start < _MOST_OF_IT * media.duration
    with tempfile.TemporaryDirectory() as name:
        folder, kind, file = Path(name), media.type, path
        if cut:
            file, kind = folder / "part.mp4", "video/mp4"
            cut_exactly(path, start, end, file)
        elif not kind:
            made = transcode(path, folder / "whole", folder / "progress")
            file, kind = folder / made.file, made.type or "audio/mp4"
        if file.stat().st_size > most:
            return None
        return PlayablePart(file.read_bytes(), kind, media.kind, start if cut else 0.0)


def _as_picture(path: Path, made: Path, before: PlayableMedia) -> PlayableMedia:
    _, image = next(every_frame(path))
    write_atomically(made, encode_picture(image, "png"))
    return msgspec.structs.replace(before, type="image/png", file=made.name)


def _as_video(path: Path, made: Path, before: PlayableMedia, report: "_Progress") -> None:
    """Copy pictures that browsers can show, with new sound; encode all others anew."""
    info = probe(path, counting=False)
    copied = info.codec in _H264 | _AV1 and info.pixel_format in _PIXELS and not info.rotation
    sound = _sound(path, before.duration, report) if before.has_audio else None
    with suppress(MediaError):  # packets that do not tell their times
        if copied:
            with_sound(path, sound, made)
            return

    def unaltered(image: Image, at: float) -> Image:
        report(at / max(before.duration, 0.001))
        return image

    edit(path, made, unaltered)


def _sound(path: Path, seconds: float, report: "_Progress") -> AudioTrack:
    def pieces() -> Iterator[Samples]:
        done = 0
        for piece in stream_audio(path, SOUND_RATE, 2, 0.0, seconds):
            done += piece.shape[1]
            report(done / (seconds * SOUND_RATE))
            yield piece

    return AudioTrack(pieces(), SOUND_RATE, 2)


class _Progress:
    """Tells how much is done, not too often."""

    def __init__(self, path: Path) -> None:
        self._path, self._last = path, 0.0

    def __call__(self, share: float) -> None:
        now = time.monotonic()
        if now - self._last > _SOON:
            self._last = now
            with suppress(OSError, ReelbenchError):  # the disk is full: the video will tell
                self._path.write_text(f"{min(share, 1.0):.4f}")
