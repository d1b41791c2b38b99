"""Have questions written: a model writes drafts for tasks, and drafts that pass become items.

A reply that is not the JSON asked for is sent back for repair, then asked for once more; of one
that stays wrong, the questions that are right are kept.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema

from reelbench.base.files import canonical_json
from reelbench.base.text import words
from reelbench.client.media_input import MediaInput
from reelbench.data.items import LETTERS, Item, Span, freeze
from reelbench.data.manifest import Protocol
from reelbench.evaluate.item_media import item_media
from reelbench.make.parts.drafts import (
    NAMES,
    YES_NO,
    Bounds,
    Choices,
    Draft,
    QuestionForm,
    WritingTask,
    choices_of,
)
from reelbench.make.parts.filters import media_digests
from reelbench.make.parts.rules import RuleSet
from reelbench.make.parts.rules_used import rules_note, rules_of
from reelbench.make.parts.shape import same, shuffled
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.prompts import shown_examples
from reelbench.make.pipeline.stage import Rejected, RowStage

_TOKENS = 180  # of a question with all that belongs to it, as JSON


def write(
    prompts: Sequence[str],
    count: int | Bounds | None = None,
    *,
    shown: Protocol | None = None,
    repair_rules: bool = False,
    name: str = "write",
    role: str = "writer",
    **more: Any,
) -> RowStage:
    """Return the stage that has the questions of each task written, as drafts.

    ``prompts`` are the names of all prompts of tasks. With ``count``, a reply is a list of so many
    questions, or of at least and at most so many; else it is one. A task with a ``count`` of its
    own goes by that. With ``shown``, the model is shown the task's media by that protocol. With
    ``repair_rules``, a reply that breaks a rule is sent back like one that is not JSON.
    """
    parameters: dict[str, Any] = {}
    if count is not None:
        parameters["count"] = count if isinstance(count, int) else list(count)
    if shown is not None:
        parameters |= {
            "modalities": shown.modalities,
            "sampling": shown.sampling,
            "size": shown.frame_size,
            "encoding": shown.frame_encoding,
        }

    async def work(task: WritingTask, ctx: StageContext, **values: Any) -> list[Draft]:
        own = _count(values.pop("count", None))
        count = task.count or own

        def fault(reply: Any) -> str:
            rules = rules_of(task, ctx) if repair_rules else None
            return _reply_fault(task, reply, count, rules)

        reply = await ctx.json(
            role,
            prompt_for(task, ctx, count),
            task.schema(count),
            media=_media(task, ctx, **values) if values else None,
            check=fault,
        )
        data = reply.data if reply.data is not None else reply.nearly
        questions = _questions(data, count)
        if not questions:
            raise Rejected("no questions in the reply", reply.failure, [reply.words])
        return _drafts(task, questions, count, ctx.model(role).card.name, ctx.stage)

    def estimate(task: WritingTask, _ctx: StageContext) -> list[Draft]:
        asked = task.count or count
        forms = [task.forms[number % len(task.forms)] for number in range(_usual(asked))]
        examples = [form.example(names_kind=len(task.forms) > 1) for form in forms]
        return _drafts(task, examples, asked, "", name)

    return RowStage(
        name=name,
        input=WritingTask,
        output=Draft,
        work=work,
        roles=(role,),
        prompts=(*prompts, "rules", "examples"),
        parameters=parameters,
        reads=(lambda task, ctx: media_digests(_item(task), ctx)) if shown else lambda *_: None,
        estimate=estimate,
        expected_tokens=_usual(count) * _TOKENS,
        **more,
    )


def _count(value: Any) -> int | Bounds | None:
    """Return the number of questions as the code has it: a parameter is a list, not a tuple."""
    return (int(value[0]), int(value[1])) if isinstance(value, list | tuple) else value


def _usual(count: int | Bounds | None) -> int:
    """Return how many questions a forecast expects in a reply."""
    return sum(count) // 2 if isinstance(count, tuple) else count or 1


def prompt_for(task: WritingTask, ctx: StageContext, count: int | Bounds | None) -> str:
    """Return the prompt that asks for the questions of a task."""
    prompts, category = ctx.prompts, task.rules_for or task.category
    rules = rules_of(task, ctx)
    return prompts.prompt(
        task.prompt,
        **{
            "context": ctx.kept(task.context) if task.context else "",
            "count": " to ".join(map(str, count)) if isinstance(count, tuple) else str(count or 1),
            "rules": rules.text(category) if rules else "",
            "examples": shown_examples(prompts.examples.get(category, ())),
            **task.slots,
        },
    )


def _item(task: WritingTask) -> Item:
    return Item(task.id, task.forms[0].kind, tuple(each.media for each in task.media), "")


def _media(
    task: WritingTask,
    ctx: StageContext,
    *,
    modalities: str,
    sampling: str,
    size: str,
    encoding: str,
) -> MediaInput:
    protocol = Protocol(
        sampling=sampling, modalities=modalities, frame_size=size, frame_encoding=encoding
    )
    return item_media(ctx.media, _item(task), protocol)


def _questions(data: Any, count: int | Bounds | None) -> list[Any]:
    """Return the questions in a reply, valid or not, and no more than were asked for at most."""
    if count is None:
        return [data] if isinstance(data, dict) else []
    questions = data.get("questions") if isinstance(data, dict) else None
    most = count[1] if isinstance(count, tuple) else None
    return questions[:most] if isinstance(questions, list) else []


def _drafts(
    task: WritingTask,
    questions: Sequence[Any],
    count: int | Bounds | None,
    writer: str,
    stage: str,
) -> list[Draft]:
    return [
        Draft(
            id=task.id if count is None else f"{task.id}-{number:02d}",
            task=task,
            reply=question,
            writer=writer,
            stage=stage,
        )
        for number, question in enumerate(questions, 1)
    ]


def _reply_fault(
    task: WritingTask, reply: Any, count: int | Bounds | None, rules: RuleSet | None
) -> str:
    """Return what is wrong with a reply that fits its schema; empty where nothing is."""
    faults = []
    for number, one in enumerate(_questions(reply, count)):
        form = task.form_of(one)
        assert form is not None  # or it would not fit the schema
        choices = choices_of(form, one)
        where = "" if count is None else f"questions.{number}: "
        if same(choices.options):
            faults.append(f"{where}two of the options are the same")
        else:
            broken = _broken(task, rules, one, choices)
            faults += [f"{where}rule {rule}: {what}" for rule, what in broken]
    return "; ".join(faults)


def _broken(
    task: WritingTask, rules: RuleSet | None, reply: Mapping[str, Any], choices: Choices
) -> list[tuple[str, str]]:
    """Return the rules that a question breaks, and how."""
    if rules is None:
        return []
    category = task.rules_for or task.category
    question, names = reply["question"], task.names
    found = rules.broken(category, question, choices.options, choices.keys, names)
    return [(each.rule, each.what) for each in found]


def check_drafts(*, name: str = "check") -> RowStage:
    """Return the stage that turns drafts into items, and rejects those that break a rule."""
    return RowStage(
        name=name,
        input=Draft,
        output=Item,
        work=_checked,
        prompts=("rules",),
        estimate=_expected_item,
    )


def _expected_item(draft: Draft, ctx: StageContext) -> list[Item]:
    """Return the item of a draft for a forecast, where made-up words may break any rule."""
    form = draft.task.form_of(draft.reply)
    if form is None:
        return []
    choices = choices_of(form, draft.reply)
    return [_made(draft, form, choices, _evidence(form, draft.task, draft.reply), ctx)]


async def _checked(draft: Draft, ctx: StageContext) -> list[Item]:
    """Return the item of a draft; reject one that does not fit its schema or breaks a rule."""
    task, reply = draft.task, draft.reply
    form = task.form_of(reply)
    if form is None:
        kinds = ", ".join(each.kind for each in task.forms)
        raise Rejected("not as asked for", f"its kind is none of {kinds}", [canonical_json(reply)])
    validator = jsonschema.Draft202012Validator(form.schema(names_kind=len(task.forms) > 1))
    faults = sorted(error.message for error in validator.iter_errors(reply))
    if faults:
        raise Rejected("not as asked for", "; ".join(faults)[:300], [canonical_json(reply)])
    choices = choices_of(form, reply)
    if same(choices.options):
        raise Rejected("duplicate options", "; ".join(choices.options))
    evidence = _evidence(form, task, reply)
    quoted = [text for text in task.unquoted if _quotes(reply["question"], text)]
    if quoted:
        raise Rejected("quotes a title", "; ".join(quoted))
    rules = None if draft.by_people else rules_of(task, ctx)
    if broken := _broken(task, rules, reply, choices):
        detail = "; ".join(f"{rule}: {what}" for rule, what in broken)
        raise Rejected(f"rule {broken[0][0]}", detail)
    return [_made(draft, form, choices, evidence, ctx)]


def _evidence(form: QuestionForm, task: WritingTask, reply: Any) -> tuple[Span, ...]:
    """Return the evidence spans of a question; reject those that the source does not have."""
    if form.parts:
        absent = [number for number in reply[form.parts] if not 1 <= number <= len(task.parts)]
        if absent:
            detail = f"{form.parts} {absent}, but there are {len(task.parts)}"
            raise Rejected("evidence that is not there", detail)
        return tuple(task.parts[number - 1] for number in _numbers(reply[form.parts]))
    if form.times:
        ends = [end for _, end in task.parts] or [each.end for each in task.media if each.end]
        last = max(ends, default=None)
        for start, end in reply["evidence"]:
            if not start < end or (last is not None and end > last):
                detail = f"{start:g} to {end:g} s" + (
                    f", but it ends at {last:g} s" if last else ""
                )
                raise Rejected("evidence that is not there", detail)
        return tuple((start, end) for start, end in sorted(reply["evidence"]))
    return ()


def _numbers(numbers: Sequence[float]) -> list[int]:
    return sorted({int(number) for number in numbers})  # 2.0 is a whole number too


def _quotes(question: str, title: str) -> bool:
    """Whether a question holds a title word for word; one or two words may well occur by chance."""
    return len(words(title)) > 2 and " ".join(words(title)) in " ".join(words(question))


def _made(
    draft: Draft,
    form: QuestionForm,
    choices: Choices,
    evidence: tuple[Span, ...],
    ctx: StageContext,
) -> Item:
    """Return the item of a draft that passed all checks."""
    task, reply = draft.task, draft.reply
    options, answer = shuffled(ctx.seed, draft.id, choices.keys, choices.wrong)
    kind, reference = form.kind, reply.get("reference")
    if kind == "yesno":
        options, answer = YES_NO, (LETTERS[YES_NO.index(choices.keys[0])],)
    if kind == "single" and not choices.wrong:
        kind, options, answer, reference = "open", (), (), choices.keys[0]
    context = {
        **({"file": task.context_file, "sha256": task.context} if task.context else {}),
        **({form.parts: _numbers(reply[form.parts])} if form.parts else {}),
        "reasoning": reply["reasoning"].strip(),
        **({"explanations": choices.explanations} if choices.explanations else {}),
        **{field: reply[field] for field in form.fields if field not in form.tags},
        **({NAMES: list(task.names)} if task.names else {}),
    }
    note = {"model": draft.writer, "prompt": task.prompt}
    return Item(
        id=draft.id,
        kind=kind,
        media=tuple(each.media for each in task.media),
        question=reply["question"].strip(),
        options=options,
        answer=answer,
        reference=reference.strip() if reference else None,
        evidence=evidence,
        tags=freeze({**task.tags, **_tags(form, reply)}),
        context=freeze(context),
        provenance=freeze({draft.stage: {**note, **rules_note(task, ctx)}, **task.provenance}),
    )


def _tags(form: QuestionForm, reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tags in a reply; values of a list each once, in the order of the schema."""
    tags: dict[str, Any] = {}
    for field, tag in form.tags.items():
        value, known = reply[field], form.fields[field].get("items", {}).get("enum")
        tags[tag] = [each for each in known if each in value] if known else value
    return tags
