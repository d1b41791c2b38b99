"""How well people are told apart and counted: pieces of real clips beside and after each other.

    PYTHONPATH=benchmarks python -m labelling.identities FOLDER [SPLIT]

FOLDER is that of the clips; SPLIT is tune or held. Every piece shows one person, so that numbers
and identities are known. Cuts are given as they are, or withheld, as if nobody had noticed them.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from measuring.world import clip_of, table

from labelling.composites import Piece, beside, joined, sources
from labelling.shots import share
from reelbench.annotate.registry import load_operator

ORDERS = ((0, 1, 0), (0, 1, 2, 1), (0, 1, 2, 3, 0), (2, 0, 2, 0))  # who comes after whom
MOST = 5  # people side by side
SECONDS = 3.0
_BLEND = 0.8  # seconds of a dissolve


def labels_of(path: Path, cuts: Sequence[float]) -> dict[str, Any]:
    """Return the labels about people of a video with these cuts."""
    clip = clip_of(path)
    labels: dict[str, Any] = {"shots": {"cuts": list(cuts)}}
    for name in ("faces", "detections", "tracks", "bodies", "count"):
        labels[name] = load_operator(name)(clip, labels)
    return labels


def side_by_side(people: Sequence[Piece], place: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield numbers of people who are there together, and the labels."""
    for size in range(1, min(MOST, len(people)) + 1):
        for number, chosen in enumerate(list(combinations(people, size))[:: 4 if size > 1 else 1]):
            path = place / f"beside-{size}-{number}.mp4"
            beside(chosen, path)
            yield size, labels_of(path, ())


def in_turn(
    people: Sequence[Piece], place: Path
) -> Iterator[tuple[str, list[tuple[float, float, int]], dict[str, Any]]]:
    """Yield how shots are joined and told, who is there from when to when, and the labels."""
    for number, order in enumerate(ORDERS):
        for first in range(0, len(people), 3):
            who = [(first + at) % len(people) for at in order]
            for blend in (0.0, _BLEND):
                path = place / f"turn-{number}-{first}-{blend}.mp4"
                edges = joined([people[n] for n in who], [blend] * (len(who) - 1), path)
                cuts = [round((start + end) / 2, 2) for start, end in edges]
                ends = [0.0, *cuts, 1e9]
                truth = [(a, b, n) for a, b, n in zip(ends, ends[1:], who, strict=False)]
                yield (
                    ("dissolves, missed" if blend else "cuts"),
                    truth,
                    labels_of(path, [] if blend else cuts),
                )


def right_people(truth: Sequence[tuple[float, float, int]], people: Sequence[Any]) -> list[bool]:
    """Return for each person of the label whether it is one person and all of that person."""
    shown = [_shown(person, truth) for person in people]
    return [
        len(each) == 1 and sum(each <= other or other <= each for other in shown) == 1
        for each in shown
    ]


def _shown(person: Any, truth: Sequence[tuple[float, float, int]]) -> frozenset[int]:
    """Who a person of the label really is: those with a fifth of the boxes."""
    times = [box["time"] for track in person["tracks"] for box in track["boxes"]]
    real = [n for time in times for start, end, n in truth if start <= time < end]
    return frozenset(n for n in set(real) if real.count(n) > 0.2 * len(real))


def main() -> None:
    """Print identities and counts, right and with their confidence."""
    folder, split = Path(sys.argv[1]), (sys.argv[2:] or ["held"])[0]
    found = sources(folder, split).values()
    people = [Piece(path, start, SECONDS) for path, start in found]
    with tempfile.TemporaryDirectory() as place:
        counts = []
        for size, labels in side_by_side(people, Path(place)):
            count = labels["count"]
            counts.append((size, count["guess"], count["confidence"]))
            print("beside", counts[-1], [p["confidence"] for p in labels["bodies"]["people"]],
                  flush=True)  # fmt: skip
        turns = []
        for kind, truth, labels in in_turn(people, Path(place)):
            right = right_people(truth, labels["tracks"]["people"])
            sure = [person["confidence"] for person in labels["tracks"]["people"]]
            turns.append((kind, right, sure))
            count = labels["count"]
            counts.append((len({n for _, _, n in truth}), count["guess"], count["confidence"]))
            print(kind, right, sure, counts[-1], flush=True)
    show(split, counts, turns)


def show(split: str, counts: Sequence[Any], turns: Sequence[Any]) -> None:
    """Print the tables: by limit of the confidence, what is kept and what of it is right."""
    rows = []
    for limit in (0.0, 0.5, 0.7, 0.8, 0.9):
        kept = [true == guess for true, guess, sure in counts if sure >= limit]
        rows.append((limit, f"{len(kept)} of {len(counts)}", share(kept)))
    table(f"count, {split}", ("confidence from", "kept", "right"), rows)
    by_kind = []
    for kind in sorted({kind for kind, _, _ in turns}):
        pairs = [
            (is_right, how)
            for each, right, sure in turns
            if each == kind
            for is_right, how in zip(right, sure, strict=True)
        ]
        for limit in (0.0, 0.7, 0.9):
            kept = [is_right for is_right, how in pairs if how >= limit]
            by_kind.append((kind, limit, f"{len(kept)} of {len(pairs)}", share(kept)))
    table(f"identities, {split}", ("joined by", "confidence from", "kept", "right"), by_kind)
    sizes = [true for true, _, _ in counts]
    print("  people in the videos:", np.bincount(sizes).tolist())


if __name__ == "__main__":
    main()
