"""Video essays for tests: tiny videos, and what labels would say of them."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from parts import Studio, never, recipe_of
from servers import Answer, Server
from videos import make_video

from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.prompts import Prompts, load_prompts
from reelbench.make.pipeline.run import Pipeline, StageResult
from reelbench.make.pipeline.stage import Stage
from reelbench.make.pipeline.store import RowResult
from reelbench.recipes.musebench.rows import ESSAYS, Essay

SPOKEN = (
    (0.0, 1.6, "Look at how the light falls on the left wall of the room."),
    (1.8, 2.6, "It is the colour that tells us what the painter meant."),
)


@cache
def prompts() -> Prompts:
    return load_prompts(files("reelbench.recipes.musebench"), None, None)


def transcript(
    *spoken: tuple[float, float, str], source: str = "model", language: str | None = "en"
) -> dict[str, Any]:
    """A label as the operator makes it."""
    segments = [{"start": a, "end": b, "text": text, "words": []} for a, b, text in spoken]
    return {
        "source": source,
        "language": language,
        "text": " ".join(text for _, _, text in spoken),
        "confidence": 0.9,
        "segments": segments,
        "dropped": [],
    }


def narrator(speaker: str | None = "s1") -> dict[str, Any]:
    return {"speaker": speaker, "confidence": 0.9, "turns": [[0.0, 2.6]], "seconds": 2.6}


LABELS = {"transcript": transcript(*SPOKEN), "narrator": narrator()}


def fetched(folder: Path, name: str = "e1", seconds: float = 3.4, **fields: Any) -> Essay:
    """An essay whose file is where ``fetch`` brings it."""
    path = f"{ESSAYS}/{name}.mp4"
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    make_video(folder / path, seconds=seconds, sound=seconds, rate=5)
    plain: dict[str, Any] = {
        "id": name,
        "category": "Static Visual Arts",
        "title": "Light in rooms",
        "channel": "Walls and Windows",
        "description": "About old paintings.",
        "file": path,
        "clip": path,
        "sha256": "0" * 64,
        "seconds": seconds,
        "curation": {"fetched": {"file": "a.mp4", "subtitles": [], "seconds": seconds}},
    }
    return Essay(**(plain | fields))


def take(
    folder: Path,
    essays: Sequence[Any],
    *stages: Stage,
    labels: Mapping[str, Mapping[str, Any]] | None = None,
    answer: Answer = never,
    models: Mapping[str, Sequence[Any]] | None = None,
    texts: Prompts | None = None,
) -> tuple[list[StageResult], Server]:
    """Take essays through stages, as a make does; ``labels`` are those of their clips, by id."""

    async def through(ctx: StageContext) -> list[StageResult]:
        for essay in essays:
            if isinstance(essay, Essay) and essay.clip:
                found = LABELS if labels is None else labels[essay.id]
                ctx.clip_labels[essay.clip] = dict(found)
        return await Pipeline(recipe_of(*stages), ctx, ctx.store).take(essays)

    studio = Studio(folder, answer, models or {}, texts or prompts())
    return studio.with_context(through)


def rejected(result: Any) -> tuple[str, str]:
    """Why a row was not let through."""
    assert isinstance(result, RowResult)
    assert result.rejected is not None
    return result.rejected.reason, result.rejected.detail
