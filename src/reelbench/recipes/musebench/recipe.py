"""MuseBench: intent-level understanding of audiovisual arts (Fan, Seo and others).

Sections, tables and figures are the paper's. Read the stages beside its Figure 3.

People vet essays, review pilots and decide about every question (``reelbench review FOLDER``): what
waits for them is named, and the next run goes on where they have decided. What narrators say is
what questions are written from; no evaluated model is shown or told any of it.
"""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from reelbench.data.items import Item
from reelbench.data.manifest import Manifest
from reelbench.interop.musebench.manifest import musebench_manifest
from reelbench.interop.musebench.taxonomy import CATEGORIES
from reelbench.make.parts.check_narrator import check_narrator
from reelbench.make.parts.label import label
from reelbench.make.parts.narrator import silence
from reelbench.make.parts.narrator_report import report_narrators
from reelbench.make.parts.verdicts import verdicts
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Flag, Recipe, Role, whole_number
from reelbench.recipes.musebench.captions import caption
from reelbench.recipes.musebench.categorise import categorise
from reelbench.recipes.musebench.curation import curate
from reelbench.recipes.musebench.fetch import fetch
from reelbench.recipes.musebench.produce import NEEDS_THE_CLIP, PRODUCE
from reelbench.recipes.musebench.records import record
from reelbench.recipes.musebench.refine import AUDIT, REFINE, RELEASE, REVIEW_ROLES
from reelbench.recipes.musebench.rows import Essay
from reelbench.recipes.musebench.segments import segment
from reelbench.recipes.musebench.source import plans_in
from reelbench.recipes.musebench.statistics import musebench_statistics
from reelbench.recipes.musebench.vetting import vetted, vetter, vetting, vetting_question


def _made(ctx: StageContext) -> Path:
    """Return the folder that the files of essays are in."""
    return ctx.out


STAGES = (
    # C.1: keywords, search, relevance judge, variants, until each category has its essays.
    curate(),
    fetch(),
    # C.2: who says what and when; the narrator is one of those who speak.
    label(
        ("sound", "transcript", "turns", "voices", "language", "narrator", "narration_text"),
        name="label-essays",
        rows=Essay,
        root=_made,
    ),
    record(),
    categorise(),
    # C.1: people remove what metadata cannot show; a model's opinion stands beside theirs.
    vetting_question(),
    vetter(),
    vetting(),
    vetted(),
    # C.3, Phase A: ten seconds each.
    segment(),
    # 3.3: what models are asked about has no narrator, and its transcript is made of what is left.
    silence(Essay),
    label(
        ("sound", "transcript", "turns", "voices"),
        set={"transcript": {"subtitles": False}},
        name="label-evaluation",
        rows=Essay,
        root=_made,
    ),
    check_narrator(Essay),
    report_narrators(Essay),
    # C.4, Phase B: what is seen, told with what the narrator says about it.
    caption(),
    # 3.4 and C.7: pilots, verdicts, bad cases, new rules, until three rounds find nothing new.
    REFINE,
    # C.5 and C.6, Phases C and D, by the rules of the last round.
    *PRODUCE,
    *NEEDS_THE_CLIP,
    # C.8: seven issues that no swap of items mends, over the whole pool.
    AUDIT,
    # C.8, Table 6: what the linter tags is replaced from the reserve, written again or aligned.
    RELEASE,
    # 3.4: every item is verified by a person.
    verdicts(name="final"),
)


def _manifest(items: Sequence[Item], source: Path) -> Manifest:
    title = "MuseBench: what artists meant, seen and heard"
    return musebench_manifest(title, items, made_from=source.name)


RECIPE = Recipe(
    name="musebench",
    description="why a film, picture, stage or game looks and sounds as it does, from video essays",
    sources=plans_in,
    source_parameters={"categories": list(CATEGORIES)},
    stages=STAGES,
    roles={
        "curator": Role("finds keywords, judges videos by their metadata, infers their category"),
        "vetter": Role("vets essays beside people, who decide"),
        "captioner": Role("describes clips of ten seconds, told what the narrator says"),
        "writer": Role("writes questions and answers from captions and narration"),
        "matcher": Role("finds the clips that show what is asked", stands_in="writer"),
        "distractor": Role("writes wrong options", stands_in="writer"),
        **REVIEW_ROLES,
        "reader": Role("answers from the narration alone", many=True, verifies=True),
        "watcher": Role("answers from the clip without narrator", many=True, verifies=True),
        "blind": Role("answers from the words alone", many=True, verifies=True),
    },
    manifest=_manifest,
    statistics=musebench_statistics,
    home=files(__package__),
    categories=tuple(CATEGORIES),
    # --limit draws categories, which are the rows of the source.
    flags=(Flag("essays", "how many essays each category gets", ("curate.quota",), whole_number),),
)
