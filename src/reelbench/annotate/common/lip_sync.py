"""How far a mouth and the sound of a clip agree over time.

Both are read on a common grid: the sound as levels of 16 bands, the mouth as four measures and
their speeds. A few linear combinations of the one that go best with as many of the other
(canonical correlation analysis) were learned from people who are seen to speak; their correlation
over time is the agreement. What it is by chance is seen in the same clip: the sound is shifted by
seconds, and mouths do not go with it any more.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from json import loads

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from reelbench.annotate.common.audio import Mask, Mono
from reelbench.media.edit.audio import SPEECH_RATE

Numbers = NDArray[np.float64]
STEP = 0.04  # seconds of the grid
LAG = 0.2  # seconds by which picture and sound may be apart
APART = 0.6  # seconds from which on shifted sound is other sound
BREAK = 0.3  # seconds between two looks, over which the shape of a mouth is not known
MEASURES = 4  # of a mouth: opening, width, height, jaw
AHEAD = (0, 2, 4)  # steps by which sound is heard later than the lips that make it
_WIDTH, _HOP, _FFT, _BANDS, _LOWEST, _HIGHEST = 400, 160, 512, 16, 100.0, 6000.0
_SMOOTH = 7  # hundredths of a second
_DEPTH = 50.0  # dB below the loudest, where everything is silence


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far lips and sound agree, and how far they do by chance."""

    correlation: float  # from -1 to 1, at the best lag
    lag: float  # seconds by which the sound comes later than usual
    deviations: float  # standard deviations by which it is better than with shifted sound
    seconds: float  # that were compared


@dataclass(frozen=True, slots=True)
class LipReader:
    """Linear combinations of sound and mouth that go together, the best pair first."""

    sound: Numbers  # column by column
    mouth: Numbers
    weights: Numbers  # of the pairs: how well they went together where they were learned


@cache
def lip_reader() -> LipReader:
    """Return the combinations that were learned from people who are seen to speak."""
    text = files("reelbench.annotate.common").joinpath("lip_reader.json").read_text("utf-8")
    learned = {name: np.array(rows, np.float64) for name, rows in loads(text).items()}
    return LipReader(learned["sound"], learned["mouth"], learned["weights"])


def speech_bands(samples: Mono) -> Numbers:
    """Return the levels of bands of the sound on the grid, normalised, with what soon follows."""
    frames = sliding_window_view(np.pad(samples, _WIDTH // 2), _WIDTH)[::_HOP]
    power = np.abs(np.fft.rfft(frames * np.hanning(_WIDTH), _FFT)) ** 2 @ _bands().T
    levels = 10 * np.log10(power + 1e-9)
    levels = np.maximum(levels, np.percentile(levels.max(axis=1), 95) - _DEPTH)
    grid = np.arange(0, len(samples) / SPEECH_RATE, STEP)
    times = np.arange(len(levels)) * _HOP / SPEECH_RATE
    columns = [np.interp(grid, times, smoothed(level, _SMOOTH)) for level in levels.T]
    level = _normalised(np.stack(columns, axis=1), np.ones(len(grid), bool))
    last = len(level) - 1
    return np.concatenate([level[np.minimum(np.arange(last + 1) + a, last)] for a in AHEAD], axis=1)


def lips_on_grid(at: Numbers, count: int) -> tuple[Numbers, Mask]:
    """Return the measures of a mouth and their speeds on the grid, and where they are known.

    ``at`` has the rows of the label: time, opening, width, height, jaw.
    """
    grid = np.arange(count) * STEP
    if len(at) < 2:
        return np.zeros((count, 2 * MEASURES)), np.zeros(count, bool)
    times = at[:, 0]
    after = np.clip(np.searchsorted(times, grid), 1, len(times) - 1)
    known = times[after] - times[after - 1] <= BREAK
    known &= (grid >= times[0] - STEP / 2) & (grid <= times[-1] + STEP / 2)
    shapes = [np.interp(grid, times, at[:, 1 + n]) for n in range(MEASURES)]
    speeds = [np.abs(np.gradient(smoothed(shape, 3), STEP)) for shape in shapes]
    return _normalised(np.stack([*shapes, *speeds], axis=1), np.asarray(known, bool)), known


def agreement(
    bands: Numbers, lips: Numbers, known: Mask, reader: LipReader | None = None
) -> Agreement:
    """Return how far lips and sound agree where both are known."""
    reader = reader or lip_reader()
    curve = curve_by_shift(bands @ reader.sound, lips @ reader.mouth, known, reader.weights)
    lags = round(LAG / STEP)
    near = np.concatenate([curve[-lags:], curve[: lags + 1]])
    best = int(near.argmax())
    return Agreement(
        correlation=float(near[best]),
        lag=(best - lags) * STEP,
        deviations=_deviations(curve, float(near[best]), lags),
        seconds=float(known.sum()) * STEP,
    )


def _deviations(curve: Numbers, best: float, lags: int) -> float:
    """Return how far the best near lag is above the best of as many lags around other shifts."""
    apart = round(APART / STEP)
    if len(curve) < 4 * apart:  # too short to be shifted
        return 0.0
    around = np.concatenate([curve[-lags:], curve, curve[:lags]])
    chance = sliding_window_view(around, 2 * lags + 1).max(axis=1)[apart:-apart]
    deviation = float(chance.std())
    return (best - float(chance.mean())) / deviation if deviation > 1e-6 else 0.0


def curve_by_shift(sound: Numbers, mouth: Numbers, known: Mask, weights: Numbers) -> Numbers:
    """Return the weighted mean correlation of pairs of columns, for each shift of the sound.

    The sound is shifted to be that much later, what is lost at its end comes in at the start; all
    shifts are computed at once, by Fourier transforms.
    """
    count = int(known.sum())
    if count < 2:
        return np.zeros(len(sound))
    mask = known.astype(np.float64)
    total = np.zeros(len(sound))
    for heard, seen, weight in zip(sound.T, mouth.T, weights, strict=True):
        inside = np.where(known, seen, 0.0)
        inside = np.where(known, inside - inside.sum() / count, 0.0)
        product = _by_shift(inside, heard)
        mean = _by_shift(mask, heard) / count
        spread = np.maximum(_by_shift(mask, heard**2) - count * mean**2, 0.0)
        scale = np.sqrt(spread * float(inside @ inside))
        total += weight * np.where(scale > 1e-9, product / np.maximum(scale, 1e-9), 0.0)
    return total / float(weights.sum())


def _by_shift(seen: Numbers, heard: Numbers) -> Numbers:
    """Return the sum of seen[i] * heard[i + shift] for each shift, going round at the end."""
    spectrum = np.fft.rfft(seen).conj() * np.fft.rfft(heard)
    return np.asarray(np.fft.irfft(spectrum, len(seen)))


def smoothed(values: Numbers, width: int) -> Numbers:
    """Return the means of values around each, weighted by a bell of an odd width."""
    bell = np.hanning(width + 2)[1:-1]
    padded = np.pad(values, width // 2, mode="edge")
    return np.convolve(padded, bell / bell.sum(), "valid")


def _normalised(columns: Numbers, known: Mask) -> Numbers:
    if not known.any():
        return np.zeros_like(columns)
    mean, deviation = columns[known].mean(axis=0), columns[known].std(axis=0)
    return np.asarray((columns - mean) / (deviation + 1e-6))


@cache
def _bands() -> Numbers:
    """Triangles of equal height on the mel scale of HTK."""
    low, high = (2595 * np.log10(1 + hertz / 700) for hertz in (_LOWEST, _HIGHEST))
    edges = 700 * (10 ** (np.linspace(low, high, _BANDS + 2) / 2595) - 1)
    tones = np.linspace(0, SPEECH_RATE / 2, _FFT // 2 + 1)
    left, middle, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (tones - left) / (middle - left), (right - tones) / (right - middle)
    return np.asarray(np.maximum(0, np.minimum(rising, falling)))
