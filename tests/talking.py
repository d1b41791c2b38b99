"""Lips and sound that go together, made up: the lips open with syllables, the sound follows."""

import numpy as np

SECONDS = 10.0
RATE = 25.0  # looks at a mouth in each second
_LATE = 0.08  # seconds by which the sound follows the lips


def syllables(seed: int, start: float = 0.0, end: float = SECONDS) -> np.ndarray:
    """Return how far someone opens the mouth at each thousandth of a second, from 0 to 1.

    Within a span there are about five syllables a second, of different strength, and pauses.
    """
    random = np.random.default_rng(seed)
    times = np.arange(0, SECONDS, 0.001)
    opening = np.zeros(len(times))
    moment = start + 0.1
    while moment < end - 0.1:
        opening += random.uniform(0.4, 1.0) * np.exp(-(((times - moment) / 0.05) ** 2))
        moment += random.uniform(0.14, 0.26) + (random.random() < 0.15) * 0.4
    return np.minimum(opening, 1.0)


def mouth_of(opening: np.ndarray, wide: float = 0.15) -> np.ndarray:
    """Return the rows of a mouth: time, opening, width, height, jaw."""
    times = np.arange(0, SECONDS, 1 / RATE)
    lips = np.interp(times, np.arange(len(opening)) / 1000, opening)
    noise = np.random.default_rng(0).normal(0, 0.002, (len(times), 4))
    shape = np.stack([wide * lips, 0.5 - wide * lips / 4, 0.2 + wide * lips, 1 + wide * lips], 1)
    return np.concatenate([times[:, None], np.maximum(shape + noise, 0)], axis=1)


def sound_of(opening: np.ndarray) -> np.ndarray:
    """Return a hoarse voice that is as loud as the mouth is open."""
    random = np.random.default_rng(9)
    times = np.arange(round(SECONDS * 16000)) / 16000
    level = np.interp(times - _LATE, np.arange(len(opening)) / 1000, opening)
    buzz = np.sign(np.sin(2 * np.pi * 120 * times)) * 0.3
    voice = np.convolve(random.normal(0, 0.3, len(times)) + buzz, np.ones(6) / 6, "same")
    return (voice * level + random.normal(0, 0.001, len(times))).astype(np.float32)
