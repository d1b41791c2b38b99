"""How often transcripts are right, by their confidence: what the keys of SCM rest on.

    PYTHONPATH=benchmarks python -m people_rendered.readings [COUNT]

espeak-ng reads three sentences, as in the scenes, in one of six voices; nothing is rendered.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from people_rendered.truth import same_words
from people_rendered.voices import RATE, SENTENCES, VOICES, spoken
from reelbench.annotate.operator import Clip
from reelbench.annotate.registry import load_operator
from reelbench.base.files import digest_of_file
from reelbench.base.seeds import rng_for
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import write_wav
from reelbench.score.intervals import wilson

COUNT = 40
LIMITS = (0.0, 0.8, 0.85, 0.9, 0.95)


def main(count: int) -> None:
    """Read, transcribe and print a table."""
    sound, transcript = load_operator("sound"), load_operator("transcript")
    held: list[tuple[float, bool, bool]] = []  # confidence, right, right word for word
    with TemporaryDirectory() as temporary:
        for number in range(count):
            rng = rng_for("readings", number)
            sentences = rng.sample(SENTENCES, 3)
            voice = rng.choice([each for voices in VOICES.values() for each in voices])
            path = Path(temporary) / "reading.wav"
            _write(path, sentences, voice)
            clip = Clip(path, digest_of_file(path), probe(path))
            said = transcript(clip, {"sound": sound(clip, {})})
            text, truth = said["text"] or "", " ".join(sentences)
            held.append((said["confidence"], same_words(text, truth), same_words(text, truth, 1.0)))
            print(*held[-1], f"{voice}: {text}")
    print("| confidence from | kept | right | share, 95 % | word for word |\n|---|---|---|---|---|")
    for least in LIMITS:
        kept = [each for each in held if each[0] >= least]
        right, exact = sum(each[1] for each in kept), sum(each[2] for each in kept)
        low, high = wilson(right / max(1, len(kept)), max(1, len(kept)))
        print(f"| {least} | {len(kept)} | {right} | {low:.2f} to {high:.2f} | {exact} |")


def _write(path: Path, sentences: Sequence[str], voice: str) -> None:
    quiet = np.zeros(round(0.4 * RATE), np.float32)
    sound = np.concatenate([quiet, spoken(sentences, voice, path.parent)])
    write_wav(path, sound[None], RATE)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT)
