"""Composites: mouths of several clips beside each other, with the sound of one of them or of none.

A talking head tells the truth by itself: its mouth goes with its sound. Put beside others, with the
sound of one alone, it is known who speaks, at any number, while all mouths move.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from reelbench.annotate.common.lip_sync import LipReader, lips_on_grid, speech_bands
from reelbench.annotate.operator import Clip
from reelbench.annotate.registry import in_order, load_operator
from reelbench.base.files import digest_of_file
from reelbench.base.seeds import rng_for
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import SPEECH_RATE, read_audio, write_wav
from reelbench.media.edit.clip import cut_exactly

LIST = Path(__file__).with_name("speaker.yaml")
RIDGE = 3.0, 0.3  # added to the variances of sound and mouth, which are 1
PAIRS = 4  # of combinations
LEAST_ROWS = 75  # of a mouth in a composite: three seconds
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Talker:
    """A clip of someone, by the labels of it: the mouth, and the sound where they are heard."""

    name: str
    source: str  # who it is; the same person is never in two splits
    split: str
    speaks: bool  # else the mouth is silent, or its sound is not there
    mouth: Numbers  # rows of the label
    speech: tuple[tuple[float, float], ...]
    samples: NDArray[np.float32]

    @property
    def seconds(self) -> float:
        """How long the mouth is seen from the start of the clip."""
        return float(self.mouth[-1, 0])


def talkers(clips: Path, work: Path) -> list[Talker]:
    """Read the listed clips that are in a folder, named by the first 12 digits of their hash."""
    work.mkdir(parents=True, exist_ok=True)
    found = []
    for entry in yaml.safe_load(LIST.read_text()):
        file = next(clips.rglob(f"{entry['sha256'][:12]}.*"), None)
        if file is None:
            print(f"  not here: {entry['package']} {entry['file']} ({entry['sha256'][:12]})")
            continue
        for start in entry["starts"]:
            name = f"{entry['source']}_{start}"
            cut = work / f"{name}.mp4"
            if not cut.exists():
                cut_exactly(file, start, start + entry["seconds"], cut)
            talker = _talker(name, entry, cut, work / f"{name}.json")
            if talker is not None:
                found.append(talker)
    return found


def _talker(name: str, entry: dict[str, Any], cut: Path, kept: Path) -> Talker | None:
    if not kept.exists():
        clip = Clip(cut, digest_of_file(cut), probe(cut))
        labels: dict[str, Any] = {}
        wanted = ["mouth", "sound"] if entry["speaks"] else ["mouth"]
        for label in in_order(wanted):
            labels[label] = load_operator(label)(clip, labels)
        kept.write_text(json.dumps({label: labels[label] for label in wanted}))
    labels = json.loads(kept.read_text())
    person = max(labels["mouth"]["people"], key=lambda each: len(each["at"]))
    if "person" in entry:
        person = next(x for x in labels["mouth"]["people"] if x["id"] == entry["person"])
    if len(person["at"]) < LEAST_ROWS:
        return None
    spans = labels["sound"]["spans"] if entry["speaks"] else []
    return Talker(
        name,
        entry["source"],
        entry["split"],
        entry["speaks"],
        np.array(person["at"], np.float64),
        tuple((x["start"], x["end"]) for x in spans if x["kind"] == "speech"),
        read_audio(cut)[0] if entry["speaks"] else np.empty(0, np.float32),
    )


@dataclass(frozen=True)
class Composite:
    """Mouths beside each other, a sound, and who of them speaks."""

    mouths: tuple[Numbers, ...]
    speech: tuple[tuple[float, float], ...]
    samples: NDArray[np.float32]
    speaker: int | None
    sound: str  # whose it is

    def labels(self) -> dict[str, Any]:
        """Return the labels that ``speaker`` needs."""
        people = [{"id": f"p{n}", "at": at.tolist()} for n, at in enumerate(self.mouths)]
        spans = [{"start": s, "end": e, "kind": "speech"} for s, e in self.speech]
        return {
            "tracks": {"people": people},
            "mouth": {"people": people},
            "sound": {"spans": spans},
        }

    def clip(self, folder: Path, number: int) -> Clip:
        """Write the sound, and return it as a clip."""
        path = folder / f"{number}.wav"
        write_wav(path, self.samples[None], SPEECH_RATE)
        return Clip(path, str(path), probe(path))


def composites(known: Sequence[Talker], count: int, seed: int) -> Iterator[Composite]:
    """Draw composites of one to four people: one of them speaks, or none of them does.

    Where none does, the sound is that of another clip: of someone else, or of one of those who are
    shown, said at another time.
    """
    heard = [talker for talker in known if talker.speech]
    for number in range(count):
        rng = rng_for(seed, "composite", number)
        size, seconds = rng.choice((1, 1, 2, 3, 4)), rng.uniform(5.0, 9.0)
        shown = _different(rng.sample(known, len(known)), size)
        voices = [n for n, talker in enumerate(shown) if talker.speech]
        if voices and rng.random() < (0.5 if size == 1 else 0.7):
            place = rng.choice(voices)
            sound, speaker = shown[place], place
        else:
            others = [talker for talker in heard if talker not in shown]
            sound, speaker = rng.choice(others), -1
        begins = [
            rng.uniform(0, max(0.0, talker.seconds - seconds)) if n != speaker else 0.0
            for n, talker in enumerate(shown)
        ]
        late = rng.uniform(0, max(0.0, sound.seconds - seconds))
        mouths = tuple(
            _part(talker.mouth, late if n == speaker else begin, seconds)
            for n, (talker, begin) in enumerate(zip(shown, begins, strict=True))
        )
        if min(map(len, mouths)) < LEAST_ROWS:
            continue
        speech = [(max(0.0, s - late), min(e - late, seconds)) for s, e in sound.speech]
        first = round(late * SPEECH_RATE)
        yield Composite(
            mouths,
            tuple((s, e) for s, e in speech if e - s > 0.2),
            sound.samples[first : first + round(seconds * SPEECH_RATE)],
            None if speaker < 0 else speaker,
            sound.source,
        )


def _different(known: Sequence[Talker], size: int) -> list[Talker]:
    """Return the first talkers that are of different people, as far as there are so many."""
    chosen: list[Talker] = []
    for talker in known:
        if talker.source not in {each.source for each in chosen}:
            chosen.append(talker)
    return chosen[:size]


def _part(mouth: Numbers, start: float, seconds: float) -> Numbers:
    rows = mouth[(mouth[:, 0] >= start) & (mouth[:, 0] < start + seconds)].copy()
    rows[:, 0] -= start
    return rows


def learned(known: Sequence[Talker]) -> LipReader:
    """Learn from talkers which combinations of sound and mouth go together, by regularised CCA."""
    sounds, mouths = [], []
    for talker in known:
        if talker.speech:
            bands = speech_bands(talker.samples)
            lips, seen = lips_on_grid(talker.mouth, len(bands))
            sounds.append(bands[seen])
            mouths.append(lips[seen])
    sound, mouth = np.concatenate(sounds), np.concatenate(mouths)
    sound, mouth = sound - sound.mean(axis=0), mouth - mouth.mean(axis=0)
    whitened = [
        np.linalg.inv(np.linalg.cholesky(x.T @ x / len(x) + ridge * np.eye(x.shape[1])))
        for x, ridge in zip((sound, mouth), RIDGE, strict=True)
    ]
    both = whitened[0] @ (sound.T @ mouth / len(sound)) @ whitened[1].T
    left, weights, right = np.linalg.svd(both)
    return LipReader(
        whitened[0].T @ left[:, :PAIRS], whitened[1].T @ right[:PAIRS].T, weights[:PAIRS]
    )
