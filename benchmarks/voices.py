"""How well two embedders tell voices apart on pieces of two seconds: the equal error rate.

    python benchmarks/voices.py --meetings FOLDER --clips FOLDER

Meetings are minutes of AMI with who speaks when, in the source package of pyannote.audio 4.0.7
(tests/data); clips those of labelling/clips.yaml. Without either, espeak-ng's voices alone are
measured. Of the meetings, training is "tune" and the rest is "held".
"""

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
from labelling.clips import present
from labelling.essays import Voices, meeting_voices
from measuring.world import SENTENCES, clip_of, table
from numpy.typing import NDArray

from reelbench.annotate.common.audio import Mono, parts
from reelbench.annotate.common.ecapa import voice_embedding
from reelbench.annotate.operators.sound import SoundEvents, speech_in
from reelbench.annotate.operators.voices import embed
from reelbench.data.items import Span
from reelbench.media.edit.audio import SPEECH_RATE, read_audio

SECONDS, MOST = 2.0, 10  # of a piece; pieces of a voice
FEWEST = 2
EMBEDDERS: dict[str, Callable[[Mono], NDArray[np.float32]]] = {
    "voice": embed,
    "voice_ecapa": voice_embedding,
}
# One person each; what is in several clips of one person is one voice.
TALKERS = {"rant": "tune", "grey_beard": "tune", "lecture": "held", "talk": "held"}
ESPEAK = {
    "tune": ("en-us", "en-us+f3", "en-us+m7", "en-gb+f2", "en-us+Andy", "en-us+linda", "en-gb+m4"),
    "held": ("en-gb", "en-us+f5", "en-us+m3", "en-gb+f4", "en-us+Alicia", "en-us+max", "en-gb+m5"),
}


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--meetings", type=Path)
    parser.add_argument("--clips", type=Path)
    options = parser.parse_args()
    rows = []
    for split in ("tune", "held"):
        people: Voices = {}
        if options.meetings:
            people |= of_meetings(options.meetings, split)
        if options.clips:
            people |= of_clips(options.clips, split)
        for kind, voices in (("people", people), ("espeak-ng", of_espeak(split))):
            if len(voices) > 1:
                rows += list(measured(split, kind, voices))
    head = ("split", "voices", "embedder", "number", "same", "different", "EER", "95 %", "at")
    table(f"Pieces of {SECONDS:g} s", head, rows)


def measured(split: str, kind: str, voices: Voices) -> Iterator[tuple[object, ...]]:
    """Yield a row for each embedder; the interval is of a bootstrap over voices."""
    for name, embedder in EMBEDDERS.items():
        found = {voice: [embedder(piece) for piece in own] for voice, own in voices.items()}
        rate, limit, same, different = equal_error(found)
        random = np.random.default_rng(1)
        rates = []
        for _ in range(300):
            drawn = random.choice(sorted(found), len(found))
            if len(set(drawn)) > 1:
                rates.append(equal_error({each: found[each] for each in set(drawn)})[0])
        low, high = np.quantile(rates, (0.025, 0.975))
        span = f"{low:.3f}-{high:.3f}"
        yield split, kind, name, len(voices), same, different, rate, span, limit


def equal_error(
    found: dict[str, list[NDArray[np.float32]]],
) -> tuple[float, float, int, int]:
    """Return the rate at which as many same pairs as others are wrong, and the cosine there."""
    same = [float(a @ b) for own in found.values() for a, b in combinations(own, 2)]
    different = [
        float(a @ b)
        for one, other in combinations(sorted(found), 2)
        for a in found[one]
        for b in found[other]
    ]
    limits = np.unique([*same, *different])
    missed = np.searchsorted(np.sort(same), limits) / len(same)
    taken = 1 - np.searchsorted(np.sort(different), limits) / len(different)
    best = int(np.abs(missed - taken).argmin())
    rate = float(missed[best] + taken[best]) / 2
    return rate, float(limits[best]), len(same), len(different)


def of_meetings(folder: Path, split: str) -> Voices:
    """Return pieces in which one person of a meeting speaks alone."""
    voices = {
        person: [each for sound in own for each in pieces(sound, [(0.0, float(len(sound)))])]
        for person, own in meeting_voices(folder, split, SECONDS).items()
    }
    return {person: own[:MOST] for person, own in voices.items() if len(own) >= FEWEST}


def of_clips(folder: Path, split: str) -> Voices:
    """Return pieces of the clips in which one known person speaks."""
    voices: Voices = {}
    for entry in present(folder, split):
        talker = next((name for name in TALKERS if entry.name.startswith(name)), None)
        if talker:
            clip = clip_of(entry.path(folder))
            speech = speech_in(clip, {"sound": SoundEvents()(clip, {})})
            voices.setdefault(talker, []).extend(pieces(read_audio(clip.path)[0], speech))
    return {person: spread(own) for person, own in voices.items() if len(own) >= FEWEST}


def of_espeak(split: str) -> Voices:
    """Return pieces of espeak-ng's voices; none where it is not installed."""
    if shutil.which("espeak-ng") is None:
        return {}
    voices: Voices = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "said.wav"
        for voice in ESPEAK[split]:
            command = ["espeak-ng", "-v", voice, "-w", str(path), " ".join(SENTENCES)]
            subprocess.run(command, check=True)
            sound = read_audio(path)[0]
            voices[voice] = pieces(sound, [(0.2, len(sound) / SPEECH_RATE)])[:MOST]
    return voices


def pieces(samples: Mono, spans: list[Span]) -> list[Mono]:
    """Return all pieces of full length of some spans."""
    size = round(SECONDS * SPEECH_RATE)
    found = []
    for span in spans:
        sound = parts(samples, [span])
        found += [sound[at : at + size] for at in range(0, len(sound) - size + 1, size)]
    return found


def spread(own: list[Mono]) -> list[Mono]:
    """Return as many pieces as count, from all over a recording."""
    places = np.linspace(0, len(own) - 1, min(MOST, len(own))).round().astype(int)
    return [own[place] for place in places]


if __name__ == "__main__":
    main()
