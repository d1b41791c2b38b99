"""Who speaks, by made-up mouths whose truth is known."""

from pathlib import Path

import numpy as np
import pytest

from reelbench.annotate.operator import Clip, Value
from reelbench.annotate.operators.speaker import Speaker, movement, positive_runs
from reelbench.media.decode.probe import MediaInfo

CLIP = Clip(Path("nowhere.mp4"), "", MediaInfo("mp4", 10.0, 10.0))
TIMES = np.arange(0, 10, 0.08)


def talking(start: float = 0.0, end: float = 10.0, wide: float = 0.1) -> list[list[float]]:
    """Lips that open and close five times a second within a span, and are shut elsewhere."""
    within = (start <= TIMES) & (end >= TIMES)
    openings = within * wide * (1 + np.sin(31 * TIMES))
    return np.stack([TIMES, openings], axis=1).tolist()


def still(open_to: float = 0.01) -> list[list[float]]:
    return [[time, open_to] for time in TIMES.tolist()]


def said(
    mouths: dict[str, list[list[float]]], speech: list[tuple[float, float]], **more: Value
) -> dict[str, Value]:
    labels: dict[str, Value] = {
        "tracks": {"people": [{"id": person, "tracks": []} for person in mouths]},
        "mouth": {"people": [{"id": person, "at": at} for person, at in mouths.items()]},
        "sound": {
            "spans": [{"start": s, "end": e, "kind": "speech", "score": 1.0} for s, e in speech],
            "shares": {},
        },
    }
    return {person["id"]: person for person in Speaker()(CLIP, labels | more)["people"]}


def test_the_one_whose_mouth_moves_while_there_is_speech_speaks() -> None:
    people = said({"p1": still(), "p2": talking()}, [(2.0, 6.0)])
    assert not people["p1"]["speaks"]
    assert people["p1"]["spans"] == []
    assert people["p2"]["speaks"]
    [[start, end]] = people["p2"]["spans"]
    assert (start, end) == (pytest.approx(2.0, abs=0.3), pytest.approx(6.0, abs=0.3))
    assert people["p2"]["longest_run"] == pytest.approx(100, abs=10)  # 4 s, at 25 frames a second


def test_nobody_speaks_without_speech() -> None:
    people = said({"p1": talking(), "p2": talking()}, [])
    assert [person["speaks"] for person in people.values()] == [False, False]
    assert {score for person in people.values() for _, score in person["at"]} == {-1.0}


def test_an_open_mouth_a_yawn_and_a_tremble_are_no_speech() -> None:
    yawn = [[t, 0.5 * float(np.exp(-((t - 5) ** 2)))] for t in TIMES.tolist()]
    smile = [[t, 0.16 if t > 4 else 0.01] for t in TIMES.tolist()]
    assert not said({"p1": yawn}, [(0.0, 10.0)])["p1"]["speaks"]
    assert not said({"p1": smile}, [(0.0, 10.0)])["p1"]["speaks"]
    assert not said({"p1": talking(wide=0.005)}, [(0.0, 10.0)])["p1"]["speaks"]


def test_a_run_of_twelve_frames_is_not_enough() -> None:
    times = np.arange(0, 4, 0.04)
    for frames, speaks in ((12, False), (13, True)):
        score = np.where((times > 0.99) & (times < 0.99 + frames * 0.04), 0.5, -1.0)
        [(start, end)] = positive_runs(times, score)
        assert (round((end - start) * 25) > Speaker().least_run) is speaks


def test_who_follows_with_small_movements_is_not_the_speaker_beside_one_who_is() -> None:
    mouths = {"p1": talking(wide=0.1), "p2": talking(wide=0.03)}
    assert said({"p2": mouths["p2"]}, [(0.0, 10.0)])["p2"]["speaks"]  # alone, it would be
    people = said(mouths, [(0.0, 10.0)])
    assert people["p1"]["speaks"]
    assert not people["p2"]["speaks"]


def test_two_who_take_turns_both_speak_each_in_their_own_time() -> None:
    people = said({"p1": talking(0, 4), "p2": talking(5, 10)}, [(0.0, 10.0)])
    assert people["p1"]["spans"][-1][1] < 4.5
    assert people["p2"]["spans"][0][0] > 4.5


def test_someone_who_is_gone_is_no_rival() -> None:
    gone = [each for each in talking(wide=0.3) if each[0] < 4]
    people = said({"p1": gone, "p2": talking(wide=0.06)}, [(0.0, 10.0)])
    assert people["p2"]["speaks"]
    assert people["p2"]["spans"][0][0] > 3.9


TURNS = {"speakers": 1, "turns": [{"start": 0.0, "end": 10.0, "speaker": "s1"}]}


def face(gender: str | None, confidence: float = 0.99, age: float | None = 40.0) -> Value:
    return {
        "people": [{"id": "p1", "gender": gender, "age": age, "confidence": {"gender": confidence}}]
    }


def voice(gender: str | None, **more: float) -> Value:
    return {"speakers": [{"id": "s1", "gender": gender, "age": None, **more}]}


@pytest.mark.parametrize(
    ("demographics", "voices", "speaks"),
    [
        (face("male"), voice("female", confidence=0.95), False),
        (face("male"), voice("female"), True),  # by its pitch alone, which is not sure
        (face("male"), voice("male", confidence=0.95), True),
        (face("male"), voice(None), True),  # a voice that may be either
        (face(None, 0.0, None), voice("female"), True),  # a face that was too small
        (face("male", 0.7), voice("female"), True),  # a face that is not clear
        (face("male"), voice("female", confidence=0.5), True),
        (face("male", age=9.0), voice("female"), True),  # a boy sounds like a woman
    ],
)
def test_a_clear_mismatch_of_voice_and_face_demotes(
    demographics: Value, voices: Value, speaks: bool
) -> None:
    more = {"turns": TURNS, "demographics": demographics, "voice_demographics": voices}
    person = said({"p1": talking()}, [(0.0, 10.0)], **more)["p1"]
    assert person["speaks"] is speaks
    assert bool(person["demoted"]) is not speaks
    assert bool(person["spans"]) is speaks
    assert person["longest_run"] > 100  # what was seen stays told


def test_turns_are_believed_before_sound() -> None:
    turns = {"speakers": 1, "turns": [{"start": 6.0, "end": 8.0, "speaker": "s1"}]}
    [[start, end]] = said({"p1": talking()}, [(0.0, 10.0)], turns=turns)["p1"]["spans"]
    assert (start, end) == (pytest.approx(6.0, abs=0.3), pytest.approx(8.0, abs=0.3))


def test_holes_and_single_moments_are_no_movement() -> None:
    assert movement(np.array([]), np.array([])).tolist() == []
    assert movement(np.array([1.0]), np.array([0.2])).tolist() == [0.0]
    # Ten minutes between two moments: the lips were somewhere else, how fast nobody knows.
    assert movement(np.array([0.0, 600.0]), np.array([0.0, 0.5])).tolist() == [0.0, 0.0]
    assert said({"p1": [], "p2": [[1.0, 0.1]]}, [(0.0, 10.0)])["p1"]["at"] == []
