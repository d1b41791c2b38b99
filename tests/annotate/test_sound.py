"""The operators that listen, where no model is needed to check them."""

import json
from math import inf
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from videos import make_video

from reelbench.annotate.common.audio import bridged, common, mono_sound, runs, within, without
from reelbench.annotate.common.voice_pieces import grouped
from reelbench.annotate.operator import Clip, Labels, NotApplicable
from reelbench.annotate.operators.loudness import Loudness
from reelbench.annotate.operators.pitch import Pitch
from reelbench.annotate.operators.speech_emotion import SpeechEmotion
from reelbench.annotate.operators.transcript import Transcript, cut_off
from reelbench.annotate.operators.voice_demographics import (
    VoiceDemographics,
    judge_age,
    judge_gender,
)
from reelbench.annotate.registry import load_operator
from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import SPEECH_RATE, write_wav
from reelbench.media.errors import MediaError

LISTENING = ("sound", "transcript", "turns", "pitch", "loudness")


def clip_of(path: Path) -> Clip:
    return Clip(path, str(path), probe(path))


def clip_with(folder: Path, *channels: np.ndarray, rate: int = SPEECH_RATE) -> Clip:
    write_wav(folder / "clip.wav", np.array(channels, np.float32), rate)
    return clip_of(folder / "clip.wav")


def tone(
    hertz: float, seconds: float = 2.0, level: float = 0.5, rate: int = SPEECH_RATE
) -> np.ndarray:
    return level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def vowel(hertz: float, seconds: float = 2.0) -> np.ndarray:
    """A voice that says "ah" at a known pitch: the partials of its cords, through two formants."""
    time = np.arange(round(seconds * SPEECH_RATE)) / SPEECH_RATE
    partials = np.arange(1, int(4000 / hertz))[:, None] * hertz
    gain = sum(1 / (1 + ((partials - formant) / 90) ** 2) for formant in (730, 1090)) + 0.02
    wave = (gain * np.cos(2 * np.pi * partials * time)).sum(axis=0)
    return 0.3 * wave / np.abs(wave).max()


def speech(*spans: tuple[float, float]) -> Labels:
    return {"sound": {"spans": [{"start": s, "end": e, "kind": "speech"} for s, e in spans]}}


def test_spans_are_joined_cut_and_kept_apart() -> None:
    assert runs(np.array([True, False, True, True])) == [(0, 1), (2, 4)]
    assert bridged([(5, 6), (0, 1), (1.2, 2), (1.4, 1.5)], 0.2) == [(0, 2), (5, 6)]
    assert common([(0, 2), (3, 5)], [(1, 4), (4.5, 9)]) == [(1, 2), (3, 4), (4.5, 5)]
    assert without([(0, 10)], [(2, 3), (2.5, 4), (9, inf)]) == [(0, 2), (4, 9)]
    assert without([(0, 1)], []) == [(0, 1)]
    assert within(np.array([0.0, 1.0, 2.0]), [(1.0, 2.0)]).tolist() == [False, True, False]


def test_without_sound_there_is_nothing_to_say(tmp_path: Path) -> None:
    clip = clip_of(make_video(tmp_path / "silent.mp4", seconds=1.0))
    for name in LISTENING:
        with pytest.raises(NotApplicable, match="no sound"):
            load_operator(name)(clip, {})


def test_sound_that_breaks_off_is_heard_up_to_there(tmp_path: Path) -> None:
    whole = make_video(tmp_path / "whole.ts", seconds=4.0, sound=4.0)
    full = len(mono_sound(clip_of(whole)))
    cut = tmp_path / "cut.ts"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size * 6 // 10])
    assert 0.2 * full < len(mono_sound(clip_of(cut))) < full


@pytest.mark.parametrize("hertz", [80.0, 123.0, 220.0, 311.0, 450.0])
def test_pitch_of_tones_and_voices_is_within_one_percent(tmp_path: Path, hertz: float) -> None:
    for sound in (tone(hertz), vowel(hertz)):
        label = Pitch()(clip_with(tmp_path, sound), speech((0.0, 2.0)))
        assert label["median"] == pytest.approx(hertz, rel=0.01)
        assert len(label["at"]) >= 18
        mono_sound.__globals__["_decoded"].cache_clear()  # the next sound has the same name


def test_pitch_is_heard_in_speech_alone_and_by_speaker(tmp_path: Path) -> None:
    clip = clip_with(tmp_path, np.concatenate([vowel(110.0), vowel(220.0), vowel(440.0)]))
    turns = {
        "turns": [
            {"start": 0.0, "end": 2.0, "speaker": "s2"},
            {"start": 2.0, "end": 4.0, "speaker": "s1"},
        ]
    }
    label = Pitch()(clip, speech((0.0, 4.0)) | {"turns": turns})
    assert [each["id"] for each in label["speakers"]] == ["s1", "s2"]
    assert [each["median"] for each in label["speakers"]] == pytest.approx([220.0, 110.0], rel=0.01)
    assert max(time for time, _ in label["at"]) < 4.0
    assert label == json.loads(json.dumps(label))


def test_noise_and_silence_have_no_pitch(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, 2 * SPEECH_RATE)
    label = Pitch()(
        clip_with(tmp_path, np.concatenate([noise, np.zeros(SPEECH_RATE)])), speech((0.0, 3.0))
    )
    assert label == {"median": None, "at": [], "speakers": []}


def test_loudness_of_a_known_tone(tmp_path: Path) -> None:
    # BS.1770: 997 Hz at full scale in one channel is -3.01 LUFS; twice as many channels, 3 dB more.
    one = Loudness()(clip_with(tmp_path, tone(997.0, 3.0, 0.1, 48_000), rate=48_000), {})
    assert one["lufs"] == pytest.approx(-23.01, abs=0.1)
    assert [db for _, db in one["at"][1:-1]] == pytest.approx([-23.01] * 13, abs=0.1)
    mono_sound.__globals__["_decoded"].cache_clear()
    two = Loudness()(clip_with(tmp_path, *[tone(997.0, 3.0, 0.1, 48_000)] * 2, rate=48_000), {})
    assert two["lufs"] == pytest.approx(-20.0, abs=0.1)


def test_silence_has_no_loudness_and_its_label_is_json(tmp_path: Path) -> None:
    label = Loudness()(clip_with(tmp_path, np.zeros(SPEECH_RATE)), {})
    assert label["lufs"] is None
    assert {db for _, db in label["at"]} == {-100.0}
    json.dumps(label, allow_nan=False)


def test_subtitles_beside_a_clip_are_believed_also_where_it_has_no_sound(tmp_path: Path) -> None:
    clip = clip_of(make_video(tmp_path / "a.mp4", seconds=1.0))
    (tmp_path / "a.srt").write_text("1\n00:00:00,250 --> 00:00:00,900\n<i>Good</i> morning.\n")
    assert Transcript()(clip, {}) == {
        "source": "subtitles",
        "language": None,
        "language_confidence": 0.0,
        "text": "Good morning.",
        "confidence": 1.0,
        "dropped": [],
        "segments": [{"start": 0.25, "end": 0.9, "text": "Good morning.", "words": []}],
    }
    with pytest.raises(NotApplicable, match="no sound"):
        Transcript(subtitles=False)(clip, {})
    (tmp_path / "a.srt").write_text("no times")
    with pytest.raises(MediaError, match=r"a\.srt"):
        Transcript()(clip, {})


def test_where_nobody_speaks_nothing_is_transcribed_and_nobody_has_a_turn(tmp_path: Path) -> None:
    clip = clip_with(tmp_path, tone(440.0))
    assert Transcript()(clip, speech())["segments"] == []
    assert load_operator("turns")(clip, speech()) == {"speakers": 0, "turns": []}


def words(*spans: tuple[float, float, float]) -> list[SimpleNamespace]:
    return [SimpleNamespace(start=s, end=e, probability=p) for s, e, p in spans]


@pytest.mark.parametrize(
    ("heard", "speech", "dropped"),
    [
        # Speech goes on over both edges: the first and the last word are not whole.
        ([(0.0, 0.3, 0.9), (0.3, 0.8, 0.9), (9.7, 10.0, 0.99)], [(0.0, 10.0)], (1, 1)),
        # It begins and ends within the clip.
        ([(0.5, 0.9, 0.2), (1.0, 1.3, 0.9), (8.0, 8.4, 0.3)], [(0.5, 8.5)], (0, 0)),
        # Doubtful words beside the edge go with the one that is cut off, sure ones do not.
        ([(1.0, 2.0, 0.9), (9.1, 9.4, 0.4), (9.5, 9.9, 0.5)], [(1.0, 10.0)], (0, 2)),
        ([(1.0, 2.0, 0.9), (9.1, 9.4, 0.8), (9.5, 9.9, 0.5)], [(1.0, 10.0)], (0, 1)),
        ([(5.0, 5.2, 0.1)], [(0.0, 10.0)], (0, 0)),  # far from both edges
        ([(0.0, 10.0, 0.5)], [(0.0, 10.0)], (1, 0)),  # one word, which is dropped once
        ([], [(0.0, 10.0)], (0, 0)),
    ],
)
def test_words_that_the_edges_of_a_clip_cut_off_are_found(
    heard: list[tuple[float, float, float]],
    speech: list[tuple[float, float]],
    dropped: tuple[int, int],
) -> None:
    assert cut_off(words(*heard), speech, 10.0, 0.6) == dropped


def test_at_most_three_words_are_dropped_at_an_edge() -> None:
    poor = [(9.0 + n / 8, 9.1 + n / 8, 0.1) for n in range(8)]
    assert cut_off(words(*poor), [(8.0, 10.0)], 10.0, 0.6) == (0, 3)


def test_voices_are_grouped_by_likeness() -> None:
    angles = np.radians([0, 20, 90, 110, 5])
    groups = grouped(np.stack([np.cos(angles), np.sin(angles)], axis=1), same=0.65)
    assert groups[0] == groups[1] == groups[4] != groups[2] == groups[3]
    assert grouped(np.ones((1, 3)), 0.65).tolist() == [0]


def test_speech_emotion_says_that_there_is_no_model_and_takes_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = clip_with(tmp_path, np.concatenate([tone(200.0, level=0.9), tone(200.0, level=0.1)]))
    with pytest.raises(NotApplicable, match="set your own with --set"):
        SpeechEmotion()(clip, {})
    with pytest.raises(ReelbenchError, match=r"package\.module:function"):
        SpeechEmotion(model="nowhere:listen")(clip, speech())
    (tmp_path / "my_ears.py").write_text(
        "def listen(x, rate):\n    return {'angry': float(x.max()), 'calm': 0.5}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    label = SpeechEmotion(model="my_ears:listen")(clip, speech((0.0, 2.0), (2.0, 4.0)))
    assert [turn["emotion"] for turn in label["turns"]] == ["angry", "calm"]


@pytest.mark.parametrize(
    ("female", "hertz", "gender", "age"),
    [
        (0.02, 110.0, "male", "adult"),
        (0.98, 215.0, "female", "adult"),
        (0.05, 165.0, "male", "adult"),  # as high as some men speak
        (0.97, 140.0, None, "adult"),  # the network hears a woman, the pitch is a man's
        (0.03, 215.0, None, "adult"),
        (0.55, 185.0, None, "adult"),
        (0.9, 330.0, None, "child"),  # boys and girls sound alike
        (0.9, 270.0, None, None),
        (0.98, None, None, None),  # without a pitch
        (None, 110.0, None, "adult"),  # too short for the network
    ],
)
def test_a_voice_has_a_gender_only_where_network_and_pitch_agree(
    female: float | None, hertz: float | None, gender: str | None, age: str | None
) -> None:
    least = VoiceDemographics().least_confidence
    said, sure = judge_gender(female, hertz)
    group, group_sure = judge_age(female, hertz)
    assert (said if sure >= least else None) == gender
    assert (group if group_sure >= least else None) == age
    assert 0 <= sure < 1
    assert 0 <= group_sure <= 1


def test_a_voice_that_is_hardly_heard_alone_has_no_gender(tmp_path: Path) -> None:
    turns = [
        {"start": 0.0, "end": 2.0, "speaker": "s1"},
        {"start": 0.5, "end": 2.0, "speaker": "s2"},
    ]
    labels = {"turns": {"turns": turns}, "pitch": {"at": [[0.2, 120.0], [1.0, 120.0]]}}
    for voice in VoiceDemographics()(clip_with(tmp_path, tone(100.0)), labels)["speakers"]:
        assert (voice["gender"], voice["guess"]["gender"]) == (None, None)
        assert voice["confidence"]["gender"] == 0
