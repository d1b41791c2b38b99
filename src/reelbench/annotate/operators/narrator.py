"""The narrator of a video essay: which voice it is, and when it speaks.

Turns are cut into short pieces whose voices are compared by ECAPA-TDNN, so that a narrator who was
taken for two speakers is one again, and a line of a film that was given to the narrator is not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.audio import bridged, level_db, mono_sound, turns_of, without
from reelbench.annotate.common.calibration import unless_unsure
from reelbench.annotate.common.ecapa import WEIGHTS, voice_embedding
from reelbench.annotate.common.narrator_evidence import (
    LEVEL_STEP,
    NarratorEvidence,
    evidence_of,
    total,
)
from reelbench.annotate.common.segment_words import segment_words
from reelbench.annotate.common.voice_pieces import VoicePiece, cut_turns, group_voices
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.data.items import Span
from reelbench.media.edit.audio import SPEECH_RATE

_UNSURE = 0.4  # the most confidence that remains where something speaks against a narrator
_RIVAL = 0.6  # of what the first voice speaks: two that share the speech are an interview
_SUNG = 0.5
_AUDIENCE = 0.5  # of pauses
# On a stage, as few of them as this: the voice is of someone in the picture, or comes and goes.
_STAGE_AUDIENCE, _STAGE_ON_SCREEN, _STAGE_STEADY = 0.3, 0.3, 1.5
_ON_SCREEN = 0.8  # a presenter is seen at times, a performer throughout
_GAP = 0.3  # seconds; a shorter pause does not end a turn


@dataclass(frozen=True)
class Narrator(Operator):
    """Finds the voice that narrates, where one does, with its turns and its words.

    ``speaker`` is null where it is not clear that there is a narrator, and ``reason`` says why;
    ``turns`` and ``words`` are then those of the guess.
    """

    name: ClassVar[str] = "narrator"
    needs: ClassVar[tuple[str, ...]] = ("sound", "turns")
    may_use: ClassVar[tuple[str, ...]] = ("transcript", "speaker", "shots")
    weights: ClassVar[tuple[str, ...]] = (WEIGHTS,)
    # Of different people in one scene, pieces had a cosine of up to .37; of one clean voice, .46
    # and more; of one over loud music or a telephone, .4 and more with the mean of all.
    same: float = 0.45  # cosine of pieces, on average, from which on they are one voice
    again: float = 0.4  # cosine of a group of pieces with a long one that is the same voice
    far: float = 0.25  # cosine with the narrator below which a piece is not the narrator's
    least_seconds: float = 10.0  # that a narrator speaks
    least_confidence: float = 0.7

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return the narrator of a clip."""
        samples = mono_sound(clip)
        levels = level_db(samples[None], SPEECH_RATE, LEVEL_STEP)
        pieces = cut_turns(samples, turns_of(labels["turns"]), voice_embedding)
        return self.judge(pieces, levels, labels)

    def judge(
        self, pieces: Sequence[VoicePiece], levels: NDArray[np.float64], labels: Labels
    ) -> Value:
        """Return the narrator among pieces of speech; ``levels`` are dB of 0.05 s each."""
        if not pieces:
            return self._label(None, 0.0, "Nobody speaks.", [], [], [], {}, labels)
        groups = self._groups(pieces)
        own = [piece for piece, group in zip(pieces, groups, strict=True) if group == 0]
        others = _others(pieces, groups, _speaker(own))
        rest = [float(each["seconds"]) for each in others]
        evidence = evidence_of(own, rest, levels, labels)
        reason = next(self._against(evidence), "")
        confidence = min(evidence.confidence, _UNSURE) if reason else evidence.confidence
        if not reason and confidence < self.least_confidence:
            reason = (
                f"No voice is clearly a narrator's: the one that speaks most has "
                f"{evidence.share:.0%} of the speech, and is heard in {evidence.spread:.0%} of the "
                "windows of ten seconds."
            )
        spans = [(piece.start, piece.end, piece.alone) for piece in own]
        return self._label(
            _speaker(own), confidence, reason, _turns(spans), _overlaps(spans), others,
            evidence.plain(), labels,
        )  # fmt: skip

    def _groups(self, pieces: Sequence[VoicePiece]) -> NDArray[np.intp]:
        """Return the voice of each piece, 0 that which speaks most; far ones are not its own."""
        groups = group_voices(pieces, self.same, self.again)
        own = [p for p, group in zip(pieces, groups, strict=True) if group == 0 and p.alone]
        voices = [piece.voice * piece.seconds for piece in own if piece.voice is not None]
        if not voices:
            return groups
        mean = np.sum(voices, axis=0)
        mean /= np.linalg.norm(mean) + 1e-12
        others = int(groups.max()) + 1
        for number, piece in enumerate(pieces):
            is_far = piece.voice is not None and float(piece.voice @ mean) < self.far
            if groups[number] == 0 and piece.alone and is_far:
                groups[number] = others
        return groups

    def _against(self, evidence: NarratorEvidence) -> Iterator[str]:
        """Yield what speaks against a narrator, whatever else speaks for one."""
        if evidence.seconds < self.least_seconds:
            yield (
                f"The voice that speaks most does so for {evidence.seconds:.1f} s, less than "
                f"{self.least_seconds:g} s (narrator.least_seconds)."
            )
        if evidence.sung > _SUNG:
            yield "The voice that is heard most sings."
        if evidence.rival > _RIVAL:
            yield (
                "Two voices share the speech, as in an interview or a dialogue: the second speaks "
                f"{evidence.rival:.0%} as long as the first."
            )
        if evidence.audience > _AUDIENCE or _is_on_stage(evidence):
            yield (
                "It speaks to an audience, which is heard in "
                f"{evidence.audience:.0%} of its pauses."
            )
        if evidence.on_screen is not None and evidence.on_screen > _ON_SCREEN:
            yield (
                f"It is someone on the screen {evidence.on_screen:.0%} of the time that it speaks: "
                "a performer, or a presenter who is never left for other pictures."
            )

    def _label(
        self,
        guess: str | None,
        confidence: float,
        reason: str,
        turns: list[Span],
        overlaps: list[Span],
        others: list[dict[str, float | str]],
        evidence: dict[str, float | None],
        labels: Labels,
    ) -> Value:
        seconds = total(turns)
        speech = seconds + sum(float(each["seconds"]) for each in others)
        return {
            "speaker": unless_unsure(guess, confidence, self.least_confidence),
            "guess": guess,
            "confidence": round(confidence, 4),
            "least": self.least_confidence,
            "reason": reason,
            "turns": _rounded(turns),
            "overlaps": _rounded(overlaps),
            "seconds": round(seconds, 4),
            "share": round(seconds / speech, 4) if speech else 0.0,
            "words": words_within(labels.get("transcript"), turns),
            "others": others,
            "evidence": evidence,
        }


def _is_on_stage(evidence: NarratorEvidence) -> bool:
    is_seen = (evidence.on_screen or 0.0) > _STAGE_ON_SCREEN
    return evidence.audience > _STAGE_AUDIENCE and (is_seen or evidence.steady > _STAGE_STEADY)


def words_within(transcript: Value | None, spans: Sequence[Span]) -> list[Value]:
    """Return the words of a transcript whose middle lies in one of the spans.

    Subtitles have no times of words: those of a line follow each other evenly.
    """
    words = [
        word
        for segment in (transcript or {}).get("segments", [])
        for word in segment_words(segment)
    ]
    return [
        word for word in words if any(s <= (word["start"] + word["end"]) / 2 < e for s, e in spans)
    ]


def _speaker(pieces: Sequence[VoicePiece]) -> str:
    """Return the speaker of the label ``turns`` who has most of some pieces."""
    seconds: dict[str, float] = {}
    for piece in pieces:
        seconds[piece.speaker] = seconds.get(piece.speaker, 0.0) + piece.seconds
    return min(seconds, key=lambda speaker: (-seconds[speaker], speaker))


def _others(
    pieces: Sequence[VoicePiece], groups: NDArray[np.intp], narrator: str
) -> list[dict[str, float | str]]:
    """Return the other voices, each under the name it has in ``turns`` or, if taken, a new one."""
    taken = {narrator}
    next_free = max(int(piece.speaker.removeprefix("s")) for piece in pieces) + 1
    found: list[dict[str, float | str]] = []
    for group in range(1, int(groups.max()) + 1):
        own = [piece for piece, each in zip(pieces, groups, strict=True) if each == group]
        if not own:
            continue
        speaker = _speaker(own)
        if speaker in taken:
            speaker, next_free = f"s{next_free}", next_free + 1
        taken.add(speaker)
        spans = bridged([(piece.start, piece.end) for piece in own], 0.0)
        found.append({"speaker": speaker, "seconds": round(total(spans), 4)})
    return found


def _turns(spans: Sequence[tuple[float, float, bool]]) -> list[Span]:
    """Return the turns of a voice; where someone else begins or ends to speak, one ends."""
    alone = bridged([(start, end) for start, end, is_alone in spans if is_alone], 0.0)
    overlaps = _overlaps(spans)
    near = bridged([*alone, *overlaps], _GAP)
    return sorted([*without(near, overlaps), *overlaps])


def _overlaps(spans: Sequence[tuple[float, float, bool]]) -> list[Span]:
    return bridged([(start, end) for start, end, is_alone in spans if not is_alone], 0.0)


def _rounded(spans: Sequence[Span]) -> list[list[float]]:
    return [[round(start, 4), round(end, 4)] for start, end in spans]
