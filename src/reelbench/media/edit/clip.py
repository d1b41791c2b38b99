"""Cuts, joins and crops videos and replaces their sound, with exact times.

This decodes in the calling process: for untrusted files, call it through ``run_isolated``.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from av.container import InputContainer
from av.stream import Stream
from PIL import Image as Pillow

from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.container import (
    LONGEST_SIDE,
    has_timestamps,
    open_media,
    origin,
    video_stream,
)
from reelbench.media.decode.decode import Image, every_frame
from reelbench.media.decode.probe import MediaInfo, probe
from reelbench.media.edit.audio import silence, stream_audio
from reelbench.media.edit.write import AudioTrack, Samples, SoundWriter, even, output, video_writer
from reelbench.media.errors import MediaError

if TYPE_CHECKING:
    from av.packet import Packet

SOUND_RATE = 48_000
Box = tuple[float, float, float, float]  # left, top, right, bottom in pixels


def cut_exactly(source: Path, start: float, end: float, out: Path) -> None:
    """Write the part from ``start`` to ``end``, exact to the frame and sample, re-encoded."""
    info = probe(source, counting=False)
    _check_span(source, info, start, end)
    end = min(end, info.duration)
    edit(source, out, lambda image, _: image, start, end)


_UNTIMED = "its packets have no presentation times: re-encode it, for example with cut_exactly"


def _check_span(source: Path, info: MediaInfo, start: float, end: float) -> None:
    if not 0 <= start < min(end, info.duration):
        raise MediaError(
            source, f"lasts {info.duration:.2f} s, so there is nothing from {start} to {end} s"
        )


def _timed_packets(
    source: Path, container: InputContainer, streams: Sequence[Stream], out: Path
) -> "Iterator[tuple[Packet[Stream], int, int]]":
    """Yield packets with their times of showing and decoding; Matroska lacks some of the latter."""
    if not has_timestamps(container, video_stream(source, container)):
        raise MediaError(source, _UNTIMED)
    held: dict[int, list[Packet[Stream]]] = defaultdict(list)
    for packet in container.demux(list(streams)):
        if not packet.size:
            continue
        if packet.pts is None:
            raise MediaError(source, _UNTIMED)
        if packet.is_discard and out.suffix not in (".mp4", ".mov", ".m4v"):
            raise MediaError(
                source,
                f"has hidden frames, which {out.name} cannot store: write a .mp4 or .mov file",
            )
        waiting = held[packet.stream_index]
        if packet.dts is None:
            waiting.append(packet)
            continue
        for steps, early in zip(range(len(waiting), 0, -1), waiting, strict=True):
            pts = early.pts or 0
            yield early, pts, min(pts, packet.dts - steps * (early.duration or 1))
        waiting.clear()
        yield packet, packet.pts, packet.dts
    for rest in held.values():
        yield from ((packet, packet.pts or 0, packet.pts or 0) for packet in rest)


Alter = Callable[[Image, float], Image | None]


def edit(
    source: Path,
    out: Path,
    alter: Alter,
    start: float = 0.0,
    end: float | None = None,
    quality: int = 18,
    sound: AudioTrack | None = None,
) -> None:
    """Write a video with every picture altered, and with its sound or another.

    ``alter`` gets a picture and its time in the source; a picture it turns into None is left out.
    """
    info = probe(source, counting=False)
    end = info.duration if end is None else end
    if info.has_audio and sound is None:
        sound = AudioTrack(stream_audio(source, SOUND_RATE, 2, start, end), SOUND_RATE, 2)
    with video_writer(out, info.frame_rate or 25, quality, sound) as writer:
        shown = False
        for time, image in every_frame(source, start, end):
            altered = alter(image, time)
            if altered is not None:
                writer.show(even(altered), time - start)
                shown = True
        if not shown:
            raise MediaError(source, f"contains no frame from {start} to {end:.2f} s")


def with_sound(video: Path, sound: AudioTrack | None, out: Path, end: float | None = None) -> None:
    """Write a video with its sound replaced or, with None, removed; the frames are copied.

    From ``end`` on there are no frames but those that earlier ones are decoded from.
    """
    with open_media(video) as container, output(out) as target:
        stream = video_stream(video, container)
        copy = target.copy_of(stream)
        sound_writer = SoundWriter(target, sound) if sound else None
        begin = origin(container, stream)
        for packet, pts, dts in _timed_packets(video, container, [stream], out):
            moment = float((dts - begin) * packet.time_base)
            if end is not None and moment >= end:
                break
            if sound_writer:
                sound_writer.play(moment)
            packet.pts, packet.dts = pts - begin, dts - begin
            packet.stream = copy
            target.mux(packet)
        if sound_writer:
            sound_writer.finish()


@dataclass(frozen=True, slots=True)
class JoinedClip:
    """A video made of several: where each of them begins in it."""

    offsets: tuple[float, ...]
    duration: float


def join(sources: Sequence[Path], out: Path, rate: float = 25.0) -> JoinedClip:
    """Write videos one after the other, at one size and frame rate; return their offsets.

    The first gives the size; others are fitted into it, with black bars where they must be.
    """
    if not sources:
        raise ReelbenchError(f"There are no videos to join into {out}: name at least one.")
    if not 0 < rate <= 1000:
        raise ReelbenchError(
            f"The frame rate {rate} is not valid: it must be over 0, at most 1000."
        )
    infos = [probe(source, counting=False) for source in sources]
    for source, info in zip(sources, infos, strict=True):
        if not info.has_video:
            raise MediaError(source, "contains no video")
    shape = (infos[0].height // 2 * 2, infos[0].width // 2 * 2)
    exact = Fraction(rate).limit_denominator(1001)
    counts = [max(1, round(info.duration * exact)) for info in infos]
    lengths = [float(count / exact) for count in counts]
    sound = AudioTrack(_sound_of(sources, infos, lengths), SOUND_RATE, 2)
    offsets = [float(offset / exact) for offset in (0, *accumulate(counts))]
    with video_writer(out, exact, sound=sound) as writer:
        for source, count, offset in zip(sources, counts, offsets[:-1], strict=True):
            for number, image in enumerate(_at_rate(source, exact, count)):
                writer.show(fitted(image, shape), offset + float(number / exact))
    return JoinedClip(tuple(offsets[:-1]), offsets[-1])


def _sound_of(
    sources: Sequence[Path], infos: Sequence[MediaInfo], lengths: Sequence[float]
) -> Iterator[Samples]:
    for source, info, length in zip(sources, infos, lengths, strict=True):
        if info.has_audio:
            yield from stream_audio(source, SOUND_RATE, 2, 0.0, length)
        else:
            yield from silence(2, round(length * SOUND_RATE))


def _at_rate(source: Path, rate: Fraction, count: int) -> Iterator[Image]:
    """Yield the picture on the screen at each tick of an even clock."""
    frames = every_frame(source)
    _, shown = next(frames)
    upcoming = next(frames, None)
    for tick in range(count):
        while upcoming is not None and upcoming[0] <= tick / rate + 1e-6:
            shown, upcoming = upcoming[1], next(frames, None)
        yield shown


def fitted(image: Image, shape: tuple[int, int]) -> Image:
    """Scale a picture into a frame of this height and width, black around it."""
    height, width = shape
    if image.shape[:2] == shape:
        return image
    scale = min(height / image.shape[0], width / image.shape[1])
    inner = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
    small = np.asarray(Pillow.fromarray(image).resize(inner, Pillow.Resampling.BICUBIC))
    frame = np.zeros((height, width, 3), np.uint8)
    top, left = (height - inner[1]) // 2, (width - inner[0]) // 2
    frame[top : top + inner[1], left : left + inner[0]] = small
    return frame


def crop_to_track(
    source: Path, track: Sequence[tuple[float, Box]], out: Path, shape: tuple[int, int]
) -> None:
    """Write what is inside a moving box, from the first to the last time of its track.

    Between two times of the track the box is interpolated linearly; what is beyond the picture is
    black.
    """
    times = [time for time, _ in track]
    if not times or times != sorted(times):
        raise ReelbenchError(f"A track on {source} is empty or not sorted by time.")
    corners = np.array([box for _, box in track])
    if not np.isfinite(corners).all() or np.abs(corners).max() > LONGEST_SIDE:
        raise ReelbenchError(
            f"A track on {source} has a box with a coordinate that is not a number or beyond "
            f"{LONGEST_SIDE} pixels."
        )

    def cropped(image: Image, time: float) -> Image | None:
        if not times[0] - 1e-6 <= time <= times[-1] + 1e-6:
            return None
        box = [np.interp(time, times, corners[:, side]) for side in range(4)]
        left, top, right, bottom = (round(float(edge)) for edge in box)
        window = Pillow.fromarray(image).crop(
            (left, top, max(right, left + 1), max(bottom, top + 1))
        )
        return fitted(np.asarray(window), shape)

    edit(source, out, cropped, times[0], times[-1] + 1e-3)
