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
from reelbench.interop.humanvbench.manifest import humanvbench_manifest
from reelbench.interop.humanvbench.taxonomy import HIGH, MEDIUM
from reelbench.make.parts.answer_and_rank import answer_and_rank
from reelbench.make.parts.balance_stages import balance_key_positions
from reelbench.make.parts.filters import filter_above_chance
from reelbench.make.parts.label import label
from reelbench.make.parts.only import only
from reelbench.make.parts.perturb import perturb
from reelbench.make.parts.quota import quota
from reelbench.make.parts.source_videos import SourceVideo, source_root, videos_in
from reelbench.make.parts.verdicts import verdicts
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import BatchStage, Flag, Recipe, Role, RowStage
from reelbench.recipes.humanvbench import marks
from reelbench.recipes.humanvbench.analysed import analysed, note_people
from reelbench.recipes.humanvbench.annotated import ANNOTATED, ANNOTATION, annotated
from reelbench.recipes.humanvbench.captions import (
    CAPTION_PROMPTS,
    check_description,
    describe,
    expected_caption,
)
from reelbench.recipes.humanvbench.closed import GUESSED_PEOPLE
from reelbench.recipes.humanvbench.complete import complete, draw_times
from reelbench.recipes.humanvbench.distractors import WORDED, closed_question, distract_closed
from reelbench.recipes.humanvbench.drafts import TASK, draft
from reelbench.recipes.humanvbench.expected import expected_candidate
from reelbench.recipes.humanvbench.questions import QUESTION_PROMPTS, question
from reelbench.recipes.humanvbench.rows import PERSON, Candidate, ShotClip
from reelbench.recipes.humanvbench.select import (
    candidates,
    named_models,
    select,
    subject_name,
    task_names,
    tasks_fault,
    with_models,
)
from reelbench.recipes.humanvbench.sorting import balance, sort
from reelbench.recipes.humanvbench.source import (
    AESTHETICS,
    clip_exists,
    cut,
    suitable,
    whole_video,
    with_people,
)
from reelbench.recipes.humanvbench.statistics import human_statistics
from reelbench.recipes.humanvbench.tasks import (
    ALL_LABELS,
    DESCRIPTIVE,
    ERRORS,
    FIXED,
    HOME,
    TASKS,
    UNLETTERED,
    UNVERIFIED,
    VERIFIED,
    number_parameters,
    reads_label,
)


def _made(ctx: StageContext) -> Path:
    """Return the folder that the clips of rows are in."""
    return ctx.out


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
            "least_aesthetics": 0.0,
        },
        labels=("format", "unsafe", AESTHETICS),
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
        root=_made,
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
    # 3.2: labels 1 to 10, as far as they are made on this machine.
    label(
        [name for name in ALL_LABELS if name not in ("expression", "speech_emotion")],
        name="label",
        rows=ShotClip,
        root=_made,
    ),
    # L: each task by its own rule.
    RowStage(
        name="candidates",
        input=ShotClip,
        output=Candidate,
        work=candidates,
        parameters={"tasks": [], "subject": PERSON},
        validate=tasks_fault,
    ),
    RowStage(
        name="select",
        input=Candidate,
        output=Candidate,
        work=select,
        parameters={"least_confidence": 0.0, **number_parameters()},
        labels=(*ALL_LABELS, "objects"),
        version=2,
        estimate=expected_candidate,
        expected_pass_rate=0.1,
    ),
    RowStage(
        name="models", input=Candidate, output=Candidate, work=with_models, reads=named_models
    ),
    # 3.2: labels 4 and 5 in the words of a model, of the clips that are asked about.
    label(
        ("appearance",),
        name="label-appearance",
        role="captioner",
        rows=Candidate,
        root=_made,
        applies=reads_label(4),
        optional=True,
    ),
    label(
        ("expression",),
        name="label-expression",
        role="captioner",
        rows=Candidate,
        root=_made,
        applies=reads_label(5),
        optional=True,
    ),
    # 4.3 and H: by what results are analysed, which no rule reads.
    RowStage(
        name="note-people",
        input=Candidate,
        output=Candidate,
        work=note_people,
        labels=("count", "speaker"),
    ),
    # 3.3: marked videos.
    BatchStage(name="letters", input=Candidate, output=Candidate, work=marks.give_letters),
    # L.1, L.2: times to choose from, drawn for all clips together so that none gives itself away.
    BatchStage(
        name="times",
        input=Candidate,
        output=Candidate,
        work=draw_times,
        parameters={"most_overlap": 4.0, "most_iou": 0.5, "slack": 3.0},
    ),
    RowStage(
        name="mark",
        input=Candidate,
        output=Candidate,
        work=marks.mark,
        labels=("format", "tracks", "objects"),
        version=2,
        writes=True,
        outputs_exist=marks.is_rendered,
        estimate=marks.estimated,
    ),
    # 3.3, L: task-oriented captions; what is asked about someone must fit nobody else.
    RowStage(
        name="describe",
        input=Candidate,
        output=Candidate,
        work=describe,
        roles=("captioner",),
        prompts=CAPTION_PROMPTS,
        parameters={"sampling": "uniform:16", "size": "long:768"},
        labels=("appearance", "expression"),
        optional=True,
        version=2,
        estimate=expected_caption,
        expected_pass_rate=0.7,
        expected_tokens=120,
    ),
    RowStage(
        name="fits-one",
        input=Candidate,
        output=Candidate,
        work=check_description,
        roles=("checker",),
        prompts=("fits-one",),
        parameters={"sampling": "uniform:16", "size": "long:768"},
        optional=True,
        filters=True,
        expected_pass_rate=0.8,
    ),
    # L.1: polarity of ER, positive to neutral to negative as 1:1:2; change of ETA.
    RowStage(
        name="sort",
        input=Candidate,
        output=Candidate,
        work=sort,
        roles=("writer",),
        prompts=("sort-polarity", "sort-change"),
        optional=True,
        expected_pass_rate=0.8,
    ),
    BatchStage(
        name="balance",
        input=Candidate,
        output=Candidate,
        work=balance,
        parameters={"polarity": {"positive": 1, "neutral": 1, "negative": 2}},
    ),
    RowStage(
        name="question",
        input=Candidate,
        output=Candidate,
        work=question,
        roles=("writer",),
        prompts=QUESTION_PROMPTS,
        optional=True,
        expected_tokens=120,
    ),
    RowStage(name="draft", input=Candidate, output=Item, work=draft),
    # L.1: the label only says which clips people count in.
    only(
        quota(GUESSED_PEOPLE, {"3-5": 60, "6-8": 60, "9+": 54}, name="counting-quota"),
        TASK,
        ("HC",),
    ),
    RowStage(
        name="collect",
        input=Item,
        output=Item,
        work=marks.collect,
        writes=True,
        outputs_exist=marks.is_collected,
        estimate=marks.uncollected,
    ),
    # L.3: people count, and mark actions and their starts; one annotation makes two questions.
    only(verdicts("annotations.jsonl", name=ANNOTATION), TASK, ANNOTATED),
    RowStage(
        name="annotated",
        input=Item,
        output=Item,
        work=annotated,
        parameters={"tasks": [], "throughout": 0.9},
        validate=tasks_fault,
    ),
    # L.3: options around what people counted and when they saw an action start.
    BatchStage(
        name="complete",
        input=Item,
        output=Item,
        work=complete,
        parameters={"within": 4, "least": 3, "apart": 3.0, "ongoing": [], "slack": 3.0},
    ),
    # L.2: wrong actions and wrong sentences, in the words of a model.
    only(distract_closed(), TASK, WORDED),
    # 3.3 and L.1: four candidates, ranked by all; what is not distinct gets a small error.
    only(answer_and_rank(optional=True), TASK, DESCRIPTIVE),
    only(perturb(ERRORS, judge="judge", optional=True), TASK, DESCRIPTIVE),
    RowStage(name="closed", input=Item, output=Item, work=closed_question),
    # 3.3 and L.3: people pick the right option or write it; what people told already, only once.
    only(verdicts(name="verification"), TASK, VERIFIED),
    only(verdicts(name="cross-verification"), TASK, UNVERIFIED),
    # 3.4: what models without the video get right more often than chance.
    filter_above_chance(optional=True),
    # People's letters are the options' letters: keys were spread over them when they were drawn.
    only(balance_key_positions(), TASK, [task for task in UNLETTERED if task not in FIXED]),
    RowStage(
        name="analysed",
        input=Item,
        output=Item,
        work=analysed,
        parameters={"medium": MEDIUM, "high": HIGH},
    ),
)


def _manifest(items: Sequence[Item], source: Path) -> Manifest:
    return humanvbench_manifest("HumanVBench", items, made_from=source.name)


RECIPE = Recipe(
    name="humanvbench",
    description="sixteen kinds of questions about people in videos, each made by its own rule",
    sources=videos_in,
    stages=STAGES,
    roles={
        "captioner": Role("describes people and what they do, from marked videos"),
        "checker": Role("says whom a description fits", stands_in="captioner"),
        "writer": Role("sorts descriptions and writes questions from them"),
        "distractor": Role("writes wrong options, or errors into right ones", stands_in="writer"),
        "judge": Role("says whether an option is wrong beyond doubt", stands_in="distractor"),
        "answerer": Role("looks at videos and answers, beside others", many=True),
        "blind": Role("answers without the video", many=True, verifies=True),
        "ranker": Role("scores the answers of all", stands_in="answerer", many=True),
    },
    manifest=_manifest,
    home=HOME,
    categories=tuple(TASKS),
    statistics=human_statistics,
    flags=(
        Flag(
            "tasks",
            "which tasks to make, such as ASD,HC",
            ("candidates.tasks", "annotated.tasks"),
            task_names,
        ),
        Flag(
            "subject",
            "what the questions are about instead of people, such as dog or car",
            ("human-centric.subject", "candidates.subject"),
            subject_name,
        ),
    ),
)
