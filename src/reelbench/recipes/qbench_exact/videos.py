"""Write the videos of planned questions, and keep all measurements of them as facts."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from pathlib import Path

import msgspec
from msgspec import structs

from reelbench.base.files import digest_of_file, link_or_copy
from reelbench.base.seeds import seed_for
from reelbench.client.client import Stopped
from reelbench.data.items import Item
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.digests import media_digest
from reelbench.media.errors import MediaError
from reelbench.media.measure.quality import CORNERS, DAMAGES
from reelbench.recipes.qbench_exact.clips import Segment
from reelbench.recipes.qbench_exact.degraded import (
    SeenLayer,
    WrittenVideo,
    refuse_undamaged,
    write_degraded,
)
from reelbench.recipes.qbench_exact.footage import DamageTarget, SegmentFrames, UnfitError
from reelbench.recipes.qbench_exact.layered import COPIES, check_layers, layers_of
from reelbench.recipes.qbench_exact.plan import QuestionPlan, seed_of
from reelbench.recipes.qbench_exact.spots import HIDDEN, SPOTS, UNWRITTEN, check_spot, hidden_in
from reelbench.recipes.qbench_exact.targets import QuestionTargets

_FOLDER = "make/videos"  # of all that were made, those among them that no item needs
_LIMIT = 900  # seconds that the attempts in a clip may take, on a slow machine


class MadeVideo(msgspec.Struct, frozen=True, rename={"segment": "take", "target": "wanted"}):
    """A video of a question, and the facts about it; the field names on disk are older."""

    name: str
    sha256: str
    segment: Segment
    target: DamageTarget
    shown: WrittenVideo


class MadeQuestion(msgspec.Struct, frozen=True):
    """A question whose videos were written."""

    id: str
    order: QuestionPlan
    videos: tuple[MadeVideo, ...]
    seconds: float
    fits: tuple[str, ...] = ()  # other damages that are no answer, by the margin
    corner: str = ""  # that the question names


async def damage(order: QuestionPlan, ctx: StageContext, *, longest: int) -> list[MadeQuestion]:
    """Write the videos of a question, from the first of its segments that can show its damage.

    Where no segment of the clip whose turn it is can, another damage is tried in it before another
    clip is: clips are to be asked about equally often.
    """
    folder = ctx.out / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    outs = [folder / name for name in _names(order)]
    reasons: list[str] = []
    waiting = _attempts(order, ctx)
    while waiting:
        if ctx.client.stopping.is_set():
            raise Stopped
        attempts = waiting.pop(0)
        first = attempts[0].paths[0]
        try:
            made, failed = await asyncio.to_thread(
                run_isolated, write_first, first, attempts, outs, longest, limit=_LIMIT
            )
        except MediaError as error:
            if len(attempts) > 1:  # one of them ended it: which one, each alone tells
                waiting[:0] = [[attempt] for attempt in attempts]
                continue
            made, failed = None, [f"{attempts[0].segments[0].id}: {error}"]
        if made is not None:
            return [made]
        reasons += failed
    for out in outs:
        out.unlink(missing_ok=True)
    raise Rejected("no segment can show it", "; ".join(reasons))


@dataclass(frozen=True, slots=True)
class VideoAttempt:
    """One way to make the videos of a question: a damage, and the segments to show it in."""

    targets: QuestionTargets
    segments: tuple[Segment, ...]
    paths: tuple[Path, ...]  # of their clips


def _attempts(order: QuestionPlan, ctx: StageContext) -> list[list[VideoAttempt]]:
    """Return all attempts in turn: those in the clip whose turn it is together, as one decodes it.

    The others each alone.
    """
    damages = [(order.damage, order.kind), *order.instead]
    clip = order.segments[0][0].source
    own = [tried for tried in order.segments if tried[0].source == clip]
    others = [tried for tried in order.segments if tried[0].source != clip]
    attempts = []
    tries = chain(product(damages, own), product(damages, others))
    for number, ((name, kind), segments) in enumerate(tries):
        tried = structs.replace(order, damage=name, kind=kind)
        seed = seed_for(seed_of(ctx.seed, segments), "shot", order.id, number)
        paths = tuple(ctx.source / s.path if ctx.source.is_dir() else ctx.source for s in segments)
        attempts.append(VideoAttempt(QuestionTargets(tried, seed), segments, paths))
    together = len(damages) * len(own)
    return [attempts[:together], *([attempt] for attempt in attempts[together:])]


def _names(order: QuestionPlan) -> list[str]:
    return [f"{order.id}-{number + 1}.mp4" for number in range(len(order.segments[0]))]


def is_there(question: MadeQuestion, ctx: StageContext) -> bool:
    """Whether the videos of a question are still there, as they were."""
    paths = {ctx.out / _FOLDER / video.name: video.sha256 for video in question.videos}
    return all(path.is_file() and media_digest(path) == digest for path, digest in paths.items())


def estimated_question(order: QuestionPlan, _ctx: StageContext) -> list[MadeQuestion]:
    """Return the question as it is planned, without its videos, for forecasts."""
    others = tuple(name for name in DAMAGES if name != order.damage)
    nothing = dict.fromkeys((damage.quality for damage in DAMAGES.values()), 0.0)
    layers = tuple(
        SeenLayer(target, 0.0, 0.0, 0.0, (), (0, 0))
        for target in layers_of(QuestionTargets(order, 0))
    )
    videos = tuple(
        MadeVideo(
            name,
            "",
            segment,
            DamageTarget(order.damage, order.kind),
            WrittenVideo(nothing, nothing, layers=layers),
        )
        for name, segment in zip(_names(order), order.segments[0], strict=True)
    )
    seconds = order.segments[0][0].end - order.segments[0][0].start
    corner = next(iter(CORNERS))
    return [MadeQuestion(order.id, order, videos, seconds, others, corner)]


def write_first(
    _first: Path, attempts: Sequence[VideoAttempt], outs: Sequence[Path], longest: int
) -> tuple[MadeQuestion | None, list[str]]:
    """Write the videos of a question by the first attempt that succeeds; and why others did not."""
    reasons: list[str] = []
    for attempt in attempts:
        try:
            made = write_videos(attempt.paths, attempt.segments, attempt.targets, outs, longest)
        except MediaError as error:
            made = str(error)
        if isinstance(made, MadeQuestion):
            return made, reasons
        reasons.append(f"{attempt.segments[0].id}: {made}")
    return None, reasons


def write_videos(
    paths: Sequence[Path],
    segments: Sequence[Segment],
    targets: QuestionTargets,
    outs: Sequence[Path],
    longest: int,
) -> MadeQuestion | str:
    """Write the videos of a question; return why where the segments cannot show it."""
    shown: list[WrittenVideo] = []
    target: list[DamageTarget] = []
    seconds: list[float] = []
    try:
        layers = layers_of(targets)
        is_spot = targets.order.family in SPOTS
        check = partial(check_spot, targets, share=UNWRITTEN) if is_spot else None
        for number, (path, segment, out) in enumerate(zip(paths, segments, outs, strict=True)):
            copies = targets.order.family == COPIES
            footage = SegmentFrames(path, segment, longest, len(outs), copies)
            seconds.append(footage.seconds)
            mine = DAMAGES[targets.order.damage]
            damages = layers or (targets.video(number, shown, footage.level(mine)),)
            if targets.order.family == HIDDEN:
                damages = hidden_in(footage, targets)
            target.append(damages[0])
            if not layers and damages[0].damage != targets.order.damage:
                refuse_undamaged(footage, targets.order.damage)
            shown.append(write_degraded(footage, damages, out, targets.seed, check))
        fits = check_layers(targets, shown[0]) if layers else targets.check(target, shown)
    except UnfitError as unfit:
        return str(unfit)
    return MadeQuestion(
        id=targets.order.id,
        order=targets.order,
        videos=tuple(
            MadeVideo(out.name, digest_of_file(out), segment, each, seen)
            for out, segment, each, seen in zip(outs, segments, target, shown, strict=True)
        ),
        seconds=round(seconds[0], 3),
        fits=fits,
        corner=targets.named_corner,
    )


async def collect(item: Item, ctx: StageContext) -> list[Item]:
    """Put the videos of an item into the folder ``media`` of the benchmark."""
    for media in item.media:
        link_or_copy(ctx.out / _FOLDER / Path(media.path).name, ctx.out / media.path)
    return [item]


def is_collected(item: Item, ctx: StageContext) -> bool:
    """Whether the videos of an item are among the media, as they were made."""
    facts = item.provenance["exact"]["videos"]
    return all(
        (ctx.out / media.path).is_file() and media_digest(ctx.out / media.path) == fact["written"]
        for media, fact in zip(item.media, facts, strict=True)
    )
