"""Run the filters of all recipes on a finished benchmark, ours or anyone's.

What nobody is named to play is left out: ``--model blind=...`` alone runs the filters that need no
model, and context independence.
"""

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reelbench.benchmark import Benchmark
from reelbench.evaluate.show import subtitles_of
from reelbench.items import Item
from reelbench.make.desk import Desk
from reelbench.make.filters import (
    blind_ensemble,
    context_independence,
    contextual_veracity,
    one_modality,
)
from reelbench.make.sieves import without_findings, without_outstanding_keys, without_twins
from reelbench.make.stage import Each, Recipe, Role, Sources
from reelbench.manifest import Manifest


def items_in(source: Path) -> Sources:
    """Return the items of a benchmark."""
    return Sources(Benchmark.load(source).items)


async def collect(item: Item, desk: Desk) -> list[Item]:
    """Put what an item needs into the new benchmark: as a second name of the file, or a copy."""
    for name in _files(item, desk.source):
        there, here = desk.source / name, desk.out / name
        if there.is_file() and not here.exists():
            here.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(there, here)
            except OSError:
                shutil.copyfile(there, here)
    return [item]


def is_collected(item: Item, desk: Desk) -> bool:
    """Whether all of it is there."""
    return all(
        (desk.out / name).is_file()
        for name in _files(item, desk.source)
        if (desk.source / name).is_file()
    )


def _files(item: Item, root: Path) -> list[str]:
    benchmark = Benchmark(root, Manifest("source", "1"), (item,))
    named = [item.context.get("file"), *(subtitles_of(benchmark, media) for media in item.media)]
    return [*(media.path for media in item.media), *(name for name in named if name)]


def _manifest(items: Sequence[Item], source: Path) -> Manifest:
    del items
    manifest = Benchmark.load(source).manifest
    return replace(manifest, version=f"{manifest.version}+filtered")


RECIPE = Recipe(
    name="filters",
    says="a benchmark without what is broken, repeated or answerable by a shortcut",
    sources=items_in,
    stages=(
        without_findings(),
        without_twins(),
        without_outstanding_keys(),
        context_independence(optional=True),
        blind_ensemble(optional=True),
        contextual_veracity(optional=True),
        one_modality("watcher", optional=True),
        one_modality("listener", optional=True),
        Each(
            name="collect",
            takes=Item,
            gives=Item,
            work=collect,
            writes=True,
            intact=is_collected,
        ),
    ),
    roles={
        "blind": Role("answers from the words alone, five times", many=True, verifies=True),
        "ensemble": Role("several that answer from the words alone", many=True, verifies=True),
        "veracity": Role("answers from the item's context", verifies=True),
        "watcher": Role("answers from pictures alone", many=True, verifies=True),
        "listener": Role("answers from sound alone", many=True, verifies=True),
    },
    manifest=_manifest,
    media="source",
)
