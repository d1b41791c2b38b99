"""HumanVBench: human-centric video understanding, synthesized (Zhou and others).

Sections, appendices and tables are the paper's. Read the stages beside its Figures 2 and 3.

Five tasks need no model (HC, TSA, AVSM, ASD, AVAD); what the others need is in ``tasks.yaml``.
People count, mark the starts of actions and verify: what waits for them is named, and the next run
goes on where they have decided.
"""

from collections.abc import Sequence
from pathlib import Path

from reelbench.data.items import Item
from reelbench.data.manifest import Manifest
from reelbench.make.parts.balance_stages import balance_key_positions
from reelbench.make.parts.label import label
from reelbench.make.parts.only import only
from reelbench.make.pipeline.stage import BatchStage, Flag, Recipe, Role, RowStage
from reelbench.recipes.humanvbench import marks
from reelbench.recipes.humanvbench.drafts import TASK, draft
from reelbench.recipes.humanvbench.rows import PERSON, Candidate, ShotClip, SourceVideo
from reelbench.recipes.humanvbench.select import candidates, select
from reelbench.recipes.humanvbench.source import (
    clip_exists,
    cut,
    source_root,
    suitable,
    videos_in,
    whole_video,
    with_people,
)
from reelbench.recipes.humanvbench.tasks import ALL_LABELS, HOME, UNLETTERED, number_parameters

STAGES = (
    # 3.2 and K: resolution, aesthetics and safety first; then scenes, and the filters of clips.
    label(("format", "unsafe", "shots"), name="label-videos", rows=SourceVideo, root=source_root),
    RowStage(
        name="suitable",
        input=SourceVideo,
        output=SourceVideo,
        work=suitable,
        parameters={
            "least_width": 1280,
            "least_height": 480,
            "most_unsafe": 0.5,
            "aesthetics": "",
            "least_aesthetics": 0.5,
        },
        labels=("format", "unsafe"),
        filters=True,
    ),
    RowStage(
        name="cut",
        input=SourceVideo,
        output=ShotClip,
        work=cut,
        parameters={"longest": 30.0},
        labels=("shots",),
        writes=True,
        outputs_exist=clip_exists,
        estimate=whole_video,
    ),
    label(
        ("motion", "face_ratio", "objects"),
        name="label-clips",
        rows=ShotClip,
        root=lambda ctx: ctx.out,
    ),
    RowStage(
        name="human-centric",
        input=ShotClip,
        output=ShotClip,
        work=with_people,
        parameters={
            "subject": PERSON,
            "least_seconds": 1.0,
            "least_motion": 1.2,
            "least_face_ratio": 0.65,
        },
        labels=("motion", "face_ratio", "objects"),
        filters=True,
    ),
    # 3.2: labels 1 to 10, made on this machine; 4 and 5 in the words of a model where one is named.
    label(
        [name for name in ALL_LABELS if name not in ("expression", "speech_emotion")],
        name="label",
        rows=ShotClip,
        root=lambda ctx: ctx.out,
    ),
    # L: each task by its own rule.
    RowStage(
        name="candidates",
        input=ShotClip,
        output=Candidate,
        work=candidates,
        parameters={"tasks": [], "subject": PERSON},
    ),
    RowStage(
        name="select",
        input=Candidate,
        output=Candidate,
        work=select,
        parameters={"least_confidence": 0.0, **number_parameters()},
        labels=(*ALL_LABELS, "objects"),
        expected_pass_rate=0.1,
    ),
    # 3.3: marked videos.
    BatchStage(name="letters", input=Candidate, output=Candidate, work=marks.give_letters),
    RowStage(
        name="mark",
        input=Candidate,
        output=Candidate,
        work=marks.mark,
        labels=("tracks", "objects"),
        writes=True,
        outputs_exist=marks.is_rendered,
        estimate=marks.estimated,
    ),
    RowStage(name="draft", input=Candidate, output=Item, work=draft),
    RowStage(
        name="collect",
        input=Item,
        output=Item,
        work=marks.collect,
        writes=True,
        outputs_exist=marks.is_collected,
    ),
    # People's letters are the options' letters: keys were spread over them when they were drawn.
    only(balance_key_positions(), TASK, UNLETTERED),
)


def _manifest(items: Sequence[Item], source: Path) -> Manifest:
    del items
    return Manifest("humanvbench", "1", title="HumanVBench", extra={"made_from": source.name})


def _names(word: str) -> list[str]:
    return [name.strip() for name in word.split(",") if name.strip()]


RECIPE = Recipe(
    name="humanvbench",
    description="sixteen kinds of questions about people in videos, each made by its own rule",
    sources=videos_in,
    stages=STAGES,
    roles={
        "captioner": Role("describes people and what they do, from marked videos"),
        "writer": Role("sorts descriptions and writes questions from them"),
    },
    manifest=_manifest,
    home=HOME,
    flags=(
        Flag("tasks", "which tasks to make, such as ASD,HC", ("candidates.tasks",), _names),
        Flag(
            "subject",
            "what the questions are about instead of people, such as dog or car",
            ("human-centric.subject", "candidates.subject"),
        ),
    ),
)
