"""Degrades a video by a known amount: eighteen kinds, each with a severity from 0 to 1.

A severity of 0 changes no picture, bit for bit; a higher severity is more damage in a measurable
quality, which tests measure. (Writing a video encodes it, which always costs a little: crf 16.)
The same seed gives the same damage on every machine. Lengths in pixels are for a picture 360 pixels
high and scale with it, so that a severity looks alike at any size.

This decodes in the calling process: for untrusted files, call it through ``run_isolated``.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import ImageFilter
from scipy import fft, ndimage, special

from reelbench.base.errors import ReelbenchError
from reelbench.base.seeds import seed_for
from reelbench.data.items import Span
from reelbench.media.decode.decode import Image, every_frame, upright
from reelbench.media.decode.probe import probe
from reelbench.media.decode.timeline import frame_times
from reelbench.media.edit.audio import stream_audio
from reelbench.media.edit.clip import SOUND_RATE
from reelbench.media.edit.write import STEADY, AudioTrack, even, video_writer
from reelbench.media.measure.metrics import luma

Images = Iterator[Image]
Region = tuple[float, float, float, float]  # left, top, right, bottom as shares of the picture
_CLEAN, _WORST = 16, 51  # x264's crf for a video that is not to suffer, and for one that is


@dataclass(frozen=True, slots=True)
class DegradeContext:
    """What a degradation may depend on: severity, number of pictures and seed."""

    severity: float
    count: int  # pictures
    seed: int
    needed: Collection[int] | None = None  # pictures that somebody looks at; None for all

    def leaves(self, number: int) -> bool:
        """Whether a picture may stay as it is: nothing is to be done to it, or nobody looks."""
        return not self.severity or (self.needed is not None and number not in self.needed)

    def generator(self, *names: object) -> np.random.Generator:
        """Return a random generator for one purpose, the same on every machine."""
        return np.random.Generator(np.random.PCG64(seed_for(self.seed, "degrade", *names)))


Damage = Callable[[Images, DegradeContext], Images]


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
    with video_writer(out, info.frame_rate or 25, _CLEAN, sound) as writer:
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
        waiting: deque[tuple[Image, Image]] = deque()  # pictures, and what of them is damaged

        def remembered() -> Images:
            for image in images:
                given = image[_pixels(region, image)] if kind in _BY_PIXEL else image
                waiting.append((image, given))
                yield given

        for changed in damage(remembered(), scene):
            original, given = waiting.popleft()
            if changed is given:
                yield original
                continue
            inside, mixed = _pixels(region, original), original.copy()
            mixed[inside] = changed if kind in _BY_PIXEL else changed[inside]
            yield mixed

    return local


def _pixels(region: Region, image: Image) -> tuple[slice, slice]:
    height, width = image.shape[:2]
    rows = slice(round(region[1] * height), round(region[3] * height))
    return rows, slice(round(region[0] * width), round(region[2] * width))


def _each(change: Callable[[NDArray[np.float32], float, DegradeContext], NDArray[Any]]) -> Damage:
    """Make a damage of a change to one picture, given as floats; severity 0 leaves it alone."""

    def change_image(image: Image, scale: float, scene: DegradeContext) -> Image:
        changed = change(image.astype(np.float32), scale, scene)
        return np.clip(np.round(changed), 0, 255).astype(np.uint8)

    return _each_image(change_image)


def _each_image(change: Callable[[Image, float, DegradeContext], Image]) -> Damage:
    """Make a damage of a change to one picture, given as it is; severity 0 leaves it alone."""

    def damage(images: Images, scene: DegradeContext) -> Images:
        for number, image in enumerate(images):
            if scene.leaves(number):
                yield image
            else:
                yield change(image, image.shape[0] / 360, scene)

    return damage


def _gaussian_blur(image: Image, scale: float, scene: DegradeContext) -> Image:
    radius = 6 * scene.severity * scale
    return np.asarray(Pillow.fromarray(image).filter(ImageFilter.GaussianBlur(radius)))


def _motion_blur(image: NDArray[np.float32], scale: float, scene: DegradeContext) -> NDArray[Any]:
    length = 1 + 2 * round(18 * scene.severity * scale)
    return np.asarray(ndimage.uniform_filter1d(image, length, axis=1, mode="nearest"))


def _defocus(image: NDArray[np.float32], scale: float, scene: DegradeContext) -> NDArray[Any]:
    radius = 9 * scene.severity * scale
    reach = int(np.ceil(radius))
    planes = np.pad(image.transpose(2, 0, 1), ((0, 0), (reach, reach), (reach, reach)), mode="edge")
    height, width = (fft.next_fast_len(side, real=True) for side in planes.shape[1:])
    spectra = fft.rfft2(planes, (height, width)) * _disc_spectrum(radius, height, width)
    blurred = fft.irfft2(spectra, (height, width))
    inside = (slice(2 * reach, 2 * reach + side) for side in image.shape[:2])
    return np.asarray(blurred[(slice(None), *inside)].transpose(1, 2, 0))


@lru_cache(maxsize=2)
def _disc_spectrum(radius: float, height: int, width: int) -> NDArray[np.complex64]:
    """The transform of a disc; every picture of a video is multiplied by the same."""
    reach = int(np.ceil(radius))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    # Partly covered pixels count in part, so that the disc grows evenly.
    disc = np.clip(radius + 0.5 - np.hypot(x, y), 0, 1)
    return np.asarray(fft.rfft2((disc / disc.sum()).astype(np.float32), (height, width)))


def _downscale(image: Image, _: float, scene: DegradeContext) -> Image:
    height, width = image.shape[:2]
    factor = 1 + 11 * scene.severity
    small = (max(1, round(width / factor)), max(1, round(height / factor)))
    picture = Pillow.fromarray(image).resize(small, Pillow.Resampling.BOX)
    return np.asarray(picture.resize((width, height), Pillow.Resampling.BILINEAR))


def _over_exposure(image: NDArray[np.float32], _: float, scene: DegradeContext) -> NDArray[Any]:
    return image * (1 + 1.8 * scene.severity)


def _under_exposure(image: NDArray[np.float32], _: float, scene: DegradeContext) -> NDArray[Any]:
    return image * (1 - 0.9 * scene.severity)


def _low_contrast(image: NDArray[np.float32], _: float, scene: DegradeContext) -> NDArray[Any]:
    middle = image.mean()
    return np.asarray(middle + (image - middle) * (1 - 0.9 * scene.severity))


def _colour_cast(image: NDArray[np.float32], _: float, scene: DegradeContext) -> NDArray[Any]:
    warm = np.array([1 + 0.5 * scene.severity, 1.0, 1 - 0.6 * scene.severity], np.float32)
    # Row by row: NumPy is slow at rows of three.
    rows = image.reshape(len(image), -1) * np.tile(warm, image.shape[1])
    return np.asarray(rows.reshape(image.shape))


def _oversaturation(image: NDArray[np.float32], _: float, scene: DegradeContext) -> NDArray[Any]:
    rows, grey = image.reshape(len(image), -1), np.repeat(luma(image), 3, axis=1)
    return np.asarray((grey + (rows - grey) * (1 + 3 * scene.severity)).reshape(image.shape))


def _banding(image: NDArray[np.float32], _: float, scene: DegradeContext) -> NDArray[Any]:
    step = 1 + 79 * scene.severity
    return np.asarray(np.floor(image / step) * step + (step - 1) / 2)


def _noise(images: Images, scene: DegradeContext) -> Images:
    levels = np.round(55 * scene.severity * _normal_quantiles()).astype(np.int16)
    for number, image in enumerate(images):
        if scene.leaves(number):
            yield image
            continue
        draws = scene.generator("noise", number).integers(
            0, 2**64 - 1, -(-image.size // 4), np.uint64, endpoint=True
        )
        parts = draws.astype("<u8", copy=False).view("<u2")[: image.size]  # four of each
        noisy = levels.take(parts).reshape(image.shape)
        noisy += image
        yield np.clip(noisy, 0, 255, out=noisy).astype(np.uint8)


@cache
def _normal_quantiles() -> NDArray[np.float64]:
    """The normal distribution as numbers, each as likely: looking up is quicker than drawing."""
    return np.asarray(special.ndtri((np.arange(2**16) + 0.5) / 2**16))


def _compression(images: Images, scene: DegradeContext) -> Images:
    """Encode for too few bits, and decode again."""
    if scene.severity == 0:
        yield from images
        return
    first = next(images, None)
    if first is None:
        return
    height, width = first.shape[:2]
    encoder = av.VideoCodecContext.create("libx264", "w")
    encoder.height, encoder.width = height + height % 2, width + width % 2
    encoder.pix_fmt, encoder.time_base = "yuv420p", Fraction(1, 25)
    quality = round(_CLEAN + (_WORST - _CLEAN) * scene.severity)
    encoder.options = {**STEADY, "crf": str(quality), "g": "250"}
    decoder = av.VideoCodecContext.create("h264", "r")
    decoder.thread_count = 1
    for number, image in enumerate(chain([first], images)):
        padded = np.pad(image, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
        frame = av.VideoFrame.from_ndarray(padded, "rgb24")
        frame.pts = number
        for packet in encoder.encode(frame):
            yield from (upright(f)[:height, :width] for f in decoder.decode(packet))
    for packet in encoder.encode(None):
        yield from (upright(f)[:height, :width] for f in decoder.decode(packet))
    yield from (upright(f)[:height, :width] for f in decoder.decode(None))


def _shake(images: Images, scene: DegradeContext) -> Images:
    """Move the picture about, as an unsteady hand does: smoothly, and never back to rest."""
    steps = scene.generator("shake").standard_normal((scene.count + 8, 2))
    path = ndimage.gaussian_filter1d(steps, 1.2, axis=0)
    path = path / max(1e-9, np.abs(path).max())
    for number, image in enumerate(images):
        reach = 22 * scene.severity * image.shape[0] / 360
        down, right = (round(float(move) * reach) for move in path[number % len(path)])
        yield image if scene.leaves(number) else _moved(image, down, right)


def _moved(image: Image, down: int, right: int) -> Image:
    margin = max(abs(down), abs(right))
    if not margin:
        return image
    padded = np.pad(image, ((margin, margin), (margin, margin), (0, 0)), mode="edge")
    height, width = image.shape[:2]
    top, left = margin - down, margin - right
    return np.ascontiguousarray(padded[top : top + height, left : left + width])


def _flicker(images: Images, scene: DegradeContext) -> Images:
    swings = scene.generator("flicker").uniform(-1, 1, scene.count + 1)
    for number, image in enumerate(images):
        if scene.leaves(number):
            yield image
            continue
        gain = 1 + 0.5 * scene.severity * float(swings[number % len(swings)])
        # Each of the 256 levels once, and then looked up.
        levels = np.arange(256, dtype=np.float32) * np.float32(gain)
        yield np.clip(np.round(levels), 0, 255).astype(np.uint8)[image]


def _dropped_frames(images: Images, scene: DegradeContext) -> Images:
    """Lose frames here and there: the one before stays on the screen."""
    luck = scene.generator("dropped frames").random(scene.count + 1)
    shown: Image | None = None
    for number, image in enumerate(images):
        if shown is None or luck[number % len(luck)] >= 0.8 * scene.severity:
            shown = image
        yield shown


def _stutter(images: Images, scene: DegradeContext) -> Images:
    """Show only every so many-th frame, evenly: a video at a low rate."""
    hold = 1 + 11 * scene.severity
    shown: Image | None = None
    upcoming = 0.0
    for number, image in enumerate(images):
        if shown is None or number >= upcoming - 1e-9:
            shown = image
            upcoming += hold
        yield shown


def _freeze(images: Images, scene: DegradeContext) -> Images:
    """Stop once, as a player does that waits for data, and go on where the time has got to."""
    length = round(0.7 * scene.severity * scene.count)
    begin = round(float(scene.generator("freeze").random()) * (scene.count - length))
    shown: Image | None = None
    for number, image in enumerate(images):
        if shown is None or not begin < number <= begin + length:
            shown = image
        yield shown


def _ghosting(images: Images, scene: DegradeContext) -> Images:
    """Let what was on the screen a moment ago shine through."""
    before: deque[Image] = deque(maxlen=4)
    share = np.float32(0.5 * scene.severity)
    for image in images:
        ghost = before[0] if before else image
        mixed = image.astype(np.float32) * (1 - share) + ghost.astype(np.float32) * share
        before.append(image)
        yield np.round(mixed).astype(np.uint8) if scene.severity else image


DEGRADATIONS: dict[str, Damage] = {
    "gaussian blur": _each_image(_gaussian_blur),
    "motion blur": _each(_motion_blur),
    "defocus": _each(_defocus),
    "noise": _noise,
    "compression": _compression,
    "downscale": _each_image(_downscale),
    "over-exposure": _each(_over_exposure),
    "under-exposure": _each(_under_exposure),
    "low contrast": _each(_low_contrast),
    "colour cast": _each(_colour_cast),
    "oversaturation": _each(_oversaturation),
    "banding": _each(_banding),
    "shake": _shake,
    "flicker": _flicker,
    "dropped frames": _dropped_frames,
    "stutter": _stutter,
    "freeze": _freeze,
    "ghosting": _ghosting,
}
# In which a pixel depends on no other, so that a part of a picture can be damaged alone.
_TONE = ("over-exposure", "under-exposure", "colour cast", "oversaturation", "banding", "flicker")
_BY_PIXEL = ("noise", *_TONE)
