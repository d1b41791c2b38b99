"""Cinéaste: fine-grained contextual movie question answering (Shah, Ziai, Ekanadham, Patel).

Sections and tables are the paper's. Read the stages beside its Figure 2.

Phase 1 refines the prompts on some movies: ``--limit 20 --until independence --prompts MINE``. A
``reviewer``, where one is named, reads drafts and proposes changes of the prompts; people accept,
edit or reject them (``reelbench review``), and the next make applies what they accepted. Phase 2 is
the same without ``--limit`` and ``--until``; what phase 1 paid for is not paid for again.
"""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import yaml

from reelbench.data.items import Item, freeze
from reelbench.data.manifest import Manifest, Protocol
from reelbench.make.parts.balance_stages import balance_key_positions
from reelbench.make.parts.drafts import WritingTask
from reelbench.make.parts.filters import filter_blind, filter_context
from reelbench.make.parts.prompt_feedback import feedback
from reelbench.make.parts.repair_shortcuts import repair_shortcuts
from reelbench.make.parts.write import check_drafts, write
from reelbench.make.pipeline.stage import Recipe, Role, RowStage
from reelbench.recipes.cineaste.film import (
    concatenate,
    describe_scenes,
    estimate_described,
    estimate_joined,
    film_statistics,
    is_joined,
    writing_tasks,
)
from reelbench.recipes.cineaste.source import Movie, movies_in
from reelbench.recipes.cineaste.tables import paper_tables

HOME = files(__package__)
TAXONOMY = yaml.safe_load((HOME / "taxonomy.yaml").read_text("utf-8"))["categories"]
CATEGORIES = {each["name"]: each["slug"] for each in TAXONOMY}  # 3.2, Figure 3

QUESTIONS = 12  # of each category and movie: 11,729 of 5 and 200 (3.3)
DISTRACTORS = 4  # five options (3.3)
SEEDS = 5  # of both filters (3.3)
GENERATED, INDEPENDENT, TRUE = 11_729, 4_185, 3_119  # the paper's funnel (3.4), for forecasts

# 3.3: removed when all five of five seeds are right without the film.
INDEPENDENCE = filter_blind(SEEDS, drop_at=5, expected_pass_rate=INDEPENDENT / GENERATED)
# 3.3, equation 1: kept when V(Q, A, C) is at least 0.8.
VERACITY = filter_context(SEEDS, keep_at=0.8, expected_pass_rate=TRUE / INDEPENDENT)

STAGES = (
    # 3.1: the scenes of a movie, in order, become one video of about 19 minutes.
    RowStage(
        name="concatenate",
        input=Movie,
        output=Movie,
        work=concatenate,
        parameters={"rate": 25.0},
        writes=True,
        outputs_exist=is_joined,
        estimate=estimate_joined,
    ),
    # 3.1: what is seen in each scene, from 32 frames.
    RowStage(
        name="describe",
        input=Movie,
        output=Movie,
        work=describe_scenes,
        roles=("captioner",),
        prompts=("describe",),
        parameters={"frames": 32, "size": "long:768"},
        estimate=estimate_described,
        expected_tokens=460,  # 344.5 words (3.4)
    ),
    # 3.3: descriptions, captions, titles, log-lines and the summary as one context, and not the
    # film's title (equation 1); a prompt for each of the five categories.
    RowStage(
        name="writing-tasks",
        input=Movie,
        output=WritingTask,
        work=writing_tasks,
        prompts=("context", "scene", *CATEGORIES.values()),
        parameters={"categories": CATEGORIES, "distractors": DISTRACTORS, "film_title": False},
    ),
    # 3.3: questions as JSON, each with key, distractors, reasoning and relevant scenes.
    write((*CATEGORIES.values(), "reply"), count=QUESTIONS),
    check_drafts(),
    INDEPENDENCE,
    # Figure 2, phase 1: feedback of models and people on how many can be answered so.
    feedback(),
    VERACITY,
    # Ours: what gives keys away over all questions is seen in none of them alone.
    repair_shortcuts((INDEPENDENCE, VERACITY)),
    balance_key_positions(),
)

# 4.1: the ways of asking of Tables 2 to 5, which ``tables.py`` declares.
CONDITIONS = {
    "frames-64": {"sampling": "uniform:64"},
    "frames-128": {"sampling": "uniform:128"},
    "frames-20": {"sampling": "uniform:20"},
    "fps-0.1": {"sampling": "fps:0.1"},
    "frames": {"sampling": ["uniform:8", "uniform:16", "uniform:32", "uniform:64"]},
    "frames-and-captions": {"sampling": "uniform:64", "subtitles": True},
    "no-context": {"modalities": "T", "rounds": SEEDS},
    "captions": {"modalities": "T", "subtitles": True, "rounds": SEEDS},
}


def _manifest(items: Sequence[Item], source: Path) -> Manifest:
    kept = {item.tags["category"] for item in items}
    return Manifest(
        name="cineaste",
        version="1",
        title="Cinéaste: fine-grained contextual movie questions",
        taxonomy=freeze({"category": [name for name in CATEGORIES if name in kept]}),
        protocol=Protocol(sampling="uniform:32"),
        conditions=freeze(CONDITIONS),
        tables=freeze(paper_tables({c["code"]: c["name"] for c in TAXONOMY if c["name"] in kept})),
        extra=freeze({"made_from": source.name}),
    )


RECIPE = Recipe(
    name="cineaste",
    description="questions about whole films, from scenes with captions and summaries",
    sources=movies_in,
    stages=STAGES,
    roles={
        "captioner": Role("describes what is seen in a scene", stands_in="writer"),
        "writer": Role("writes questions, keys and distractors"),
        "blind": Role("answers without the film; what it gets right is dropped", verifies=True),
        "reviewer": Role("reads drafts and proposes changes of prompts, in phase 1", verifies=True),
        "veracity": Role("answers from the text of the film", stands_in="blind", verifies=True),
    },
    manifest=_manifest,
    home=HOME,
    categories=tuple(CATEGORIES),
    statistics=film_statistics,
)
