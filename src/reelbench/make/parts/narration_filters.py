"""Filters for questions that only the narration answers, not what evaluated models get.

Models answer from the narration without the video, and from the video without the narration. What
they know from the first and miss with the second depends on the narrator.
"""

from collections.abc import Callable
from typing import Any

from reelbench.base.files import digest_of
from reelbench.data.items import Item
from reelbench.data.manifest import Protocol
from reelbench.evaluate.item_media import item_media, subtitles_of
from reelbench.make.parts.filters import (
    Facts,
    Parameters,
    by_luck,
    filter_by_answers,
    media_digests,
    reaches,
)
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import RowStage
from reelbench.media.digests import media_digest

FROM_TRANSCRIPT = "transcript-only"  # the usual name of the stage whose notes the other reads


def filter_transcript(
    transcript: Callable[[Item, StageContext], str],
    seeds: int = 5,
    known: float = 0.8,
    unlikely: float = 0.05,
    *,
    drop: bool = False,
    name: str = FROM_TRANSCRIPT,
    role: str = "reader",
    **more: Any,
) -> RowStage:
    """Return the stage that asks models with the narrator's transcript and without the video.

    ``transcript`` returns it for an item. An item is flagged if at least the share ``known`` of all
    answers is right, and that by guessing would be less likely than ``unlikely``. That alone is no
    fault, so that nothing is dropped by default: ``filter_narrated`` decides.
    """
    return filter_by_answers(
        name,
        role,
        "transcript-only",
        "answered from the narration",
        lambda facts, values: _knows(facts, values["known"], values["unlikely"]),
        {"seeds": seeds, "known": known, "unlikely": unlikely},
        drop=drop,
        given=lambda item, ctx, _: {"context": transcript(item, ctx)},
        reads=lambda item, ctx: None if item.kind == "open" else digest_of(transcript(item, ctx)),
        **more,
    )


def filter_narrated(
    seeds: int = 5,
    missed: float = 0.4,
    known: float = 0.8,
    unlikely: float = 0.05,
    sampling: str = "fps:1",
    modalities: str = "V+A+T",
    after: str = FROM_TRANSCRIPT,
    *,
    drop: bool = True,
    name: str = "clip-only",
    role: str = "watcher",
    **more: Any,
) -> RowStage:
    """Return the stage that drops items that models know from the narration and miss with the clip.

    Models get the item's media as in an evaluation, and no text about it. An item fails if no more
    than the share ``missed`` of their answers is right, and if it was known in the stage ``after``,
    by the same ``known`` and ``unlikely``. Without that stage, none fails and the rate of right
    answers is reported.
    """

    def given(item: Item, ctx: StageContext, values: Parameters) -> dict[str, Any]:
        protocol = Protocol(sampling=values["sampling"], modalities=values["modalities"])
        return {"media": item_media(ctx.media, item, protocol)}

    def fails(facts: Facts, values: Parameters) -> bool:
        read = facts["notes"].get(values["after"])
        if not read or not read.get("of"):
            return False
        was_known = _knows({**read, "chance": facts["chance"]}, values["known"], values["unlikely"])
        return was_known and facts["right"] <= values["missed"] * facts["of"] + 1e-9

    return filter_by_answers(
        name,
        role,
        "answer",
        "narrator-dependent",
        fails,
        {
            "seeds": seeds,
            "missed": missed,
            "known": known,
            "unlikely": unlikely,
            "sampling": sampling,
            "modalities": modalities,
            "after": after,
        },
        drop=drop,
        given=given,
        reads=_shown,
        **more,
    )


def _shown(item: Item, ctx: StageContext) -> list[str] | None:
    """Return the hashes of what an item shows: its media and the words that lie beside them."""
    if item.kind == "open":
        return None
    beside = [subtitles_of(ctx.media, media) for media in item.media]
    return [*media_digests(item, ctx), *(media_digest(path) for path in beside if path)]


def _knows(facts: Facts, known: float, unlikely: float) -> bool:
    """Whether so many answers are right, and more than guesses would be."""
    return reaches(facts, known) and by_luck(facts) < unlikely
