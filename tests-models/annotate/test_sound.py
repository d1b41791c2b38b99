"""The operators that listen, on real clips and on espeak-ng's voices, whose truth is known."""

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from support import SHARED

from reelbench.annotate.operator import Clip
from reelbench.annotate.operators.sound import SoundEvents
from reelbench.annotate.operators.transcript import Transcript
from reelbench.annotate.operators.turns import Turns
from reelbench.annotate.operators.voices import embed
from reelbench.annotate.registry import in_order, load_operator
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import SPEECH_RATE, read_audio, write_wav

VIDEO = SHARED / "data" / "video"
clips = pytest.mark.skipif(not VIDEO.is_dir(), reason="the real clips of ../shared are not here")
espeak = pytest.mark.skipif(
    shutil.which("espeak-ng") is None, reason="espeak-ng is not installed (apt install espeak-ng)"
)
SENTENCES = (
    "The old sailor walked slowly along the river in the morning.",
    "He carried a wooden box with seven letters from his brother.",
    "Nobody in the village knew what was written in them.",
    "On Sunday the children asked him to tell a story about the sea.",
)


def clip_of(path: Path) -> Clip:
    return Clip(path, str(path), probe(path))


def say(folder: Path, voice: str, text: str, speed: int = 160) -> np.ndarray:
    """Speech without the silence around it."""
    path = folder / "say.wav"
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "-w", str(path), text]
    subprocess.run(command, check=True)
    sound = read_audio(path)[0]
    heard = np.flatnonzero(np.abs(sound) > 0.01)
    return sound[heard[0] : heard[-1] + 1]


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * SPEECH_RATE), np.float32)


def tune(seconds: float) -> np.ndarray:
    """A plucked melody over chords."""
    notes = (261.6, 329.6, 392.0, 523.3, 440.0, 349.2, 293.7, 392.0)
    out = np.zeros(round(seconds * SPEECH_RATE))
    for beat in range(int(seconds * 4)):
        note, begin = notes[(beat * 3 + beat // 4) % 8], beat * SPEECH_RATE // 4
        time = np.arange(min(SPEECH_RATE, len(out) - begin)) / SPEECH_RATE
        soft = np.minimum(1, time / 0.005)
        pluck = sum(0.12 / n * np.sin(2 * np.pi * note * n * time) for n in range(1, 6))
        out[begin : begin + len(time)] += pluck * np.exp(-5 * time) * soft
        if beat % 4 == 0:
            chord = sum(0.06 * np.sin(np.pi * note * ratio * time) for ratio in (1, 1.25, 1.5))
            out[begin : begin + len(time)] += chord * np.exp(-1.5 * time) * soft
    return out.astype(np.float32)


def track(
    folder: Path, parts: Sequence[tuple[str, np.ndarray]]
) -> tuple[Clip, list[tuple[str, float, float]]]:
    """A clip of named parts, one after the other, and the truth about it."""
    write_wav(folder / "track.wav", np.concatenate([part for _, part in parts])[None], SPEECH_RATE)
    ends = np.cumsum([len(part) for _, part in parts]) / SPEECH_RATE
    starts = [0.0, *ends[:-1]]
    truth = [(name, start, end) for (name, _), start, end in zip(parts, starts, ends, strict=True)]
    return clip_of(folder / "track.wav"), truth


def drawn(spans: Sequence[tuple[str, float, float]], name: str, length: float) -> np.ndarray:
    moments = np.arange(0, length, 0.01)
    inside = [(moments >= start) & (moments < end) for kind, start, end in spans if kind == name]
    return np.any([moments < 0, *inside], axis=0)


def f1(found: np.ndarray, truth: np.ndarray) -> float:
    return float(2 * (found & truth).sum() / (found.sum() + truth.sum()))


def word_error_rate(truth: str, heard: str) -> float:
    """Words put in, left out or changed, to the words there are."""
    wanted, got = (re.findall(r"[a-z']+", text.lower()) for text in (truth, heard))
    row = list(range(len(got) + 1))
    for number, word in enumerate(wanted, 1):
        above, row = row, [number]
        for place, other in enumerate(got):
            row.append(min(row[-1] + 1, above[place + 1] + 1, above[place] + (word != other)))
    return row[-1] / len(wanted)


def test_word_error_rate_counts_what_is_changed_left_out_and_put_in() -> None:
    assert word_error_rate("A b c d", "a, b c d.") == 0
    assert word_error_rate("a b c d", "a x c") == 0.5
    assert word_error_rate("a b", "a b c") == 0.5


@clips
@pytest.mark.parametrize(
    ("name", "there", "absent"),
    [
        ("animation_trailer.mp4", {"music"}, {"speech"}),
        ("video1.mp4", {"music"}, set()),
        ("video2.mp4", {"music"}, {"speech"}),
        ("video3.mp4", {"music"}, set()),
        ("video4.mp4", {"speech"}, {"music"}),
        ("video5.mp4", {"speech"}, {"music"}),
        ("speech_two_faces.mp4", {"speech"}, {"music", "singing"}),
        ("expressions.mp4", {"silence"}, {"speech", "music", "singing", "other"}),
    ],
)
def test_kinds_of_sound_on_real_clips(name: str, there: set[str], absent: set[str]) -> None:
    shares = SoundEvents()(clip_of(VIDEO / name), {})["shares"]
    assert all(shares[kind] > 0.25 for kind in there), shares
    assert all(shares[kind] == 0 for kind in absent), shares


@espeak
def test_speech_music_and_silence_are_told_apart(tmp_path: Path) -> None:
    clip, truth = track(
        tmp_path,
        [
            ("silence", silence(1.0)), ("speech", say(tmp_path, "en-us", SENTENCES[0])),
            ("silence", silence(1.0)), ("music", tune(5.0)),
            ("silence", silence(1.2)), ("speech", say(tmp_path, "en-us+f3", SENTENCES[1])),
            ("music", tune(4.0)), ("silence", silence(2.0)),
            ("speech", say(tmp_path, "en-gb", SENTENCES[2])),
        ],
    )  # fmt: skip
    label = SoundEvents()(clip, {})
    found = [(span["kind"], span["start"], span["end"]) for span in label["spans"]]
    length = truth[-1][2]
    scores = {
        kind: round(f1(drawn(found, kind, length), drawn(truth, kind, length)), 3)
        for kind in ("speech", "music", "silence")
    }
    print(scores)
    assert scores["speech"] > 0.97
    assert scores["music"] > 0.88  # it hears some music in the last of espeak's sentences
    assert scores["silence"] > 0.95


@espeak
@pytest.mark.parametrize("speed", [120, 160, 200, 240])
def test_words_of_espeak(tmp_path: Path, speed: int) -> None:
    text = " ".join(SENTENCES)
    clip, _ = track(
        tmp_path,
        [("", silence(0.5)), ("", say(tmp_path, "en-us", text, speed)), ("", silence(0.5))],
    )
    label = Transcript()(clip, {})
    error = word_error_rate(text, label["text"])
    print(speed, round(error, 3))
    assert label["language"] == "en"
    assert error <= 0.07
    words = [word for segment in label["segments"] for word in segment["words"]]
    times = [word["start"] for word in words]
    assert times == sorted(times)
    assert times[0] == pytest.approx(0.5, abs=0.1)  # not the silence before it
    assert words[-1]["end"] < clip.info.duration


def wrong_share(
    turns: Sequence[dict], truth: Sequence[tuple[str, float, float]], length: float
) -> float:
    """The share of speech for which other people are said to speak than do, at the best naming."""
    names = sorted({turn["speaker"] for turn in turns})
    people = sorted({name for name, _, _ in truth if name})
    spans = [(turn["speaker"], turn["start"], turn["end"]) for turn in turns]
    real = {person: drawn(truth, person, length) for person in people}
    nobody = np.zeros(len(real[people[0]]), bool)
    shares = []
    for order in itertools.permutations([*people, *[""] * len(names)], len(names)):
        said = dict.fromkeys(people, nobody)
        wrong = nobody.copy()
        for name, person in zip(names, order, strict=True):
            if person:
                said[person] = drawn(spans, name, length)
            else:
                wrong |= drawn(spans, name, length)
        for person in people:
            wrong |= said[person] != real[person]
        shares.append(wrong.sum() / np.any(list(real.values()), axis=0).sum())
    return float(min(shares))


@espeak
@pytest.mark.parametrize("voices", [("en-us", "en-us+f3"), ("en-us+m7", "en-us")])
def test_two_voices_in_turn(tmp_path: Path, voices: tuple[str, str]) -> None:
    parts = []
    for number, text in enumerate(SENTENCES * 2):
        voice = voices[number % 2]
        parts += [(voice, say(tmp_path, voice, text)), ("", silence(0.35))]
    clip, truth = track(tmp_path, parts)
    label = Turns()(clip, {})
    error = wrong_share(label["turns"], truth, truth[-1][2])
    print(voices, round(error, 3))
    assert label["speakers"] == 2
    assert label["turns"][0]["speaker"] == "s1"
    assert error < 0.15


@clips
def test_a_real_voice_is_one_and_unlike_another() -> None:
    first = read_audio(VIDEO / "speech_two_faces.mp4", start=2.0, end=4.0)[0]
    second = read_audio(VIDEO / "speech_two_faces.mp4", start=4.3, end=7.5)[0]
    other = read_audio(VIDEO / "video3.mp4", start=4.3, end=10.5)[0]
    assert embed(first) @ embed(second) > 0.75
    assert max(embed(first) @ embed(other), embed(second) @ embed(other)) < 0.5


@clips
def test_all_that_is_heard_in_a_speech_and_again_the_same_bytes() -> None:
    clip = clip_of(VIDEO / "speech_two_faces.mp4")
    names = in_order(["transcript", "voices", "pitch", "loudness", "voice_demographics", "sound"])

    def listened() -> dict[str, dict]:
        labels: dict[str, dict] = {}
        for name in names:
            labels[name] = load_operator(name)(clip, labels)
        return labels

    labels = listened()
    assert "United States" in labels["transcript"]["text"]
    assert labels["transcript"]["language"] == "en"
    assert labels["turns"]["speakers"] == 1
    assert np.linalg.norm(labels["voices"]["speakers"][0]["embedding"]) == pytest.approx(
        1, abs=1e-2
    )
    assert 120 < labels["pitch"]["speakers"][0]["median"] < 170  # a man; Praat says 141 Hz
    [voice] = labels["voice_demographics"]["speakers"]
    assert (voice["gender"], voice["age_group"]) == ("male", "adult")  # 145 Hz alone did not tell
    assert labels["loudness"]["lufs"] == pytest.approx(-30.3, abs=0.2)
    assert max(turn["end"] for turn in labels["turns"]["turns"]) <= 8.75
    assert json.dumps(listened()) == json.dumps(labels)


def test_a_sound_of_a_hundredth_of_a_second_is_no_trouble(tmp_path: Path) -> None:
    clip, _ = track(tmp_path, [("", silence(0.01) + 0.2)])
    labels: dict[str, dict] = {}
    for name in in_order(
        ["transcript", "voices", "pitch", "loudness", "voice_demographics", "sound"]
    ):
        labels[name] = load_operator(name)(clip, labels)
    assert labels["turns"] == {"speakers": 0, "turns": []}
