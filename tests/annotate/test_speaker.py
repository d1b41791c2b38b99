"""Who speaks, by made-up mouths and sound whose truth is known."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from talking import SECONDS, mouth_of, sound_of, syllables

from reelbench.annotate.common.lip_sync import Agreement
from reelbench.annotate.operator import Clip, Value
from reelbench.annotate.operators.speaker import (
    Speaker,
    movement,
    positive_runs,
    speaking_odds,
)
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import SPEECH_RATE, write_wav

Mouth = np.ndarray
Say = Callable[..., dict[str, Value]]
TIMES = np.arange(0, SECONDS, 0.04)
ANNA, BERT = syllables(1), syllables(2)  # two who say different things
ALWAYS = [(0.0, SECONDS)]


def still(open_to: float = 0.01) -> Mouth:
    mouth = mouth_of(np.zeros(10_000))
    mouth[:, 1] = open_to
    return mouth


def opening(values: np.ndarray) -> Mouth:
    mouth = still()
    mouth[:, 1] = values
    return mouth


@pytest.fixture
def said(tmp_path: Path) -> Say:
    def say(
        mouths: dict[str, Mouth],
        speech: list[tuple[float, float]],
        sound: np.ndarray = ANNA,
        operator: Speaker | None = None,
        **more: Value,
    ) -> dict[str, Value]:
        path = tmp_path / "sound.wav"
        write_wav(path, sound_of(sound)[None], SPEECH_RATE)
        clip = Clip(path, str(hash(sound.tobytes())), probe(path))
        labels: dict[str, Value] = {
            "tracks": {"people": [{"id": person, "tracks": []} for person in mouths]},
            "mouth": {
                "people": [{"id": person, "at": at.tolist()} for person, at in mouths.items()]
            },
            "sound": {"spans": [{"start": s, "end": e, "kind": "speech"} for s, e in speech]},
        }
        label = (operator or Speaker())(clip, labels | more)
        return {person["id"]: person for person in label["people"]}

    return say


def test_the_one_whose_lips_go_with_the_sound_speaks_and_not_one_who_says_something_else(
    said: Say,
) -> None:
    mouths = {"p1": mouth_of(BERT), "p2": mouth_of(ANNA), "p3": still()}
    people = said(mouths, ALWAYS)
    assert {person: each["speaks"] for person, each in people.items()} == {
        "p1": False,
        "p2": True,
        "p3": False,
    }
    assert people["p1"]["longest_run"] > 12  # the movement alone would have made a speaker of it
    assert (people["p1"]["spans"], people["p3"]["spans"]) == ([], [])
    assert sum(end - start for start, end in people["p2"]["spans"]) > 5
    assert all(0 < each["confidence"] < 1 for each in people.values())


def test_a_voice_over_on_faces_that_move_is_nobodys(said: Say) -> None:
    people = said({"p1": mouth_of(BERT), "p2": mouth_of(syllables(3))}, ALWAYS)
    assert [person["speaks"] for person in people.values() if person["speaks"]] == []
    late = np.roll(ANNA, 3000)  # one's own words, at another time
    assert not said({"p1": mouth_of(late)}, ALWAYS)["p1"]["guess"]


def test_below_the_least_confidence_nothing_is_said_and_the_guess_stays(said: Say) -> None:
    strict = Speaker(least_confidence=0.999)
    person = said({"p1": mouth_of(ANNA)}, ALWAYS, operator=strict)["p1"]
    assert (person["speaks"], person["guess"], person["spans"]) == (None, True, [])
    assert said({"p1": mouth_of(ANNA)}, ALWAYS)["p1"]["confidence"] == person["confidence"]


def test_nobody_speaks_without_speech(said: Say) -> None:
    people = said({"p1": mouth_of(ANNA), "p2": mouth_of(BERT)}, [])
    assert [person["speaks"] for person in people.values()] == [False, False]
    assert {score for person in people.values() for _, score in person["at"]} == {-1.0}


def test_an_open_mouth_a_yawn_and_a_tremble_are_no_speech(said: Say) -> None:
    yawn = opening(0.5 * np.exp(-((TIMES - 5) ** 2)))
    smile = opening(np.where(TIMES > 4, 0.16, 0.01))
    for mouth in (yawn, smile, mouth_of(ANNA, wide=0.005)):
        person = said({"p1": mouth}, ALWAYS)["p1"]
        assert person["speaks"] is not True
        assert person["longest_run"] <= Speaker().least_run


def test_a_run_of_twelve_frames_is_not_enough() -> None:
    times = np.arange(0, 4, 0.04)
    for frames, speaks in ((12, False), (13, True)):
        score = np.where((times > 0.99) & (times < 0.99 + frames * 0.04), 0.5, -1.0)
        [(start, end)] = positive_runs(times, score)
        assert (round((end - start) * 25) > Speaker().least_run) is speaks


def test_without_a_long_enough_run_nobody_speaks_however_well_lips_agree(said: Say) -> None:
    assert said({"p1": mouth_of(ANNA)}, ALWAYS)["p1"]["speaks"]
    person = said({"p1": mouth_of(ANNA)}, ALWAYS, operator=Speaker(least_run=10_000))["p1"]
    assert (person["speaks"], person["guess"]) == (None, False)


def test_who_follows_with_small_movements_is_not_the_speaker_beside_one_who_is(said: Say) -> None:
    mouths = {"p1": mouth_of(ANNA), "p2": mouth_of(BERT, wide=0.04)}
    people = said(mouths, ALWAYS)
    assert people["p1"]["speaks"]
    assert not people["p2"]["guess"]


def test_someone_who_is_gone_is_no_rival(said: Say) -> None:
    gone = mouth_of(ANNA, wide=0.5)
    people = said({"p1": gone[gone[:, 0] < 2], "p2": mouth_of(ANNA, wide=0.1)}, ALWAYS)
    assert people["p2"]["speaks"]


def test_of_two_voices_each_goes_with_its_own_face_in_its_own_time(said: Say) -> None:
    first, second = syllables(1, 0, 5), syllables(2, 5, 10)
    turns = [
        {"start": 0.0, "end": 5.0, "speaker": "s1"},
        {"start": 5.0, "end": 10.0, "speaker": "s2"},
    ]
    people = said(
        {"p1": mouth_of(first), "p2": mouth_of(second)},
        ALWAYS,
        np.maximum(first, second),
        Speaker(least_confidence=0.8),
        turns={"speakers": 2, "turns": turns},
    )
    assert [person["guess"] for person in people.values()] == [True, True]
    assert people["p1"]["spans"][-1][1] < 5.5
    assert people["p2"]["spans"][0][0] > 4.5


def test_who_is_hardly_seen_while_there_is_speech_may_be_the_speaker(said: Say) -> None:
    mouth = still()
    person = said({"p1": mouth[mouth[:, 0] < 2]}, ALWAYS)["p1"]
    assert person["seen"] == pytest.approx(0.23, abs=0.05)
    assert (person["speaks"], person["guess"]) == (None, False)


def test_a_better_rival_a_lag_and_chance_make_speaking_less_likely() -> None:
    own = Agreement(correlation=0.3, lag=0.0, deviations=4.0, seconds=9.0)
    odds = speaking_odds(own, [])
    assert odds > 9
    assert speaking_odds(own, [own]) < odds
    assert speaking_odds(Agreement(0.3, 0.16, 4.0, 9.0), []) < odds
    assert speaking_odds(Agreement(0.3, -0.16, 4.0, 9.0), []) < odds
    assert speaking_odds(Agreement(0.05, 0.0, 0.0, 9.0), []) < 1


TURNS = {"speakers": 1, "turns": [{"start": 0.0, "end": 10.0, "speaker": "s1"}]}


def face(gender: str | None, confidence: float = 0.99, age: float | None = 40.0) -> Value:
    return {
        "people": [{"id": "p1", "gender": gender, "age": age, "confidence": {"gender": confidence}}]
    }


def voice(gender: str | None, confidence: float = 0.95) -> Value:
    return {"speakers": [{"id": "s1", "gender": gender, "confidence": {"gender": confidence}}]}


@pytest.mark.parametrize(
    ("demographics", "voices", "speaks"),
    [
        (face("male"), voice("female"), False),
        (face("male"), voice("male"), True),
        (face("male"), voice(None), True),  # a voice that may be either
        (face(None, 0.0, None), voice("female"), True),  # a face that was too small
        (face("male", 0.7), voice("female"), True),  # a face that is not clear
        (face("male"), voice("female", 0.5), True),
        (face("male", age=9.0), voice("female"), True),  # a boy sounds like a woman
    ],
)
def test_a_clear_mismatch_of_voice_and_face_demotes(
    said: Say, demographics: Value, voices: Value, speaks: bool
) -> None:
    more = {"turns": TURNS, "demographics": demographics, "voice_demographics": voices}
    person = said({"p1": mouth_of(ANNA)}, ALWAYS, **more)["p1"]
    assert (person["speaks"] is True) is speaks
    assert bool(person["demoted"]) is not speaks
    assert bool(person["spans"]) is speaks
    assert person["longest_run"] > 12  # what was seen stays told


def test_turns_are_believed_before_sound(said: Say) -> None:
    turns = {"speakers": 1, "turns": [{"start": 6.0, "end": 8.0, "speaker": "s1"}]}
    spans = said({"p1": mouth_of(ANNA)}, ALWAYS, turns=turns)["p1"]["spans"]
    assert spans[0][0] > 5.5
    assert spans[-1][1] < 8.5


def test_holes_and_single_moments_are_no_movement(said: Say) -> None:
    assert movement(np.array([]), np.array([])).tolist() == []
    assert movement(np.array([1.0]), np.array([0.2])).tolist() == [0.0]
    # Ten minutes between two moments: the lips were somewhere else, how fast nobody knows.
    assert movement(np.array([0.0, 600.0]), np.array([0.0, 0.5])).tolist() == [0.0, 0.0]
    people = said({"p1": still()[:0], "p2": still()[:1]}, ALWAYS)
    assert (people["p1"]["at"], people["p1"]["speaks"]) == ([], None)
