"""The known world in which operators are measured: rendered scenes, sentences; and tables."""

import sys
from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from pathlib import Path

from reelbench.annotate.operator import Clip
from reelbench.media.decode.probe import probe
from reelbench.world.compose import compose
from reelbench.world.render import synthesize
from reelbench.world.scene import Scene

SEED, VIDEOS = 7, 8
FEW = 4  # videos for what takes long
SENTENCES = (
    "The old sailor walked slowly along the river in the morning.",
    "He carried a wooden box with seven letters from his brother.",
    "Nobody in the village knew what was written in them.",
    "On Sunday the children asked him to tell a story about the sea.",
)


def table(title: str, head: Sequence[object], rows: Iterable[Sequence[object]]) -> None:
    """Print a table, and flush it, so that who waits sees something."""
    cells = [[f"{x:.3f}" if isinstance(x, float) else str(x) for x in row] for row in [head, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    print(f"\n{title}")
    for row in cells:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))
    sys.stdout.flush()


def clip_of(path: Path) -> Clip:
    """Open a file as the operators want it."""
    return Clip(path, str(path), probe(path))


@cache
def scenes() -> list[Scene]:
    """The scenes that are looked at."""
    return [compose(SEED, f"scene-{number:02d}") for number in range(1, VIDEOS + 1)]


def rendered(folder: Path) -> list[tuple[Scene, Clip]]:
    """The scenes with their videos, rendered once."""
    for scene in scenes():
        if not (folder / f"{scene.name}.mp4").exists():
            synthesize(folder / f"{scene.name}.mp4", scene, folder / f"{scene.name}.json")
    return [(scene, clip_of(folder / f"{scene.name}.mp4")) for scene in scenes()]


def cuts_of(scene: Scene) -> list[float]:
    """When one shot ends and the next begins."""
    return [shot.start for shot in scene.shots[1:]]


def boxes_at(scene: Scene, moment: float) -> dict[str, tuple[float, float, float, float]]:
    """Where the shapes of a scene are."""
    return {
        actor.shape: (x - radius, y - radius, x + radius, y + radius)
        for actor in scene.actors
        if actor.visible(moment)
        for (x, y), radius in [(actor.position(moment), actor.radius(moment))]
    }


def edits(wanted: Sequence[Hashable], got: Sequence[Hashable]) -> int:
    """How many words or letters must be put in, left out or changed."""
    row = list(range(len(got) + 1))
    for number, one in enumerate(wanted, 1):
        above, row = row, [number]
        for place, other in enumerate(got):
            row.append(min(row[-1] + 1, above[place + 1] + 1, above[place] + (one != other)))
    return row[-1]
