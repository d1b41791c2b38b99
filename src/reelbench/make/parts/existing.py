"""Recipes that start from an existing benchmark: read its items, collect their media."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import link_or_copy
from reelbench.data.benchmark import (
    ITEMS_FILE,
    MANIFEST_FILE,
    BenchmarkError,
    grouped,
    read_items,
    split_problems,
    tidy_line,
)
from reelbench.data.item_rules import decode_strictly
from reelbench.data.items import Item, Problem
from reelbench.data.manifest import Manifest, read_manifest
from reelbench.data.paths import Folder
from reelbench.data.sources import Sources
from reelbench.evaluate.item_media import subtitles_of
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, RowStage
from reelbench.media.digests import media_digest


def items_in(source: Path) -> Sources:
    """Return the items of a benchmark as sources; invalid items are listed with the reason."""
    manifest = _manifest(source)
    file = read_items(source / ITEMS_FILE)
    problems = [*file.problems, *split_problems(manifest, file)]
    errors = [problem for problem in problems if not problem.is_warning]
    if unreadable := [problem for problem in errors if not problem.line]:
        raise BenchmarkError(unreadable)
    faults: dict[int, list[Problem]] = defaultdict(list)
    for problem in errors:
        faults[problem.line].append(problem)
    names = dict(zip(file.lines, (item.id for item in file.items), strict=True))
    names |= _names(file.path, faults.keys() - names.keys())
    broken = [(names[line], _as_sentence(line, faults[line])) for line in sorted(faults)]
    numbered = zip(file.lines, file.items, strict=True)
    rows = [item for line, item in numbered if line not in faults]
    warnings = list(grouped([problem for problem in problems if problem.is_warning]))
    return Sources(rows, broken, warnings)


def _names(path: Path, lines: AbstractSet[int]) -> dict[int, str]:
    """Return names for lines without a valid item: the id in them, or their number."""
    names: dict[int, str] = {}
    if lines:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if number in lines:
                    record, _ = decode_strictly(tidy_line(line, number)[0])
                    named = record.get("id") if isinstance(record, dict) else None
                    names[number] = named if isinstance(named, str) else f"line {number}"
    return names


def _as_sentence(line: int, problems: Sequence[Problem]) -> str:
    faults = [f"{p.field}: found {p.found}, expected {p.expected}" for p in problems]
    return f"line {line}: {'; '.join(faults)}"


def same_manifest(_items: Sequence[Item], source: Path) -> Manifest:
    """Return the manifest of the source benchmark, with ``+made`` added to its version."""
    manifest = _manifest(source)
    return replace(manifest, version=f"{manifest.version}+made")


def _manifest(source: Path) -> Manifest:
    if not source.is_dir():
        raise ReelbenchError(
            f"{source} is not a folder: name one with {MANIFEST_FILE} and {ITEMS_FILE} in --source."
        )
    manifest, problems = read_manifest(source / MANIFEST_FILE)
    if manifest is None:
        raise BenchmarkError([problem for problem in problems if not problem.is_warning])
    return manifest


def collect(*, name: str = "collect") -> RowStage:
    """Return the stage that puts the media, subtitles and contexts of items into the new folder."""
    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=_collect,
        writes=True,
        reads=_digests,
        outputs_exist=_is_collected,
    )


def _digests(item: Item, ctx: StageContext) -> list[str | None]:
    paths = [ctx.source / name for name in _files(item, ctx.source)]
    return [media_digest(path) if path.is_file() else None for path in paths]


async def _collect(item: Item, ctx: StageContext) -> list[Item]:
    """Link each file into the new folder, or copy it where links are not possible."""
    for name in _files(item, ctx.source):
        if Path(name).parts[0] == "make":
            raise Rejected(
                "a file in make/",
                f"{name}: the folder make/ is for the records of make; move the file.",
            )
        if (ctx.source / name).is_file():
            link_or_copy(ctx.source / name, ctx.out / name)
    return [item]


def bring_media(item: Item, source: Path, out: Path) -> None:
    """Link the files of an item into the folder that is made, for people; what is there stays."""
    bring_files(_files(item, source), source, out)


def bring_files(names: Iterable[str], source: Path, out: Path) -> None:
    """Link files into the folder that is made; what is there stays."""
    for name in names:
        there, here = source / name, out / name
        if there.is_file() and not here.exists() and Path(name).parts[0] != "make":
            link_or_copy(there, here)


def _is_collected(item: Item, ctx: StageContext) -> bool:
    return all(
        (ctx.out / name).is_file()
        for name in _files(item, ctx.source)
        if (ctx.source / name).is_file()
    )


def _files(item: Item, root: Path) -> list[str]:
    files = (subtitles_of(root, media) for media in item.media)
    subtitles = [file.relative_to(root).as_posix() for file in files if file]
    named = [item.context.get("file"), *subtitles]
    # What an item names is not to be trusted: nothing outside of the two folders is touched.
    folder = Folder(root)
    inside = [name for name in named if isinstance(name, str) and not folder.outside(name)]
    return [*(media.path for media in item.media), *inside]
