"""The kinds of degradation: what each does to pictures, from severity 0 (nothing) to 1.

Lengths in pixels are for a picture 360 pixels high and scale with it, so that a severity looks
alike at any size.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import chain
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import ImageFilter
from scipy import fft, ndimage, special

from reelbench.base.seeds import seed_for
from reelbench.media.decode.decode import Image, upright
from reelbench.media.edit.write import STEADY
from reelbench.media.measure.metrics import luma

Images = Iterator[Image]
CLEAN = 16  # x264's crf for a video that is not to suffer
_WORST = 51  # and for one that is
_GAUSSIAN, _DEFOCUS, _MOTION = 6, 9, 18  # pixels that the worst blurs reach, to either side
_EVERYWHERE = 2**30


@dataclass(frozen=True, slots=True)
class DegradeContext:
    """What a degradation may depend on: severity, number of pictures and seed."""

    severity: float
    count: int  # pictures
    seed: int
    needed: Collection[int] | None = None  # pictures that somebody looks at; None for all
    height: int = 0  # of whole pictures, where a part of each is given

    def scale(self, image: Image) -> float:
        """By how much lengths are longer than in a picture 360 pixels high."""
        return (self.height or image.shape[0]) / 360

    def leaves(self, number: int) -> bool:
        """Whether a picture may stay as it is: nothing is to be done to it, or nobody looks."""
        return not self.severity or (self.needed is not None and number not in self.needed)

    def generator(self, *names: object) -> np.random.Generator:
        """Return a random generator for one purpose, the same on every machine."""
        return np.random.Generator(np.random.PCG64(seed_for(self.seed, "degrade", *names)))


Damage = Callable[[Images, DegradeContext], Images]


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
                yield change(image, scene.scale(image), scene)

    return damage


def _gaussian_blur(image: Image, scale: float, scene: DegradeContext) -> Image:
    radius = _GAUSSIAN * scene.severity * scale
    return np.asarray(Pillow.fromarray(image).filter(ImageFilter.GaussianBlur(radius)))


def _motion_blur(image: NDArray[np.float32], scale: float, scene: DegradeContext) -> NDArray[Any]:
    whole, rest = divmod(_MOTION * scene.severity * scale, 1)
    reach, length = int(whole) + 1, 1 + 2 * whole
    # The two pixels at the ends count in part, so that the blur grows evenly.
    padded = np.pad(image, ((0, 0), (reach, reach), (0, 0)), mode="edge")
    blurred = ndimage.uniform_filter1d(image, int(length), axis=1, mode="nearest")
    blurred *= length
    blurred += np.float32(rest) * (padded[:, : -2 * reach] + padded[:, 2 * reach :])
    return np.asarray(blurred / np.float32(length + 2 * rest))


def _defocus(image: NDArray[np.float32], scale: float, scene: DegradeContext) -> NDArray[Any]:
    radius = _DEFOCUS * scene.severity * scale
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
    quality = round(CLEAN + (_WORST - CLEAN) * scene.severity)
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
_TONE = ("over-exposure", "under-exposure", "colour cast", "oversaturation", "banding", "flicker")
# How far away a pixel is that another one depends on, by severity times scale: where a part of a
# picture is damaged, what lies further need not be looked at.
REACH: Mapping[str, Callable[[float], float]] = {
    **dict.fromkeys(DEGRADATIONS, lambda _: _EVERYWHERE),
    **dict.fromkeys(("noise", *_TONE), lambda _: 0),
    "gaussian blur": lambda size: 3 * (_GAUSSIAN * size + 2),  # three boxes make it
    "motion blur": lambda size: _MOTION * size + 1,
    "defocus": lambda size: _DEFOCUS * size + 1,
}
