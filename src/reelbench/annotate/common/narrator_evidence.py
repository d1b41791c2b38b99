"""Whether a voice is a narrator's: by how much, how steadily and over what it speaks."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.audio import bridged, common, without
from reelbench.annotate.common.calibration import Calibration
from reelbench.annotate.common.voice_pieces import VoicePiece
from reelbench.annotate.operator import Labels
from reelbench.data.items import Span

_WINDOW = 10.0  # seconds; a narrator is heard in most windows of this length
_HEARD = 1.0  # seconds of a window that count as heard
LEVEL_STEP = 0.05  # seconds over which a level is measured
_PAUSE = 1.0  # seconds; a shorter pause does not end a stretch of narration
_REACTION = (0.4, 10.0)  # seconds of a pause in which an audience may laugh or clap
_FEWEST_PAUSES = 3
_LOUD = 15.0  # dB below the voice; what is softer is the room, not an audience
_ENOUGH = 0.7  # of windows; a narrator who leaves more of them to the films is none the less one
# Set by hand on 16 mixes to tune on, six of them with a narrator, and looked at on others.
_CONFIDENCE = Calibration(
    -19.0, {"share": 4.0, "spread": 14.0, "lead": 11.0, "stretch": 0.5, "steady": -0.1}, most=0.97
)


@dataclass(frozen=True)
class NarratorEvidence:
    """What speaks for and against a voice; None where the label it comes from was not made."""

    seconds: float  # that the voice speaks
    share: float  # of all speech
    spread: float  # of windows of ten seconds in which it is heard
    rival: float  # what the next voice speaks, as a share of what it speaks
    stretch: float  # seconds for which it goes on, in the middle
    steady: float  # dB by which its level differs from stretch to stretch
    sung: float  # share of it that is singing
    audience: float  # share of its pauses in which there is laughter, applause or another noise
    on_screen: float | None  # share of it that goes with lips in the picture
    across_cuts: float | None  # share of cuts over which it goes on

    @property
    def confidence(self) -> float:
        """How likely this is a narrator, by what can be measured on every essay."""
        terms = {
            "share": self.share,
            "spread": min(self.spread, _ENOUGH),
            "lead": 1 - self.rival,
            "stretch": float(np.log2(max(self.stretch, 0.5) / 5)),
            "steady": self.steady,
        }
        return _CONFIDENCE(terms)

    def plain(self) -> dict[str, float | None]:
        """Return it as plain data."""
        return {k: None if v is None else round(v, 4) for k, v in asdict(self).items()}


def evidence_of(
    own: Sequence[VoicePiece],
    rest: Sequence[float],
    levels: NDArray[np.float64],
    labels: Labels,
) -> NarratorEvidence:
    """Return the evidence for the voice of some pieces.

    ``rest`` has the seconds of each other voice, ``levels`` the dB of each ``LEVEL_STEP`` seconds.
    """
    duration = len(levels) * LEVEL_STEP
    spans = bridged([(piece.start, piece.end) for piece in own], 0.0)
    stretches = bridged(spans, _PAUSE)
    seconds = total(spans)
    return NarratorEvidence(
        seconds=seconds,
        share=seconds / max(seconds + sum(rest), 1e-9),
        spread=_spread(spans, duration),
        rival=max(rest, default=0.0) / max(seconds, 1e-9),
        stretch=float(np.median([end - start for start, end in stretches])),
        steady=_steadiness(own, stretches),
        sung=total(common(spans, sounds(labels, "singing"))) / max(seconds, 1e-9),
        audience=_audience(own, stretches, levels, labels),
        on_screen=_on_screen(spans, labels),
        across_cuts=_across_cuts(stretches, labels),
    )


def total(spans: Sequence[Span]) -> float:
    """Return the seconds of spans that do not overlap."""
    return sum(end - start for start, end in spans)


def sounds(labels: Labels, kind: str) -> list[Span]:
    """Return the spans of one kind of the label ``sound``; none where it was not made."""
    found: list[dict[str, Any]] = labels["sound"]["spans"] if "sound" in labels else []
    return bridged([(span["start"], span["end"]) for span in found if span["kind"] == kind], 0.0)


def _spread(spans: Sequence[Span], duration: float) -> float:
    count = max(1, round(duration / _WINDOW))
    size = duration / count
    heard = [total(common(spans, [(n * size, (n + 1) * size)])) for n in range(count)]
    return sum(each >= min(_HEARD, size / 4) for each in heard) / count


def _steadiness(own: Sequence[VoicePiece], stretches: Sequence[Span]) -> float:
    """Return by how many dB the level of stretches differs: a close microphone stays as it is."""
    levels = [
        float(np.median([p.level for p in own if start <= p.start and p.end <= end + 1e-6]))
        for start, end in stretches
        if end - start >= _HEARD
    ]
    return float(np.std(levels)) if len(levels) > 1 else 0.0


def _audience(
    own: Sequence[VoicePiece],
    stretches: Sequence[Span],
    levels: NDArray[np.float64],
    labels: Labels,
) -> float:
    """Return the share of pauses that loud sound fills which is no speech and no music."""
    pauses = [
        (before[1], after[0])
        for before, after in pairwise(stretches)
        if _REACTION[0] <= after[0] - before[1] <= _REACTION[1]
    ]
    if len(pauses) < _FEWEST_PAUSES:
        return 0.0
    noise = without(sounds(labels, "other"), sounds(labels, "music"))
    voice = float(np.median([piece.level for piece in own]))
    filled = 0
    for pause in pauses:
        begin, end = (round(moment / LEVEL_STEP) for moment in pause)
        loud = float(np.median(levels[begin : max(begin + 1, end)])) >= voice - _LOUD
        filled += loud and total(common([pause], noise)) >= (pause[1] - pause[0]) / 2
    return filled / len(pauses)


def _on_screen(spans: Sequence[Span], labels: Labels) -> float | None:
    """Return the share that goes with the lips of someone who is sure to speak."""
    if "speaker" not in labels:
        return None
    people = [each for each in labels["speaker"]["people"] if each["speaks"]]
    seen = bridged([(start, end) for each in people for start, end in each["spans"]], 0.5)
    return total(common(spans, seen)) / max(total(spans), 1e-9)


def _across_cuts(stretches: Sequence[Span], labels: Labels) -> float | None:
    cuts = labels["shots"]["cuts"] if "shots" in labels else []
    if not cuts:
        return None
    return sum(any(s < cut < e for s, e in stretches) for cut in cuts) / len(cuts)
