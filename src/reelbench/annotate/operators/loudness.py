"""The loudness of a clip: in LUFS as a whole (ITU-R BS.1770), and in dB over time."""

from dataclasses import dataclass
from math import isfinite
from typing import ClassVar

from reelbench.annotate.common.audio import level_db, sound_channels
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.media.edit.audio import loudness

RATE = 24_000  # what is above 12 kHz weighs little, and an hour of it must fit into memory


@dataclass(frozen=True)
class Loudness(Operator):
    """Measures the gated loudness of the clip, None if it is silent, and the level over time."""

    name: ClassVar[str] = "loudness"
    step: float = 0.2  # seconds

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the loudness and the levels of a clip."""
        channels = 2 if any(track.channels > 1 for track in clip.info.audio[:1]) else 1
        samples = sound_channels(clip, RATE, channels)
        whole = loudness(samples, RATE)
        levels = level_db(samples, RATE, self.step)
        return {
            "lufs": round(whole, 2) if isfinite(whole) else None,
            "at": [[round(n * self.step, 4), round(float(db), 2)] for n, db in enumerate(levels)],
        }
