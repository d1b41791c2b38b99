"""The gender of voices, from pitch alone, with low confidence; pitch does not show the age."""

from dataclasses import dataclass
from typing import ClassVar

from reelbench.annotate.common.audio import turns_of
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.annotate.operators.pitch import median_within


@dataclass(frozen=True)
class VoiceDemographics(Operator):
    """Estimates a gender where a voice is clearly low or high; None in between.

    Men were measured at 160 to 172 Hz, and many women speak at 180. Voices above ``highest`` are
    most often children's, whose gender and age cannot be estimated from pitch.
    """

    name: ClassVar[str] = "voice_demographics"
    needs: ClassVar[tuple[str, ...]] = ("turns", "pitch")
    male_below: float = 135.0  # Hz, of the median
    female_above: float = 200.0
    highest: float = 260.0

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the gender of each speaker, by the median pitch."""
        at = labels["pitch"]["at"]
        medians = {
            speaker: median_within(at, spans)
            for speaker, spans in turns_of(labels["turns"]).items()
        }
        return {
            "basis": "low confidence: pitch alone",
            "speakers": [
                {"id": speaker, "pitch": median, "gender": self._gender(median), "age": None}
                for speaker, median in medians.items()
            ],
        }

    def _gender(self, median: float | None) -> str | None:
        if median is None:
            return None
        if median < self.male_below:
            return "male"
        return "female" if self.female_above < median < self.highest else None
