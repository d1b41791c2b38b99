"""Marked videos (3.3): a red box, letters on people, or none; rendered once, by their content."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

from msgspec import structs

from reelbench.annotate.operator import Value
from reelbench.base.files import digest_of, link_or_copy
from reelbench.base.seeds import seed_for
from reelbench.data.items import LETTERS, Item, Media
from reelbench.make.parts.balance.key_placer import KeyPlacer
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.decode.probe import probe
from reelbench.media.edit.audio import read_audio, reversed_before
from reelbench.media.edit.clip import SOUND_RATE
from reelbench.media.edit.draw import mark_video
from reelbench.media.edit.letters import BoxTrack, NoRoomError, place_letters
from reelbench.media.edit.write import AudioTrack
from reelbench.media.errors import MediaError
from reelbench.recipes.humanvbench.clip_facts import ClipFacts, boxes_of
from reelbench.recipes.humanvbench.rows import CLIPS, PERSON, Candidate
from reelbench.recipes.humanvbench.tasks import TASKS, TOLD_APART

VIDEOS = "make/videos"  # the folder of all that were rendered, also for items that were dropped
REVERSED = "reversed_before"  # the fact that says up to when the sound is reversed
_VERSION = 1  # of the drawing: part of a video's name
_LIMIT = 900


def give_letters(rows: Sequence[Candidate], ctx: StageContext) -> list[Candidate]:
    """Give people their letters in an order that puts keys equally often on every letter."""
    placers = {task: KeyPlacer(seed_for(ctx.seed, "letters", task)) for task in TASKS}
    return [
        structs.replace(row, people=_lettered(row, placers[row.task], ctx.seed))
        if row.people
        else row
        for row in rows
    ]


def _lettered(row: Candidate, placer: KeyPlacer, seed: int) -> tuple[str, ...]:
    others = sorted(
        (who for who in row.people if who != row.key),
        key=lambda who: seed_for(seed, "letters", row.id, who),
    )
    if not row.key:
        return tuple(others)
    place = placer.position(len(row.people))
    return (*others[:place], row.key, *others[place:])


def letter_of(row: Candidate, who: str) -> str:
    """Return the letter of a person."""
    return LETTERS[row.people.index(who)]


async def mark(row: Candidate, ctx: StageContext) -> list[Candidate]:
    """Render the video of a candidate, and those for who describes it and checks that."""
    labels = ctx.labels(row)
    reverse = row.facts.get(REVERSED)
    video = await _rendered(row, ctx, _tracks(row, labels, _marked(row)), reverse)
    boxed = ""
    if row.target:
        boxed = await _rendered(row, ctx, _tracks(row, labels, [(row.target, "")]), None)
    row = structs.replace(row, video=video, boxed=boxed)
    return [await _with_letters(row, labels, ctx) if row.task in TOLD_APART else row]


async def _with_letters(
    row: Candidate, labels: Mapping[str, Value], ctx: StageContext
) -> Candidate:
    """Return a candidate with the video in which everyone has a letter."""
    everyone = row.people or tuple(
        sorted(
            (each.id for each in ClipFacts(row, labels).subjects()),
            key=lambda who: seed_for(ctx.seed, "everyone", row.id, who),
        )
    )
    if len(everyone) > len(LETTERS):
        raise Rejected("too many to tell apart", f"There are {len(everyone)} of them.")
    marked = list(zip(everyone, LETTERS, strict=False))
    video = await _rendered(row, ctx, _tracks(row, labels, marked), None)
    return structs.replace(row, lettered=video, everyone=everyone)


async def _rendered(
    row: Candidate, ctx: StageContext, tracks: Sequence[BoxTrack], reverse: float | None
) -> str:
    """Return the path of a video; one that is there already is used as it is."""
    drawn = [
        [list(track.times), [list(box) for box in track.boxes], track.letter]
        + ([astuple(track.place)] if track.letter else [])
        for track in tracks
    ]
    name = digest_of(["marked", _VERSION, row.sha256, drawn, reverse])[:24]
    out = ctx.out / VIDEOS / f"{name}.mp4"
    if not out.is_file():
        out.parent.mkdir(parents=True, exist_ok=True)
        try:
            await asyncio.to_thread(
                run_isolated, render, ctx.out / row.clip, out, tracks, reverse, limit=_LIMIT
            )
        except MediaError as error:
            raise Rejected("media", str(error)) from error
    return f"{VIDEOS}/{out.name}"


def render(clip: Path, out: Path, tracks: Sequence[BoxTrack], reverse: float | None) -> None:
    """Write a marked video; every one is encoded anew, so that the encoding tells nothing.

    With ``reverse``, the sound before that second is reversed; at 0 it only goes the same way.
    """
    sound = None
    if reverse is not None:
        samples = read_audio(clip, SOUND_RATE, 2, 0.0, probe(clip, counting=False).duration)
        sound = AudioTrack([reversed_before(samples, SOUND_RATE, reverse)], SOUND_RATE, 2)
    mark_video(clip, out, tracks, sound)


def _marked(row: Candidate) -> list[tuple[str, str]]:
    """Return who is marked in the video of a task, each with a letter or without."""
    marks = TASKS[row.task].marks
    if marks == "letters":
        return [(who, letter_of(row, who)) for who in row.people]
    return [(row.target, "")] if marks == "face" else []


def _tracks(
    row: Candidate, labels: Mapping[str, Value], marked: Sequence[tuple[str, str]]
) -> list[BoxTrack]:
    """Return the boxes that are drawn, with letters where they cover nobody's face."""
    tracks = [track for who, letter in marked for track in _tracks_of(row, labels, who, letter)]
    if not any(track.letter for track in tracks):
        return tracks
    everyone = [each.id for each in ClipFacts(row, labels).subjects()]
    faces = [track for who in everyone for track in _tracks_of(row, labels, who)]
    size = labels["format"]["width"], labels["format"]["height"]
    try:
        return place_letters(tracks, faces, size, inside=row.subject != PERSON)
    except NoRoomError as error:
        raise Rejected("no room for letters", str(error)) from None


def _tracks_of(
    row: Candidate, labels: Mapping[str, Value], who: str, letter: str = ""
) -> list[BoxTrack]:
    return [
        BoxTrack(
            tuple(box["time"] for box in boxes), tuple(tuple(box["box"]) for box in boxes), letter
        )
        for boxes in boxes_of(labels, who, row.subject)
    ]


def estimated(row: Candidate, _ctx: StageContext) -> list[Candidate]:
    """Return a candidate with its clip in the place of its video, for forecasts."""
    boxed = row.clip if row.target else ""
    lettered, everyone = (row.clip, (row.target,)) if row.task in TOLD_APART else ("", ())
    return [structs.replace(row, video=row.clip, boxed=boxed, lettered=lettered, everyone=everyone)]


def is_rendered(row: Candidate, ctx: StageContext) -> bool:
    """Whether the videos of a candidate are still there."""
    paths = (row.video, row.boxed, row.lettered)
    return all((ctx.out / path).is_file() for path in paths if path)


def media_path(video: str) -> str:
    """Return the path of a video in the finished benchmark."""
    return f"media/{Path(video).name}"


async def collect(item: Item, ctx: StageContext) -> list[Item]:
    """Put the video of an item into the folder ``media`` of the benchmark."""
    for media in item.media:
        link_or_copy(ctx.out / VIDEOS / Path(media.path).name, ctx.out / media.path)
    return [item]


def uncollected(item: Item, ctx: StageContext) -> list[Item]:
    """Return an item about the clip in the place of its video, where that is not rendered yet."""
    media = [
        medium if (ctx.out / medium.path).is_file() else _clip_of(medium) for medium in item.media
    ]
    return [item.replace(media=media)]


def _clip_of(medium: Media) -> Media:
    """Return the clip that stands for a video in a forecast, after ``estimated``."""
    return Media(f"{CLIPS}/{Path(medium.path).name}")


def is_collected(item: Item, ctx: StageContext) -> bool:
    """Whether the video of an item is among the media."""
    return all((ctx.out / media.path).is_file() for media in item.media)
