"""Q-Bench-Video: benchmarking the video quality understanding of LMMs (Zhang and others).

Sections, equations and the algorithm are the paper's; 7 to 17 are in its supplement.

The paper's questions are written and reviewed by experts. Here people do it too, on the review
pages, or models where they have the roles. ``--until pair`` needs neither models nor videos: it
draws the sample and the pairs, for experts of your own.
"""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from reelbench.data.items import Item
from reelbench.data.manifest import Manifest
from reelbench.interop.qbench_video.taxonomy import (
    PROTOCOL,
    QUESTION_TYPES,
    SPLITS,
    quality_manifest,
)
from reelbench.make.parts.balance_stages import (
    balance_key_positions,
    balance_yes_no,
    choose_negations,
    negate,
    split,
)
from reelbench.make.parts.by_people import or_people
from reelbench.make.parts.drafts import WritingTask
from reelbench.make.parts.existing import collect
from reelbench.make.parts.label import label
from reelbench.make.parts.scenes import FINGERPRINT, scenes
from reelbench.make.parts.write import check_drafts, write
from reelbench.make.pipeline.stage import BatchStage, Recipe, Role, RowStage
from reelbench.recipes.qbench_video.facts import quality_statistics
from reelbench.recipes.qbench_video.pairing import assign, pair
from reelbench.recipes.qbench_video.reviewing import review_of_opposites, review_stages
from reelbench.recipes.qbench_video.rows import ScoredVideo
from reelbench.recipes.qbench_video.sampling import INTERVALS, sample
from reelbench.recipes.qbench_video.source import videos_in
from reelbench.recipes.qbench_video.tasks import PROMPTS, as_written, writing_tasks

STAGES = (
    # 3.2 and 8: of each dataset, equally many videos from each fifth of the range of its scores.
    BatchStage(
        name="sample",
        input=ScoredVideo,
        output=ScoredVideo,
        work=sample,
        parameters={"intervals": INTERVALS},
        validate=lambda values: (
            ""
            if values["intervals"] >= 1
            else f"intervals is {values['intervals']}: give a number from 1 on"
        ),
    ),
    # 3.3.3 and 16, Algorithm 1: pairs of one dataset, coarse where scores differ more than usual.
    BatchStage(name="pair", input=ScoredVideo, output=ScoredVideo, work=pair),
    # 3.3.1 and 3.3.3: Yes-or-No, What-How, Open-ended; Global, Referring; Joint, Compare.
    BatchStage(name="assign", input=ScoredVideo, output=ScoredVideo, work=assign),
    # 3.3: for each (V, Q, A, C), the question, its answers and the right one, by who has seen it.
    RowStage(
        name="writing-tasks",
        input=ScoredVideo,
        output=WritingTask,
        work=writing_tasks,
        prompts=PROMPTS,
    ),
    # By a model, or by people on the review pages where none has the role (3.3.4, Figure 3).
    or_people(write(("write",), shown=PROTOCOL, repair_rules=True), as_written),
    check_drafts(),
    # 3.3.4 and 9: reviewed by others, people or models, and kept where all agree.
    *review_stages(),
    # 3.3.1 and 10: as many Yes as No, by asking for the opposite.
    choose_negations(),
    negate(role="rewriter", optional=True),
    *review_of_opposites(),
    balance_yes_no(),
    balance_key_positions(),
    # 4.1: 1,192 and 1,186 of 2,378. Datasets have one scene in several videos, as distorted copies.
    label((FINGERPRINT,), name="label-videos"),
    scenes(),
    split(SPLITS, by=("question_type", "context")),
    collect(),
)


def _manifest(items: Sequence[Item], source: Path) -> Manifest:
    title = "Q-Bench-Video: questions about the quality of videos"
    return quality_manifest("qbench-video", title, items, made_from=source.name)


RECIPE = Recipe(
    name="qbench-video",
    description="questions about video quality, from videos with scores that people gave",
    sources=videos_in,
    stages=STAGES,
    roles={
        "writer": Role("looks at videos and writes questions about their quality; or people do"),
        "rewriter": Role("turns yes/no questions into their opposite", stands_in="writer"),
        "reviewer": Role(
            "looks at videos and reviews; questions on which not all agree are dropped; or people "
            "do",
            many=True,
            verifies=True,
        ),
    },
    manifest=_manifest,
    home=files(__package__),
    categories=QUESTION_TYPES,
    media="source",
    statistics=quality_statistics,
)
