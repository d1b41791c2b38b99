"""Who narrates, decided on hand-made turns and voices; no model is needed."""

from collections.abc import Sequence

import numpy as np
import pytest

from reelbench.annotate.common.audio import turns_of
from reelbench.annotate.common.voice_pieces import VoicePiece, cut_turns
from reelbench.annotate.operator import Labels, Value
from reelbench.annotate.operators.narrator import Narrator, words_within
from reelbench.media.edit.audio import SPEECH_RATE

VOICES = np.random.default_rng(3).normal(0, 1, (6, 192))
Speech = Sequence[tuple[str, str, float]]  # the speaker of the turn, whose voice it is, seconds


def voice(name: str, random: np.random.Generator) -> np.ndarray:
    """One of the voices A to F, a little different each time; unlike any of them for "?"."""
    unlike = random.normal(0, 1, 192)
    own = unlike if name == "?" else VOICES["ABCDEF".index(name)] + 0.5 * unlike
    return np.asarray(own / np.linalg.norm(own), np.float32)


def pieces_of(speech: Speech, pause: float = 0.5) -> list[VoicePiece]:
    """Speech one after the other, in pieces of two seconds; "-" is a pause."""
    random, moment, found = np.random.default_rng(0), 0.0, []
    for speaker, name, seconds in speech:
        end = moment + seconds
        while name != "-" and end - moment > 0.05:
            until = end if end - moment < 3 else moment + 2
            heard = voice(name, random) if until - moment >= 0.6 else None
            found.append(VoicePiece(moment, until, speaker, True, heard, -20.0))
            moment = until
        moment = end + pause
    return found


def judged(speech: Speech, labels: Labels | None = None, **parameters: float) -> Value:
    pieces = pieces_of(speech)
    length = sum(seconds + 0.5 for _, _, seconds in speech)
    levels = np.full(round(length / 0.05), -20.0)
    return Narrator(**parameters).judge(pieces, levels, labels or {})


def sound(*spans: tuple[float, float, str]) -> Labels:
    return {"sound": {"spans": [{"start": s, "end": e, "kind": kind} for s, e, kind in spans]}}


ESSAY: Speech = [
    ("s1", "A", 14), ("s2", "B", 4), ("s1", "A", 18), ("s3", "C", 3), ("s2", "B", 3), ("s1", "A", 20),
]  # fmt: skip


def test_the_voice_that_tells_an_essay_is_its_narrator() -> None:
    found = judged(ESSAY)
    assert found["speaker"] == found["guess"] == "s1"
    assert found["confidence"] >= found["least"]
    assert found["reason"] == ""
    assert found["seconds"] == pytest.approx(52)
    assert found["share"] == pytest.approx(52 / 62, abs=1e-3)
    assert found["others"] == [{"speaker": "s2", "seconds": 7.0}, {"speaker": "s3", "seconds": 3.0}]
    assert found["turns"] == [[0.0, 14.0], [19.0, 37.0], [44.5, 64.5]]


def test_a_narrator_who_was_taken_for_two_speakers_is_one() -> None:
    found = judged([("s1", "A", 16), ("s2", "B", 4), ("s4", "A", 20), ("s3", "C", 4)])
    assert found["speaker"] == "s4"
    assert found["turns"] == [[0.0, 16.0], [21.0, 41.0]]
    assert [each["speaker"] for each in found["others"]] == ["s2", "s3"]


def test_a_line_of_a_film_under_the_name_of_the_narrator_is_not_the_narrators() -> None:
    found = judged([("s1", "A", 16), ("s1", "B", 4), ("s1", "A", 20), ("s2", "C", 4)])
    assert found["speaker"] == "s1"
    assert found["turns"] == [[0.0, 16.0], [21.0, 41.0]]
    assert found["others"] == [
        {"speaker": "s3", "seconds": 4.0},
        {"speaker": "s2", "seconds": 4.0},
    ] or ({each["speaker"] for each in found["others"]} == {"s2", "s3"})


def test_a_turn_that_is_far_from_the_narrators_voice_is_left_out() -> None:
    found = judged([("s1", "A", 16), ("s1", "?", 2), ("s1", "A", 20)])
    assert found["speaker"] == "s1"
    assert found["turns"] == [[0.0, 16.0], [19.0, 39.0]]


@pytest.mark.parametrize(
    ("speech", "labels", "reason"),
    [
        ([], {}, "Nobody speaks"),
        ([("s1", "A", 6), ("s1", "-", 50)], {}, "for 6.0 s, less than 10 s"),
        ([("s1", "A", 12), ("s2", "B", 10)] * 3, {}, "Two voices share the speech"),
        (ESSAY, sound((0, 70, "music"), (0, 60, "singing")), "sings"),
        ([("s1", "ABCDEF"[n], 12) for n in range(6)], {}, "Two voices share the speech"),
        (
            [("s1", "A", 15), ("s1", "-", 100), ("s2", "B", 8), ("s3", "C", 8)],
            {},
            "No voice is clearly a narrator's",
        ),
    ],
    ids=["no speech", "little", "interview", "song", "film", "one scene of many"],
)
def test_where_no_narrator_is_clear_none_is_named_and_it_says_why(
    speech: Speech, labels: Labels, reason: str
) -> None:
    found = judged(speech, labels)
    assert found["speaker"] is None
    assert found["confidence"] < found["least"]
    assert reason in found["reason"]
    assert found["guess"] == ("s1" if speech else None)


STAND_UP: Speech = [("s1", "A", 12), ("s1", "-", 2)] * 5
LAUGHTER = sound(*((12.5 + 15 * n, 14.9 + 15 * n, "other") for n in range(5)))


def test_who_speaks_to_an_audience_that_is_heard_is_no_narrator() -> None:
    assert judged(STAND_UP)["speaker"] == "s1"
    found = judged(STAND_UP, LAUGHTER)
    assert found["speaker"] is None
    assert "audience" in found["reason"]


def test_on_a_stage_an_audience_that_is_heard_at_times_is_enough() -> None:
    some = sound(*((12.5 + 15 * n, 14.9 + 15 * n, "other") for n in (0, 2)))
    seen = {"speaker": {"people": [{"speaks": True, "spans": [[0.0, 30.0]]}]}}
    assert judged(STAND_UP, some)["speaker"] == "s1"
    assert judged(STAND_UP, seen)["speaker"] == "s1"
    assert judged(STAND_UP, {**some, **seen})["speaker"] is None


def test_a_quiet_room_in_the_pauses_is_no_audience() -> None:
    pieces = pieces_of(STAND_UP)
    levels = np.full(1500, -48.0)
    assert Narrator().judge(pieces, levels, LAUGHTER)["speaker"] == "s1"


@pytest.mark.parametrize(("seen", "speaker"), [(30, "s1"), (64, None)])
def test_a_presenter_may_be_seen_at_times_and_a_performer_is_seen_throughout(
    seen: float, speaker: str | None
) -> None:
    people = [{"speaks": True, "spans": [[0.0, seen]]}, {"speaks": None, "spans": [[0.0, 70.0]]}]
    found = judged(ESSAY, {"speaker": {"people": people}})
    assert found["speaker"] == speaker
    assert found["evidence"]["on_screen"] == pytest.approx(min(1, (seen - 12) / 45), abs=0.3)


def test_what_lowers_the_confidence_can_be_asked_for_or_waived() -> None:
    doubtful = [("s1", "A", 20), ("s1", "-", 25), ("s2", "B", 10), ("s3", "C", 8), ("s4", "D", 6)]
    confidence = judged(doubtful)["confidence"]
    assert judged(doubtful, least_confidence=confidence + 0.01)["speaker"] is None
    assert judged(doubtful, least_confidence=confidence)["speaker"] == "s1"


def test_turns_that_are_too_short_to_have_a_voice_go_by_their_speakers() -> None:
    found = judged([("s2", "A", 0.4), ("s1", "B", 0.5)] * 9)
    assert (found["speaker"], found["guess"]) == (None, "s1")
    assert found["others"] == [{"speaker": "s2", "seconds": 3.6}]


def test_speech_over_cuts_is_counted_where_shots_are_known() -> None:
    assert judged(ESSAY)["evidence"]["across_cuts"] is None
    cuts = {"shots": {"cuts": [5.0, 16.0, 25.0, 50.0]}}
    assert judged(ESSAY, cuts)["evidence"]["across_cuts"] == pytest.approx(0.75)


def test_turns_are_split_where_two_speak_at_once() -> None:
    turns = {"turns": [(0.0, 8.0, "s1"), (6.0, 7.0, "s2")]}
    plain = [{"start": s, "end": e, "speaker": who} for s, e, who in turns["turns"]]
    samples = np.zeros(8 * SPEECH_RATE, np.float32)
    random = np.random.default_rng(1)
    pieces = cut_turns(samples, turns_of({"turns": plain}), lambda _: voice("A", random))
    alone = [(p.start, p.end) for p in pieces if p.alone]
    assert alone[0][0] == 0.0
    assert (7.0, 8.0) in alone
    assert [(p.start, p.end, p.speaker) for p in pieces if not p.alone] == [
        (6.0, 7.0, "s1"),
        (6.0, 7.0, "s2"),
    ]
    found = Narrator(least_seconds=5.0).judge(pieces, np.full(160, -20.0), {})
    assert [6.0, 7.0] in found["turns"]
    assert found["overlaps"] == [[6.0, 7.0]]


def test_pieces_end_where_it_is_quiet() -> None:
    samples = np.random.default_rng(0).normal(0, 0.1, 6 * SPEECH_RATE).astype(np.float32)
    samples[round(2.1 * SPEECH_RATE) : round(2.3 * SPEECH_RATE)] = 0
    pieces = cut_turns(samples, {"s1": [(0.0, 6.0)]}, lambda _: voice("A", np.random.default_rng()))
    assert 2.1 <= pieces[0].end <= 2.3
    assert pieces[1].start == pieces[0].end
    assert pieces[-1].end == 6.0


def test_words_are_the_narrators_by_their_middle_and_those_of_subtitles_follow_evenly() -> None:
    heard = {
        "segments": [
            {
                "start": 0.0,
                "end": 3.0,
                "text": "We see it",
                "words": [
                    {"start": n, "end": n + 1.0, "word": word, "probability": 0.9}
                    for n, word in enumerate(("We", "see", "it"))
                ],
            },
            {"start": 3.0, "end": 7.0, "text": "and hear it too", "words": []},
        ]
    }
    found = words_within(heard, [(0.0, 1.4), (4.0, 6.2)])
    assert [word["word"] for word in found] == ["We", "hear", "it"]
    assert found[1] == {"start": 4.0, "end": 5.0, "word": "hear"}
    assert words_within(None, [(0.0, 9.0)]) == []
