"""Carry out orders: write the videos, and keep all that was measured of them as facts."""

import asyncio
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import msgspec
from msgspec import structs

from reelbench.base.files import digest_of_file
from reelbench.base.seeds import seed_for
from reelbench.client.client import Stopped
from reelbench.data.items import Item
from reelbench.make.parts.existing import give_second_name
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.media.decode.isolated import safely
from reelbench.media.digests import media_digest
from reelbench.media.errors import MediaError
from reelbench.media.measure.quality import CORNERS, DAMAGES
from reelbench.recipes.qbench_exact.clips import Take
from reelbench.recipes.qbench_exact.film import (
    DamageTarget,
    SegmentFrames,
    UnfitError,
    WrittenVideo,
    film,
)
from reelbench.recipes.qbench_exact.plan import QuestionPlan, seed_of
from reelbench.recipes.qbench_exact.wants import Wants

_FOLDER = "make/videos"  # of all that were made, those among them that no item needs
_LIMIT = 900  # seconds that one attempt may take, on a slow machine


class MadeVideo(msgspec.Struct, frozen=True):
    """A video of a question, and the facts about it."""

    name: str
    sha256: str
    take: Take
    wanted: DamageTarget
    shown: WrittenVideo


class MadeQuestion(msgspec.Struct, frozen=True):
    """An order that was carried out."""

    id: str
    order: QuestionPlan
    videos: tuple[MadeVideo, ...]
    seconds: float
    margin: float
    fits: tuple[str, ...] = ()  # other damages that are no answer, by the margin
    corner: str = ""  # that the question names


async def damage(
    order: QuestionPlan, ctx: StageContext, *, margin: float, longest: int
) -> list[MadeQuestion]:
    """Write the videos of an order, from the first of its takes that can show what is wanted."""
    folder = ctx.out / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    outs = [folder / name for name in _names(order)]
    reasons = []
    tries = product([(order.damage, order.kind), *order.instead], order.takes)
    for attempt, ((name, kind), takes) in enumerate(tries):
        if ctx.client.stopping.is_set():
            raise Stopped
        tried = structs.replace(order, damage=name, kind=kind)
        seed = seed_for(seed_of(ctx.seed, takes), "shot", order.id, attempt)
        wants = Wants(tried, margin, seed)
        paths = [ctx.source / take.path if ctx.source.is_dir() else ctx.source for take in takes]
        try:
            made = await asyncio.to_thread(
                safely, _filmed, paths[0], paths, takes, wants, outs, longest, limit=_LIMIT
            )
        except MediaError as error:
            made = str(error)
        if isinstance(made, MadeQuestion):
            return [made]
        reasons.append(f"{takes[0].id}: {made}")
    for out in outs:
        out.unlink(missing_ok=True)
    raise Rejected("no take can show it", "; ".join(reasons))


def _names(order: QuestionPlan) -> list[str]:
    return [f"{order.id}-{number + 1}.mp4" for number in range(len(order.takes[0]))]


def is_there(shot: MadeQuestion, ctx: StageContext) -> bool:
    """Whether the videos of a shot are still there, as they were."""
    paths = {ctx.out / _FOLDER / video.name: video.sha256 for video in shot.videos}
    return all(path.is_file() and media_digest(path) == digest for path, digest in paths.items())


def imagine(order: QuestionPlan, _ctx: StageContext) -> list[MadeQuestion]:
    """What a forecast goes on with: a shot as it is ordered, without its videos."""
    others = tuple(name for name in DAMAGES if name != order.damage)
    nothing = dict.fromkeys((damage.quality for damage in DAMAGES.values()), 0.0)
    videos = tuple(
        MadeVideo(
            name, "", take, DamageTarget(order.damage, order.kind), WrittenVideo(nothing, nothing)
        )
        for name, take in zip(_names(order), order.takes[0], strict=True)
    )
    seconds = order.takes[0][0].end - order.takes[0][0].start
    return [MadeQuestion(order.id, order, videos, seconds, 0.0, others, next(iter(CORNERS)))]


def _filmed(
    _first: Path,
    paths: Sequence[Path],
    takes: Sequence[Take],
    wants: Wants,
    outs: Sequence[Path],
    longest: int,
) -> MadeQuestion | str:
    """Film what is wanted of some takes; say why where they will not do."""
    shown: list[WrittenVideo] = []
    wanted: list[DamageTarget] = []
    try:
        for number, (path, take, out) in enumerate(zip(paths, takes, outs, strict=True)):
            wanted.append(wants.video(number, shown))
            footage = SegmentFrames(path, take, longest, len(outs))
            shown.append(film(footage, wanted[-1], out, wants.seed))
        fits = wants.check(wanted, shown)
    except UnfitError as unfit:
        return str(unfit)
    return MadeQuestion(
        id=wants.order.id,
        order=wants.order,
        videos=tuple(
            MadeVideo(out.name, digest_of_file(out), take, each, seen)
            for out, take, each, seen in zip(outs, takes, wanted, shown, strict=True)
        ),
        seconds=round(takes[0].end - takes[0].start, 3),
        margin=wants.margin,
        fits=fits,
        corner=wants.named_corner,
    )


async def collect(item: Item, ctx: StageContext) -> list[Item]:
    """Put the videos of an item among the media of the benchmark."""
    for media in item.media:
        give_second_name(ctx.out / _FOLDER / Path(media.path).name, ctx.out / media.path)
    return [item]


def is_collected(item: Item, ctx: StageContext) -> bool:
    """Whether the videos of an item are among the media, as they were made."""
    facts = item.provenance["exact"]["videos"]
    return all(
        (ctx.out / media.path).is_file() and media_digest(ctx.out / media.path) == fact["written"]
        for media, fact in zip(item.media, facts, strict=True)
    )
