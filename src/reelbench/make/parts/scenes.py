"""Clips that show one scene count as one: copies, pieces, and what one camera saw at other times.

A benchmark that is split by clip, and whose intervals are by clip, must know them as one.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from reelbench.annotate.operators.fingerprint import same_scenes
from reelbench.base.progress import counted
from reelbench.data.items import SOURCE_CLIPS, Item, freeze
from reelbench.make.pipeline.context import StageContext, clip_of
from reelbench.make.pipeline.stage import BatchStage

FINGERPRINT = "fingerprint"  # the label by which scenes are known
_NAMED = 5  # how many groups of clips a note names


def scenes(rows: type = Item, *, name: str = "scenes") -> BatchStage:
    """Return the stage that notes which clips show one scene, by the label ``fingerprint``.

    Items on such clips get the field ``source_clips``, with the first of them by name: they are in
    one split, and count as one draw. Any other rows are structs with the fields ``clip`` and
    ``scene``, of which the second gets that name, or that of their own clip.
    """

    def work(given: Sequence[Any], ctx: StageContext) -> list[Any]:
        clips = {clip for row in given for clip in _clips_in(row)}
        # Of all clips: ``ctx.labels`` has those of an item's first one.
        prints = {clip: ctx.clip_labels.get(clip, {}).get(FINGERPRINT) for clip in sorted(clips)}
        scene = same_scenes({clip: value for clip, value in prints.items() if value})
        groups: dict[str, list[str]] = defaultdict(list)
        for clip, first in scene.items():
            groups[first].append(clip)
        several = {first: joined for first, joined in groups.items() if len(joined) > 1}
        ctx.notes.extend(_joined(ctx.stage, several.values()))
        return [_with_scene(row, scene, several) for row in given]

    return BatchStage(name=name, input=rows, output=rows, work=work, labels=(FINGERPRINT,))


def _clips_in(row: Any) -> Iterable[str]:
    return [media.path for media in row.media] if isinstance(row, Item) else [clip_of(row)]


def _with_scene(row: Any, scene: Mapping[str, str], several: Mapping[str, Sequence[str]]) -> Any:
    own = [scene.get(clip, clip) for clip in _clips_in(row)]
    if not isinstance(row, Item):
        return structs.replace(row, scene=own[0])
    joined = {first for first in own if first in several}
    if not joined:
        return row
    named = sorted({*row.source_clips, *joined})
    return structs.replace(row, extra=freeze({**row.extra, SOURCE_CLIPS: named}))


def _joined(stage: str, groups: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a note that names the clips that count as one, if there are such."""
    several = [", ".join(clips) for clips in groups]
    others = len(several) - _NAMED
    more = f"; and {counted(others, 'other group')}" if others > 0 else ""
    if several:
        named = "; ".join(several[:_NAMED])
        yield f"{stage}: these clips show the same and count as one: {named}{more}"
