"""What the writer is asked for: a question about each video and one about each pair (3.3).

The paper's eight experts are a model here, which sees what models are later asked with: 16 frames,
or 8 and 8. The type of question and its context (the whole video, a part, both videos or their
difference) were assigned before. The prompt has the part of the range of scores that a video is in,
so that the question does not contradict what people saw.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from reelbench.data.items import Item, Kind
from reelbench.interop.qbench_video.taxonomy import (
    COMPARE,
    CONCERNS,
    PAIR,
    QUESTION_TYPES,
    SINGLE,
    TYPE_OF_KIND,
)
from reelbench.make.parts.drafts import MediaRef, QuestionForm, WritingTask
from reelbench.make.parts.shape import listed
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.qbench_video.pairing import COARSE, FINE, JOINT
from reelbench.recipes.qbench_video.rows import Partner, ScoredVideo

YES_OR_NO, WHAT_HOW, OPEN_ENDED = QUESTION_TYPES
GLOBAL, REFERRING = SINGLE
GENERATED = CONCERNS[-1]  # the content whose distortions are a concern of their own
_KINDS: dict[str, Kind] = {YES_OR_NO: "yesno", WHAT_HOW: "single", OPEN_ENDED: "open"}
DISTRACTORS = 3  # four options
_TYPES = {YES_OR_NO: "yes-or-no", WHAT_HOW: "what-how", OPEN_ENDED: "open-ended"}
_ASPECTS = {GLOBAL: "global", REFERRING: "referring", JOINT: "joint"}
_COMPARE = "compare"  # fine and coarse alike
PROMPTS = (
    *("single", "pair", *_ASPECTS.values(), _COMPARE, *_TYPES.values()),
    *("concerns", "concerns-generated"),
)


async def writing_tasks(video: ScoredVideo, ctx: StageContext) -> list[WritingTask]:
    """Return the tasks for a video, and for each pair in which it comes first."""
    pairs = [
        _task(f"{video.id}+{partner.id.partition(':')[2]}", video, (video, partner), ctx)
        for partner in video.partners
    ]
    return [_task(video.id, video, (video,), ctx), *pairs]


def _task(
    name: str, first: ScoredVideo, videos: Sequence[ScoredVideo | Partner], ctx: StageContext
) -> WritingTask:
    assigned = videos[-1]  # what a pair is asked is noted with its second video
    concerns = CONCERNS if first.content == GENERATED else CONCERNS[:-1]
    fields = {"concerns": listed({"enum": list(concerns)}, 1)}
    form = QuestionForm(
        kind=_KINDS[assigned.question_type],
        distractors=(DISTRACTORS, DISTRACTORS),
        fields=fields,
        tags={"concerns": "concern"},
    )
    prompt = ctx.prompts.prompt
    return WritingTask(
        id=name,
        prompt="write",
        media=tuple(MediaRef(video.path) for video in videos),
        forms=(form,),
        slots={
            "shown": prompt("pair" if len(videos) > 1 else "single", **_score_slots(first, videos)),
            "look": prompt(_ASPECTS.get(assigned.context, _COMPARE)),
            "concerns": prompt("concerns-generated" if GENERATED in concerns else "concerns"),
            "type": prompt(_TYPES[assigned.question_type]),
        },
        rules_for=assigned.question_type,
        tags={
            "question_type": assigned.question_type,
            "context": assigned.context,
            "content": first.content,
            "dataset": first.dataset,
        },
        provenance={"videos": [video.name for video in videos], "scores": _scores(videos)},
    )


def as_written(task: WritingTask, item: Item) -> WritingTask:
    """Return a task as people answered it: the type is that of the question, the context theirs.

    How much the scores of a pair differ is a fact: whoever compares cannot choose it.
    """
    (asked,) = task.forms
    kind = TYPE_OF_KIND.get(item.kind, "")
    contexts = SINGLE if len(task.media) == 1 else PAIR
    if not kind or not set(item.tag("context")) <= set(contexts) or len(item.tag("context")) > 1:
        asked_for = f"one of {', '.join(TYPE_OF_KIND)}, about one of {', '.join(contexts)}"
        found = f"{item.id} is {item.kind}, about {', '.join(item.tag('context')) or 'nothing'}"
        raise Rejected("not as asked for", f"{found}: it must be {asked_for}")
    form = structs.replace(asked, kind=item.kind, distractors=(1, DISTRACTORS))
    (context,) = item.tag("context") or (task.tags["context"],)
    scores = task.provenance["scores"]
    if context in COMPARE:
        context = COARSE if scores["dq"] > scores["median"] else FINE
    tags = {**task.tags, "question_type": kind, "context": context}
    return structs.replace(task, forms=(form,), tags=tags, rules_for=kind)


def _score_slots(first: ScoredVideo, videos: Sequence[ScoredVideo | Partner]) -> dict[str, str]:
    """Return the prompt's slots about scores: the parts of their range, and which is higher."""
    slots = {"first": str(first.interval), "parts": str(len(first.intervals))}
    for second in videos[1:]:
        better = "neither" if first.score == second.score else "the second"
        better = "the first" if first.score > second.score else better
        slots |= {"second": str(second.interval), "better": better}
    return slots


def _scores(videos: Sequence[ScoredVideo | Partner]) -> dict[str, Any]:
    """Return the scores of the videos, by the paper's names."""
    scores: dict[str, Any] = {f"q{number}": v.score for number, v in enumerate(videos, 1)}
    for partner in videos:
        if isinstance(partner, Partner):
            scores |= {"dq": partner.difference, "median": partner.median}
    return {**scores, "interval": [video.interval for video in videos]}
