"""Phase C (3.3, C.5): which questions each essay is asked for, and what their writer reads.

The writer reads the captions of all clips and all that is said. Every item carries the
digests of both, so that later stages need no essay.
"""

import json
from collections.abc import Sequence
from typing import Any

from msgspec import structs

from reelbench.base.seeds import rng_for
from reelbench.data.items import Item
from reelbench.interop.musebench.taxonomy import CATEGORY
from reelbench.make.parts.drafts import Bounds, MediaRef, QuestionForm, WritingTask
from reelbench.make.parts.names import names_in
from reelbench.make.parts.narrator import NO_NARRATOR
from reelbench.make.parts.shape import TEXT
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, RowStage
from reelbench.recipes.musebench.rows import Essay
from reelbench.recipes.musebench.vocabulary import vocabulary

PLAN = "plan"  # the note on items that has the digests of captions and record, and what was asked
CITED, RELEVANT = "cited_clips", "relevant_clips"  # in the context of items: numbers of clips
DOUBTS = "doubts"  # in the context of items: what people are to look at, in sentences
QUESTIONS: Bounds = (3, 5)  # of a video (3.3)
MULTI = 0.3  # share of multi-select questions among those that are drafted (C.5)
KEYS: Bounds = (2, 4)
_CONTEXTS = "make/contexts"  # has the narration: not beside what is evaluated

_ABOUT = {"core_intent": TEXT}
FORMS = (
    QuestionForm(kind="single", distractors=(0, 0), parts=CITED, parts_first=True, fields=_ABOUT),
    QuestionForm(
        kind="multi", distractors=(0, 0), keys=KEYS, parts=CITED, parts_first=True, fields=_ABOUT
    ),
)


def plan_questions(
    questions: Bounds = QUESTIONS, multi: float = MULTI, *, name: str = PLAN
) -> RowStage:
    """Return the stage that plans the questions of each essay, as a writing task.

    Their number is drawn between the bounds, and so is how many of them are multi-select: of all
    that are asked for, the share ``multi`` in the long run. A writer may leave questions out, down
    to the least number.
    """
    return RowStage(
        name=name,
        input=Essay,
        output=WritingTask,
        work=_planned,
        prompts=("material",),
        parameters={"questions": list(questions), "multi": multi},
        validate=_fault,
        estimate=_estimate,
    )


def asked_for(seed: int, essay: str, questions: Sequence[int], multi: float) -> tuple[int, int]:
    """Return how many questions an essay is asked for, and how many of them are multi-select."""
    rng = rng_for(seed, PLAN, essay)
    count = rng.randint(*questions)
    whole, rest = divmod(count * multi, 1)
    return count, int(whole) + (rng.random() < rest)


def captions_of(item: Item, ctx: StageContext) -> list[dict[str, Any]]:
    """Return the captions of all clips of the essay that an item is about."""
    captions: list[dict[str, Any]] = json.loads(ctx.kept(item.provenance[PLAN]["captions"]))
    return captions


def listed_captions(captions: Sequence[dict[str, Any]]) -> str:
    """Return captions as prompts have them: a line each, under the number of the clip."""
    return "\n".join(
        f"Clip {each['clip']}: {' '.join(each['caption'].split())}" for each in captions
    )


def narration_of(item: Item, ctx: StageContext) -> str:
    """Return all that is said in an item's essay, by its narrator and by others."""
    return _narration(json.loads(ctx.kept(item.provenance[PLAN]["record"])))


def _narration(record: dict[str, Any]) -> str:
    return str(record["transcription"]["text"])


def _fault(parameters: Any) -> str:
    least, most = parameters["questions"]
    if not 1 <= least <= most:
        return f"questions is {least} to {most}: give two numbers from 1 on, the smaller one first"
    if not 0 <= parameters["multi"] <= 1:
        return f"multi is {parameters['multi']}: give a share from 0 to 1"
    return ""


async def _planned(
    essay: Essay, ctx: StageContext, *, questions: Sequence[int], multi: float
) -> list[WritingTask]:
    count, several = asked_for(ctx.seed, essay.id, questions, multi)
    return [_task(essay, ctx, (questions[0], count), several)]


def _task(essay: Essay, ctx: StageContext, count: Bounds, several: int) -> WritingTask:
    """Return the task of at least and at most so many questions, some of them multi-select."""
    if not (essay.captions and essay.record):
        raise Rejected("no captions", f"{essay.id} has no captions or no transcription record")
    captions = json.loads(ctx.kept(essay.captions))
    transcript = _narration(json.loads(ctx.kept(essay.record)))
    described = listed_captions(captions)
    texts = [each["caption"] for each in captions]  # "Clip 4:" before them is no name
    material = ctx.prompts.prompt("material", captions=described, transcript=transcript)
    flagged = {str(place): list(faults) for place, faults in essay.flagged.items()}
    digests = {"captions": essay.captions, "record": essay.record}
    planned: dict[str, Any] = {"questions": count[1], "multi": several, **digests}
    planned |= {"flagged": flagged}
    if NO_NARRATOR in essay.flags:  # its sound is as it was: whoever decides about items is told
        planned[DOUBTS] = [f"Essay: {NO_NARRATOR}, so that nothing was taken out of its sound"]
    return WritingTask(
        id=essay.id,
        prompt="questions",
        media=(MediaRef(essay.clip),),
        forms=FORMS,
        count=count,
        slots={
            "guidance": vocabulary(essay.category).question_guidance,
            "count": str(count[1]),
            "multi": str(several),
        },
        context=ctx.store.keep(material),
        context_file=f"{_CONTEXTS}/{essay.id}.md",
        parts=tuple((each["start"], each["end"]) for each in captions),
        unquoted=(essay.title,) if essay.title else (),
        names=names_in([essay.title, essay.channel], [essay.description, transcript, *texts]),
        rules=essay.rules,
        tags={CATEGORY: essay.category},
        provenance={"essay": essay.id, PLAN: planned},
    )


_EXPECTED_CLIPS, _CAPTION, _SPOKEN = 60, "word " * 60, "word " * 25  # of an essay; each of a clip


def _estimate(essay: Essay, ctx: StageContext) -> Sequence[WritingTask]:
    """Return the task of an essay for a forecast, with captions and words of usual length."""
    spans = essay.clips or tuple((10.0 * n, 10.0 * n + 10) for n in range(_EXPECTED_CLIPS))
    captions = [
        {"clip": number, "start": start, "end": end, "caption": _CAPTION}
        for number, (start, end) in enumerate(spans, 1)
    ]
    record = {"transcription": {"text": _SPOKEN * len(spans)}}
    kept = {
        field: digest if digest and ctx.store.kept(digest) else ctx.store.keep(json.dumps(usual))
        for field, digest, usual in (
            ("captions", essay.captions, captions),
            ("record", essay.record, record),
        )
    }
    assert ctx.at_work is not None
    questions, multi = (ctx.at_work.parameters[name] for name in ("questions", "multi"))
    count = sum(questions) // 2
    return [_task(structs.replace(essay, **kept), ctx, (count, count), round(multi * count))]
