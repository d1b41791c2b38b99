"""Captions of an essay: what the captioner is shown of each clip, and that nobody pays twice."""

import json
from pathlib import Path
from typing import Any

import pytest
from actors import said_to
from essays import LABELS, SPOKEN, fetched, prompts, take
from parts import Studio, pictures, recipe_of
from servers import Reply, completion

from reelbench.interop.musebench.taxonomy import CATEGORIES
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.forecast import DryRunClient, DryRunContext, DryRunPipeline
from reelbench.make.pipeline.stage import Undecided
from reelbench.recipes.musebench.captions import caption
from reelbench.recipes.musebench.records import record
from reelbench.recipes.musebench.segments import segment
from reelbench.recipes.musebench.vocabulary import vocabulary

STAGES = (record(), segment(seconds=1.7, least=0.5), caption())
CAPTIONER = {"captioner": [{"name": "eye"}]}
SEEN = "A square of light is on the wall, and it moves to the left of the picture."


def seen(_body: Any, _number: int) -> Reply:
    return completion(json.dumps({"caption": SEEN}))


def captioned(folder: Path, answer: Any = seen, **fields: Any) -> tuple[Any, list[Any]]:
    essay = fetched(folder, seconds=3.4, **fields)
    passed, server = take(folder, [essay], *STAGES, answer=answer, models=CAPTIONER)
    return passed[-1], server.requests


@pytest.mark.parametrize("category", CATEGORIES)
def test_are_guided_by_the_category(category: str, tmp_path: Path) -> None:
    _, asked = captioned(tmp_path, category=category)
    others = [vocabulary(name).caption_guidance for name in CATEGORIES if name != category]
    for body in asked:
        assert vocabulary(category).caption_guidance in said_to(body)
        assert not any(each in said_to(body) for each in others)


def test_are_told_what_is_said_meanwhile_and_the_narrative_so_far(tmp_path: Path) -> None:
    passed, (first, second) = captioned(tmp_path)
    assert SPOKEN[0][2] in said_to(first)
    assert SPOKEN[1][2] not in said_to(first)
    assert "<narrative>" not in said_to(first)
    assert SPOKEN[0][2] not in said_to(second)
    assert SPOKEN[1][2] in said_to(second)
    assert f"Clip 1: {SEEN}" in said_to(second)
    assert [pictures(body) for body in (first, second)] == [2, 2]
    (essay,) = passed.out

    async def kept(ctx: StageContext) -> Any:
        return json.loads(ctx.kept(essay.captions))

    assert Studio(tmp_path).with_context(kept)[0] == [
        {"clip": 1, "start": 0.0, "end": 1.7, "caption": SEEN},
        {"clip": 2, "start": 1.7, "end": 3.4, "caption": SEEN},
    ]


def test_that_were_paid_for_are_not_asked_for_again(tmp_path: Path) -> None:
    def fails(body: Any, number: int) -> Reply:
        return seen(body, number) if number == 0 else (503, {}, b"{}")

    passed, asked = captioned(tmp_path, fails)
    assert isinstance(passed.results[0], Undecided)
    assert len(asked) == 2
    passed, asked = captioned(tmp_path)
    assert (len(passed.out), len(asked)) == (1, 1)
    # What came later of the narrator or of the title changes no request.
    _, asked = captioned(tmp_path, narrator={"removed": 0.98}, title="Another title")
    assert not asked


def test_are_forecast_as_many_as_there_are_clips(tmp_path: Path) -> None:
    essay = fetched(tmp_path)

    async def through(ctx: StageContext) -> Any:
        client = DryRunClient(ctx.client.journal, {})
        dry = DryRunContext(ctx.source, ctx.out, ctx.store, client, ctx.models, ctx.prompts, 0)
        for labels in ({}, LABELS):
            dry.clip_labels[essay.clip] = dict(labels)
            dry.labelled[essay.clip] |= set(labels)
            pipeline = DryRunPipeline(recipe_of(*STAGES), dry, ctx.store, client, {})
            await pipeline.take([essay])
        return [(each.step, each.requests) for each in client.found]

    found, server = Studio(tmp_path, models=CAPTIONER, prompts=prompts()).with_context(through)
    # Twice two: once before the essay is labelled, when it is not known what is said in it.
    assert found == [("caption", 4)]
    assert not server.requests
    assert not (tmp_path / "records").exists()
