"""Captions of the clips of a video in their order, each with the captions before it in view.

The model is shown frames of one clip, what is said in it, and the narrative so far: the captions of
all clips before, of which the oldest are shortened where they would be too long. Captions of one
video are asked for one after the other, those of several videos at the same time. They are material
for questions, and no evaluated model is shown them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.files import json_line
from reelbench.client.media_input import MediaInput
from reelbench.data.items import Span
from reelbench.make.parts.caption import ask_caption, check_sense
from reelbench.make.parts.speech import Segment, speech_within
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected, RowStage, Undecided
from reelbench.media.digests import media_digest
from reelbench.media.errors import refuse_no_file

FIRST, NEXT = "caption-first", "caption-next"  # prompts
NO_SPEECH = "(nothing is said)"
_TOKENS = 180  # of a caption
_SHORTENED = 12  # words that an old caption is shortened to


@dataclass(frozen=True, slots=True)
class CaptionPlan:
    """What is captioned: a video, its clips in order, what is said in it, and what to look for."""

    path: Path
    clips: Sequence[Span]
    speech: Sequence[Segment] = ()  # each with start, end and text
    guidance: str = ""


def caption_in_order(
    plan: Callable[[Any, StageContext], CaptionPlan],
    keep: Callable[[Any, str], Any],
    rows: type,
    sampling: str = "fps:1",
    *,
    size: str = "long:768",
    narrative_words: int = 1200,
    name: str = "caption",
    role: str = "captioner",
    **more: Any,
) -> RowStage:
    """Return the stage that captions the clips of each row's video, in their order.

    ``plan`` returns what is captioned of a row. ``keep`` returns the row with the digest of its
    captions, a JSON list of ``{"clip": 1, "start", "end", "caption"}`` in the store. The narrative
    so far has ``narrative_words`` words at most. A call that fails leaves the row undecided; the
    captions before it are not paid for again.
    """

    async def work(
        row: Any, ctx: StageContext, *, sampling: str, size: str, narrative_words: int
    ) -> list[Any]:
        check_sense(ctx, role, "sees")
        planned = plan(row, ctx)
        captions: list[str] = []
        for number, (start, end) in enumerate(planned.clips, 1):
            prompt = _prompt(ctx, planned, number, captions, narrative_words)
            media = MediaInput.of(
                planned.path, sampling=sampling, start=start, end=end, size=size, subtitles="never"
            )
            try:
                captions.append(await ask_caption(ctx, role, prompt, media))
            except Rejected as why:
                raise Rejected(why.reason, f"clip {number}: {why.detail}", why.words) from None
            except Undecided as why:
                raise Undecided(why.status, f"clip {number}: {why.error}") from None
        return [keep(row, ctx.store.keep(_record(planned.clips, captions)))]

    return RowStage(
        name=name,
        input=rows,
        output=rows,
        work=work,
        roles=(role,),
        prompts=(FIRST, NEXT),
        parameters={"sampling": sampling, "size": size, "narrative_words": narrative_words},
        validate=lambda values: (
            "" if values["narrative_words"] >= 1 else "narrative_words must be 1 or more"
        ),
        reads=lambda row, ctx: _digest(plan(row, ctx).path),
        expected_tokens=_TOKENS,
        **more,
    )


def _digest(path: Path) -> str:
    refuse_no_file(path)
    return media_digest(path)


def _record(clips: Sequence[Span], captions: Sequence[str]) -> str:
    return json_line(
        [
            {"clip": number, "start": start, "end": end, "caption": caption}
            for number, ((start, end), caption) in enumerate(zip(clips, captions, strict=True), 1)
        ]
    )


def _prompt(
    ctx: StageContext, plan: CaptionPlan, number: int, captions: Sequence[str], most: int
) -> str:
    span = plan.clips[number - 1]
    slots = {
        "number": str(number),
        "count": str(len(plan.clips)),
        "start": f"{span[0]:g}",
        "end": f"{span[1]:g}",
        "speech": speech_within(plan.speech, span) or NO_SPEECH,
        "guidance": plan.guidance,
    }
    if not captions:
        return ctx.prompts.prompt(FIRST, **slots)
    return ctx.prompts.prompt(NEXT, **slots, narrative=narrative(captions, most))


def narrative(captions: Sequence[str], most: int) -> str:
    """Return the captions so far with their numbers, in ``most`` words or fewer.

    Where they are longer, the oldest are shortened to their first words, one after the other; where
    that is not enough, the oldest are left out. The newest is there in any case.
    """
    texts = [caption.split() for caption in captions]
    excess = sum(map(len, texts)) - most
    for place, text in enumerate(texts[:-1]):
        if excess > 0 and len(text) > _SHORTENED:
            excess -= len(text) - _SHORTENED
            texts[place] = [*text[: _SHORTENED - 1], f"{text[_SHORTENED - 1]} ..."]
    left_out = 0
    while excess > 0 and left_out < len(texts) - 1:
        excess -= len(texts[left_out])
        left_out += 1
    texts[-1] = texts[-1][:most]
    lines = [
        f"Clip {number}: {' '.join(text)}"
        for number, text in enumerate(texts[left_out:], left_out + 1)
    ]
    omitted = [f"(Clips 1 to {left_out} are left out.)"] if left_out else []
    return "\n".join([*omitted, *lines])
