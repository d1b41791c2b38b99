"""Essays mixed of known parts: a narrator, lines of films, music; and sound without a narrator.

Narrators are two lecturers (labelling/speaker.yaml), and voices of flite and espeak-ng where these
are installed; films are people of AMI's meetings and of clips. The two splits share no voice. Plain
essays are clear; in hard ones music is about 5 dB below the narrator, a fifth of the narration goes
through a telephone, and other narrators speak in the films.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.signal import butter, sosfilt

from reelbench.annotate.common.audio import Mono, bridged, level_db, runs, without
from reelbench.data.items import Span
from reelbench.media.edit.audio import SPEECH_RATE, read_audio

LECTURERS = {"tune": ("b1d1e6974492.mp4", 0.0), "held": ("95cff49e295f.mp4", 280.0)}
FLITE = {"tune": ("slt", "kal16"), "held": ("rms", "awb")}
ESPEAK = {"tune": ("en-us", "en-us+f3", "en-us+m7"), "held": ("en-gb", "en-gb+f5", "en-us+m3")}
ALIKE = {"en-us": ("en-us+m1", "en-us+m8"), "en-gb": ("en-gb+m4", "en-gb+m6")}
MEETINGS = {"tune": "trn0[469].wav", "held": "[dt][es][vt]0[01].wav"}
BREAKDANCE = "held/breakdance_a.mp4"
CLIPS = {"tune": ("tune/rant_a", "tune/rant_b"), "held": ("held/talk_a", "held/talk_b")}
TEXT = (
    "The old sailor walked slowly along the river in the morning. He carried a wooden box with "
    "seven letters from his brother. Nobody in the village knew what was written in them. On "
    "Sunday the children asked him to tell a story about the sea. What the camera shows here is "
    "not the fight itself but the silence after it. The light falls from the left, and the colour "
    "drains out of the room. We hear the door before we see it, and that small delay tells us "
    "everything about fear. The painter left this corner empty for a reason. In the second act "
    "the music stops, so that the steps of the dancer become the rhythm. Every cut in this scene "
    "lands on a breath. The director repeats the shot three times, each time a little closer, "
    "until the face fills the frame. Compare this with the opening, where nobody is close to "
    "anyone. The game never explains its rules, and it trusts that players will look at the walls."
)
_LEVEL = 0.08  # of all voices and music
Voices = dict[str, list[Mono]]  # what each says, in stretches


@dataclass
class Mix:
    """Sound with its truth."""

    name: str
    samples: Mono
    narrator: list[Span] = field(default_factory=list)
    films: list[Span] = field(default_factory=list)


@dataclass(frozen=True)
class Sources:
    """Where the parts lie."""

    meetings: Path  # AMI in the source package of pyannote.audio: tests/data
    clips: Path  # those of labelling/clips.yaml
    talkers: Path  # files of labelling/speaker.yaml, named by their hash
    videos: Path  # short real clips


def mixes(sources: Sources, split: str) -> Iterator[Mix]:
    """Yield all mixes of a split."""
    random = np.random.default_rng(("tune", "held").index(split))
    narrators, films = _narrators(sources, split), _films(sources, split)
    music = _music(sources, split)
    for number, (name, sound) in enumerate(narrators.items()):
        share, below = ((0.75, 16.0), (0.55, 10.0), (0.6, 14.0))[number % 3]
        stretches = cut(sound, 5, 16)
        yield essay(f"essay {name}", stretches, films, music, random, share, below)
        if number % 2 == 0:
            alike = _alike(name, narrators, films)
            worse = cut(_telephoned(sound), 5, 16)
            yield essay(f"hard {name}", worse, alike, music, random, 0.6, 5.0)
    names = sorted(narrators)
    for one, other in zip(names[::2], names[1::2], strict=False):
        yield interview(f"interview {one}, {other}", narrators[one], narrators[other])
    for number in range(2):
        yield film(f"film {number}", films, music, random)
    yield announcement("announcement", narrators[names[0]], music, random)
    for path in sorted(sources.meetings.glob(MEETINGS[split])):
        yield Mix(f"meeting {path.stem}", read_audio(path)[0])
    songs = {"tune": sources.videos / "video3.mp4", "held": sources.clips / BREAKDANCE}
    yield Mix("song", read_audio(songs[split])[0])


def essay(
    name: str,
    stretches: list[Mono],
    films: Voices,
    music: list[Mono],
    random: np.random.Generator,
    share: float,
    below: float,
) -> Mix:
    """Return narration with lines of films and music between it, music under some of both."""
    out = Mix(name, np.zeros(round(130 * SPEECH_RATE), np.float32))
    order, moment, spoken = list(random.permutation(len(stretches))), 0.0, 0.0
    while moment < 75:
        if spoken <= share * moment + 3 and order:
            sound = stretches[order.pop()]
            _add(out, sound, moment)
            out.narrator += [(moment + start, moment + end) for start, end in active(sound)]
            if random.random() < 0.6:
                quiet = 10 ** ((random.uniform(-6, 3) - below) / 20)
                _add(out, quiet * _some(music, len(sound), random), moment)
            spoken += len(sound) / SPEECH_RATE
            moment += len(sound) / SPEECH_RATE + random.uniform(0.1, 0.8)
        elif random.random() < 0.7:
            moment = _dialogue(out, films, random, moment)
            moment -= random.random() < 0.3  # the narrator speaks before they have ended
        else:
            length = round(random.uniform(3, 8) * SPEECH_RATE)
            _add(out, _some(music, length, random), moment)
            moment += length / SPEECH_RATE
    out.samples = out.samples[: round((moment + 0.3) * SPEECH_RATE)]
    out.narrator, out.films = bridged(out.narrator, 0.3), bridged(out.films, 0.0)
    return out


def interview(name: str, one: Mono, other: Mono) -> Mix:
    """Return two voices in turn, with as much speech each."""
    size = 6 * SPEECH_RATE
    parts = [voice[n * size : (n + 1) * size] for n in range(5) for voice in (one, other)]
    return Mix(name, np.concatenate(parts))


def film(name: str, films: Voices, music: list[Mono], random: np.random.Generator) -> Mix:
    """Return lines of many voices over music, and no narrator."""
    out, moment = Mix(name, np.zeros(90 * SPEECH_RATE, np.float32)), 0.3
    while moment < 60:
        moment = _dialogue(out, films, random, moment) + random.uniform(0.2, 3)
    out.samples = out.samples[: round(moment * SPEECH_RATE)]
    out.samples += 0.2 * _some(music, len(out.samples), random)
    return out


def announcement(name: str, voice: Mono, music: list[Mono], random: np.random.Generator) -> Mix:
    """Return a minute of music in which someone speaks for five seconds."""
    sound = _some(music, 60 * SPEECH_RATE, random)
    at = slice(10 * SPEECH_RATE, 15 * SPEECH_RATE)
    sound[at] = 0.15 * sound[at] + voice[: 5 * SPEECH_RATE]
    return Mix(name, sound)


def active(samples: Mono) -> list[Span]:
    """Return when a clean voice speaks: at most 30 dB below its loudest."""
    levels = level_db(samples[None], SPEECH_RATE, 0.03)
    loud = levels > np.quantile(levels, 0.95) - 30
    spans = bridged([(0.03 * begin, 0.03 * end) for begin, end in runs(loud)], 0.3)
    return [(start, end) for start, end in spans if end - start > 0.15]


def cut(samples: Mono, least: float, most: float) -> list[Mono]:
    """Return stretches of a voice, from pause to pause where there is one."""
    levels = level_db(samples[None], SPEECH_RATE, 0.05)
    found, start = [], 0
    while start < len(levels) - least / 0.05:
        first, last = start + round(least / 0.05), start + round(most / 0.05)
        end = first + int(np.argmin(levels[first:last]))
        piece = samples[round(start * 0.05 * SPEECH_RATE) : round(end * 0.05 * SPEECH_RATE)]
        if sum(e - s for s, e in active(piece)) > least / 2:
            found.append(piece)
        start = end
    return found


def levelled(samples: Mono) -> Mono:
    """Return sound whose loud parts are as loud as those of all others."""
    heard = [samples[round(s * SPEECH_RATE) : round(e * SPEECH_RATE)] for s, e in active(samples)]
    power = np.sqrt(np.mean(np.concatenate(heard or [samples]) ** 2))
    return np.asarray(samples * (_LEVEL / power), np.float32)


def _dialogue(out: Mix, films: Voices, random: np.random.Generator, moment: float) -> float:
    """Add one to three lines of two voices, and return when they end."""
    names = sorted(films)
    two = [films[names[n]] for n in random.integers(len(names), size=2)]
    for number in range(random.integers(1, 4)):
        lines = two[number % 2]
        line = lines[random.integers(len(lines))][: 8 * SPEECH_RATE]
        _add(out, line * 10 ** (random.uniform(-8, 2) / 20), moment)
        out.films.append((moment, moment + len(line) / SPEECH_RATE))
        moment += len(line) / SPEECH_RATE + random.uniform(0.05, 0.6)
    return moment


def _add(out: Mix, sound: Mono, moment: float) -> None:
    begin = round(moment * SPEECH_RATE)
    out.samples[begin : begin + len(sound)] += sound


def _some(music: list[Mono], length: int, random: np.random.Generator) -> Mono:
    whole = music[random.integers(len(music))]
    return np.resize(np.roll(whole, -random.integers(len(whole))), length).astype(np.float32)


def _telephoned(samples: Mono) -> Mono:
    out, begin, end = samples.copy(), round(0.4 * len(samples)), round(0.6 * len(samples))
    band = butter(4, [300, 3400], "band", fs=SPEECH_RATE, output="sos")
    out[begin:end] = levelled(np.asarray(sosfilt(band, out[begin:end]), np.float32))
    return out


def _alike(name: str, narrators: dict[str, Mono], films: Voices) -> Voices:
    """Return films with voices that are made as the narrator's is, or that are other lecturers."""
    if name in ALIKE:
        return {each: cut(_spoken("espeak-ng", each), 2, 6) for each in ALIKE[name]}
    others = [each for each in narrators if each != name and not each.startswith("en-")]
    return {**films, **{each: cut(narrators[each], 2, 6) for each in others}}


def _narrators(sources: Sources, split: str) -> dict[str, Mono]:
    file, start = LECTURERS[split]
    lecture = read_audio(sources.talkers / file, start=start, end=start + 140)[0]
    found = {"lecturer": levelled(lecture)}
    for program, names in (("flite", FLITE[split]), ("espeak-ng", ESPEAK[split])):
        if shutil.which(program):
            found |= {name: _spoken(program, name) for name in names}
    return found


def _spoken(program: str, voice: str) -> Mono:
    path = Path(tempfile.gettempdir()) / f"essay-{voice}.wav"
    text = " ".join([TEXT] * 2)
    arguments = {
        "flite": ["-voice", voice, "-t", text, "-o", str(path)],
        "espeak-ng": ["-v", voice, "-w", str(path), text],
    }
    subprocess.run([program, *arguments[program]], check=True)
    return levelled(read_audio(path)[0])


def _films(sources: Sources, split: str) -> Voices:
    found = meeting_voices(sources.meetings, split, 1.5)
    sound = np.concatenate([read_audio(sources.clips / f"{name}.mp4")[0] for name in CLIPS[split]])
    found["clip"] = cut(levelled(sound), 2, 6)
    return found


def _music(sources: Sources, split: str) -> list[Mono]:
    trailer = sources.videos / "animation_trailer.mp4"
    files = {
        "tune": [(sources.videos / "video2.mp4", 0.0), (trailer, 0.0)],
        "held": [(sources.clips / BREAKDANCE, 0.0), (trailer, 27.0)],
    }[split]
    return [levelled(read_audio(path, start=start, end=start + 25)[0]) for path, start in files]


def meeting_voices(folder: Path, split: str, least: float) -> Voices:
    """Return what each person of AMI's meetings says alone, in stretches of so many seconds."""
    turns: dict[tuple[str, str], list[Span]] = {}
    for path in sorted(folder.glob("*.rttm")):
        if ("train" in path.name) == (split == "tune"):
            for line in path.read_text("utf-8").splitlines():
                _, file, _, start, length, _, _, person, *_ = line.split()
                span = (float(start), float(start) + float(length))
                turns.setdefault((file, person), []).append(span)
    voices: Voices = {}
    for (file, person), own in turns.items():
        path = folder / f"{file}.wav"
        if not path.is_file():
            continue
        others = [
            span
            for (where, who), spans in turns.items()
            if where == file and who != person
            for span in spans
        ]
        sound = read_audio(path)[0]
        for begin, end in without(sorted(own), sorted(others)):
            if end - begin >= least:
                piece = sound[round(begin * SPEECH_RATE) : round(end * SPEECH_RATE)]
                voices.setdefault(person, []).append(levelled(piece))
    return voices
