"""MuseBench's quality review: the dimensions reviewers tag, what they read, and its stages."""

import json
from importlib.resources import files
from pathlib import Path

import yaml
from parts import Studio
from support import make_item

from reelbench.base.files import digest_of
from reelbench.data.items import freeze
from reelbench.make.parts.rules import DESTINATIONS
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.prompts import load_prompts
from reelbench.recipes.musebench.refine import (
    AUDIT,
    DESTINATION_OF,
    DIMENSIONS,
    REFINE,
    RELEASE,
    review_material,
)

HOME = files("reelbench.recipes.musebench")


def test_the_dimensions_are_those_that_people_tag() -> None:
    protocols = files("reelbench.review") / "protocols" / "musebench-verify.yaml"
    assert list(DIMENSIONS) == yaml.safe_load(protocols.read_text())["failure_tags"]
    assert set(DESTINATION_OF.values()) == set(DESTINATIONS) - {"vetting"}


def test_its_stages_ask_the_roles_that_their_parts_need() -> None:
    assert REFINE.roles == ("writer", "matcher", "distractor", "summarizer")
    assert REFINE.may_ask == ("reviewer",)
    assert (REFINE.parameters["quiet"], REFINE.parameters["pilot"]) == (3, 20)
    assert {"review", "summary", "questions", "match", "distract", "rules"} <= set(REFINE.prompts)
    assert AUDIT.may_ask == ("reviewer",)
    assert RELEASE.roles == ("distractor",)


def test_a_reviewer_reads_the_captions_of_the_clips_and_the_narration(tmp_path: Path) -> None:
    captions = json.dumps(
        [
            {"clip": n, "start": 10.0 * n - 10, "end": 10.0 * n, "caption": f"Caption {n}."}
            for n in (1, 2, 3)
        ]
    )
    record = json.dumps({"transcription": {"text": "It is fear, says the narrator."}})
    item = make_item(
        1,
        context=freeze({"relevant_clips": [2, 3]}),
        provenance=freeze({"plan": {"captions": digest_of(captions), "record": digest_of(record)}}),
    )

    async def read(ctx: StageContext) -> str:
        return review_material(item, ctx)

    studio = Studio(tmp_path, prompts=load_prompts(HOME, None, None), texts=[captions, record])
    text, _ = studio.with_context(read)
    assert "Clip 2: Caption 2." in text
    assert "Clip 3: Caption 3." in text
    assert "Caption 1." not in text
    assert "It is fear, says the narrator." in text
