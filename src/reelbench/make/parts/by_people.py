"""Questions that people write: the tasks of a writing stage wait for them on the review pages."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reelbench.data.items import Item
from reelbench.data.written import AUTHOR, WRITTEN_FILE, read_written
from reelbench.make.parts.drafts import Draft, QuestionForm, WritingTask
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import WAITING, RowStage, Undecided
from reelbench.score.people import HUMAN

AsWritten = Callable[[WritingTask, Item], WritingTask]


def or_people(stage: RowStage, as_written: AsWritten) -> RowStage:
    """Return a stage of ``write`` in which people write where no model has its role.

    A task waits until someone has written a question about its media (``reelbench review``, with a
    protocol whose page is ``write``). What people wrote stays when a model has the role later: it
    writes about what they left. ``as_written`` returns the task as they answered it, with the
    one form that the question has: people choose its kind and its tags.
    """
    (role,) = stage.roles
    by_model, own_reads = stage.work, stage.reads

    async def work(task: WritingTask, ctx: StageContext, **values: Any) -> Any:
        items = read_written(ctx.out / WRITTEN_FILE).get(task.id, ())
        if items:
            return [_draft(as_written(task, item), item, ctx.stage) for item in items]
        if ctx.models.get(role):
            return await by_model(task, ctx, **values)
        raise Undecided(WAITING, f"a question is to be written, or name --model {role}=NAME")

    def reads(task: WritingTask, ctx: StageContext) -> Any:
        items = read_written(ctx.out / WRITTEN_FILE).get(task.id, ())
        if not items and ctx.models.get(role):
            return own_reads(task, ctx)
        return [each.to_record() for each in items]

    return replace(stage, work=work, reads=reads, roles=(), may_ask=(role,))


def _draft(task: WritingTask, item: Item, stage: str) -> Draft:
    (form,) = task.forms
    author = str(item.provenance.get(AUTHOR, ""))
    task = task.with_provenance({AUTHOR: author})
    return Draft(
        id=item.id,
        task=task,
        reply=_reply(form, item),
        writer=f"{HUMAN}{author}",
        stage=stage,
        by_people=True,
    )


def _reply(form: QuestionForm, item: Item) -> dict[str, Any]:
    """Return a question as a model would have written it."""
    wrong = [text for text in item.options if text not in item.correct]
    answers: dict[str, Any] = {"reference": item.reference} if item.kind == "open" else {}
    if item.kind in ("single", "yesno"):
        answers["answer"] = item.correct[0]
    elif item.kind == "multi":
        answers["answers"] = list(item.correct)
    if item.kind in ("single", "multi"):
        answers["distractors"] = wrong
    tags = {field: list(item.tag(tag)) for field, tag in form.tags.items()}
    reasoning = "What its author saw on the review page."
    return {"question": item.question, **answers, **tags, "reasoning": reasoning}
