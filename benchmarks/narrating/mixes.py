"""Sound of known parts: a narrator's turns over music, effects, a song or other people's speech."""

import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reelbench.annotate.common.audio import runs
from reelbench.data.items import Span
from reelbench.media.edit.audio import read_audio
from reelbench.media.edit.write import Samples

RATE = 44_100
SECONDS = 20.0
TURNS: tuple[Span, ...] = ((2.0, 9.0), (10.5, 17.0))
_PAUSE = 0.35  # seconds that a narrator is silent for, within a turn
_QUIET = 0.05  # of the loudest tenth of a second
SHARED = Path(__file__).parents[3] / "shared" / "data" / "video"

ESSAYS = {
    "tune": (
        "The camera begins on an empty corridor and waits. Nobody enters for eleven seconds, and "
        "that patience tells us who owns this house.",
        "Look at how the red curtain divides the stage. On one side there is the family, on the "
        "other the world that they refuse to see.",
    ),
    "held": (
        "Every cut in this sequence arrives one beat too late. The editor lets us sit with the "
        "silence until we begin to doubt the witness.",
        "The painter leaves the lower half of the canvas bare. What looks unfinished is the point "
        "where the river used to be.",
    ),
}
VOICES = {"tune": ("en-gb", "en-us+f3"), "held": ("en-us+f2",)}


@dataclass(frozen=True)
class Part:
    """A sound of a file: what it is, and from when it is taken."""

    kind: str
    path: Path
    start: float = 0.0


@dataclass(frozen=True)
class Mix:
    """A sound whose parts are known; ``turns`` are those in which the narrator speaks."""

    name: str
    kind: str  # of what is under the narrator
    bed: str  # its name
    db: float  # by which the narrator is louder
    narrator: Samples
    rest: Samples
    turns: tuple[Span, ...]

    @property
    def sound(self) -> Samples:
        """Both together."""
        return self.narrator + self.rest


def mixes(split: str, clips: Path | None, levels: tuple[float, ...]) -> Iterator[Mix]:
    """Yield every narrator over one part of each kind, at every level."""
    narrators = [*_real(split, clips), *_rendered(split)]
    parts = _parts(split, clips)
    for number, (name, voice) in enumerate(narrators):
        for place, (kind, beds) in enumerate(sorted(parts.items())):
            bed = beds[number % len(beds)]
            rest = _bed(bed)
            for db in levels[(number + place) % 2 :: 2] or levels:
                narrator = np.repeat(_in_turns(voice), 2, axis=0) * _gain(voice, rest, db)
                most = np.float32(max(1.0, np.abs(narrator + rest).max()))
                parts_of = (narrator / most, rest / most)
                yield Mix(f"{name} over {kind}", kind, f"{kind} {bed}", db, *parts_of, TURNS)


def _parts(split: str, clips: Path | None) -> dict[str, list[Part]]:
    trailer = SHARED / "animation_trailer.mp4"
    found = {"tune": [Part("music", trailer, 4.0)], "held": [Part("music", trailer, 28.0)]}[split]
    if split == "held":
        found += [Part("music", SHARED / "video2.mp4"), Part("dialogue", SHARED / "video5.mp4")]
    else:
        found += [Part("dialogue", SHARED / "video1.mp4"), Part("effects", SHARED / "video4.mp4")]
    if clips is not None:
        folder = clips / split
        found += {
            "tune": [Part("music", folder / "silent_film.mp4")],
            "held": [
                Part("song", folder / "breakdance_a.mp4"),
                Part("song", folder / "breakdance_b.mp4"),
                Part("effects", folder / "forklift.mp4"),
            ],
        }[split]
    kinds = {part.kind for part in found}
    return {kind: [part for part in found if part.kind == kind] for kind in kinds} | {
        "nothing": [Part("nothing", Path())]
    }


def _bed(part: Part) -> Samples:
    count = round(SECONDS * RATE)
    if part.kind == "nothing":  # the hiss of a room
        noise = np.random.default_rng(0).normal(0, 10 ** (-65 / 20), (2, count))
        return np.asarray(noise, np.float32)
    sound = read_audio(part.path, RATE, 2, part.start, part.start + SECONDS)
    heard = sound[:, : np.flatnonzero(np.abs(sound).max(0))[-1] + 1]
    return np.tile(heard, -(-count // heard.shape[1]))[:, :count]


def _rendered(split: str) -> Iterator[tuple[str, Samples]]:
    for voice in VOICES[split]:
        spoken = [_espeak(voice, text) for text in ESSAYS[split]]
        yield f"espeak {voice}", np.concatenate(spoken, axis=1)


def _espeak(voice: str, text: str) -> Samples:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "a.wav"
        subprocess.run(["espeak-ng", "-v", voice, "-s", "150", "-w", out, text], check=True)
        return read_audio(out, RATE, 1)


def _real(split: str, clips: Path | None) -> Iterator[tuple[str, Samples]]:
    names = {"tune": ("rant_b",), "held": ("lecture_a", "talk_a", "lecture_d")}[split]
    for name in names if clips else ():
        assert clips is not None
        yield name, read_audio(clips / split / f"{name}.mp4", RATE, 1)


def _in_turns(voice: Samples) -> Samples:
    """Lay what a narrator says into the turns, cut at its pauses."""
    out = np.zeros((1, round(SECONDS * RATE)), np.float32)
    place = 0
    for start, end in TURNS:
        said = voice[:, place : place + round((end - start) * RATE)]
        pauses = [span for span in runs(_silent(said)) if span[0] > 0.5 * said.shape[1]]
        if pauses:
            said = said[:, : pauses[-1][0]]
        first = round(start * RATE)
        out[:, first : first + said.shape[1]] = said
        place += said.shape[1]
    return out


def _silent(sound: Samples) -> np.ndarray:
    """Return for each sample whether it lies in a pause."""
    step = RATE // 10
    levels = [np.abs(sound[:, at : at + step]).max() for at in range(0, sound.shape[1], step)]
    quiet = np.repeat(np.array(levels) < _QUIET * max(levels), step)[: sound.shape[1]]
    for first, last in runs(quiet):
        if last - first < _PAUSE * RATE:
            quiet[first:last] = False
    return quiet


def _gain(voice: Samples, rest: Samples, db: float) -> np.float32:
    """Return by what a narrator is multiplied to be that much louder than the rest."""
    loud = _level(voice)
    return np.float32(10 ** (db / 20) * max(_level(rest), 10 ** ((-30 - db) / 20)) / loud)


def _level(sound: Samples) -> float:
    """The effective value of the louder half of a sound."""
    step = RATE // 10
    count = sound.shape[1] // step
    power = (sound[:, : count * step].reshape(len(sound), count, step) ** 2).mean((0, 2))
    return float(np.sqrt(np.sort(power)[count // 2 :].mean() + 1e-12))
