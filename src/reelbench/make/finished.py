"""Begin with a benchmark that is there already, and end with another beside it."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reelbench.benchmark import Benchmark
from reelbench.evaluate.show import subtitles_of
from reelbench.items import Item
from reelbench.make.desk import Desk
from reelbench.make.stage import Each, Rejected, Sources
from reelbench.manifest import Manifest
from reelbench.media.digests import media_digest
from reelbench.paths import Folder


def items_in(source: Path) -> Sources:
    """Return the items of a benchmark."""
    return Sources(Benchmark.load(source).items)


def same_manifest(_items: Sequence[Item], source: Path) -> Manifest:
    """Return the manifest of the benchmark that items came from, its version marked as another."""
    manifest = Benchmark.load(source).manifest
    return replace(manifest, version=f"{manifest.version}+made")


def collecting() -> Each:
    """Return the stage that puts what items need into the new benchmark."""
    return Each(
        name="collect",
        takes=Item,
        gives=Item,
        work=_collect,
        writes=True,
        reads=_digests,
        intact=_is_collected,
    )


def _digests(item: Item, desk: Desk) -> list[str | None]:
    paths = [desk.source / name for name in _files(item, desk.source)]
    return [media_digest(path) if path.is_file() else None for path in paths]


async def _collect(item: Item, desk: Desk) -> list[Item]:
    """Give each file a second name in the new folder; where that cannot be, copy it."""
    for name in _files(item, desk.source):
        there, here = desk.source / name, desk.out / name
        if Path(name).parts[0] == "make":
            raise Rejected("a file in make/", f"{name} lies where the journal of making is kept.")
        if there.is_file():
            give_second_name(there, here)
    return [item]


def give_second_name(there: Path, here: Path) -> None:
    """Let a file be found in another place too; where it cannot have two names, copy it."""
    here.parent.mkdir(parents=True, exist_ok=True)
    here.unlink(missing_ok=True)
    try:
        os.link(os.path.realpath(there), here)  # the file, not a link that leads to it
    except OSError:
        shutil.copyfile(there, here)


def _is_collected(item: Item, desk: Desk) -> bool:
    return all(
        (desk.out / name).is_file()
        for name in _files(item, desk.source)
        if (desk.source / name).is_file()
    )


def _files(item: Item, root: Path) -> list[str]:
    benchmark = Benchmark(root, Manifest("source", "1"), (item,))
    named = [item.context.get("file"), *(subtitles_of(benchmark, media) for media in item.media)]
    # What an item names is not to be trusted: nothing outside of the two folders is touched.
    folder = Folder(root)
    inside = [name for name in named if isinstance(name, str) and not folder.outside(name)]
    return [*(media.path for media in item.media), *inside]
