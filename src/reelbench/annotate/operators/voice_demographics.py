"""Gender by voice, from pitch alone, with low confidence; no age, for pitch does not tell it."""

from dataclasses import dataclass
from typing import ClassVar

from reelbench.annotate.common.audio import turns_of
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.annotate.operators.pitch import median_within


@dataclass(frozen=True)
class VoiceDemographics(Operator):
    """A gender where a voice is clearly low or high; None in between, where men and women overlap.

    Men were seen at 160 to 172 Hz, and many women speak at 180. Voices above ``highest`` are most
    often children's, whose gender pitch does not tell, and whose age it tells too badly to say.
    """

    name: ClassVar[str] = "voice_demographics"
    needs: ClassVar[tuple[str, ...]] = ("turns", "pitch")
    male_below: float = 135.0  # Hz, of the median
    female_above: float = 200.0
    highest: float = 260.0

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Go by the median pitch of each speaker."""
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
