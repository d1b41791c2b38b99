"""Measures of one picture, of two consecutive ones, and of a sequence.

Plain functions on arrays, with NumPy and SciPy alone. A ``Grey`` is the luma of a picture, from 0
to 255; lengths are shares of the picture's height, so that they mean the same at every size. Each
measure was held against real clips damaged more and more (``reelbench.media.edit.degrade``).
"""

from collections.abc import Sequence
from math import hypot

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Image = NDArray[np.uint8]  # height x width x 3, RGB
Grey = NDArray[np.float32]  # height x width, 0 to 255
Spectrum = NDArray[np.complex64]  # of a picture, for shifts
_GRID = 8  # pixels of a block, in JPEG and in most of MPEG
_PATCH = 16  # pixels of the patches that noise is measured in
_DARK, _BRIGHT = 10, 245  # levels at which nothing can be told apart any more
_FLAT = 1.0  # levels; a picture that varies by less shows nothing


def luma(image: Image | NDArray[np.float32]) -> Grey:
    """Return the luma of each pixel (BT.601, as in JPEG and most video)."""
    # Term by term: a product of matrices is summed in another order on another machine.
    grey = image[..., 0].astype(np.float32)
    grey *= np.float32(0.299)
    for channel, share in ((1, 0.587), (2, 0.114)):
        part = image[..., channel].astype(np.float32)
        part *= np.float32(share)
        grey += part
    return grey


# One picture


def sharpness(grey: Grey) -> float:
    """Return the sharpness, from 0 (blurred) to 1: the share of detail that another blur removes.

    A blurred picture hardly changes if it is blurred once more (Crété et al., 2007). Contrast
    cancels out. The worse direction counts, as motion blurs one alone; noise counts as detail.
    Three scales are looked at, of which the coarser tell blurred from very blurred.
    """
    details = []
    for _ in range(3):
        details.append(min(_detail(grey), _detail(grey.T)))
        grey = _halved(grey)
    return float(np.mean(details))


def _halved(grey: Grey) -> Grey:
    """A picture of half the size, unless it is tiny already."""
    rows, columns = (side // 2 for side in grey.shape)
    if min(rows, columns) < 16:
        return grey
    whole = grey[: rows * 2, : columns * 2]
    pairs = whole[::2] + whole[1::2]
    return (pairs[:, ::2] + pairs[:, 1::2]) * np.float32(0.25)


def _detail(grey: Grey) -> float:
    """What share of the steps between neighbours in a column a blur along it takes away."""
    if len(grey) < 2:
        return 0.0
    steps = grey[1:] - grey[:-1]
    np.abs(steps, out=steps)
    whole = float(steps.sum(dtype=np.float64))
    if whole <= 0:
        return 0.0
    # Two neighbouring means of nine pixels share eight: they differ by what only one of them has.
    padded = np.concatenate([*[grey[:1]] * 4, grey, *[grey[-1:]] * 4])
    lost = padded[9:] - padded[:-9]
    np.abs(lost, out=lost)
    lost *= np.float32(1 / 9)
    np.subtract(steps, lost, out=lost)
    return float(np.maximum(lost, 0, out=lost).sum(dtype=np.float64)) / whole


def noise(grey: Grey) -> float:
    """Return the standard deviation of the noise, in levels, in the smoothest parts of the picture.

    Immerkær's mask (1996) cancels what is flat or sloped and leaves noise and texture; of the
    patches the calmest quarter is believed, which has no texture. Black and blown-out ones, where
    noise is cut off, are passed over.
    """
    if min(grey.shape) < 3:
        return 0.0
    across = grey[:, :-2] + grey[:, 2:]
    across -= 2 * grey[:, 1:-1]
    rest = across[:-2] + across[2:]
    rest -= 2 * across[1:-1]
    np.abs(rest, out=rest)
    strength = _patch_means(rest) * np.sqrt(np.pi / 2) / 6
    level = _patch_means(grey[1:-1, 1:-1])
    usable = strength[(level > _DARK) & (level < _BRIGHT)]
    return float(np.quantile(usable, 0.25)) if usable.size else 0.0


def _patch_means(values: Grey) -> NDArray[np.float64]:
    """The mean of each patch; what is left over at the right and below is not counted."""
    side = min(_PATCH, *values.shape)
    rows, columns = values.shape[0] // side, values.shape[1] // side
    strips = values[: rows * side, : columns * side].reshape(rows, side, columns * side)
    patches = strips.sum(axis=1).reshape(rows, columns, side)  # a row at a time, which is quicker
    return np.asarray(patches.sum(axis=2, dtype=np.float64) / side**2)


def brightness(grey: Grey) -> float:
    """Return the mean brightness, from 0 (black) to 1 (white)."""
    return float(grey.mean(dtype=np.float64)) / 255


def too_dark(grey: Grey) -> float:
    """Return the share of pixels that are nearly black."""
    return float(np.mean(grey <= _DARK))


def too_bright(grey: Grey) -> float:
    """Return the share of pixels that are nearly white."""
    return float(np.mean(grey >= _BRIGHT))


def contrast(grey: Grey) -> float:
    """Return the deviation of brightness, from 0 (uniform) to 1 (half black, half white)."""
    return float(grey.std(dtype=np.float64)) / 127.5


def colourfulness(image: Image) -> float:
    """Hasler and Süsstrunk (2003): 0 for grey, 15 slightly, 45 quite, 80 and more highly so."""
    sides = _opponents(image)
    spread = hypot(*(float(side.std(dtype=np.float64)) for side in sides))
    return spread + 0.3 * hypot(*(float(side.mean(dtype=np.float64)) for side in sides))


def cast(image: Image) -> float:
    """Return the distance of the mean colour from grey, in levels of the two opponent axes."""
    return hypot(*(float(side.mean(dtype=np.float64)) for side in _opponents(image)))


def _opponents(image: Image) -> tuple[Grey, Grey]:
    """Red against green, and yellow against blue."""
    fewer = image[::2, ::2]  # most video has no finer colours
    red, green, blue = (fewer[..., channel].astype(np.float32) for channel in range(3))
    return red - green, (red + green) * np.float32(0.5) - blue


def blockiness(grey: Grey) -> float:
    """Return the excess of steps between blocks of 8 x 8 pixels over steps within; 0 for none.

    It needs the pixels as they were encoded: scaling moves the grid away. Codecs that smooth their
    blocks' edges (H.264 and later) show blocks only where bits are really few.
    """
    both = _grid_excess(grey) + _grid_excess(grey.T)
    return max(0.0, both / 2)


def _grid_excess(grey: Grey) -> float:
    """By how much steps down at the grid exceed their neighbours, less the same amid the blocks."""
    if len(grey) < 3 * _GRID:
        return 0.0
    steps = grey[1:] - grey[:-1]
    np.abs(steps, out=steps)
    last = len(steps) - 1

    def excess(phase: int) -> float:
        more = steps[phase - 1 : last - 1 : _GRID] + steps[phase + 1 : last + 1 : _GRID]
        more *= np.float32(0.5)
        np.subtract(steps[phase:last:_GRID], more, out=more)
        return float(np.maximum(more, 0, out=more).mean(dtype=np.float64))

    amid = (excess(_GRID // 4) + excess(_GRID // 2)) / 2
    return (excess(_GRID - 1) - amid) / (float(steps.mean(dtype=np.float64)) + 0.05)


# Two pictures


def change(before: Grey, after: Grey) -> float:
    """Return the largest change anywhere, in levels, of means over 4 x 4 pixels (less noise)."""
    apart = np.abs(ndimage.uniform_filter(after - before, 4, mode="nearest"))
    return float(apart.max())


def likeness(before: Grey, after: Grey) -> float:
    """Return the correlation, -1 to 1: low across a cut, high where only the light changed."""
    spread = float(before.std(dtype=np.float64)), float(after.std(dtype=np.float64))
    if min(spread) < _FLAT:
        return 1.0 if max(spread) < _FLAT else 0.0
    apart = (before - before.mean(dtype=np.float64)) * (after - after.mean(dtype=np.float64))
    return float(apart.mean(dtype=np.float64)) / (spread[0] * spread[1])


def shift(before: Grey, after: Grey) -> tuple[float, float]:
    """Return the shift of the whole picture, right and down, in shares of its height.

    By phase correlation, which finds the move that most of the picture shares.
    """
    return shift_of_spectra(spectrum(before), spectrum(after), before.shape)


def spectrum(grey: Grey) -> Spectrum:
    """Return what ``shift_of_spectra`` compares: a picture is transformed once for two shifts."""
    height, width = grey.shape
    window = np.outer(np.hanning(height), np.hanning(width)).astype(np.float32)
    return np.asarray(np.fft.rfft2((grey - grey.mean(dtype=np.float64)) * window), np.complex64)


def shift_of_spectra(
    before: Spectrum, after: Spectrum, shape: tuple[int, ...]
) -> tuple[float, float]:
    """Return the shift between two pictures of this shape, as ``shift`` does."""
    cross = after * np.conj(before)
    sizes = np.abs(cross)
    peaks = np.fft.irfft2(cross / (sizes + 1e-3 * sizes.max() + 1e-9), shape)
    down, right = np.unravel_index(int(np.argmax(peaks)), peaks.shape)
    moves = (_centre(peaks[:, right], int(down)), _centre(peaks[down], int(right)))
    return moves[1] / shape[0], moves[0] / shape[0]


def _centre(peaks: NDArray[np.float64], index: int) -> float:
    """Where a peak lies between samples, counted from 0 to either side."""
    size = len(peaks)
    left, middle, right = (float(peaks[(index + step) % size]) for step in (-1, 0, 1))
    bend = left - 2 * middle + right
    place = index + (0.5 * (left - right) / bend if bend < 0 else 0.0)
    return place - size if place > size / 2 else place


# A row of pictures


def jumps(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance of each value from the mean of its neighbours: the fastest changes.

    The first and the last value have none; a steady rise or fall gives 0.
    """
    row = np.asarray(values, np.float64)
    if len(row) < 3:
        return np.zeros(0)
    return np.abs(row[1:-1] - (row[:-2] + row[2:]) / 2)


def unevenness(steps: Sequence[float]) -> float:
    """Return the coefficient of variation of the steps from one new frame to the next."""
    row = np.asarray(steps, np.float64)
    mean = float(row.mean()) if len(row) else 0.0
    return float(row.std()) / mean if mean > 0 else 0.0
