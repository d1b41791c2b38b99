"""Degrades a video by a known amount: eighteen kinds, each with a severity from 0 to 1.

A severity of 0 changes no picture, bit for bit; a higher severity is more damage in a measurable
quality, which tests measure. (Writing a video encodes it, which always costs a little: crf 16.)
The same seed gives the same damage on every machine. ``degradations.py`` has the kinds.

This decodes in the calling process: for untrusted files, call it through ``run_isolated``.
"""

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import chain, groupby
from math import ceil
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Span
from reelbench.media.decode.decode import Image, every_frame
from reelbench.media.decode.probe import probe
from reelbench.media.decode.timeline import frame_times
from reelbench.media.edit.audio import stream_audio
from reelbench.media.edit.clip import SOUND_RATE
from reelbench.media.edit.degradations import (
    CLEAN,
    DEGRADATIONS,
    REACH,
    Damage,
    DegradeContext,
    Images,
)
from reelbench.media.edit.write import AudioTrack, even, video_writer

Region = tuple[float, float, float, float]  # left, top, right, bottom as shares of the picture


def degrade_video(
    source: Path,
    out: Path,
    kind: str,
    severity: float,
    seed: int = 0,
    span: Span | None = None,
    region: Region | None = None,
) -> None:
    """Write a degraded copy of a video.

    ``kind`` is one of ``DEGRADATIONS``; ``span`` (seconds) and ``region`` (shares of the picture)
    limit where it applies.
    """
    info = probe(source, counting=False)
    start, end = span or (0.0, float("inf"))
    inside = sum(start <= time < end for time in frame_times(source))
    scene = DegradeContext(_checked(kind, severity), inside, seed)
    damage = _within(kind, region)
    sound = None
    if info.has_audio:
        sound = AudioTrack(stream_audio(source, SOUND_RATE, 2, 0.0, info.duration), SOUND_RATE, 2)
    with video_writer(out, info.frame_rate or 25, CLEAN, sound) as writer:
        parts = groupby(every_frame(source), key=lambda pair: start <= pair[0] < end)
        for is_inside, pairs in parts:
            times: deque[float] = deque()
            pictures = _apart(pairs, times)
            for image in damage(pictures, scene) if is_inside else pictures:
                writer.show(even(image), times.popleft())


def _apart(pairs: Iterable[tuple[float, Image]], times: deque[float]) -> Images:
    """Yield pictures, and put their times aside."""
    for time, image in pairs:
        times.append(time)
        yield image


def degrade_images(
    images: Iterable[Image],
    kind: str,
    severity: float,
    seed: int = 0,
    region: Region | None = None,
    needed: Collection[int] | None = None,
) -> list[Image]:
    """Return degraded copies of pictures; ``region`` limits where the degradation applies.

    Of ``needed``, numbers of pictures, each is as it would be among all; others may be undamaged.
    """
    pictures = list(images)
    scene = DegradeContext(_checked(kind, severity), len(pictures), seed, needed)
    return list(_within(kind, region)(iter(pictures), scene))


def _checked(kind: str, severity: float) -> float:
    if kind not in DEGRADATIONS:
        known = ", ".join(DEGRADATIONS)
        raise ReelbenchError(f"Unknown degradation {kind!r}; the known ones: {known}.")
    if not 0 <= severity <= 1:
        raise ReelbenchError(f"The severity {severity} is not valid: it must be from 0 to 1.")
    return severity


def _within(kind: str, region: Region | None) -> Damage:
    """Keep the damage to a region of the picture."""
    damage = DEGRADATIONS[kind]
    if region is None:
        return damage

    def local(images: Images, scene: DegradeContext) -> Images:
        waiting: deque[tuple[Image, Image]] = deque()  # pictures, and what of them is given
        first = next(images, None)
        if first is None:
            return
        if not first[_pixels(region, first)].size:  # in a picture of few pixels
            yield from chain([first], images)
            return
        reach = ceil(REACH[kind](scene.severity * scene.scale(first)))

        def remembered() -> Images:
            for image in chain([first], images):
                waiting.append((image, image[_pixels(region, image, reach)]))
                yield waiting[-1][1]

        for changed in damage(remembered(), replace(scene, height=first.shape[0])):
            original, given = waiting.popleft()
            if changed is given:
                yield original
                continue
            inside, wider = _pixels(region, original), _pixels(region, original, reach)
            mixed = original.copy()
            mixed[inside] = changed[
                tuple(
                    slice(own.start - around.start, own.stop - around.start)
                    for own, around in zip(inside, wider, strict=True)
                )
            ]
            yield mixed

    return local


def _pixels(region: Region, image: Image, reach: int = 0) -> tuple[slice, slice]:
    """The rows and columns of a region, and of what is so near to it."""
    left, top, right, bottom = region
    height, width = image.shape[:2]
    return _reaching(top, bottom, height, reach), _reaching(left, right, width, reach)


def _reaching(begin: float, end: float, length: int, reach: int) -> slice:
    return slice(max(0, round(begin * length) - reach), min(length, round(end * length) + reach))
