"""Finds which of the visible people speaks: the one whose mouth moves while there is speech.

No network was trained for it. Speech opens and closes a mouth several times a second, which a
smile, a yawn or a turn of the head does not; so the measure is the speed of the lips' movement,
compared with the noise of the mesh and with the mouths of the others. Someone who chews while
another speaks off-screen is taken for the speaker.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.data.items import Span

Numbers = NDArray[np.float64]
FRAMES = 25.0  # a second, in which runs are counted, whatever the video has
_AROUND = 0.4  # seconds before and after a moment that its movement is taken from
_BREAK = 0.3  # seconds; over a longer one the lips' speed is not known
_PAUSE = 0.15  # seconds by which a mouth moves before and after what is heard of it
_RIVAL = 2.0  # times as fast another mouth may move, in the same speech, before it is the speaker
_CHILD = 16.0  # years; below it a voice does not tell the gender


@dataclass(frozen=True)
class Speaker(Operator):
    """Scores each time from -1 to 1; a person speaks whose longest run above 0 is long enough.

    Speech is taken from ``turns`` where there is such a label, from ``sound`` otherwise. Where the
    gender of face and voice are both known with confidence and differ, the person does not speak.
    """

    name = "speaker"
    needs: ClassVar[tuple[str, ...]] = ("tracks", "mouth", "sound")
    may_use: ClassVar[tuple[str, ...]] = ("turns", "demographics", "voice_demographics")

    least_run: int = 12  # frames, at 25 a second; a longer run is speaking
    least_speed: float = 0.15  # of lips, in distances between the eyes a second; silent ones: .1
    sure: float = 0.9  # confidence from which on a face or a voice can demote

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return whether and when each person speaks."""
        mouths = {
            person["id"]: np.array(person["at"], np.float64).reshape(-1, 2)
            for person in labels["mouth"]["people"]
        }
        speech = _speech(labels)
        moves = {person: movement(at[:, 0], at[:, 1]) for person, at in mouths.items()}
        people = []
        for person, at in mouths.items():
            rivals = [
                (others[:, 0], moves[other])
                for other, others in mouths.items()
                if other != person and len(others)
            ]
            score = scores(at[:, 0], moves[person], speech, rivals, self.least_speed)
            people.append(self._speaker_label(person, at[:, 0], score, labels))
        return {"people": people}

    def _speaker_label(self, person: str, times: Numbers, score: Numbers, labels: Labels) -> Value:
        runs = positive_runs(times, score)
        lengths = [round((end - start) * FRAMES) for start, end in runs]
        spans = [run for run, length in zip(runs, lengths, strict=True) if length > self.least_run]
        demoted = mismatch(person, spans, labels, self.sure) if spans else ""
        return {
            "id": person,
            "speaks": bool(spans) and not demoted,
            "longest_run": max(lengths, default=0),
            "spans": [] if demoted else [[round(s, 4), round(e, 4)] for s, e in spans],
            "at": [
                [round(time, 4), round(value, 4)]
                for time, value in zip(times.tolist(), score.tolist(), strict=True)
            ],
            "demoted": demoted,
        }


def _speech(labels: Labels) -> list[Span]:
    if labels.get("turns", {}).get("turns"):
        return [(turn["start"], turn["end"]) for turn in labels["turns"]["turns"]]
    spans = labels["sound"]["spans"]
    return [(span["start"], span["end"]) for span in spans if span["kind"] == "speech"]


def movement(times: Numbers, openings: Numbers) -> Numbers:
    """Return how fast lips move to and fro around each time.

    That is, over most of a second, the median of their speed, to which no single jerk adds, or its
    median deviation from a straight line if that is less: the speed of a yawn changes slowly.
    """
    if len(times) < 2:
        return np.zeros(len(times))
    gaps = np.diff(times)
    known = gaps <= _BREAK
    speeds = (np.diff(openings) / np.maximum(gaps, 1e-3))[known]
    middles = ((times[1:] + times[:-1]) / 2)[known]
    first = np.searchsorted(middles, times - _AROUND)
    last = np.searchsorted(middles, times + _AROUND)
    return np.array(
        [_to_and_fro(middles[a:b], speeds[a:b]) for a, b in zip(first, last, strict=True)]
    )


def _to_and_fro(times: Numbers, speeds: Numbers) -> float:
    if len(times) < 4:  # they tell nothing: at the end of a track, or around a gap in it
        return 0.0
    since, more = times - times.mean(), speeds - speeds.mean()
    line = since * float(since @ more / (since @ since))
    return float(min(np.median(np.abs(speeds)), np.median(np.abs(more - line))))


def scores(
    times: Numbers,
    moves: Numbers,
    speech: Sequence[Span],
    rivals: Sequence[tuple[Numbers, Numbers]],
    least: float,
) -> Numbers:
    """Return the score of a mouth at each time, from -1 to 1: its speed above the threshold.

    Without speech it is -1. A mouth must move faster than ``least``, and than half of what the
    fastest other one does at that moment.
    """
    heard = np.zeros(len(times), bool)
    for start, end in speech:
        heard |= (times >= start - _PAUSE) & (times <= end + _PAUSE)
    bar = np.full(len(times), least)
    for others, their in rivals:
        # Where the other is not in the picture, it is no rival.
        there = np.abs(others[:, None] - times[None, :]).min(0) <= _BREAK
        bar = np.maximum(bar, np.where(there, np.interp(times, others, their) / _RIVAL, 0.0))
    return np.where(heard, np.clip(moves / bar - 1, -1.0, 1.0), -1.0)


def positive_runs(times: Numbers, score: Numbers) -> list[Span]:
    """Return when the score is above 0 without a break; each moment lasts until the next one."""
    if not len(times):
        return []
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1 / FRAMES
    runs: list[Span] = []
    for time, value in zip(times.tolist(), score.tolist(), strict=True):
        if value <= 0:
            continue
        if runs and time - runs[-1][1] <= step / 2:
            runs[-1] = runs[-1][0], time + step
        else:
            runs.append((time, time + step))
    return runs


def mismatch(person: str, spans: Sequence[Span], labels: Labels, sure: float) -> str:
    """Return why the voice that is heard cannot be this person's; "" where it can."""
    if not {"turns", "demographics", "voice_demographics"} <= set(labels):
        return ""
    face = _of(labels["demographics"]["people"], person)
    voice = _of(labels["voice_demographics"]["speakers"], _voice_in(spans, labels["turns"]))
    if not face.get("gender") or not voice.get("gender"):
        return ""
    # A voice that does not say how sure it is, as one judged by its pitch, demotes nobody.
    doubt = min(face["confidence"]["gender"], voice.get("confidence", 0.0)) < sure
    if doubt or face["age"] < _CHILD or face["gender"] == voice["gender"]:
        return ""
    return f"The face is {face['gender']}, the voice {voice['id']} is {voice['gender']}."


def _of(known: Sequence[Value], name: str) -> Mapping[str, Any]:
    return next((each for each in known if each["id"] == name), {})


def _voice_in(spans: Sequence[Span], turns: Value) -> str:
    """Return the voice that is heard during most of some spans; "" where no one is."""
    heard: dict[str, float] = {}
    for turn in turns["turns"]:
        for start, end in spans:
            shared = min(end, turn["end"]) - max(start, turn["start"])
            heard[turn["speaker"]] = heard.get(turn["speaker"], 0.0) + max(0.0, shared)
    whole = sum(end - start for start, end in spans)
    most = max(heard, key=lambda voice: (heard[voice], voice), default="")
    return most if most and heard[most] > whole / 2 else ""
