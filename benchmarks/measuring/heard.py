"""How well sounds, words, voices and tones are understood that are known."""

import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from measuring.world import SEED, SENTENCES, clip_of, edits, rendered, table
from reelbench.annotate.operator import Clip
from reelbench.annotate.operators.pitch import Pitch, yin
from reelbench.annotate.registry import load_operator
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import SPEECH_RATE, read_audio, write_wav
from reelbench.world.scene import SOUND_LENGTH

Sound = NDArray[np.float32]
Span = tuple[float, float]


def say(folder: Path, voice: str, words: str, speed: int = 160) -> Sound:
    """Speech of espeak-ng, without the silence around it."""
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "-w", str(folder / "say.wav"), words]
    subprocess.run(command, check=True)
    heard = read_audio(folder / "say.wav")[0]
    loud = np.flatnonzero(np.abs(heard) > 0.01)
    return np.asarray(heard[loud[0] : loud[-1] + 1], np.float32)


def silence(seconds: float) -> Sound:
    """Nothing."""
    return np.zeros(round(seconds * SPEECH_RATE), np.float32)


def tune(seconds: float) -> Sound:
    """A plucked melody."""
    out = np.zeros(round(seconds * SPEECH_RATE))
    for beat in range(int(seconds * 4)):
        begin = beat * SPEECH_RATE // 4
        times = np.arange(min(SPEECH_RATE, len(out) - begin)) / SPEECH_RATE
        pitch = 261.6 * 2 ** ((0, 4, 7, 12, 9, 5, 2, 7)[(beat * 3 + beat // 4) % 8] / 12)
        waves = [np.sin(2 * np.pi * pitch * n * times) / n for n in range(1, 6)]
        out[begin : begin + len(times)] += 0.12 * np.sum(waves, axis=0) * np.exp(-5 * times)
    return out.astype(np.float32)


def laid(folder: Path, parts: Sequence[tuple[str, Sound]]) -> tuple[Clip, list[str]]:
    """A clip of parts one after the other, and the name of what is heard each hundredth."""
    write_wav(folder / "laid.wav", np.concatenate([part for _, part in parts])[None], SPEECH_RATE)
    ends = np.cumsum([len(part) for _, part in parts]) / SPEECH_RATE
    moments = np.arange(0, ends[-1], 0.01)
    clip = Clip(folder / "laid.wav", str(time.monotonic_ns()), probe(folder / "laid.wav"))
    return clip, [parts[place][0] for place in np.searchsorted(ends, moments, side="right")]


def drawn(spans: Iterable[Span], count: int) -> NDArray[np.bool_]:
    """Say of each hundredth of a second whether it is in one of the spans."""
    moments = np.arange(count) * 0.01
    inside = [(moments >= start) & (moments < end) for start, end in spans]
    return np.asarray(np.any([moments < 0, *inside], axis=0))


def kinds(label: dict[str, Any], count: int) -> dict[str, NDArray[np.bool_]]:
    """Say for each kind of sound, and each hundredth of a second, whether it is heard."""
    names = ("speech", "singing", "music", "silence", "other")
    spans = {
        name: [(s["start"], s["end"]) for s in label["spans"] if s["kind"] == name]
        for name in names
    }
    return {name: drawn(each, count) for name, each in spans.items()}


def sound(folder: Path) -> None:
    """What is heard in scenes, which have no speech; and speech and music that are known."""
    states = ("silence", "hum", *SOUND_LENGTH)
    heard: dict[str, list[list[bool]]] = {state: [] for state in states}
    for scene, clip in rendered(folder):
        count = scene.duration * 100
        said = kinds(load_operator("sound")(clip, {}), count)
        state = np.where(drawn(scene.hum, count), "hum", "silence").astype(object)
        for event in scene.events:
            if event.sound:
                state[drawn([(event.time, event.time + SOUND_LENGTH[event.sound])], count)] = (
                    event.sound
                )
        for place, name in enumerate(state):
            heard[name].append([bool(each[place]) for each in said.values()])
    names = ("speech", "singing", "music", "silence", "other")
    rows = [
        (state, f"{len(each) / 100:.1f}", *np.mean(each, axis=0).tolist())
        for state, each in heard.items()
        if each
    ]
    table("sound on rendered scenes: what is said of what is heard", ("true", "s", *names), rows)
    clip, truth = laid(
        folder,
        [
            ("silence", silence(1.0)), ("speech", say(folder, "en-us", SENTENCES[0])),
            ("silence", silence(1.0)), ("music", tune(5.0)), ("silence", silence(1.2)),
            ("speech", say(folder, "en-us+f3", SENTENCES[1])), ("music", tune(4.0)),
            ("silence", silence(2.0)), ("speech", say(folder, "en-gb", SENTENCES[2])),
        ],
    )  # fmt: skip
    said = kinds(load_operator("sound")(clip, {}), len(truth))
    rows = []
    for kind in ("speech", "music", "silence"):
        true = np.array(truth) == kind
        hits = int((said[kind] & true).sum())
        precision, recall = hits / said[kind].sum(), hits / true.sum()
        rows.append((kind, precision, recall, 2 * hits / (said[kind].sum() + true.sum())))
    table("sound on espeak-ng and a melody", ("kind", "P", "R", "F1"), rows)


def words(folder: Path) -> None:
    """Word error rate at several speeds."""
    plain = " ".join(SENTENCES)
    rows = []
    for voice in ("en-us", "en-us+f3"):
        for speed in (120, 160, 200, 240):
            said = say(folder, voice, plain, speed)
            clip, _ = laid(folder, [("", silence(0.5)), ("", said), ("", silence(0.5))])
            label = load_operator("transcript")(clip, {})
            wanted, got = (
                "".join(c for c in each.lower() if c.isalpha() or c == " ").split()
                for each in (plain, label["text"])
            )
            spoken = [word for segment in label["segments"] for word in segment["words"]]
            off = abs(spoken[0]["start"] - 0.5) if spoken else float("nan")
            rows.append((voice, speed, edits(wanted, got) / len(wanted), off))
    table(
        "transcript of espeak-ng", ("voice", "words a minute", "word error", "first word off"), rows
    )


def turns(folder: Path) -> None:
    """Two voices in turn: the share of speech that is given to the wrong one, or to none."""
    pairs = [
        ("en-us", "en-us+f3"), ("en-us+m7", "en-us"), ("en-us+m3", "en-us+f4"),
        ("en-us+f2", "en-us+f4"), ("en-us", "en-gb"), ("en-us", "en-us+m1"),
    ]  # fmt: skip
    rows = []
    for pair in pairs:
        parts = []
        for number, sentence in enumerate(SENTENCES * 2):
            parts += [(pair[number % 2], say(folder, pair[number % 2], sentence))]
            parts += [("", silence(0.35))]
        clip, truth = laid(folder, parts)
        labels: dict[str, Any] = {}
        for name in ("sound", "turns", "pitch", "voice_demographics"):
            labels[name] = load_operator(name)(clip, labels)
        said = labels["turns"]
        genders = [each["gender"] or "-" for each in labels["voice_demographics"]["speakers"]]
        rows.append(
            (" and ".join(pair), said["speakers"], wrong_share(said, truth), ", ".join(genders))
        )
    table("turns of two voices of espeak-ng", ("voices", "found", "error", "gender said"), rows)


def wrong_share(label: dict[str, Any], truth: Sequence[str]) -> float:
    """Moments at which others are said to speak than do, to those of speech, at the best naming."""
    names = sorted({turn["speaker"] for turn in label["turns"]})
    voices = sorted({name for name in truth if name})
    real = np.array([[each == voice for each in truth] for voice in voices])
    spans = [
        [(t["start"], t["end"]) for t in label["turns"] if t["speaker"] == name] for name in names
    ]
    said = np.array([drawn(each, len(truth)) for each in spans]).reshape(len(names), -1)
    rows, columns = linear_sum_assignment(-(real.astype(int) @ said.astype(int).T))
    wrong = np.delete(said, columns, axis=0).any(axis=0)
    for number in range(len(voices)):
        given = said[columns[rows == number]].any(axis=0)
        wrong |= given != real[number]
    return float(wrong.sum() / real.any(axis=0).sum())


def small(folder: Path) -> None:
    """Pitch and loudness of known tones, and the language of known sentences."""
    times = np.arange(2 * SPEECH_RATE) / SPEECH_RATE
    errors, voiced = [], []
    for hertz in np.geomspace(70, 450, 24).tolist():
        harmonics = [np.sin(2 * np.pi * hertz * n * times) / n for n in range(1, 9)]
        noise = np.random.default_rng([SEED, round(hertz)]).normal(0, 0.02, len(times))
        wave = (0.2 * np.sum(harmonics, axis=0) + noise).astype(np.float32)
        settings = Pitch()
        limits = settings.lowest, settings.highest, settings.periodic
        found = yin(wave, np.arange(20, 180), *limits)
        voiced.append(float(np.mean(~np.isnan(found))))
        errors.append(float(np.nanmedian(np.abs(found / hertz - 1))))
    tone = np.sin(2 * np.pi * 997 * np.arange(5 * 48_000) / 48_000) / 10
    write_wav(folder / "tone.wav", tone[None].astype(np.float32), 48_000)
    lufs = load_operator("loudness")(clip_of(folder / "tone.wav"), {})["lufs"]
    sentences = {
        "en": "Where is the dog going now? I have no idea.",
        "fr": "Où va le chien maintenant ? Je n'en sais rien du tout.",
        "de": "Wohin geht der Hund jetzt? Ich habe keine Ahnung.",
        "es": "¿Adónde va el perro ahora? No tengo la menor idea.",
        "it": "Dove va il cane adesso? Non ne ho la minima idea.",
        "nl": "Waar gaat de hond nu heen? Ik heb geen idee.",
        "pl": "Dokąd idzie teraz ten pies? Nie mam pojęcia.",
        "tr": "Köpek şimdi nereye gidiyor? Hiçbir fikrim yok.",
        "ru": "Куда теперь идёт собака? Понятия не имею.",
        "ja": "犬は今どこへ行くのですか。まったくわかりません。",
    }
    clip = clip_of(folder / "tone.wav")
    written_in = {
        code: load_operator("language")(clip, {"text": {"lines": [{"text": sentence}]}})["written"]
        for code, sentence in sentences.items()
    }
    right = [code for code, said in written_in.items() if said == code]
    rows = [
        ("pitch of 24 tones, 70 to 450 Hz: worst error, %", 100 * max(errors)),
        ("share of moments with a pitch, least", min(voiced)),
        ("loudness of a tone of -23.01 LUFS", lufs),
        ("languages of one sentence each", f"{len(right)} of {len(sentences)}"),
    ]
    table("pitch, loudness, language", ("what", "figure"), rows)
