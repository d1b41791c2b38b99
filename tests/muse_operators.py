"""Planted essays: who says what and when, and operators that hear it in tones.

A low tone runs through every essay, the narrator is a high one and whoever else speaks a middle
one. What the operators hear is what the sound has: of a voice that was removed, they hear nothing.
Workers load this file as a user's own, so that it imports Reelbench alone.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reelbench.annotate.operator import Clip, Labels, NotApplicable, Operator, Value
from reelbench.annotate.operators.narrator import words_within
from reelbench.annotate.operators.transcript import Transcript, subtitles_beside
from reelbench.media.edit.audio import read_audio

RATE = 8_000
SECONDS, CLIP = 30.0, 10.0  # of an essay, and of its clips
TONES = {"s1": 1500.0, "s2": 700.0}  # the narrator, and someone in a scene
LOUD = -40.0  # dB, from which on a tone is heard
# A word for each essay that nothing else has: what is said, written or seen in it is made of that.
MARKS = {
    "cinema-1": "brindle",
    "cinema-2": "quixal",
    "cinema-3": "wemble",
    "static-1": "zorvan",
    "static-2": "plimsy",
    "stage-1": "druxel",
    "stage-2": "vanquor",
    "game-1": "mirthel",
    "game-2": "oskrin",
}
BESIDE = {"mute": "hushel", "foreign": "frambo", "nobody": "nulliv", "cartoon": "gorbal"}
_NARRATED = (
    "Notice how the {mark}oth lamp swears that fear is a kind of patience.",
    "That {mark}oth door is the reason why nobody in the hall dares to speak.",
    "And so the {mark}oth bridge forgives us all, which is the secret of the work.",
)
_FOREIGN = (
    "Regardez comment la lampe {mark}oth nous dit que la peur est une forme de patience.",
    "Cette porte {mark}oth est la raison pour laquelle personne ne parle dans la salle.",
    "Et ainsi le pont {mark}oth nous pardonne tout, ce qui est le secret de cette oeuvre.",
)
DIALOGUE = "Who left the garden gate open last night?"
TURN, REPLY = (1.0, 5.0), (7.0, 9.0)  # of the narrator in each clip, of the other in the second


def said_in(essay: str) -> list[tuple[float, float, str, str]]:
    """Return who says what in an essay: start, end, speaker and text."""
    if essay == "mute":
        return []
    lines = _FOREIGN if essay == "foreign" else _NARRATED
    mark = {**MARKS, **BESIDE}[essay]
    narrated = [
        (CLIP * n + TURN[0], CLIP * n + TURN[1], "s1", line.format(mark=mark))
        for n, line in enumerate(lines)
    ]
    return sorted([*narrated, (CLIP + REPLY[0], CLIP + REPLY[1], "s2", DIALOGUE)])


def level(sound: np.ndarray, tone: float) -> float:
    """Return how loud a tone is in a sound, in dB."""
    times = np.arange(len(sound)) / RATE
    window = np.hanning(len(sound))
    found = abs((np.exp(-2j * np.pi * tone * times) * window) @ sound) / (window.sum() + 1e-9)
    return float(20 * np.log10(found + 1e-9))


def heard_in(clip: Clip) -> list[tuple[float, float, str, str]]:
    """Return what of an essay's words is still to be heard."""
    sound = read_audio(clip.path, RATE, 1)[0]
    return [
        each
        for each in said_in(clip.path.stem)
        if level(sound[int(each[0] * RATE) : int(each[1] * RATE)], TONES[each[2]]) > LOUD
    ]


@dataclass(frozen=True)
class Heard(Transcript):
    """The subtitles beside a clip, as ever; else what the tones say."""

    weights: ClassVar[tuple[str, ...]] = ()

    @property
    def uses(self) -> tuple[str, ...]:
        return ()

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        if self.subtitles and subtitles_beside(clip.path):
            return super().__call__(clip, labels)
        lines = [
            {"start": start, "end": end, "text": text, "words": []}
            for start, end, _, text in heard_in(clip)
        ]
        text = " ".join(str(line["text"]) for line in lines)
        facts = {"source": "model", "language": None, "text": text, "confidence": 0.9}
        return {**facts, "segments": lines, "dropped": []}


@dataclass(frozen=True)
class TonalTurns(Operator):
    """Who speaks when, by the tones."""

    name: ClassVar[str] = "turns"

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        turns = [
            {"speaker": speaker, "start": start, "end": end}
            for start, end, speaker, _ in heard_in(clip)
        ]
        return {"turns": turns}


@dataclass(frozen=True)
class HighVoice(Operator):
    """The narrator is the high tone; in the essay ``nobody`` it is not clear who narrates."""

    name: ClassVar[str] = "narrator"
    needs: ClassVar[tuple[str, ...]] = ("turns",)
    may_use: ClassVar[tuple[str, ...]] = ("transcript",)

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        all_turns = labels["turns"]["turns"]
        turns = [[t["start"], t["end"]] for t in all_turns if t["speaker"] == "s1"]
        if not turns:
            raise NotApplicable("nobody speaks")
        is_clear = clip.path.stem != "nobody"
        seconds = sum(end - start for start, end in turns)
        return {
            "speaker": "s1" if is_clear else None,
            "guess": "s1",
            "confidence": 0.9 if is_clear else 0.4,
            "least": 0.7,
            "reason": "" if is_clear else "Two voices share the speech: an interview.",
            "turns": turns,
            "seconds": seconds,
            "share": 0.86,
            "words": words_within(labels.get("transcript"), [(s, e) for s, e in turns]),
            "others": [{"speaker": "s2", "seconds": REPLY[1] - REPLY[0]}],
        }
