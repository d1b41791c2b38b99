"""Cinéaste's own stages: join scenes into a condensed film, describe them, plan the questions."""

import asyncio
import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from reelbench.base.files import digest_of_file, write_atomically
from reelbench.client.media_input import MediaInput
from reelbench.make.parts.drafts import MediaRef, QuestionForm, WritingTask
from reelbench.make.pipeline.context import StageContext, together
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.digests import media_digest
from reelbench.media.edit.clip import JoinedClip, join
from reelbench.media.subtitles import Cue, subtitles_file
from reelbench.recipes.cineaste.source import Movie, MovieScene

_SECONDS_PER_SECOND = 20  # of a film that joining may take at most, on a slow machine
_USUAL_WORDS = 345  # of a description, as the paper counts them (3.4)


async def concatenate(movie: Movie, ctx: StageContext, *, rate: float) -> list[Movie]:
    """Join the scenes into one video, with their captions beside it and their offsets kept."""
    media = _media(movie)
    out = ctx.out / media
    out.parent.mkdir(parents=True, exist_ok=True)
    videos = [ctx.source / scene.video for scene in movie.scenes]
    limit = 300 + _SECONDS_PER_SECOND * sum(scene.seconds for scene in movie.scenes)
    joined = await asyncio.to_thread(
        run_isolated, _joined, videos[0], videos, out, rate, limit=limit
    )
    scenes = [
        structs.replace(scene, offset=offset)
        for scene, offset in zip(movie.scenes, joined.offsets, strict=True)
    ]
    cues = [
        Cue(start + scene.offset, min(end, scene.seconds) + scene.offset, text)
        for scene in scenes
        for start, end, text in scene.cues
        if start < scene.seconds
    ]
    write_atomically(out.with_suffix(".srt"), subtitles_file(cues))
    digest = await asyncio.to_thread(digest_of_file, out)
    return [
        structs.replace(
            movie, scenes=tuple(scenes), media=media, sha256=digest, seconds=joined.duration
        )
    ]


def _joined(_first: Path, videos: Sequence[Path], out: Path, rate: float) -> JoinedClip:
    return join(videos, out, rate)


def _media(movie: Movie) -> str:
    return f"media/{movie.id}.mp4"


def is_joined(movie: Movie, ctx: StageContext) -> bool:
    """Whether the joined video is still there, as it was."""
    path = ctx.out / movie.media
    return (
        path.is_file() and path.with_suffix(".srt").is_file() and media_digest(path) == movie.sha256
    )


def estimate_joined(movie: Movie, _ctx: StageContext) -> list[Movie]:
    """Return what joining would give, without the video."""
    offsets = [0.0]
    for scene in movie.scenes:
        offsets.append(offsets[-1] + scene.seconds)
    scenes = [
        structs.replace(scene, offset=offset)
        for scene, offset in zip(movie.scenes, offsets, strict=False)
    ]
    return [structs.replace(movie, scenes=tuple(scenes), media=_media(movie), seconds=offsets[-1])]


async def describe_scenes(
    movie: Movie, ctx: StageContext, *, frames: int, size: str
) -> list[Movie]:
    """Return the movie with a description of each scene, from frames spread evenly over it."""

    async def described(scene: MovieScene) -> MovieScene:
        prompt = ctx.prompts.prompt("describe", film=movie.title, title=scene.title)
        media = MediaInput.of(ctx.source / scene.video, sampling=f"uniform:{frames}", size=size)
        text = await ctx.text("captioner", prompt, media)
        return structs.replace(scene, description=text)

    scenes = await together([described(scene) for scene in movie.scenes])
    return [structs.replace(movie, scenes=tuple(scenes))]


def estimate_described(movie: Movie, _ctx: StageContext) -> list[Movie]:
    """Return the movie with made-up descriptions of the usual length."""
    scenes = [structs.replace(s, description="words " * _USUAL_WORDS) for s in movie.scenes]
    return [structs.replace(movie, scenes=tuple(scenes))]


async def writing_tasks(
    movie: Movie,
    ctx: StageContext,
    *,
    categories: Mapping[str, str],
    distractors: int,
    film_title: bool,
) -> list[WritingTask]:
    """Return a writing task for each category, all with the text of the whole film as context.

    ``film_title`` says whether the film's title is in it: who knows the film may go by memory.
    """
    prompts = ctx.prompts
    scenes = [
        prompts.prompt(
            "scene",
            number=str(number),
            title=scene.title,
            logline=scene.logline,
            captions=scene.captions or "(nothing is said)",
            description=scene.description,
        )
        for number, scene in enumerate(movie.scenes, 1)
    ]
    film = movie.title if film_title else "A film"
    text = prompts.prompt("context", film=film, summary=movie.summary, scenes="\n\n".join(scenes))
    context = ctx.store.keep(text)
    # A scene ends where the next one begins: joining rounds to whole frames.
    bounds = [*(scene.offset for scene in movie.scenes), movie.seconds]
    parts = tuple((round(start, 3), round(end, 3)) for start, end in pairwise(bounds))
    return [
        WritingTask(
            id=f"{movie.id}-{prompt}",
            prompt=prompt,
            media=(MediaRef(movie.media),),
            forms=(QuestionForm(distractors=(distractors, distractors), parts="scenes"),),
            context=context,
            context_file=f"context/{movie.id}.md",
            parts=parts,
            unquoted=tuple(scene.title for scene in movie.scenes),
            tags={"category": category},
        )
        for category, slug in categories.items()
        for prompt in prompts.variants(slug)
    ]


def film_statistics(rows: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the statistics that the paper has of its films (3.4 and Figure 5)."""
    movies: Sequence[Movie] = rows.get("describe", ())
    if not movies:
        return {}
    scenes = [scene for movie in movies for scene in movie.scenes]
    lengths = [sum(scene.seconds for scene in movie.scenes) for movie in movies]
    distributions: dict[str, Sequence[float]] = {
        "Scene duration (s)": [round(scene.seconds, 3) for scene in scenes],
        "Movie duration (min)": [round(length / 60, 3) for length in lengths],
        "Scenes per movie": [len(movie.scenes) for movie in movies],
        "Words of descriptions per scene": [len(scene.description.split()) for scene in scenes],
        "Words of captions per scene": [len(scene.captions.split()) for scene in scenes],
    }
    if uploads := [scene.uploaded for scene in scenes if scene.uploaded is not msgspec.UNSET]:
        distributions["Upload year"] = uploads
    if years := [movie.year for movie in movies if movie.year is not None]:
        distributions["Year"] = years
    numbers = {
        "movies": len(movies),
        "scenes": len(scenes),
        "hours": round(sum(lengths) / 3600, 3),
    }
    means = {f"mean {name}": round(statistics.fmean(v), 3) for name, v in distributions.items()}
    return {"numbers": numbers | means, "distributions": distributions}
