"""Have questions written: commissions go to a writer, drafts come back, items are what holds.

A commission is an order for some questions of one category about one source. A reply that is not
the JSON asked for is repaired once and asked for once more; of one that stays wrong, each question
that is right in itself is kept.
"""

import functools
from collections.abc import Sequence
from typing import Any

import jsonschema
import msgspec

from reelbench.base.files import canonical_json
from reelbench.base.text import words
from reelbench.data.items import Item, Media, freeze
from reelbench.make.parts.shape import TEXT, closed, listed, same, shuffled
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.prompts import shown_examples
from reelbench.make.pipeline.stage import Rejected, RowStage

_TOKENS = 180  # of a question with all that belongs to it, as JSON


class Commission(msgspec.Struct, frozen=True, kw_only=True):
    """An order for questions; parts of the source are numbered from 1, as the context has them."""

    id: str
    category: str
    prompt: str  # the name of the prompt that asks for them
    media: str  # where the video is in the benchmark
    context: str  # the digest of the text that the writer reads
    context_file: str  # where that text is put in the benchmark
    spans: tuple[tuple[float, float], ...]  # of the parts, in seconds of the video
    guidance: str = ""  # the name of the prompt that fills {{guidance}}, for sources of its kind
    unsaid: tuple[str, ...] = ()  # titles that a question must not quote
    tags: dict[str, str] = {}


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A question as a writer gave it, not yet looked at."""

    id: str
    commission: Commission
    said: Any
    writer: str

    @property
    def category(self) -> str:
        """The category that it was ordered for."""
        return self.commission.category


def question_schema(distractors: int) -> dict[str, Any]:
    """Return the JSON schema of one question with its key, distractors, reasoning and parts."""
    return closed(
        {
            "question": TEXT,
            "answer": TEXT,
            "distractors": listed(TEXT, distractors, distractors),
            "reasoning": TEXT,
            "scenes": listed({"type": "integer"}, 1),
        }
    )


def questions_schema(distractors: int) -> dict[str, Any]:
    """Return the JSON schema of a writer's whole reply."""
    return closed({"questions": listed(question_schema(distractors), 1)})


def write(
    prompts: Sequence[str],
    count: int,
    distractors: int,
    *,
    name: str = "write",
    role: str = "writer",
) -> RowStage:
    """Return the stage that has questions written: so many of each commission.

    ``prompts`` are all that commissions may name, guidance blocks among them.
    """
    return RowStage(
        name=name,
        input=Commission,
        output=Draft,
        work=functools.partial(_written, role=role),
        roles=(role,),
        prompts=(*prompts, "reply", "rules", "examples"),
        parameters={"count": count, "distractors": distractors},
        expected_tokens=count * _TOKENS,
        estimate=lambda commission, _: _imagined(commission, count, distractors),
    )


async def _written(
    commission: Commission, ctx: StageContext, *, count: int, distractors: int, role: str
) -> list[Draft]:
    """Ask the writer for the questions of one commission."""
    prompts = ctx.prompts
    prompt = prompts.prompt(
        commission.prompt,
        context=ctx.kept(commission.context),
        count=str(count),
        guidance=prompts.texts[commission.guidance] if commission.guidance else "",
        rules=prompts.rules.text(commission.category) if prompts.rules else "",
        examples=shown_examples(prompts.examples.get(commission.category, ())),
    )
    reply = await ctx.json(role, prompt, questions_schema(distractors), check=_same_options)
    said = reply.data if reply.data is not None else reply.nearly
    questions = said.get("questions") if isinstance(said, dict) else None
    if not isinstance(questions, list) or not questions:
        raise Rejected("no questions in the reply", reply.failure, [reply.words])
    writer = ctx.model(role).card.name
    return [
        Draft(id=f"{commission.id}-{number:02d}", commission=commission, said=one, writer=writer)
        for number, one in enumerate(questions, 1)
    ]


def _same_options(reply: Any) -> str:
    """Say which questions have the same option twice, which a schema cannot."""
    faults = [
        f"questions.{number}: two of the options are the same"
        for number, one in enumerate(reply["questions"])
        if same((one["answer"], *one["distractors"]))
    ]
    return "; ".join(faults)


def _imagined(commission: Commission, count: int, distractors: int) -> list[Draft]:
    """Drafts of usual length, for forecasts."""
    answer, *wrong = (f"word{number} " * 8 for number in range(distractors + 1))
    said = {
        "question": "what " * 20,
        "answer": answer,
        "distractors": wrong,
        "reasoning": "why " * 30,
        "scenes": [1],
    }
    return [
        Draft(id=f"{commission.id}-{number:02d}", commission=commission, said=said, writer="")
        for number in range(1, count + 1)
    ]


def check_drafts(distractors: int, *, name: str = "check") -> RowStage:
    """Return the stage that turns drafts into items, or says which rule they break."""
    return RowStage(
        name=name,
        input=Draft,
        output=Item,
        work=_checked,
        prompts=("rules",),
        parameters={"distractors": distractors},
    )


async def _checked(draft: Draft, ctx: StageContext, *, distractors: int) -> list[Item]:
    """Turn a draft into an item; reject it for what is not as asked for, or breaks a rule."""
    said, commission = draft.said, draft.commission
    validator = jsonschema.Draft202012Validator(question_schema(distractors))
    faults = sorted(error.message for error in validator.iter_errors(said))
    if faults:
        raise Rejected("not as asked for", "; ".join(faults)[:300], [canonical_json(said)])
    options = [said["answer"].strip(), *(text.strip() for text in said["distractors"])]
    if same(options):
        raise Rejected("duplicate options", "; ".join(options))
    absent = [number for number in said["scenes"] if not 1 <= number <= len(commission.spans)]
    if absent:
        raise Rejected("evidence that is not there", f"scenes {absent} of {len(commission.spans)}")
    quoted = [title for title in commission.unsaid if _quotes(said["question"], title)]
    if quoted:
        raise Rejected("quotes a title", "; ".join(quoted))
    rules = ctx.prompts.rules
    broken = rules and rules.broken(commission.category, said["question"], options, options[0])
    if broken:
        told = "; ".join(f"{each.rule}: {each.what}" for each in broken)
        raise Rejected(f"rule {broken[0].rule}", told)
    return [_item(draft, options, ctx)]


def _quotes(question: str, title: str) -> bool:
    """Whether a question holds a title word for word; one or two words may well occur by chance."""
    return len(words(title)) > 2 and " ".join(words(title)) in " ".join(words(question))


def _item(draft: Draft, options: Sequence[str], ctx: StageContext) -> Item:
    """Make the item, its key still known to be the first of its options."""
    said, commission, rules = draft.said, draft.commission, ctx.prompts.rules
    scenes = sorted({int(number) for number in said["scenes"]})  # 2.0 is a whole number too
    shown, answer = shuffled(ctx.seed, draft.id, options[0], options[1:])
    context = {
        "file": commission.context_file,
        "sha256": commission.context,
        "scenes": scenes,
        "reasoning": said["reasoning"],
    }
    made_by = {"writer": draft.writer, "prompt": commission.prompt}
    return Item(
        id=draft.id,
        kind="single",
        media=(Media(commission.media),),
        question=said["question"].strip(),
        options=shown,
        answer=answer,
        evidence=tuple(commission.spans[number - 1] for number in scenes),
        tags=freeze({"category": commission.category, **commission.tags}),
        context=freeze(context),
        provenance=freeze({**made_by, **({"rules": rules.record} if rules else {})}),
    )
