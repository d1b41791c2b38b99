"""How well shots are found: pieces of real clips joined by cuts and dissolves.

    PYTHONPATH=benchmarks python -m labelling.shots FOLDER [SPLIT]

FOLDER is that of the clips; SPLIT is tune or held. A transition is found if a cut lies within it,
or within a fifth of a second of it.
"""

import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from measuring.world import clip_of, table

from labelling.composites import Piece, joined, sources
from reelbench.annotate.registry import load_operator
from reelbench.score.intervals import wilson

DETECTORS = ("transnet", "content", "adaptive")
BLENDS = ((0.0, 0.4, 1.0), (1.6, 0.0, 0.6), (0.8, 2.0, 0.0), (0.4, 0.0, 1.2))  # seconds
SECONDS = 3.8  # of each piece: more than two dissolves
_NEAR = 0.2


def hits(cuts: Iterable[float], transitions: Sequence[tuple[float, float]]) -> list[bool]:
    """Return for each transition whether a cut lies in it."""
    found = list(cuts)
    return [any(start - _NEAR <= cut <= end + _NEAR for cut in found) for start, end in transitions]


def main() -> None:
    """Print, for each detector, cuts and dissolves that are found, and what is none."""
    folder, split = Path(sys.argv[1]), (sys.argv[2:] or ["held"])[0]
    pieces = [Piece(path, start, SECONDS) for path, start in sources(folder, split).values()]
    rows = []
    with tempfile.TemporaryDirectory() as place:
        made = []
        for number, blends in enumerate(BLENDS):
            chosen = [pieces[(number + at) % len(pieces)] for at in range(len(blends) + 1)]
            path = Path(place) / f"{number}.mp4"
            made.append((path, blends, joined(chosen, blends, path)))
        for detector in DETECTORS:
            sudden, slow, false = [], [], 0
            for path, blends, transitions in made:
                cuts = load_operator("shots", detector=detector)(clip_of(path), {})["cuts"]
                found = hits(cuts, transitions)
                print(detector, path.stem, transitions, cuts, flush=True)
                sudden += [hit for hit, blend in zip(found, blends, strict=True) if not blend]
                slow += [hit for hit, blend in zip(found, blends, strict=True) if blend]
                false += len(cuts) - sum(found)
            rows.append((detector, share(sudden), share(slow), false))
    table(f"shots, {split}", ("detector", "cuts", "dissolves", "false"), rows)


def share(right: Sequence[bool]) -> str:
    """Return how many of how many are right, with the 95 % interval."""
    low, high = wilson(sum(right) / max(1, len(right)), max(1, len(right)))
    return f"{sum(right)} of {len(right)} ({low:.2f}-{high:.2f})"


if __name__ == "__main__":
    main()
