"""Captions of a video's pictures and of its sound, made apart and fused into one account.

Who sees is told nothing of what is said, and who hears is shown no picture: neither can take from
the other what it has not perceived itself. The account is kept in the context of the item, which
no evaluated model is shown; distractors are written from it, and judges read it.
"""

from functools import partial
from typing import Any, Literal

from msgspec import structs

from reelbench.base.errors import ReelbenchError
from reelbench.client.media_input import MediaInput
from reelbench.data.items import Item, freeze
from reelbench.make.parts.filters import media_digests
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.shape import TEXT, closed
from reelbench.make.parts.wording import other_language
from reelbench.make.pipeline.context import StageContext, together
from reelbench.make.pipeline.stage import Rejected, RowStage

PARTS = ("visuals", "speech", "sound", "music")  # that a fused caption covers
CAPTIONER_ROLES = ("picture-captioner", "sound-captioner", "fuser")
_TOKENS = 900


def caption_apart(
    sampling: str = "uniform:32",
    *,
    size: str = "",
    name: str = "caption",
    roles: tuple[str, str, str] = CAPTIONER_ROLES,
) -> RowStage:
    """Return the stage that gives items a caption of what is seen and heard in their video.

    ``roles`` are those who see, who hear and who fuses. A caption that is empty or not in English
    is sent back once; if that does not help, the item is rejected with its words. Items on the
    same video are captioned once.
    """

    async def work(item: Item, ctx: StageContext, *, sampling: str, size: str) -> list[Item]:
        if len(item.media) != 1:
            raise Rejected("more than one video", f"{item.id} has {len(item.media)}")
        (media,) = item.media
        shown = partial(
            MediaInput.of,
            ctx.media / media.path,
            start=media.start,
            end=media.end,
            subtitles="never",
        )
        seen = shown(sampling=sampling, size=size)
        heard = shown(frames=False, audio=True)
        check_sense(ctx, roles[0], "sees")
        check_sense(ctx, roles[1], "hears")
        pictures, sound = await together(
            [
                ask_caption(ctx, roles[0], ctx.prompts.prompt("caption-pictures"), seen),
                ask_caption(ctx, roles[1], ctx.prompts.prompt("caption-sound"), heard),
            ]
        )
        fused = await _fused(ctx, roles[2], pictures, sound)
        context = {
            **item.context,
            "caption": fused,
            "visual_caption": pictures,
            "audio_caption": sound,
        }
        models = {role: ctx.model(role).card.name for role in roles}
        return [
            with_note(structs.replace(item, context=freeze(context)), ctx.stage, {"models": models})
        ]

    return RowStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        roles=roles,
        prompts=("caption-pictures", "caption-sound", "caption-fused"),
        parameters={"sampling": sampling, "size": size},
        reads=media_digests,
        expected_tokens=_TOKENS,
    )


def check_sense(ctx: StageContext, role: str, sense: Literal["sees", "hears"]) -> None:
    """Raise an error for a captioner without a sense that it needs: it would make things up."""
    card = ctx.model(role).card
    if not getattr(card, sense):
        raise ReelbenchError(
            f"{card.name} cannot be the {role}: its card does not have `{sense}: true`. Write "
            f"that there if it is so, or name another with --model {role}=NAME."
        )


async def ask_caption(ctx: StageContext, role: str, prompt: str, media: MediaInput) -> str:
    """Return a caption of some media; reject one that stays empty or not in English."""
    schema = closed({"caption": TEXT})
    reply = await ctx.json(role, prompt, schema, media=media, check=_fault)
    if reply.data is None:
        raise Rejected("no usable caption", f"{role}: {reply.failure}", [reply.words])
    return str(reply.data["caption"]).strip()


async def _fused(ctx: StageContext, role: str, pictures: str, sound: str) -> str:
    prompt = ctx.prompts.prompt("caption-fused", pictures=pictures, sound=sound)
    schema = closed(dict.fromkeys(("caption", *PARTS), TEXT))
    reply = await ctx.json(role, prompt, schema, check=_fault)
    if reply.data is None:
        raise Rejected("no usable caption", f"{role}: {reply.failure}", [reply.words])
    found = {part: str(reply.data[part]).strip() for part in ("caption", *PARTS)}
    lines = [f"{part.capitalize()}: {found[part]}" for part in PARTS]
    return "\n".join([found["caption"], "", *lines])


def _fault(reply: Any) -> str:
    return other_language(reply["caption"])
