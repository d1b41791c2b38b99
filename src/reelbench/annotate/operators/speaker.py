"""Finds which of the visible people speaks: the one whose lips go with the sound.

Three things are asked. Do the lips move as in speech while there is speech? Speech opens and closes
a mouth several times a second, which a smile, a yawn or a turn of the head does not. Do they go
with this sound, better than with the same sound shifted by seconds, as the lips of someone who
chews or speaks to another sound do not? And do those of no one else in the picture go with it
better? The answers make one probability.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from reelbench.annotate.common.audio import (
    Mask,
    bridged,
    common,
    mono_sound,
    turns_of,
    within,
)
from reelbench.annotate.common.calibration import unless_unsure
from reelbench.annotate.common.lip_sync import (
    BREAK,
    MEASURES,
    STEP,
    Agreement,
    Numbers,
    agreement,
    lips_on_grid,
    speech_bands,
)
from reelbench.annotate.operator import Clip, Labels, Operator, Value
from reelbench.data.items import Span

FRAMES = 25.0  # a second, in which runs are counted, whatever the video has
_AROUND = 0.4  # seconds before and after a moment that its movement is taken from
_PAUSE = 0.15  # seconds by which a mouth moves before and after what is heard of it
_TURN = 0.3  # the same around the turn of a voice
_RIVAL = 2.0  # times as fast another mouth may move, in the same speech, before it is the speaker
_LEAST_SECONDS = 2.0  # of a mouth beside one voice, to be compared by themselves
_CHILD = 16.0  # years; below it a voice does not tell the gender
# What makes the log odds of speaking. Fitted by benchmarks/labelling/speaker.py.
_ODDS = {"constant": -1.0, "correlation": 8.09, "deviations": 0.63, "rival": -0.72, "lag": -17.06}
_MOST_DEVIATIONS = 6.0  # more say no more
_STILL = 0.1  # times as likely to speak are those whose lips do not move as in speech
_UNSURE = 0.99  # the highest odds of those who do not speak
_SILENT = 0.98  # confidence that nobody speaks where no speech is heard
_SUREST = 0.995  # more was never measured


@dataclass(frozen=True)
class Speaker(Operator):
    """Says of each person whether they speak, with a confidence, and when.

    A person speaks whose lips move as in speech for more than ``least_run`` frames, and go with the
    sound. Speech is taken from ``turns`` where there is such a label, from ``sound`` otherwise.
    Where the gender of face and voice are both known with confidence and differ, the person does
    not speak.
    """

    name = "speaker"
    version = 2
    needs: ClassVar[tuple[str, ...]] = ("tracks", "mouth", "sound")
    may_use: ClassVar[tuple[str, ...]] = ("turns", "demographics", "voice_demographics")

    least_run: int = 12  # frames, at 25 a second; a longer run is speaking
    least_speed: float = 0.15  # of lips, in distances between the eyes a second; silent ones: .1
    sure: float = 0.9  # confidence from which on a face or a voice can demote
    least_confidence: float = 0.9  # below it, nothing is said of who speaks

    def __call__(self, clip: Clip, labels: Labels) -> Value:
        """Return whether and when each person speaks."""
        mouths = {
            person["id"]: np.array(person["at"], np.float64).reshape(-1, 1 + MEASURES)
            for person in labels["mouth"]["people"]
        }
        speech = _speech(labels)
        moves = {person: movement(at[:, 0], at[:, 1]) for person, at in mouths.items()}
        runs = {}
        scored = {}
        for person, at in mouths.items():
            rivals = [
                (others[:, 0], moves[other])
                for other, others in mouths.items()
                if other != person and len(others)
            ]
            scored[person] = scores(at[:, 0], moves[person], speech, rivals, self.least_speed)
            runs[person] = self._long_runs(at[:, 0], scored[person])
        fits = _fits(clip, labels, mouths) if speech and any(map(len, mouths.values())) else {}
        people = []
        for person, at in mouths.items():
            others = [fits[other] for other in fits if other != person]
            label = self._judged(person, runs[person], fits.get(person), others, labels)
            label["seen"] = _seen(at[:, 0], speech)
            label |= self._statement(label.pop("odds"), label["seen"], bool(speech))
            label["spans"] = label["spans"] if label["speaks"] else []
            label["at"] = _rounded(at[:, 0], scored[person])
            people.append(label)
        return {"people": people}

    def _long_runs(self, times: Numbers, score: Numbers) -> tuple[list[Span], int]:
        """Return the runs that are long enough, and the length of the longest in frames."""
        found = positive_runs(times, score)
        lengths = [round((end - start) * FRAMES) for start, end in found]
        spans = [run for run, length in zip(found, lengths, strict=True) if length > self.least_run]
        return spans, max(lengths, default=0)

    def _judged(
        self,
        person: str,
        runs: tuple[list[Span], int],
        fit: "_Fit | None",
        others: Sequence["_Fit"],
        labels: Labels,
    ) -> Value:
        spans, longest = runs
        odds = speaking_odds(fit.agreement, fit.rivals(others)) if fit else 0.0
        if fit and fit.voice:
            turns = turns_of(labels["turns"])[fit.voice]
            around = bridged([(start - _TURN, end + _TURN) for start, end in turns], 0.0)
            spans = common(spans, around)
        demoted = mismatch(person, spans, labels, self.sure) if spans else ""
        if demoted or not spans:  # then not, however well the lips agree; but that makes it unsure
            odds = min(odds * _STILL, _UNSURE)
        return {
            "id": person,
            "odds": odds,
            "longest_run": longest,
            "agreement": round(fit.agreement.correlation, 4) if fit else None,
            "lag": round(fit.agreement.lag, 4) if fit else None,
            "deviations": round(fit.agreement.deviations, 4) if fit else None,
            "voice": fit.voice if fit else "",
            "spans": [] if demoted else [[round(s, 4), round(e, 4)] for s, e in spans],
            "demoted": demoted,
        }

    def _statement(self, odds: float, seen: float, heard: bool) -> Value:
        """Return what is said, what would have been said, and how sure that is."""
        likely = odds / (1 + odds)
        guess = likely > 0.5
        # Who is out of the picture while others speak may be the speaker of just that.
        sure = likely if guess else (1 - likely) * (0.5 + seen / 2)
        if not heard:
            sure = _SILENT
        sure = round(min(sure, _SUREST), 4)
        return {
            "speaks": unless_unsure(guess, sure, self.least_confidence),
            "guess": guess,
            "confidence": sure,
        }


@dataclass(frozen=True, slots=True)
class _Fit:
    """How a mouth goes with the sound: with all of it, or with one voice of several."""

    agreement: Agreement
    voice: str  # "" for all of the sound
    known: Mask  # where the mouth was seen, of that sound

    def rivals(self, others: Sequence["_Fit"]) -> list[Agreement]:
        """Return how those go with the sound who were seen for most of the same time."""
        most = self.known.sum() / 2
        return [each.agreement for each in others if (each.known & self.known).sum() > most]


def speaking_odds(own: Agreement, rivals: Sequence[Agreement]) -> float:
    """Return how much likelier than not it is that someone speaks whose lips agree so far."""
    terms = {"constant": 1.0, **odds_terms(own, rivals)}
    return float(np.exp(sum(_ODDS[name] * value for name, value in terms.items())))


def odds_terms(own: Agreement, rivals: Sequence[Agreement]) -> dict[str, float]:
    """Return what the log odds of speaking are made of."""
    deviations = [min(each.deviations, _MOST_DEVIATIONS) for each in (own, *rivals)]
    return {
        "correlation": own.correlation,
        "deviations": deviations[0],
        "rival": max([0.0, *deviations[1:]]),  # the best of the others
        "lag": abs(own.lag),
    }


def _fits(clip: Clip, labels: Labels, mouths: Mapping[str, Numbers]) -> dict[str, _Fit]:
    """Return the best fit of each person's lips: to all of the sound, or to one of its voices."""
    bands = speech_bands(mono_sound(clip))
    grid = np.arange(len(bands), dtype=np.float64) * STEP
    voices = turns_of(labels["turns"]) if "turns" in labels else {}
    parts = {"": np.ones(len(bands), bool)}
    if len(voices) > 1:
        for voice, spans in voices.items():
            parts[voice] = within(grid, [(start - _TURN, end + _TURN) for start, end in spans])
    found = {}
    for person, at in mouths.items():
        lips, known = lips_on_grid(at, len(bands))
        heard = [
            _Fit(agreement(bands, lips, known & part), voice, known & part)
            for voice, part in parts.items()
            if not voice or (known & part).sum() * STEP >= _LEAST_SECONDS
        ]
        found[person] = max(heard, key=lambda fit: speaking_odds(fit.agreement, ()))
    return found


def _seen(times: Numbers, speech: Sequence[Span]) -> float:
    """Return the share of speech during which a mouth was seen."""
    moments = np.concatenate([[0.0][:0], *(np.arange(s, e, STEP) for s, e in speech)])
    if not len(moments):
        return 1.0
    if not len(times):
        return 0.0
    after = np.clip(np.searchsorted(times, moments), 0, len(times) - 1)
    before = np.maximum(after - 1, 0)
    near = np.minimum(np.abs(times[after] - moments), np.abs(times[before] - moments))
    return round(float((near <= BREAK).mean()), 4)


def _rounded(times: Numbers, score: Numbers) -> list[list[float]]:
    pairs = zip(times.tolist(), score.tolist(), strict=True)
    return [[round(time, 4), round(value, 4)] for time, value in pairs]


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
    known = gaps <= BREAK
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
        there = np.abs(others[:, None] - times[None, :]).min(0) <= BREAK
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
    doubt = min(face["confidence"]["gender"], voice["confidence"]["gender"]) < sure
    child = face.get("age_group") == "child" or (face.get("age") or _CHILD) < _CHILD
    if doubt or child or face["gender"] == voice["gender"]:
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
