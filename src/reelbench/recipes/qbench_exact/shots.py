"""Carry out orders: write the videos, and keep all that was measured of them as facts."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from reelbench.files import digest_of_file
from reelbench.items import Item
from reelbench.make.desk import Desk
from reelbench.make.finished import give_second_name
from reelbench.make.stage import Rejected
from reelbench.media.digests import media_digest
from reelbench.media.looks import CORNERS, DAMAGES
from reelbench.media.safely import safely
from reelbench.media.sample import parse_sampling
from reelbench.recipes.qbench_exact.clips import Take
from reelbench.recipes.qbench_exact.film import Footage, Shown, UnfitError, Wanted, film
from reelbench.recipes.qbench_exact.plan import FAMILIES, Order
from reelbench.recipes.qbench_exact.wants import Wants
from reelbench.recipes.qbench_video.words import PROTOCOL, SINGLE
from reelbench.seeds import seed_for

_FOLDER = "make/videos"  # of all that were made, those among them that no item needs
_LIMIT = 900  # seconds that one attempt may take, on a slow machine


class Video(msgspec.Struct, frozen=True):
    """A video of a question, and the facts about it."""

    name: str
    sha256: str
    take: Take
    wanted: dict[str, Any]
    severity: float
    extent: float
    before: dict[str, float]
    after: dict[str, float]


class Shot(msgspec.Struct, frozen=True):
    """An order that was carried out."""

    id: str
    order: Order
    videos: tuple[Video, ...]
    seconds: float
    margin: float
    fits: tuple[str, ...] = ()  # other damages that are no answer, by the margin
    corner: str = ""  # that the question names


async def damage(order: Order, desk: Desk, *, margin: float, longest: int) -> list[Shot]:
    """Write the videos of an order, from the first of its takes that can show what is wanted."""
    folder = desk.out / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    outs = [folder / f"{order.id}-{number + 1}.mp4" for number in range(videos_of(order))]
    reasons = []
    tries = product([(order.damage, order.kind), *order.instead], order.takes)
    for attempt, ((name, kind), takes) in enumerate(tries):
        tried = structs.replace(order, damage=name, kind=kind)
        wants = Wants(tried, margin, seed_for(desk.seed, "shot", order.id, attempt))
        paths = [desk.source / take.path if desk.source.is_dir() else desk.source for take in takes]
        made = await asyncio.to_thread(
            safely, _filmed, paths[0], paths, takes, wants, outs, longest, limit=_LIMIT
        )
        if isinstance(made, Shot):
            return [made]
        reasons.append(f"{takes[0].id}: {made}")
    for out in outs:
        out.unlink(missing_ok=True)
    raise Rejected("no take can show it", "; ".join(reasons))


def is_there(shot: Shot, desk: Desk) -> bool:
    """Whether the videos of a shot are still there, as they were."""
    paths = {desk.out / _FOLDER / video.name: video.sha256 for video in shot.videos}
    return all(path.is_file() and media_digest(path) == digest for path, digest in paths.items())


def imagine(order: Order, _desk: Desk) -> list[Shot]:
    """What a forecast goes on with: a shot as it is ordered, without its videos."""
    names = (name for name in DAMAGES if name != order.damage)
    takes = order.takes[0] if len(order.takes[0]) == videos_of(order) else order.takes[0] * 2
    nothing = dict.fromkeys((damage.quality for damage in DAMAGES.values()), 0.0)
    wanted = asdict(Wanted(order.damage, order.kind))
    videos = tuple(Video("", "", take, wanted, 0.0, 0.0, nothing, nothing) for take in takes)
    corner = next(iter(CORNERS)) if order.family == "place" else ""
    seconds = takes[0].end - takes[0].start
    return [Shot(order.id, order, videos, seconds, 0.0, tuple(names), corner)]


def videos_of(order: Order) -> int:
    """How many videos the question of an order is about."""
    return 1 if FAMILIES[order.family]["context"] in SINGLE else 2


def _filmed(
    _first: Path,
    paths: Sequence[Path],
    takes: Sequence[Take],
    wants: Wants,
    outs: Sequence[Path],
    longest: int,
) -> Shot | str:
    """Film what is wanted of some takes; say why where they will not do."""
    count = len(parse_sampling(PROTOCOL.sampling).shared_by(len(outs)).times([(0.0, 1.0)], ()))
    shown: list[Shown] = []
    wanted: list[Wanted] = []
    try:
        footage = [Footage(p, take, longest, count) for p, take in zip(paths, takes, strict=True)]
        footage = footage if len(footage) == len(outs) else footage * len(outs)
        for number, out in enumerate(outs):
            wanted.append(wants.video(number, shown))
            one = film(footage[number], wanted[-1], out, wants.seed, PROTOCOL.sampling, len(outs))
            shown.append(one)
        fits = wants.check(wanted, shown)
    except UnfitError as unfit:
        return str(unfit)
    takes = takes if len(takes) == len(outs) else [*takes, *takes]
    parts = zip(outs, takes, wanted, shown, strict=True)
    return Shot(
        id=wants.order.id,
        order=wants.order,
        videos=tuple(_video(*part) for part in parts),
        seconds=round(footage[0].seconds, 3),
        margin=wants.margin,
        fits=fits,
        corner=wants.named_corner if wants.order.family == "place" else "",
    )


def _video(out: Path, take: Take, wanted: Wanted, shown: Shown) -> Video:
    return Video(
        name=out.name,
        sha256=digest_of_file(out),
        take=take,
        wanted=asdict(wanted),
        severity=shown.severity,
        extent=round(shown.extent, 4),
        before=_rounded(shown.before),
        after=_rounded(shown.after),
    )


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


async def collect(item: Item, desk: Desk) -> list[Item]:
    """Put the videos of an item among the media of the benchmark."""
    for media in item.media:
        give_second_name(desk.out / _FOLDER / Path(media.path).name, desk.out / media.path)
    return [item]


def is_collected(item: Item, desk: Desk) -> bool:
    """Whether the videos of an item are among the media, as they were made."""
    facts = item.provenance["exact"]["videos"]
    return all(
        (desk.out / media.path).is_file() and media_digest(desk.out / media.path) == fact["written"]
        for media, fact in zip(item.media, facts, strict=True)
    )
