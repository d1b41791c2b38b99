"""Have questions written: one about each video and one about each pair (3.3).

The paper's eight experts are a model here, which sees what models are later asked with: 16 frames,
or 8 and 8. Which type of question, and whether it looks at a whole, at a part, at both or at the
difference, was dealt before. The writer is told in which part of the range of scores a video is, so
that what it writes does not contradict what people saw.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from reelbench.client.media_input import MediaInput
from reelbench.data.items import LETTERS, Item, Kind, Media, freeze
from reelbench.interop.qbench_video.taxonomy import CONCERNS, PROTOCOL, QUESTION_TYPES, SINGLE
from reelbench.make.parts.shape import TEXT, closed, listed, same, shuffled
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, RowStage
from reelbench.media.digests import media_digest
from reelbench.media.errors import refuse_no_file
from reelbench.recipes.qbench_video.pairing import JOINT
from reelbench.recipes.qbench_video.rows import Partner, ScoredVideo

YES_OR_NO, WHAT_HOW, OPEN_ENDED = QUESTION_TYPES
GLOBAL, REFERRING = SINGLE
GENERATED = CONCERNS[-1]  # the content whose distortions are a concern of their own
DISTRACTORS = 3  # four options
_TYPES = {YES_OR_NO: "yes-or-no", WHAT_HOW: "what-how", OPEN_ENDED: "open-ended"}
_KINDS: dict[str, Kind] = {YES_OR_NO: "yesno", WHAT_HOW: "single", OPEN_ENDED: "open"}
_LOOKS = {GLOBAL: "global", REFERRING: "referring", JOINT: "joint"}
_COMPARE = "compare"  # fine and coarse alike
_PROMPTS = (
    *("write", "single", "pair", *_LOOKS.values(), _COMPARE, *_TYPES.values()),
    *("concerns", "concerns-generated", "rules"),
)
_TOKENS = 160  # of a question with all that belongs to it, as JSON


class VideoRef(msgspec.Struct, frozen=True):
    """A video that a question is about."""

    path: str
    name: str
    score: float
    interval: int


class QuestionOrder(msgspec.Struct, frozen=True, kw_only=True):
    """An order for one question, about one video or two."""

    id: str
    dataset: str
    content: str
    question_type: str
    context: str
    shots: tuple[VideoRef, ...]
    parts: int  # intervals that the range of scores is cut into
    difference: float | None = None
    median: float | None = None

    @property
    def concerns(self) -> tuple[str, ...]:
        """What the question may be about: marks of generation only where there was any."""
        return CONCERNS if self.content == GENERATED else CONCERNS[:-1]


async def commission(video: ScoredVideo, _ctx: StageContext) -> list[QuestionOrder]:
    """Order a question about a video, and one about each pair in which it comes first."""
    first = VideoRef(video.path, video.name, video.score, video.interval)
    return [
        _order(video, video.id, video, (first,)),
        *(
            _order(
                video,
                f"{video.id}+{partner.id.partition(':')[2]}",
                partner,
                (first, VideoRef(partner.path, partner.name, partner.score, partner.interval)),
                difference=partner.difference,
                median=partner.median,
            )
            for partner in video.partners
        ),
    ]


def _order(
    video: ScoredVideo,
    name: str,
    dealt: ScoredVideo | Partner,
    shots: tuple[VideoRef, ...],
    **more: float,
) -> QuestionOrder:
    return QuestionOrder(
        id=name,
        dataset=video.dataset,
        content=video.content,
        question_type=dealt.question_type,
        context=dealt.context,
        shots=shots,
        parts=len(video.intervals),
        **more,
    )


def drafting() -> RowStage:
    """Return the stage that has the ordered questions written."""
    return RowStage(
        name="draft",
        input=QuestionOrder,
        output=Item,
        work=draft,
        roles=("writer",),
        prompts=_PROMPTS,
        parameters={
            "sampling": PROTOCOL.sampling,
            "size": PROTOCOL.frame_size,
            "encoding": PROTOCOL.frame_encoding,
        },
        reads=_digests,
        estimate=_imagined,
        expected_tokens=_TOKENS,
    )


def _digests(order: QuestionOrder, ctx: StageContext) -> list[str]:
    for shot in order.shots:
        refuse_no_file(ctx.source / shot.path)
    return [media_digest(ctx.source / shot.path) for shot in order.shots]


async def draft(
    order: QuestionOrder, ctx: StageContext, *, sampling: str, size: str, encoding: str
) -> list[Item]:
    """Have one question written; reject it for what is not as asked for, or breaks a rule."""
    files = [ctx.source / shot.path for shot in order.shots]
    media = MediaInput.of(*files, sampling=sampling, size=size, encoding=encoding)

    def fault(said: Any) -> str:
        return _fault(order, said, ctx)

    reply = await ctx.json(
        "writer",
        prompt_for(order, ctx),
        schema_for(order),
        media=media,
        check=fault,
    )
    if reply.data is None:
        rule = reply.failure.partition(":")[0]
        reason = rule if rule.startswith("rule ") else "not as asked for"
        raise Rejected(reason, reply.failure, [reply.words])
    return [_item(order, reply.data, ctx, ctx.model("writer").card.name)]


def prompt_for(order: QuestionOrder, ctx: StageContext) -> str:
    """Put together what the writer is told."""
    prompts, (first, *others) = ctx.prompts, order.shots
    slots = {"first": str(first.interval), "parts": str(order.parts)}
    for second in others:
        better = "neither" if first.score == second.score else "the second"
        better = "the first" if first.score > second.score else better
        slots |= {"second": str(second.interval), "better": better}
    generated = GENERATED in order.concerns
    return prompts.prompt(
        "write",
        shown=prompts.prompt("pair" if others else "single", **slots),
        look=prompts.prompt(_LOOKS.get(order.context, _COMPARE)),
        concerns=prompts.prompt("concerns-generated" if generated else "concerns"),
        rules=prompts.rules.text(order.question_type) if prompts.rules else "",
        type=prompts.prompt(_TYPES[order.question_type]),
    )


def schema_for(order: QuestionOrder) -> dict[str, Any]:
    """Return the JSON schema of a reply."""
    answers: dict[str, dict[str, Any]] = {
        YES_OR_NO: {"answer": {"enum": ["Yes", "No"]}},
        WHAT_HOW: {"answer": TEXT, "distractors": listed(TEXT, DISTRACTORS, DISTRACTORS)},
        OPEN_ENDED: {"reference": TEXT},
    }
    return closed(
        {
            "question": TEXT,
            **answers[order.question_type],
            "concerns": listed({"enum": list(order.concerns)}, 1),
            "reasoning": TEXT,
        }
    )


def _fault(order: QuestionOrder, said: Any, ctx: StageContext) -> str:
    """Say what is wrong with a reply that has the right shape; nothing where it is right."""
    options, key = _choices(order, said)
    if same(options):
        return "two of the options are the same"
    rules = ctx.prompts.rules
    broken = rules.broken(order.question_type, said["question"], options, key) if rules else ()
    return "; ".join(f"rule {each.rule}: {each.what}" for each in broken)


def _choices(order: QuestionOrder, said: Any) -> tuple[list[str], str]:
    """Return the options, the key of those that were written standing first, and the key."""
    if order.question_type == OPEN_ENDED:
        return [], ""
    if order.question_type == YES_OR_NO:
        return ["Yes", "No"], said["answer"]
    options = [said["answer"].strip(), *(text.strip() for text in said["distractors"])]
    return options, options[0]


def _item(order: QuestionOrder, said: Any, ctx: StageContext, writer: str) -> Item:
    options, key = _choices(order, said)
    answer: tuple[str, ...] = ()
    if order.question_type == YES_OR_NO:
        answer = (LETTERS[options.index(key)],)
    elif options:
        shown, answer = shuffled(ctx.seed, order.id, key, options[1:])
        options = list(shown)
    rules = ctx.prompts.rules
    concerns = [concern for concern in CONCERNS if concern in said["concerns"]]
    return Item(
        id=order.id,
        kind=_KINDS[order.question_type],
        media=tuple(Media(shot.path) for shot in order.shots),
        question=said["question"].strip(),
        options=tuple(options),
        answer=answer,
        reference=said["reference"].strip() if order.question_type == OPEN_ENDED else None,
        tags=freeze(
            {
                "question_type": order.question_type,
                "concern": concerns,
                "context": order.context,
                "content": order.content,
                "dataset": order.dataset,
            }
        ),
        context=freeze({"reasoning": said["reasoning"].strip()}),
        provenance=freeze(
            {
                "writer": writer,
                **({"rules": rules.record} if rules else {}),
                "videos": [shot.name for shot in order.shots],
                "scores": _scores(order),
            }
        ),
    )


def _scores(order: QuestionOrder) -> dict[str, Any]:
    """What people gave the videos, by the names that the paper has for it."""
    scores = {f"q{number}": shot.score for number, shot in enumerate(order.shots, 1)}
    compared = {"dq": order.difference, "median": order.median}
    return {
        **scores,
        **{name: value for name, value in compared.items() if value is not None},
        "interval": [shot.interval for shot in order.shots],
    }


def _imagined(order: QuestionOrder, ctx: StageContext) -> Sequence[Item]:
    """A question of usual length, for forecasts."""
    said = {
        "question": "How does it look " * 4,
        "answer": "Yes" if order.question_type == YES_OR_NO else "word0 " * 5,
        "distractors": [f"word{number} " * 5 for number in range(1, DISTRACTORS + 1)],
        "reference": "words " * 50,
        "concerns": list(order.concerns[:1]),
        "reasoning": "why " * 20,
    }
    return [_item(order, said, ctx, "")]
