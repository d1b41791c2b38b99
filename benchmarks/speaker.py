"""How well it is found who speaks, on composites of talking heads whose truth is exact.

    python benchmarks/speaker.py CLIPS [--work FOLDER] [--learn]

CLIPS holds the files that labelling/speaker.yaml lists, named by the first 12 digits of their hash.
The labels of each are made once and kept in FOLDER. With --learn, the reader of lips is learned
anew from the clips of the split "tune" and written into the package, and the log odds are fitted
and printed; else the operator is measured as it is, on the split "held". The figures are on the
page docs/operators.md.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from labelling.talkers import Composite, Numbers, Talker, composites, learned, talkers
from measuring.world import table

from reelbench.annotate.common import lip_sync
from reelbench.annotate.operators.speaker import Speaker, odds_terms
from reelbench.score.intervals import wilson

SEED, COUNT = 1, 500
LEAST = (0.5, 0.8, 0.9, 0.95)


def main() -> None:
    """Learn or measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clips", type=Path)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "speaker-labels")
    parser.add_argument("--learn", action="store_true")
    options = parser.parse_args()
    known = talkers(options.clips, options.work)
    if options.learn:
        learn([talker for talker in known if talker.split == "tune"])
    else:
        for split in ("tune", "held"):
            measure(split, [talker for talker in known if talker.split == split])


def learn(known: Sequence[Talker]) -> None:
    """Write the reader of lips, and print the log odds that were fitted on composites.

    The agreement of a composite is that of a reader that was learned without the one who is heard.
    """
    reader = learned(known)
    path = Path(lip_sync.__file__).with_name("lip_reader.json")
    rows = {name: getattr(reader, name).round(4).tolist() for name in ("sound", "mouth", "weights")}
    path.write_text(json.dumps(rows) + "\n")
    terms: list[list[float]] = []
    truth: list[bool] = []
    for source in sorted({talker.source for talker in known if talker.speech}):
        without = learned([talker for talker in known if talker.source != source])
        for composite in composites(known, 4 * COUNT, SEED):
            if composite.sound == source:
                terms += _terms(composite, without)
                truth += [n == composite.speaker for n in range(len(composite.mouths))]
    print(dict(zip(("constant", *_NAMES), _fitted(np.array(terms), np.array(truth)), strict=True)))


_NAMES = ("correlation", "deviations", "rival", "lag")


def _terms(composite: Composite, reader: lip_sync.LipReader) -> list[list[float]]:
    bands = lip_sync.speech_bands(composite.samples)
    found = [
        lip_sync.agreement(bands, *lip_sync.lips_on_grid(mouth, len(bands)), reader)
        for mouth in composite.mouths
    ]
    return [
        [odds_terms(own, [other for other in found if other is not own])[name] for name in _NAMES]
        for own in found
    ]


def _fitted(terms: Numbers, truth: np.ndarray) -> list[float]:
    """Fit a logistic regression by Newton's method."""
    rows = np.concatenate([np.ones((len(terms), 1)), terms], axis=1)
    weights = np.zeros(rows.shape[1])
    for _ in range(50):
        likely = 1 / (1 + np.exp(-rows @ weights))
        bend = (rows * (likely * (1 - likely))[:, None]).T @ rows + 1e-3 * np.eye(len(weights))
        weights -= np.linalg.solve(bend, rows.T @ (likely - truth))
    return [round(float(weight), 2) for weight in weights]


def measure(split: str, known: Sequence[Talker]) -> None:
    """Print precision against the share that is kept, for what tasks ask."""
    people: list[tuple[float, bool, bool]] = []  # confidence, what is guessed, truth
    alone: list[tuple[float, bool, bool]] = []
    clips: list[tuple[float, bool, bool]] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, composite in enumerate(composites(known, COUNT, SEED)):
            label = Speaker()(composite.clip(Path(folder), number), composite.labels())
            said = [
                (person["confidence"], person["guess"], n == composite.speaker)
                for n, person in enumerate(label["people"])
            ]
            people += said
            if len(said) == 1:
                alone += said
            elif sum(guess for _, guess, _ in said) == 1:
                right = all(guess == true for _, guess, true in said)
                clips.append((min(sure for sure, _, _ in said), True, right))
    sources = {talker.source for talker in known if talker.speech}
    title = f"{split}: {len(people)} people in composites of {len(sources)} talkers: "
    _print(title + "speaks or not, right", [(c, g == t) for c, g, t in people], len(people))
    speakers = [(c, t) for c, g, t in people if g]
    _print(title + "said to speak, right", speakers, sum(t for _, _, t in people))
    some = [(c, t) for c, g, t in alone if g]
    _print(title + "one person alone is said to speak", some, sum(t for _, _, t in alone))
    several = sum(len(composite.mouths) > 1 and composite.speaker is not None
                  for composite in composites(known, COUNT, SEED))  # fmt: skip
    _print(title + "exactly one of 2 to 4", [(c, r) for c, _, r in clips], several)


def _print(title: str, said: Sequence[tuple[float, bool]], whole: int) -> None:
    rows = []
    for least in LEAST:
        kept = [right for sure, right in said if sure >= least]
        if kept:
            ends = wilson(sum(kept) / len(kept), len(kept))
            share = f"{sum(kept) / len(kept):.3f} ({ends[0]:.3f} to {ends[1]:.3f})"
            rows.append((least, len(kept), len(kept) / max(1, whole), share))
    table(title, ("least confidence", "kept", "of those there are", "right (95 %)"), rows)


if __name__ == "__main__":
    main()
