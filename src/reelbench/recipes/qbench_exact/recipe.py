"""Quality questions with facts for answers, from clean clips of one's own.

Q-Bench-Video asks what people saw. Here a clip is damaged by a known amount, in a known place, from
a known moment on, and measured in the very frames that a model is shown: the answer, the severity
and the order of a pair are facts. ``--margin`` is how far right and wrong are apart in what is
measured; the smaller, the harder.
"""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reelbench.data.items import NOTHING, Item, freeze
from reelbench.data.manifest import Manifest
from reelbench.interop.qbench_video.taxonomy import PEOPLE, SPLITS, quality_manifest
from reelbench.make.parts.balance_stages import balance_key_positions, split
from reelbench.make.parts.label import label
from reelbench.make.parts.scenes import FINGERPRINT, scenes
from reelbench.make.parts.source_videos import SourceVideo, source_root, videos_in
from reelbench.make.pipeline.stage import BatchStage, Flag, Recipe, RowStage, whole_number
from reelbench.media.measure.quality import COURSE, DAMAGES, STILL
from reelbench.media.measure.visibility import BANDS
from reelbench.recipes.qbench_exact.asking import MARGIN, VISIBILITY, ask
from reelbench.recipes.qbench_exact.clips import Segment, cut
from reelbench.recipes.qbench_exact.layered import COPIES
from reelbench.recipes.qbench_exact.plan import HOME, QuestionPlan, SegmentPlan, order, plan
from reelbench.recipes.qbench_exact.targets import MARGINS
from reelbench.recipes.qbench_exact.videos import (
    MadeQuestion,
    collect,
    damage,
    estimated_question,
    is_collected,
    is_there,
)

ITEMS = 300


def _validate_longest(parameters: Mapping[str, Any]) -> str:
    longest = parameters["longest"]
    if longest == 0 or longest >= 64:
        return ""
    return f"longest is {longest}: give 64 pixels or more, or 0 for the size that clips have"


def _validate_seconds(parameters: Mapping[str, Any]) -> str:
    seconds = parameters["seconds"]
    return "" if seconds >= 0.5 else f"seconds is {seconds}: give 0.5 or more"


def _validate_plan(parameters: Mapping[str, Any]) -> str:
    if parameters["items"] <= 0:
        return f"items is {parameters['items']}: give 1 or more"
    least, most = MARGINS
    margins = parameters["margin"]
    if not margins:
        return f"margin is empty: give a number from {least} to {most}, or several"
    for margin in margins:
        if not least <= margin <= most:
            return f"margin is {margin}: give a number from {least} to {most}"
    if len({f"{margin:g}" for margin in margins}) < len(margins):
        return f"margin is {', '.join(map(str, margins))}: give each number once"
    return ""


STAGES = (
    # Clips that show one scene are one, where clips are drawn and divided between splits.
    label((FINGERPRINT,), name="label-clips", rows=SourceVideo, root=source_root),
    # Segments of equal length, which share no frame.
    RowStage(
        name="cut",
        input=SourceVideo,
        output=Segment,
        work=cut,
        parameters={"seconds": 4.0},
        validate=_validate_seconds,
    ),
    scenes(Segment),
    # Families in their shares, keys in equal numbers, clips in turns; some more than are needed.
    BatchStage(
        name="plan",
        input=Segment,
        output=SegmentPlan,
        work=plan,
        version=5,
        parameters={"items": ITEMS, "margin": (0.15,)},
        validate=_validate_plan,
    ),
    RowStage(name="order", input=SegmentPlan, output=QuestionPlan, work=order),
    # The severity that shows as much as is wanted, and by the margin no more of anything else.
    RowStage(
        name="damage",
        input=QuestionPlan,
        output=MadeQuestion,
        work=damage,
        version=4,
        parameters={"longest": 512},
        validate=_validate_longest,
        writes=True,
        outputs_exist=is_there,
        estimate=estimated_question,
    ),
    # The question, with wrong options that are not seen; pairs coarse and fine by the median.
    BatchStage(
        name="ask",
        input=MadeQuestion,
        output=Item,
        work=ask,
        version=3,
        parameters={"items": ITEMS},
    ),
    balance_key_positions(),
    split(SPLITS, by=("question_type", "context")),
    RowStage(
        name="collect",
        input=Item,
        output=Item,
        work=collect,
        writes=True,
        outputs_exist=is_collected,
    ),
)


def _manifest(items: Sequence[Item], source: Path) -> Manifest:
    title = "Video quality with facts for answers"
    manifest = quality_manifest("qbench-exact", title, items, made_from=source.name)
    tables, taxonomy = dict(manifest.tables), dict(manifest.taxonomy)
    margins = {name for item in items for name in item.tag(MARGIN)}
    bands = {name for item in items for name in item.tag(VISIBILITY)}
    for tag, words, names in (
        (MARGIN, "By margin, from easy to hard", sorted(margins, key=float, reverse=True)),
        (
            VISIBILITY,
            "Spots, by the just-noticeable differences that a model predicts",
            [name for name in BANDS if name in bands],
        ),
    ):
        if names:
            taxonomy[tag] = names
            columns = {name: {tag: name} for name in names}
            tables[tag] = {"title": words, "people": PEOPLE, "columns": columns}
    # With fewer frames than were measured, an answer need not be seen.
    return replace(manifest, conditions=NOTHING, tables=freeze(tables), taxonomy=freeze(taxonomy))


def _statistics(rows: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Count what was made, how strong the damages are, and how good the segments were before."""
    questions: Sequence[MadeQuestion] = rows.get("damage", ())
    items: Sequence[Item] = rows.get("split", rows.get("ask", ()))
    videos = [video for question in questions for video in question.videos if video.shown.severity]
    if not videos:
        return {}
    by_damage = {
        f"Severity of {name}": [v.shown.severity for v in videos if v.target.damage == name]
        for name in DAMAGES
    }
    whole = [question for question in questions if question.order.family != COPIES]
    clean = {
        video.segment.id: video.shown.before for question in whole for video in question.videos
    }
    qualities = {
        f"{quality.capitalize()} of segments": [
            round(seen[quality], 4) for _, seen in sorted(clean.items())
        ]
        for quality in (*STILL, *COURSE)
    }
    kinds = Counter(tag for item in items for tag in item.tag("question_type"))
    return {
        "numbers": {
            "segments": len(rows.get("cut", ())),
            "clips": len({clip for item in items for clip in item.source_clips}),
            "videos written": sum(len(question.videos) for question in questions),
            "mean extent": round(statistics.fmean(video.shown.extent for video in videos), 3),
            **{f"{name} items": count for name, count in sorted(kinds.items())},
        },
        "distributions": {n: values for n, values in (by_damage | qualities).items() if values},
    }


def _several(words: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(word) for word in words.split(","))
    except ValueError:
        numbers = ()
    if not numbers or not all(map(math.isfinite, numbers)):
        raise ValueError(f"{words!r} is not a number, or several as 0.2,0.05")
    return numbers


RECIPE = Recipe(
    name="qbench-exact",
    description="quality questions whose answers are facts, from clips of your own",
    sources=videos_in,
    stages=STAGES,
    roles={},
    manifest=_manifest,
    home=HOME,
    statistics=_statistics,
    flags=(
        Flag("items", "how many items to make", ("plan.items", "ask.items"), whole_number),
        Flag(
            "margin",
            "how far right and wrong differ in what is measured, from 0.02 (hard) to 0.2 (easy); "
            "several, as 0.2,0.05, are for about equally many items each, and have a table",
            ("plan.margin",),
            _several,
        ),
        Flag(
            "longest",
            "pixels of the longer side of videos; 0 for the size that clips have",
            ("damage.longest",),
            int,
        ),
    ),
)
