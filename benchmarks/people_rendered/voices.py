"""Speech of espeak-ng, and how far it opens a mouth."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reelbench.media.edit.audio import read_audio

RATE = 16_000
VOICES = {
    "male": ("en-us", "en-gb", "en-us+m3"),
    "female": ("en-us+f3", "en-us+f4", "en-us+f2"),
}
SENTENCES = (
    "The train to the coast leaves at seven and arrives before noon.",
    "My sister painted the kitchen yellow while we were away.",
    "Nobody in the village remembers when the bridge was built.",
    "We bought three boxes of apples and gave two of them away.",
    "The museum closes early on Monday, so we should hurry up.",
    "He wrote a long letter to the editor about the noise at night.",
    "In winter the lake freezes and children skate across it.",
    "She keeps her old maps in a drawer next to the window.",
    "After the storm the whole garden was covered with leaves.",
    "They planned the journey for months and then stayed at home.",
)
_PAUSE = 0.35  # seconds between sentences
_STEP = 0.04  # seconds of sound that decide an opening
_WIDEST = 0.13  # of a mouth, as a share of the height of the face

Sound = NDArray[np.float32]


def spoken(sentences: Sequence[str], voice: str, folder: Path) -> Sound:
    """Return sentences, one after the other, as espeak-ng reads them."""
    pieces = []
    for number, sentence in enumerate(sentences):
        path = folder / f"sentence-{number}.wav"
        command = ["espeak-ng", "-v", voice, "-s", "150", "-w", str(path), sentence]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except FileNotFoundError:
            raise SystemExit(
                "espeak-ng is missing: install it with apt install espeak-ng"
            ) from None
        pieces += [read_audio(path, RATE)[0], np.zeros(round(_PAUSE * RATE), np.float32)]
    return np.concatenate(pieces)


def openings(sound: Sound, seconds: float, frame_rate: float) -> NDArray[np.float64]:
    """Return how far a mouth that makes this sound is open at each frame."""
    times = np.arange(round(seconds * frame_rate)) / frame_rate
    half = round(_STEP * RATE / 2)
    level = np.array(
        [_level(sound[max(0, round(t * RATE) - half) : round(t * RATE) + half]) for t in times]
    )
    loud = float(np.percentile(level[level > 0], 90)) if (level > 0).any() else 1.0
    return _WIDEST * np.clip(level / loud, 0, 1)


def _level(piece: Sound) -> float:
    return float(np.sqrt(np.mean(piece.astype(np.float64) ** 2))) if len(piece) else 0.0
