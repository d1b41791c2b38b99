"""Task-oriented captions (3.3, L.1): what a question is written from, in the words of a model.

The captioner sees the whole video with a box around the target, and is told how the target looks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from reelbench.annotate.operator import Value
from reelbench.base.errors import ReelbenchError
from reelbench.client.media_input import MediaInput
from reelbench.client.structured import Structured
from reelbench.data.items import LETTERS
from reelbench.make.parts.shape import TEXT, closed
from reelbench.make.parts.wording import one_sentence_fault
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.distractors import ACTIONS
from reelbench.recipes.humanvbench.rows import PERSON, Candidate, with_texts
from reelbench.recipes.humanvbench.tasks import TASKS, TOLD_APART, TaskLabels

# Models write True for true, and a list for a sequence: both are understood.
YES_NO = {
    "type": "boolean",
    "x-accepts": {"type": ["boolean", "string"], "enum": [True, False, "True", "False"]},
}
_PROSE = {
    "type": "string",
    "x-accepts": {"type": ["string", "array"], "items": {"type": "string"}},
}
_MARK = re.compile(
    r"\b(?:red|bounding|highlighted) (?:box|rectangle|frame)\b|\bhighlighted\b", re.I
)
_WHEN = re.compile(
    r"\b\d+(?:\.\d+)? ?s(?:ec(?:ond)?s?)?\b|\bseconds?\b|\bhalfway\b|\bthroughout\b"
    r"|\b(?:beginning|start|end|half|course|rest) of the (?:video|clip)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CaptionForm:
    """How the caption of a task is asked for, and where it stands in the reply."""

    prompt: str
    text: str = "caption"  # the field that has it
    condition: str = ""  # the field that says whether there is anything to ask about
    reason: str = ""  # why the candidate is rejected where there is not

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the reply."""
        if not self.condition:
            return closed({self.text: TEXT})
        return closed({self.condition: YES_NO, self.text: _PROSE})


_LOOKS = CaptionForm("describe-target")
CAPTIONS: Mapping[str, CaptionForm] = {
    "AR": CaptionForm("describe-attitude"),
    "BTA": CaptionForm(
        "describe-actions", "Action_Sequence", "Action_Change", "actions do not change"
    ),
    "BCA": CaptionForm(
        "describe-causes", "causal_events_description", "causal_events_exist", "no causal events"
    ),
    **dict.fromkeys(TOLD_APART, _LOOKS),
}
CAPTION = "caption"  # the name of the text
MARKED_ACTIONS = "TSA"  # the task whose annotation AST is made of, too
_THEN = re.compile(r",? (?:and )?then |; ")
BY_LABELS = ("ER", "ETA")  # label 5 is their caption, with label 4
CAPTION_PROMPTS = tuple(dict.fromkeys(form.prompt for form in CAPTIONS.values()))


async def describe(
    row: Candidate, ctx: StageContext, *, sampling: str, size: str
) -> list[Candidate]:
    """Give a candidate the caption that its task is about; reject where there is nothing to ask."""
    if row.task not in (*BY_LABELS, *CAPTIONS, MARKED_ACTIONS):
        return [row]
    reader = "AST" if row.task == MARKED_ACTIONS else row.task
    labels = TaskLabels(TASKS[reader], ctx.labels(row), row.subject)
    row = with_texts(row, appearance=_told_of(labels, "appearance", row))
    names = {"captioner": ctx.model("captioner").card.name}
    if row.task in BY_LABELS:
        expression = _told_of(labels, "expression", row)
        if not expression:
            raise Rejected("face not described", "The captioner was not shown this face.")
        caption = "\n".join(filter(None, [expression, row.texts["appearance"]]))
    else:
        media = MediaInput.of(ctx.out / row.boxed, sampling=sampling, size=size, subtitles="never")
        if row.task == MARKED_ACTIONS:
            return [await _with_actions(with_texts(row, models=names), ctx, media)]
        caption = await _caption(row, ctx, CAPTIONS[row.task], media)
    return [with_texts(row, models=names, caption=caption)]


async def _with_actions(row: Candidate, ctx: StageContext, media: MediaInput) -> Candidate:
    """Return a candidate with what the target does, as BTA has it: wrong options of AST (L.2).

    Whether actions change, and whether the captioner tells them at all, people do not depend on.
    """
    form = CAPTIONS["BTA"]
    reply = await _asked(row, ctx, form, media)
    if reply.data is None:
        return row
    actions = [each for each in _THEN.split(_prose(reply.data[form.text]).rstrip(".")) if each]
    return structs.replace(row, facts={**row.facts, ACTIONS: actions})


def expected_caption(row: Candidate, ctx: StageContext) -> list[Candidate]:
    """Return a candidate with a text about as long as a caption, for forecasts."""
    names = {"captioner": ctx.model("captioner").card.name}
    return [with_texts(row, appearance="", caption="word " * 60, models=names)]


async def _asked(
    row: Candidate, ctx: StageContext, form: CaptionForm, media: MediaInput
) -> Structured:
    """Return what the captioner replies, in the form of a task."""
    check_sees(ctx, "captioner")
    prompt = ctx.prompts.prompt(form.prompt, target=target_words(row), subject=row.subject)

    def fault(reply: Any) -> str:
        if form.condition and not _is_true(reply[form.condition]):
            return ""
        text = _prose(reply[form.text])
        if not text:
            return f"{form.text} is empty"
        return description_fault(text, row.subject) if form is _LOOKS else ""

    return await ctx.json("captioner", prompt, form.schema, media=media, check=fault)


async def _caption(row: Candidate, ctx: StageContext, form: CaptionForm, media: MediaInput) -> str:
    reply = await _asked(row, ctx, form, media)
    if reply.data is None:
        raise Rejected("no usable caption", reply.failure, [reply.words])
    text = _prose(reply.data[form.text])
    if form.condition and not _is_true(reply.data[form.condition]):
        raise Rejected(form.reason, text, [reply.words])
    return text


async def check_description(
    row: Candidate, ctx: StageContext, *, sampling: str, size: str
) -> list[Candidate]:
    """Let through a description that fits the target and nobody else, as a model sees it."""
    if row.task not in TOLD_APART or CAPTION not in row.texts:
        return [row]
    check_sees(ctx, "checker")
    letters = list(LETTERS[: len(row.everyone)])
    right = LETTERS[row.everyone.index(row.target)]
    prompt = ctx.prompts.prompt(
        "fits-one",
        subject=row.subject,
        letters=", ".join(letters),
        description=row.texts[CAPTION],
    )
    schema = closed(
        {
            "letters": {"type": "array", "items": {"type": "string", "enum": letters}},
            "unmarked": YES_NO,
        }
    )
    media = MediaInput.of(ctx.out / row.lettered, sampling=sampling, size=size, subtitles="never")
    reply = await ctx.json("checker", prompt, schema, media=media)
    if reply.data is None:
        raise Rejected("description not checked", reply.failure, [reply.words])
    fits, unmarked = sorted(set(reply.data["letters"])), _is_true(reply.data["unmarked"])
    if len(fits) > 1 or (fits and unmarked):
        also = " and one without a letter" if unmarked else ""
        raise Rejected("description fits several", f"It fits {', '.join(fits)}{also}.")
    if fits != [right]:
        who = fits[0] if fits else "none of them"
        raise Rejected("description fits another", f"It fits {who}, and is meant for {right}.")
    checked = {**row.texts["models"], "checker": ctx.model("checker").card.name}
    return [with_texts(row, models=checked)]


def target_words(row: Candidate) -> str:
    """Return how a prompt calls whom a question is about, with the appearance where it is known."""
    cue = row.texts.get("appearance")
    return f"the {row.subject} in the red box" + (f" ({cue.rstrip('. ')})" if cue else "")


def description_fault(text: str, subject: str) -> str:
    """Return what is wrong with a description that must tell one from the others."""
    start = f"The {subject} is "
    if not text.startswith(start):
        return f"it must begin with {start!r}"
    if speaks_of_mark(text):
        return "it must not speak of the box"
    if _WHEN.search(text):
        return "it must not tell when something is seen"
    return one_sentence_fault(text)


def speaks_of_mark(text: str) -> bool:
    """Whether a text speaks of the box that is drawn around someone."""
    return _MARK.search(text) is not None


def check_sees(ctx: StageContext, role: str) -> None:
    """Refuse a model that does not see: it would make things up."""
    card = ctx.model(role).card
    if not card.sees and not card.video:
        raise ReelbenchError(
            f"{card.name} cannot be the {role}: its card does not have `sees: true`. Write that "
            f"there if it is so, or name another with --model {role}=NAME."
        )


def _told_of(labels: Mapping[str, Value], name: str, row: Candidate) -> str:
    """Return what a label tells of the target in words; empty where it tells nothing."""
    if row.subject != PERSON or name not in labels:
        return ""
    people = labels[name]["people"]
    return next((str(each["text"]).strip() for each in people if each["id"] == row.target), "")


def _prose(value: Any) -> str:
    return ", then ".join(map(str.strip, value)) if isinstance(value, list) else value.strip()


def _is_true(value: bool | str) -> bool:
    return value is True or value == "True"
