"""Q-Bench-Video (arXiv 2409.20063) as its authors published it, or questions written in its form.

Nothing is made up: files of questions (3.3) become items, yes and no are evened out by opposite
questions (3.3) where a writer is named, and questions without a split are dealt to dev and test
(4.1). The format of the files is in ``source.py``.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from reelbench.data.items import Item, freeze
from reelbench.data.manifest import Manifest
from reelbench.interop.qbench_video.source import questions_in
from reelbench.interop.qbench_video.taxonomy import SPLITS, quality_manifest
from reelbench.make.parts.balance import split_items
from reelbench.make.parts.balance_stages import choosing_to_turn, splitting, turning
from reelbench.make.parts.existing import collecting
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import BatchStage, Recipe, Role

_OPEN_LISTS = ("context", "concern")  # tags of which files may have values of their own


def splitting_the_rest() -> BatchStage:
    """Return the stage that deals splits to the questions whose file does not tell theirs."""
    return replace(splitting(SPLITS, by=("question_type", "context")), work=_split_the_rest)


def _split_the_rest(
    items: Sequence[Item], ctx: StageContext, *, shares: dict[str, float], by: Sequence[str]
) -> list[Item]:
    """Deal splits; a video that is in one already takes its other questions along."""
    split = _drawn_along(items)
    rest = [item for item in items if item.id not in split]
    if rest:
        dealt = split_items(rest, shares, tuple(by), seed=ctx.seed)
        split |= {item.id: item.tag("split")[0] for item in dealt}
    return [
        structs.replace(item, tags=freeze({**item.tags, "split": split[item.id]})) for item in items
    ]


def _drawn_along(items: Sequence[Item]) -> dict[str, str]:
    """Return the splits that are told, and those of questions that share a video with them."""
    split = {item.id: item.tag("split")[0] for item in items if item.tag("split")}
    ordered, before = sorted(items, key=lambda item: item.id), -1
    while len(split) != before:
        before = len(split)
        of_video: dict[str, str] = {}
        for item in ordered:
            for media in item.media if item.id in split else ():
                of_video.setdefault(media.path, split[item.id])
        for item in ordered:
            known = [of_video[media.path] for media in item.media if media.path in of_video]
            if known:
                split.setdefault(item.id, known[0])
    return split


def published_manifest(items: Sequence[Item], _source: Path) -> Manifest:
    """Return the manifest; what files call by names of their own is in its taxonomy too."""
    manifest = quality_manifest("qbench-video", "Q-Bench-Video: video quality", items)
    taxonomy = dict(manifest.taxonomy)
    for tag in _OPEN_LISTS:
        listed = list(taxonomy.get(tag, ()))
        own = {value for item in items for value in item.tag(tag)} - set(listed)
        if own:
            taxonomy[tag] = [*listed, *sorted(own)]
    return replace(manifest, taxonomy=freeze(taxonomy))


RECIPE = Recipe(
    name="qbench-published",
    description="Q-Bench-Video's own files, or questions written like them, as a benchmark",
    sources=questions_in,
    stages=(
        # Without a writer, nothing is turned, and so nothing is to be marked.
        replace(choosing_to_turn(), roles=("writer",), optional=True),
        turning(optional=True),
        splitting_the_rest(),
        collecting(),
    ),
    roles={"writer": Role("rewrites yes/no questions to their opposite")},
    manifest=published_manifest,
    media="source",
)
